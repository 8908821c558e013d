//! The inbox of faces: items of the queue, each with the request that it is about, as rows.

use rookery_model::{Asked, Category, QueueItem, Related, Request, Source};

use crate::link::{About, InboxRow};
use crate::safe;

/// Characters of one line about a request.
const MOST_CHARS: usize = 200;

/// An item and the request that it is about, if that waits still.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    pub item: &'a QueueItem,
    pub request: Option<&'a Request>,
}

/// Items with their requests; `find` knows those that wait.
pub fn join<'a>(
    queue: impl IntoIterator<Item = &'a QueueItem>,
    find: impl Fn(rookery_model::RequestId) -> Option<&'a Request>,
) -> Vec<Item<'a>> {
    let of = |item: &QueueItem| match item.related {
        Some(Related::Request(id)) => find(id),
        _ => None,
    };
    queue.into_iter().map(|item| Item { item, request: of(item) }).collect()
}

impl Item<'_> {
    /// The row of a face. `session` is what its session is called.
    pub fn row(&self, session: &str) -> InboxRow {
        let related = match self.item.related {
            Some(Related::Request(id)) => Some(id.to_string()),
            _ => None,
        };
        let millis = |time: rookery_model::Timestamp| time.as_micros() / 1000;
        let (title, subtitle) = match self.request {
            Some(request) => (asks(request), about(request)),
            None => (
                shown(&self.item.title),
                self.item.subtitle.as_deref().map(shown).unwrap_or_default(),
            ),
        };
        InboxRow {
            item: self.item.id.to_string(),
            request: related.filter(|_| self.request.is_some()),
            category: category(self.item.category).to_owned(),
            kind: self.kind().to_owned(),
            session: self.item.session.map(|id| id.to_string()).unwrap_or_default(),
            session_title: shown(session),
            terminal: None,
            title,
            subtitle,
            source: source(self.item.source).to_owned(),
            at: millis(self.item.created_at),
            deadline: self.request.and_then(|request| request.deadline).map(millis),
            deferred: self.request.is_some_and(|request| request.is_deferred),
            about: about_of(self.item),
        }
    }

    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match (self.item.category, self.request) {
            (Category::ApprovalNeeded, Some(request)) => kind(&request.asked),
            (Category::ApprovalNeeded, None) => "attention",
            (Category::ReviewRequested, _) => "review",
            (Category::Error, _) => "error",
            (Category::Blocked, _) => "blocked",
            (Category::Completed, _) => "done",
            (Category::Informational, _) => "note",
        }
    }

    /// Whether a person is waited for, rather than told something.
    pub fn waits(&self) -> bool {
        matches!(self.item.category, Category::ApprovalNeeded | Category::ReviewRequested)
    }
}

/// What an item is about, if that is no request.
pub fn about_of(item: &QueueItem) -> Option<About> {
    let (kind, id) = match item.related? {
        Related::Request(_) => return None,
        Related::Review(id) => ("review", id.to_string()),
        Related::Checkpoint(id) => ("checkpoint", id.to_string()),
        Related::Handoff(id) => ("handoff", id.to_string()),
        Related::Task(id) => ("task", id.to_string()),
    };
    Some(About { kind: kind.to_owned(), id })
}

/// Whether a person is waited for: a tool of a client is run by that client, however long it takes.
pub fn asks_person(request: &Request) -> bool {
    !matches!(request.asked, Asked::External(_))
}

/// What is asked, in a word.
pub fn kind(asked: &Asked) -> &'static str {
    match asked {
        Asked::Approval { .. } | Asked::Permission { .. } | Asked::Dialog { .. } => "approval",
        Asked::Input { .. } => "question",
        Asked::PlanExit(_) => "plan",
        Asked::External(_) => "client's tool",
    }
}

/// How urgent it is, in a word.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::ApprovalNeeded => "approval_needed",
        Category::ReviewRequested => "review_requested",
        Category::Error => "error",
        Category::Blocked => "blocked",
        Category::Completed => "completed",
        Category::Informational => "informational",
    }
}

/// Who says so, in a word.
pub fn source(source: Source) -> &'static str {
    match source {
        Source::Protocol => "protocol",
        Source::Report => "report",
        Source::Screen => "screen",
        Source::Program => "program",
    }
}

