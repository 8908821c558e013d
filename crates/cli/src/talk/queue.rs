//! What asks for attention, as rows and lines.

use rookery_native::wire::{Category, QueueEntry, Related, Request, Source};
use rookery_view::safe;

use super::{age, requests};
use crate::output::{Colors, Table, Tone, shorten};

/// Columns of a session's title, and of what an item says.
const SESSION_WIDTH: usize = 24;
const WHAT_WIDTH: usize = 64;
/// Lines of what would be done that are shown below an item.
const DETAIL_LINES: usize = 8;

/// An item and the request that it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) entry: &'a QueueEntry,
    pub(crate) request: Option<&'a Request>,
}

/// Items with their requests, if those wait still.
pub(crate) fn join<'a>(queue: &'a [QueueEntry], requests: &'a [Request]) -> Vec<Item<'a>> {
    let of = |entry: &QueueEntry| match &entry.item.related {
        Some(Related::Request(id)) => requests.iter().find(|request| request.id == *id),
        _ => None,
    };
    queue.iter().map(|entry| Item { entry, request: of(entry) }).collect()
}

/// The id by which people act on an item: that of what it is about, where there is something to do
/// with it.
pub(crate) fn address(entry: &QueueEntry) -> &str {
    match &entry.item.related {
        Some(Related::Request(id) | Related::Review(id) | Related::Handoff(id)) => id,
        // A lost task is named in what the item says; the item itself can be resolved.
        Some(Related::Checkpoint(_) | Related::Task(_)) | None => &entry.item.id,
    }
}

/// What an item is, in a word.
pub(crate) fn kind(item: &Item<'_>) -> (Tone, &'static str) {
    match (item.entry.item.category, item.request) {
        (Category::ApprovalNeeded, Some(request)) => (Tone::Warning, requests::kind(request.kind)),
        (Category::ApprovalNeeded, None) => (Tone::Warning, "attention"),
        (Category::ReviewRequested, _) => (Tone::Warning, "review"),
        (Category::Error, _) => (Tone::Bad, "error"),
        (Category::Blocked, _) => (Tone::Warning, "blocked"),
        (Category::Completed, _) => (Tone::Good, "done"),
        (Category::Informational, _) => (Tone::Faint, "note"),
    }
}

/// Who says so, in a word.
pub(crate) fn source(source: Source) -> &'static str {
    match source {
        Source::Protocol => "protocol",
        Source::Report => "report",
        Source::Screen => "screen",
        Source::Program => "program",
    }
}

/// What its session is called, or the directory of its work tree.
pub(crate) fn session(entry: &QueueEntry) -> String {
    let tree = entry.tree.as_deref().and_then(|tree| tree.rsplit('/').next());
    entry.session_title.as_deref().or(tree).map_or_else(|| "-".to_owned(), safe::line)
}

/// What it says, in one line.
pub(crate) fn what(item: &Item<'_>) -> String {
    if let Some(request) = item.request {
        let later = if request.deferred { " (later)" } else { "" };
        return requests::summary(request) + later;
    }
    let title = safe::line(&item.entry.item.title);
    match item.entry.item.subtitle.as_deref().map(safe::line) {
        Some(more) if !more.is_empty() => format!("{title}: {more}"),
        _ => title,
    }
}

/// The queue as text, with exactly what would be done below what waits for a yes.
pub(crate) fn text(items: &[Item<'_>], now: i64, colors: Colors, room: Option<usize>) -> String {
    let header = ["ID", "KIND", "AGE", "SESSION", "WHAT", "SOURCE"];
    let mut table = Table::new(&header).sparing(&["SOURCE", "SESSION", "AGE"]);
    let ids = items.iter().map(|item| address(item.entry));
    for item in items {
        let entry = item.entry;
        let (tone, kind) = kind(item);
        table.row(vec![
            (Tone::Strong, requests::short_id(address(entry), ids.clone()).to_owned()),
            (tone, kind.to_owned()),
            (Tone::Faint, age::since_text(&entry.item.created_at, now)),
            (Tone::Plain, shorten(&session(entry), SESSION_WIDTH)),
            (Tone::Plain, shorten(&what(item), WHAT_WIDTH)),
            (Tone::Faint, source(entry.item.source).to_owned()),
        ]);
    }
    let rendered = table.render(colors, room);
    let mut out = String::new();
    for (at, row) in rendered.lines().enumerate() {
        out.push_str(row);
        out.push('\n');
        let request = at.checked_sub(1).and_then(|at| items.get(at)?.request);
        for line in request.into_iter().flat_map(exactly) {
            out.push_str(&colors.paint(Tone::Faint, &line));
            out.push('\n');
        }
    }
    out
}

/// What a request would do, without the line that says that it asks.
fn exactly(request: &Request) -> Vec<String> {
    let mut lines = requests::exactly(request);
    if lines.len() > DETAIL_LINES {
        let more = lines.len() - DETAIL_LINES;
        lines.truncate(DETAIL_LINES);
        lines.push(format!("    … {more} more lines; print it in full with `rookery inbox show`"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_most_urgent_says_exactly_what_it_would_do() {
        let queue: Vec<QueueEntry> = serde_json::from_value(json!([
            {"id": "0192d3c4-0000-7abc-8def-000000000001", "session": "s", "sessionTitle": "api",
             "related": {"kind": "request", "id": "01JAAAAAAAAAAAAAAAAAABCDEF"},
             "category": "approval_needed", "title": "shell", "subtitle": "why",
             "source": "protocol", "createdAt": "1970-01-01T00:01:00Z"},
            {"id": "0192d3c4-0000-7abc-8def-000000000002", "session": "s",
             "category": "informational", "title": "Note\u{1b}[2J", "source": "report",
             "createdAt": "1970-01-01T00:02:00Z"},
        ]))
        .unwrap();
        let waiting: Vec<Request> = serde_json::from_value(json!([{
            "id": "01JAAAAAAAAAAAAAAAAAABCDEF", "kind": "approval", "thread": "t", "turn": "u",
            "tool": "shell", "summary": "rm x", "argv": ["rm", "x y"], "cwd": "/srv",
            "preview": "rm 'x y'", "env": {"A": "1", "B": null}, "askedAt": "", "state": "pending",
        }]))
        .unwrap();
        expect![[r#"
            ID      KIND      AGE  SESSION  WHAT         SOURCE
            ABCDEF  approval  2m   api      shell: rm x  protocol
                rm 'x y'
              runs ["rm","x y"]
              in /srv
              with A=1
              without B
            000002  note      1m   -        Note[2J      report
        "#]]
        .assert_eq(&text(&join(&queue, &waiting), 180, Colors::none(), None));
    }
}
