//! Words of a model on a terminal, as they come: lines are wrapped at words, and where colors are wanted
//! Markdown is drawn instead of spelled. Pure: text in, text out.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const BOLD: &str = "\x1b[1m";
const CODE: &str = "\x1b[36m";
const FAINT: &str = "\x1b[2m";
const ADDED: &str = "\x1b[32m";
const REMOVED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// Narrower terminals are not wrapped for: hardly a word would fit.
const NARROWEST: usize = 20;

/// Where in a line the next letter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At its beginning, which says what kind of line it is.
    Start,
    Words,
}

/// A block of code.
#[derive(Debug)]
struct Fence {
    mark: char,
    /// Whether every line of it is code whose kind is its first letter.
    is_diff: bool,
}

/// Turns what a model writes into what a terminal shows.
#[derive(Debug)]
pub(super) struct Renderer {
    width: usize,
    is_colored: bool,
    place: Place,
    /// The beginning of a line, a line of code, or a word that is not whole yet.
    held: String,
    /// Columns used in the present row.
    column: usize,
    /// Columns that rows of a wrapped line begin with.
    indent: usize,
    /// Blanks before the next word.
    gap: usize,
    is_bold: bool,
    is_code: bool,
    is_heading: bool,
    fence: Option<Fence>,
}

impl Renderer {
    pub(super) fn new(width: usize, is_colored: bool) -> Self {
        Self {
            width,
            is_colored,
            place: Place::Start,
            held: String::new(),
            column: 0,
            indent: 0,
            gap: 0,
            is_bold: false,
            is_code: false,
            is_heading: false,
            fence: None,
        }
    }