/// Who asks: the tool, or the title that a harness gave.
fn asks(request: &Request) -> String {
    let title = match &request.asked {
        Asked::Permission { title, .. } | Asked::Dialog { title, .. } => title,
        Asked::Input { questions } => {
            questions.first().map_or(&request.tool, |asked| &asked.header)
        }
        Asked::Approval { .. } | Asked::PlanExit(_) | Asked::External(_) => &request.tool,
    };
    one_line(if title.is_empty() { &request.tool } else { title })
}

/// What it is about, in one line.
fn about(request: &Request) -> String {
    let text = match &request.asked {
        Asked::Approval { input, preview, .. } => preview.as_deref().unwrap_or(input),
        Asked::Input { questions } => questions.first().map_or("", |asked| &asked.question),
        Asked::PlanExit(plan) => &plan.summary,
        Asked::Permission { summary, action, .. } => {
            if action.is_empty() {
                summary
            } else {
                action
            }
        }
        Asked::Dialog { text, .. } => text,
        Asked::External(_) => "",
    };
    let files = crate::diff::parse(text);
    match &files[..] {
        [] => one_line(text),
        [file] => one_line(&file.path),
        [file, more @ ..] => one_line(&format!("{} and {} more files", file.path, more.len())),
    }
}

/// One line in which everything is seen.
fn shown(text: &str) -> String {
    safe::seen(&safe::line(text))
}

/// The first line that says anything. Nothing is decided by it, so it may be cut.
fn one_line(text: &str) -> String {
    let line = text.lines().map(shown).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::{QueueItemId, RequestId, SessionId, Timestamp};

    use super::*;

    fn item(related: Option<Related>, category: Category) -> QueueItem {
        QueueItem {
            id: QueueItemId::new(7),
            session: None,
            related,
            category,
            title: "Note\u{1b}[2J".to_owned(),
            subtitle: Some("more".to_owned()),
            source: Source::Report,
            created_at: Timestamp::from_micros(5_000),
            order: 1,
            is_pinned: false,
            resolved_at: None,
        }
    }

    fn permission(action: &str) -> Request {
        let asked = Asked::Permission {
            title: "write_file".to_owned(),
            summary: "why".to_owned(),
            action: action.to_owned(),
            scope: None,
        };
        let mut request = Request::of_session(
            RequestId::new(3),
            SessionId::new(1),
            asked,
            Timestamp::from_micros(0),
        );
        request.deadline = Some(Timestamp::from_micros(9_000));
        request
    }

    #[test]
    fn items_are_joined_with_the_requests_that_wait() {
        let queue = [
            item(Some(Related::Request(RequestId::new(3))), Category::ApprovalNeeded),
            item(Some(Related::Request(RequestId::new(4))), Category::ApprovalNeeded),
            item(None, Category::Informational),
        ];
        let request = permission("--- a/x\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\n");
        let joined = join(&queue, |id| (id == request.id).then_some(&request));
        let rows: Vec<InboxRow> = joined.iter().map(|item| item.row("api")).collect();
        assert_eq!((rows[0].kind.as_str(), rows[0].title.as_str()), ("approval", "write_file"));
        assert_eq!((rows[0].subtitle.as_str(), rows[0].deadline), ("src/x.rs", Some(9)));
        assert_eq!(rows[0].request, Some(RequestId::new(3).to_string()));
        assert_eq!((rows[1].kind.as_str(), &rows[1].request), ("attention", &None));
        assert_eq!((rows[2].kind.as_str(), rows[2].title.as_str()), ("note", "Note[2J"));
        assert_eq!((rows[2].at, rows[2].source.as_str()), (5, "report"));
        assert!(joined[0].waits() && !joined[2].waits());
    }

    #[test]
    fn a_row_is_one_line_without_escapes() {
        let request = permission(&format!("\n\x1b[2Jrm {}\nnext", "x".repeat(500)));
        let line = about(&request);
        assert!(
            line.starts_with("[2Jrm x")
                && line.ends_with('…')
                && line.chars().count() == MOST_CHARS + 1
        );
    }
}
