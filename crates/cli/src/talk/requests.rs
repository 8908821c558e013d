//! What agents wait for: which requests there are, and how they are shown.

use rookery_native::wire::{Question, Request, RequestKind, RequestList, RequestState, Requests};
use rookery_view::safe;
use rookery_wire::Client;

use super::{age, mode, show};
use crate::{
    failure::{Failure, Outcome},
    link::call,
    output::{Table, Tone, shorten},
};

/// The fewest letters of a request's id that are shown.
const SHORT_ID: usize = 6;
/// Columns of a summary.
const SUMMARY_WIDTH: usize = 72;

/// The bare id in an id of any spelling.
pub(crate) fn bare_id(text: &str) -> &str {
    text.rsplit(['_', '-']).next().unwrap_or(text)
}

/// The request that waits under this id, or the end of one.
pub(crate) async fn find(client: &Client, id: &str) -> Outcome<Request> {
    let end = bare_id(id.trim()).to_ascii_uppercase();
    let list: Requests = call(client, RequestList::default()).await?;
    let mut fitting =
        list.requests.into_iter().filter(|one| one.id.to_ascii_uppercase().ends_with(&end));
    let see = "run `rookery inbox` to list open requests";
    match (fitting.next().filter(|_| !end.is_empty()), fitting.next()) {
        (Some(request), None) => Ok(request),
        (Some(_), Some(_)) => {
            let message = format!("several requests end with {}", safe::line(id));
            Err(Failure::new(message).hint("use more characters of the id"))
        }
        (None, _) => {
            let message = format!("there is no open request {}", safe::line(id));
            Err(Failure::new(message).hint(see))
        }
    }
}

/// What a thread waits for, oldest first.
pub(crate) async fn pending(client: &Client, thread: &str) -> Outcome<Vec<Request>> {
    let of_thread = RequestList { thread: Some(thread.to_owned()) };
    let list: Requests = call(client, of_thread).await?;
    Ok(list.requests)
}

/// What is asked, in a word.
pub(crate) fn kind(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Approval => "approval",
        RequestKind::Input => "question",
        RequestKind::PlanExit => "plan",
        RequestKind::ExternalTool => "client's tool",
    }
}

/// Whether it waits, or how it was settled, in a word.
pub(crate) fn state(state: RequestState) -> &'static str {
    match state {
        RequestState::Pending => "pending",
        RequestState::Approved => "approved",
        RequestState::Denied => "denied",
        RequestState::Answered => "answered",
        RequestState::Cancelled => "cancelled",
        RequestState::TimedOut => "timed out",
    }
}

/// The end of an id: enough letters to tell it from the others.
pub(crate) fn short_id<'a>(id: &'a str, others: impl Iterator<Item = &'a str> + Clone) -> &'a str {
    let end = |length: usize| id.len().checked_sub(length).and_then(|from| id.get(from..));
    for length in SHORT_ID..id.len() {
        let Some(end) = end(length) else { break };
        if others.clone().filter(|other| *other != id).all(|other| !other.ends_with(end)) {
            return end;
        }
    }
    id
}

/// What it is about in one line, with the tool that asks.
pub(crate) fn summary(request: &Request) -> String {
    let text = safe::line(&request.summary);
    let tool = safe::line(&request.tool);
    // A tool that has no more to say than its name says it once.
    let text = if request.kind == RequestKind::Input || text == tool {
        text
    } else {
        format!("{tool}: {text}")
    };
    let shown = shorten(&text, SUMMARY_WIDTH);
    match unshown(request, &text, &shown) {
        0 => shown,
        more => format!("{shown} (+{more} characters)"),
    }
}

/// How many characters of what would be done a line does not show.
fn unshown(request: &Request, line: &str, shown: &str) -> usize {
    let whole = request.preview.as_deref().filter(|_| request.kind == RequestKind::Approval);
    let whole = whole.unwrap_or_default().trim();
    // A patch is summed up by the names of its files; a command by its first line.
    let is_patch = ["--- ", "diff "].iter().any(|start| whole.starts_with(start));
    let more = whole.lines().skip(1).filter(|line| !is_patch && !says_how_it_runs(line));
    let more: usize = more.map(|line| line.chars().count()).sum();
    let hidden = request.unseen.as_ref().map_or(0, |unseen| unseen.characters as usize);
    let cut = line.chars().count().saturating_sub(shown.trim_end_matches('…').chars().count());
    more + hidden + cut
}

/// Whether a line of a preview is the one that says what runs a command.
fn says_how_it_runs(line: &str) -> bool {
    line.starts_with("[runs as ")
}