    /// Takes more words, gives what can be shown of them.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                _ if self.fence.is_some() => self.held.push(c),
                _ if self.place == Place::Start => self.begin(c, &mut out),
                ' ' | '\t' => {
                    self.end_word(&mut out);
                    self.gap += if c == '\t' { 4 } else { 1 };
                }
                _ => self.held.push(c),
            }
        }
        out
    }

    /// The words are over; gives the rest of them.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        if self.fence.is_some() || self.place == Place::Start {
            self.whole_line(&mut out);
        } else {
            self.end_word(&mut out);
        }
        if self.is_styled() {
            out.push_str(PLAIN);
        }
        *self = Self::new(self.width, self.is_colored);
        out
    }

    fn is_styled(&self) -> bool {
        self.is_colored && (self.is_bold || self.is_code || self.is_heading)
    }

    /// Takes a letter at the beginning of a line, until it is clear what the line is.
    fn begin(&mut self, c: char, out: &mut String) {
        self.held.push(c);
        let start = self.held.trim_start();
        // A few letters tell a bullet, a number or a heading from words.
        let is_open = start.is_empty()
            || start.chars().all(|c| matches!(c, '#' | '>' | '-' | '*' | '+' | '`' | '~'))
            || start.chars().all(|c| c.is_ascii_digit())
            || fence_mark(start).is_some();
        if is_open {
            return;
        }
        if matches!(c, '.' | ')') && start[..start.len() - 1].chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        let start = std::mem::take(&mut self.held);
        self.place = Place::Words;
        self.open_line(&start, out);
    }

    /// Shows the beginning of a line by what it is.
    fn open_line(&mut self, start: &str, out: &mut String) {
        let mark = start.trim_start();
        let blanks = start.len() - mark.len();
        self.gap = blanks;
        let is_heading = mark.ends_with(' ') && mark.trim_end().chars().all(|c| c == '#');
        let is_number = mark.trim_end_matches(' ').ends_with(['.', ')'])
            && mark.chars().next().is_some_and(|c| c.is_ascii_digit());
        match mark {
            _ if self.is_colored && is_heading => {
                (self.is_heading, self.gap) = (true, 0);
                out.push_str(BOLD);
            }
            "- " | "* " | "+ " => {
                let bullet = if self.is_colored { "•" } else { mark.trim_end() };
                self.put_mark(bullet, 1, out);
            }
            "> " if self.is_colored => self.put_mark(&format!("{FAINT}│{PLAIN}"), 1, out),
            _ if is_number && mark.ends_with(' ') => {
                let number = mark.trim_end();
                self.put_mark(number, number.len(), out);
            }
            _ => {
                self.indent = blanks.min(self.width / 2);
                self.resume(mark, out);
            }
        }
    }

    /// Shows what a list has before its words, which the rows below keep clear of.
    fn put_mark(&mut self, mark: &str, width: usize, out: &mut String) {
        out.push_str(&" ".repeat(self.gap));
        out.push_str(mark);
        self.column = self.gap + width;
        self.indent = (self.column + 1).min(self.width / 2);
        self.gap = 1;
    }

    /// Takes letters that were held back as words after all.
    fn resume(&mut self, letters: &str, out: &mut String) {
        for c in letters.chars() {
            if c == ' ' {
                self.end_word(out);
                self.gap += 1;
            } else {
                self.held.push(c);
            }
        }
    }

    /// Shows a whole word, in the next row if it does not fit.
    fn end_word(&mut self, out: &mut String) {
        if self.held.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.held);
        let (drawn, width) = self.draw(&word);
        let fits = self.width < NARROWEST || self.column + self.gap + width <= self.width;
        if fits || self.column <= self.indent {
            out.push_str(&" ".repeat(self.gap));
            self.column += self.gap;
        } else {
            out.push('\n');
            out.push_str(&" ".repeat(self.indent));
            self.column = self.indent;
        }
        self.gap = 0;
        out.push_str(&drawn);
        self.column += width;
    }

    /// A word with its marks of Markdown turned into styles, and how wide it is.
    fn draw(&mut self, word: &str) -> (String, usize) {
        if !self.is_colored {
            return (word.to_owned(), word.width());
        }
        let (mut drawn, mut width) = (String::new(), 0);
        let mut rest = word;
        while let Some(c) = rest.chars().next() {
            if c == '`' {
                self.is_code = !self.is_code;
                drawn.push_str(&self.style());
                rest = &rest[1..];
            } else if rest.starts_with("**") && !self.is_code {
                self.is_bold = !self.is_bold;
                drawn.push_str(&self.style());
                rest = &rest[2..];
            } else {
                drawn.push(c);
                width += c.width().unwrap_or(0);
                rest = &rest[c.len_utf8()..];
            }
        }
        (drawn, width)
    }

    /// The sequences that set the present style.
    fn style(&self) -> String {
        let bold = if self.is_bold || self.is_heading { BOLD } else { "" };
        let code = if self.is_code { CODE } else { "" };
        format!("{PLAIN}{bold}{code}")
    }

    fn end_line(&mut self, out: &mut String) {
        if self.fence.is_some() || self.place == Place::Start {
            self.whole_line(out);
        } else {
            self.end_word(out);
        }
        // A mark that was never closed styles no further line.
        if self.is_styled() {
            out.push_str(PLAIN);
        }
        out.push('\n');
        (self.is_bold, self.is_code, self.is_heading) = (false, false, false);
        (self.column, self.indent, self.gap) = (0, 0, 0);
        self.place = Place::Start;
    }

    /// Shows a line that was held back whole: of code, or one that has only marks.
    fn whole_line(&mut self, out: &mut String) {
        let line = std::mem::take(&mut self.held);
        let mark = fence_mark(line.trim_start());
        match (&self.fence, mark) {
            (Some(fence), Some(mark)) if mark == fence.mark && is_bare(&line) => self.fence = None,
            (Some(fence), _) => {
                let is_diff = fence.is_diff;
                out.push_str(&self.code(&line, is_diff));
                return;
            }
            (None, Some(mark)) => {
                let language = line.trim().trim_start_matches(mark).trim().to_ascii_lowercase();
                if language.contains('`') {
                    // Code within a line, and not the beginning of a block.
                    out.push_str(&line);
                    return;
                }
                let is_diff = matches!(language.as_str(), "diff" | "patch");
                self.fence = Some(Fence { mark, is_diff });
            }
            (None, None) => {}
        }
        match self.is_colored && mark.is_some() {
            true => out.push_str(&format!("{FAINT}{line}{PLAIN}")),
            false => out.push_str(&line),
        }
    }

    /// A line of code, which is not wrapped.
    fn code(&self, line: &str, is_diff: bool) -> String {
        if !self.is_colored || line.is_empty() {
            return line.to_owned();
        }
        let color = match line.chars().next() {
            Some('+') if is_diff => ADDED,
            Some('-') if is_diff => REMOVED,
            Some('@') if is_diff => FAINT,
            _ if is_diff => return line.to_owned(),
            _ => CODE,
        };
        format!("{color}{line}{PLAIN}")
    }
}

