//! Pages: a part of many lines, and how to ask for the next part.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The maximum and default number of lines of a page.
pub(super) const PAGE_LINES: usize = 200;
/// How long a line may be where only the gist matters, in characters.
const CONCISE_LINE: usize = 300;

/// How much of long lines is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResponseFormat {
    #[default]
    Concise,
    Detailed,
}

impl ResponseFormat {
    /// A line as it is shown.
    pub(super) fn line(self, line: &str) -> String {
        match self {
            Self::Concise => cut(line, CONCISE_LINE),
            Self::Detailed => line.to_owned(),
        }
    }

    /// Its name in arguments.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Concise => "concise",
            Self::Detailed => "detailed",
        }
    }
}

/// A line of at most `limit` characters; what was left out is shown by dots.
pub(super) fn cut(line: &str, limit: usize) -> String {
    match line.char_indices().nth(limit) {
        None => line.to_owned(),
        Some(_) => line.chars().take(limit.saturating_sub(3)).chain("...".chars()).collect(),
    }
}

/// Counts all lines that are offered and keeps those of one page.
#[derive(Debug)]
pub(super) struct Page {
    offset: usize,
    limit: usize,
    room: usize,
    lines: Vec<String>,
    total: usize,
}

impl Page {
    /// The page that begins after `offset` lines.
    pub(super) fn new(offset: Option<usize>, limit: Option<usize>) -> Self {
        let limit = limit.unwrap_or(PAGE_LINES).clamp(1, PAGE_LINES);
        let offset = offset.unwrap_or(0);
        Self { offset, limit, room: usize::MAX, lines: Vec::new(), total: 0 }
    }

    /// The same page, which ends early when it has this many characters.
    pub(super) fn within(mut self, characters: usize) -> Self {
        self.room = characters;
        self
    }

    /// Offers a line, which is only made if it is on the page.
    pub(super) fn offer(&mut self, line: impl FnOnce() -> String) {
        let on_page = self.total >= self.offset && self.total - self.offset < self.limit;
        if on_page && self.room > 0 && self.lines.len() == self.total - self.offset {
            let line = line();
            let size = line.chars().count() + 1;
            if size <= self.room {
                self.room -= size;
                self.lines.push(line);
            } else {
                // The first line of a page is shown in any case, or there would be no way on.
                if self.lines.is_empty() {
                    self.lines.push(cut(&line, self.room));
                }
                self.room = 0;
            }
        }
        self.total += 1;
    }

    /// How many lines there are in all.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// How many lines of it are asked for.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Where the next page begins, if there is one.
    pub(super) fn next_offset(&self) -> Option<usize> {
        let end = self.offset.saturating_add(self.lines.len());
        (end < self.total).then_some(end)
    }

    /// The text of the page, with how to go on, and the details for programs.
    /// `again` makes the arguments that ask for the lines after an offset.
    pub(super) fn finish(
        self,
        tool: &str,
        again: impl FnOnce(usize) -> Value,
    ) -> (String, Map<String, Value>) {
        let next = self.next_offset();
        let shown = self.lines.len();
        let omitted = next.map_or(0, |next| self.total - next);
        let mut lines = self.lines;
        let mut data = Map::new();
        data.insert("offset".into(), self.offset.into());
        data.insert("limit".into(), self.limit.into());
        data.insert("shown".into(), shown.into());
        data.insert("total_lines".into(), self.total.into());
        data.insert("omitted_lines".into(), omitted.into());
        data.insert("next_offset".into(), next.into());
        data.insert("truncated".into(), next.is_some().into());
        data.insert("continuation_tool".into(), Value::Null);
        data.insert("continuation_args".into(), Value::Null);
        if let Some(next) = next {
            let (first, total) = (self.offset + 1, self.total);
            lines.push(format!("[showing lines {first}-{next} of {total}; next_offset={next}]"));
            let again = again(next);
            lines.push(format!("[{omitted} more lines: call {tool} with {again}]"));
            data.insert("continuation_tool".into(), tool.into());
            data.insert("continuation_args".into(), again);
        } else if shown == 0 && self.total > 0 {
            lines
                .push(format!("[offset {} is past the last of {} lines]", self.offset, self.total));
        }
        (lines.join("\n"), data)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(mut page: Page, count: usize) -> (String, Map<String, Value>) {
        (1..=count).for_each(|number| page.offer(|| format!("line {number}")));
        page.finish("list_files", |next| json!({"offset": next}))
    }

    #[test]
    fn a_cut_page_says_how_to_go_on() {
        let (text, data) = page(Page::new(Some(1), Some(2)), 5);
        assert_eq!(
            text,
            "line 2\nline 3\n[showing lines 2-3 of 5; next_offset=3]\n\
             [2 more lines: call list_files with {\"offset\":3}]"
        );
        let expected = json!({
            "offset": 1, "limit": 2, "shown": 2, "total_lines": 5, "omitted_lines": 2,
            "next_offset": 3, "truncated": true, "continuation_tool": "list_files",
            "continuation_args": {"offset": 3}
        });
        assert_eq!(Value::Object(data), expected);
    }

    #[test]
    fn the_last_page_has_no_trailer() {
        let (text, data) = page(Page::new(Some(3), None), 5);
        assert_eq!(text, "line 4\nline 5");
        assert_eq!((&data["truncated"], &data["next_offset"]), (&json!(false), &Value::Null));
        assert_eq!((&data["omitted_lines"], &data["limit"]), (&json!(0), &json!(200)));
        assert_eq!(page(Page::new(Some(9), None), 5).0, "[offset 9 is past the last of 5 lines]");
        assert_eq!(page(Page::new(None, None), 0).0, "");
    }

    #[test]
    fn limits_are_held_to_one_and_two_hundred() {
        assert_eq!(page(Page::new(None, Some(0)), 3).1["shown"], 1);
        assert_eq!(page(Page::new(None, Some(5000)), 300).1["shown"], 200);
        assert_eq!(page(Page::new(Some(usize::MAX), None), 3).1["shown"], 0);
    }

    #[test]
    fn a_page_with_little_room_ends_early_but_never_empty() {
        let (_, data) = page(Page::new(None, None).within(15), 5);
        assert_eq!((&data["shown"], &data["next_offset"]), (&json!(2), &json!(2)));
        let (text, data) = page(Page::new(None, None).within(5), 2);
        assert!(text.starts_with("li...\n"), "{text}");
        assert_eq!(data["next_offset"], 1);
    }

    #[test]
    fn concise_lines_are_cut_by_characters() {
        let long = "é".repeat(301);
        let concise = ResponseFormat::Concise.line(&long);
        assert_eq!(concise.chars().count(), 300);
        assert!(concise.ends_with("é..."));
        assert_eq!(ResponseFormat::Detailed.line(&long), long);
        assert_eq!(ResponseFormat::Concise.line(&long[2..]), long[2..]);
    }
}