/// What waits, one row each.
pub(crate) fn table(requests: &[Request], now: i64) -> Table {
    let mut table = Table::new(&["ID", "KIND", "THREAD", "AGE", "SUMMARY"]);
    let ids = requests.iter().map(|request| &*request.id);
    for request in requests {
        table.row(vec![
            (Tone::Strong, short_id(&request.id, ids.clone()).to_owned()),
            (Tone::Warning, kind(request.kind).to_owned()),
            (Tone::Faint, show::short_id(&request.thread).to_owned()),
            (Tone::Faint, age::since_text(&request.asked_at, now)),
            (Tone::Plain, summary(request)),
        ]);
    }
    table
}

/// Exactly what would be done, or is asked, line by line.
pub(crate) fn details(request: &Request) -> Vec<String> {
    match request.kind {
        RequestKind::Approval => approval(request),
        RequestKind::PlanExit => plan(request),
        RequestKind::Input => request.questions.iter().flat_map(question).collect(),
        RequestKind::ExternalTool => {
            vec![format!("{} waits for the client that runs it", safe::exact(&request.tool))]
        }
    }
}

fn approval(request: &Request) -> Vec<String> {
    let reason = request.reason.as_deref().filter(|reason| !reason.is_empty());
    let reason = reason.map(|reason| format!(" ({})", safe::line(reason))).unwrap_or_default();
    let mut lines = vec![format!("{} asks for approval{reason}", safe::exact(&request.tool))];
    lines.extend(exactly(request));
    lines
}

/// What a request would do and nothing else: the change or command, its arguments, where it runs and
/// with which variables.
pub(crate) fn exactly(request: &Request) -> Vec<String> {
    let mut lines = Vec::new();
    let what = match (&request.preview, &request.input) {
        (Some(preview), _) => preview.clone(),
        (None, Some(input)) => pretty(input),
        (None, None) => String::new(),
    };
    if !what.is_empty() {
        lines.extend(indented(what.strip_suffix('\n').unwrap_or(&what)));
    }
    if let (Some(unseen), Some(input)) = (&request.unseen, &request.input) {
        lines.push(format!("  all {} characters are in the tool's input:", unseen.of));
        lines.extend(whole(input));
    }
    if !request.argv.is_empty() {
        // With its quotes, so that arguments can be distinguished.
        let argv = serde_json::to_string(&request.argv).unwrap_or_default();
        lines.push(format!("  runs {}", safe::exact(&argv)));
    }
    if let Some(cwd) = &request.cwd {
        lines.push(format!("  in {}", safe::exact(cwd)));
    }
    for (name, value) in &request.env {
        lines.push(match value {
            Some(value) => format!("  with {}={}", safe::exact(name), safe::exact(value)),
            None => format!("  without {}", safe::exact(name)),
        });
    }
    lines
}

/// A question with its options, numbered from one.
pub(crate) fn question(question: &Question) -> Vec<String> {
    let header = safe::line(&question.header);
    let mut lines = vec![format!("{header}: {}", safe::line(&question.question))];
    let meanings = question.descriptions.iter().map(String::as_str).chain(std::iter::repeat(""));
    for ((option, meaning), number) in question.options.iter().zip(meanings).zip(1..) {
        let (label, meaning) = (safe::line(option), safe::line(meaning));
        let meaning = if meaning.is_empty() { meaning } else { format!(" — {meaning}") };
        lines.push(format!("  {number}. {label}{meaning}"));
    }
    lines
}

fn plan(request: &Request) -> Vec<String> {
    let plan = request.plan.as_ref();
    let next = plan.map(|plan| format!(" and continue in mode {}", mode::word(plan.mode)));
    let mut lines = vec![format!("approve this plan{}?", next.unwrap_or_default())];
    lines.extend(indented(request.preview.as_deref().unwrap_or(&request.summary)));
    let steps = plan.iter().flat_map(|plan| &plan.next_steps);
    lines.extend(steps.zip(1..).map(|(step, n)| format!("  {n}. {}", safe::exact(step))));
    lines
}

/// JSON with a line per member, or the text as it is.
fn pretty(input: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(input);
    let pretty = value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| input.to_owned())
}

/// Arguments of a call, each text with its own lines.
fn whole(input: &str) -> Vec<String> {
    let value: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(input);
    let Ok(members) = value else { return indented(input) };
    let member = |(name, value): (String, serde_json::Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let head = format!("  {}:", safe::exact(&name));
        std::iter::once(head).chain(indented(&text)).collect::<Vec<_>>()
    };
    members.into_iter().flat_map(member).collect()
}

fn indented(text: &str) -> Vec<String> {
    text.split('\n')
        .map(|line| format!("    {}", safe::exact(line.strip_suffix('\r').unwrap_or(line))))
        .collect()
}

#[cfg(test)]
mod tests;