/// The letter of a fence, if a line begins or ends a block of code.
fn fence_mark(line: &str) -> Option<char> {
    ['`', '~'].into_iter().find(|mark| line.chars().take_while(|c| c == mark).count() >= 3)
}

/// Whether a line has nothing but its fence.
fn is_bare(line: &str) -> bool {
    line.trim().chars().all(|c| matches!(c, '`' | '~'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rendered(text: &str, width: usize, is_colored: bool) -> String {
        let mut renderer = Renderer::new(width, is_colored);
        let shown = renderer.push(text);
        shown + &renderer.finish()
    }

    #[test]
    fn lines_are_wrapped_at_words() {
        let plain = |text: &str| rendered(text, 20, false);
        assert_eq!(plain("one two three four five six\n"), "one two three four\nfive six\n");
        assert_eq!(
            plain("- one two three four five\n"),
            "- one two three four\n  five\n",
            "below the words and not below the mark"
        );
        assert_eq!(plain("12. one two three four five"), "12. one two three\n    four five");
        let long = "x".repeat(30);
        assert_eq!(plain(&format!("a {long} b")), format!("a\n{long}\nb"));
        assert_eq!(plain("a  b\n\n  c"), "a  b\n\n  c");
        assert_eq!(rendered("one two three four", 10, false), "one two three four", "too narrow");
    }

    #[test]
    fn markdown_is_drawn() {
        let colored = |text: &str| rendered(text, 80, true);
        assert_eq!(colored("# Title\n"), "\x1b[1mTitle\x1b[0m\n");
        assert_eq!(colored("- a\n* b\n"), "• a\n• b\n");
        assert_eq!(colored("say **it** now"), "say \x1b[0m\x1b[1mit\x1b[0m now");
        assert_eq!(colored("`a b`"), "\x1b[0m\x1b[36ma b\x1b[0m");
        assert_eq!(colored("> so\n"), "\x1b[2m│\x1b[0m so\n");
        assert_eq!(colored("#hash and 1.5 and a*b\n"), "#hash and 1.5 and a*b\n");
        assert_eq!(colored("---\n"), "---\n");
        assert_eq!(colored("**open\nnext"), "\x1b[0m\x1b[1mopen\x1b[0m\nnext");
    }

    #[test]
    fn code_is_left_as_it_is_and_diffs_have_colors() {
        let text = "```diff\n@@ -1 +1 @@\n-old **x**\n+new\n same\n```\nafter\n";
        assert_eq!(
            rendered(text, 20, true),
            "\x1b[2m```diff\x1b[0m\n\x1b[2m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old **x**\x1b[0m\n\
             \x1b[32m+new\x1b[0m\n same\n\x1b[2m```\x1b[0m\nafter\n"
        );
        let code = "```rust\nlet a_very_long_line = of_code(that, is, not, wrapped);\n```\n";
        assert_eq!(rendered(code, 20, false), code);
        let tilde = "~~~\n```\n~~~\n";
        assert_eq!(rendered(tilde, 20, false), tilde);
    }

    proptest! {
        #[test]
        fn any_split_shows_the_same(
            text in "[a-z `*#>.1\\-\n]{0,60}",
            cuts in prop::collection::vec(0_usize..60, 0..6),
            is_colored in any::<bool>(),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            cuts.push(text.len());
            let mut renderer = Renderer::new(24, is_colored);
            let (mut shown, mut from) = (String::new(), 0);
            for to in cuts {
                shown += &renderer.push(&text[from..to]);
                from = to;
            }
            shown += &renderer.finish();
            prop_assert_eq!(shown, rendered(&text, 24, is_colored));
        }

        #[test]
        fn without_colors_no_letter_is_lost_or_added(text in "[a-z `*#>.1\\-\n]{0,80}") {
            let letters = |text: &str| text.split_whitespace().collect::<Vec<_>>().concat();
            prop_assert_eq!(letters(&rendered(&text, 24, false)), letters(&text));
        }
    }
}
