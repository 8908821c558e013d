//! The idx0 tool: its command line, its words and its exit codes. It is a client of any idx0 server,
//! ours or another.

mod help;
pub(crate) mod link;
mod options;
mod show;

use std::{collections::BTreeMap, ffi::OsString, path::Path, process::ExitCode};

use rookery_idx0::envelope::{Reply, Request};

use crate::output;
use options::Options;

/// The name of the tool.
pub(crate) const NAME: &str = "idx0";

/// What goes wrong is one line, and the exit code is always the same.
type Result<T> = std::result::Result<T, String>;

/// A subcommand: how its options become a request, and how the reply is shown.
struct Subcommand {
    name: &'static str,
    request: fn(&Options) -> Result<Request>,
    show: fn(&Reply, &Options) -> Result<String>,
}

/// All of them, in the order of the help.
const SUBCOMMANDS: &[Subcommand] = &[
    plain("open", |_| Ok(asking("open", &[]))),
    plain("new-session", new_session),
    plain("checkpoint", checkpoint),
    plain("handoff", handoff),
    plain("request-review", request_review),
    plain("focus", |options| about_session("focus", "focusSession", options, &[])),
    listing("queue", |_| Ok(asking("listQueue", &[])), show::queue),
    listing("list-approvals", list_approvals, show::approvals),
    plain("respond-approval", respond_approval),
    listing("list-vibe-tools", |_| Ok(asking("listVibeTools", &[])), show::tools),
    listing("list-sessions", |_| Ok(asking("listSessions", &[])), show::sessions),
    plain("notify", notify),
    plain("agent-event", agent_event),
    plain("review", review),
    plain("resolve", resolve),
];

const fn plain(name: &'static str, request: fn(&Options) -> Result<Request>) -> Subcommand {
    Subcommand { name, request, show: show::message }
}

const fn listing(
    name: &'static str,
    request: fn(&Options) -> Result<Request>,
    show: fn(&Reply, &Options) -> Result<String>,
) -> Subcommand {
    Subcommand { name, request, show }
}

/// The whole tool.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let words: Vec<String> =
        args.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match run(&words) {
        Ok(text) if text.is_empty() => ExitCode::SUCCESS,
        Ok(text) => match output::line(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        Err(message) => {
            output::note(format!("{NAME}: {message}"));
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<String> {
    let Some((name, rest)) = words.split_first() else { return Ok(help::text()) };
    let asks_help = |word: &String| matches!(word.as_str(), "--help" | "-h");
    if name == "help" || words.iter().any(asks_help) {
        return Ok(help::text());
    }
    let Some(subcommand) = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name) else {
        return Err(format!("Unknown command '{name}'. See '{NAME} help'."));
    };
    let options = Options::read(rest);
    let request = (subcommand.request)(&options)?;
    let reply = link::ask(&request)?;
    if !reply.success {
        return Err(reply.message.unwrap_or_else(|| "Command failed".to_owned()));
    }
    if let Some(warning) = reply.data.as_ref().and_then(|data| data.get("warning")) {
        output::note(format!("{NAME}: warning: {}", output::printable(warning)));
    }
    (subcommand.show)(&reply, &options)
}

/// A request with the options that are there, under the keys of the payload.
fn asking(command: &str, payload: &[(&str, Option<String>)]) -> Request {
    let filled =
        payload.iter().filter_map(|(key, value)| Some(((*key).to_owned(), value.clone()?)));
    Request { command: command.to_owned(), payload: filled.collect::<BTreeMap<_, _>>() }
}

fn about_session(
    name: &str,
    command: &str,
    options: &Options,
    payload: &[(&str, Option<String>)],
) -> Result<Request> {
    let session = options.text("session");
    if session.is_none() {
        return Err(format!("{name} requires --session <id-or-title>"));
    }
    let mut request = asking(command, payload);
    request.payload.extend(session.map(|session| ("session".to_owned(), session)));
    Ok(request)
}

fn new_session(options: &Options) -> Result<Request> {
    let tool = options.text("tool").filter(|_| !options.is_set("default-tool"));
    let command = match options.is_set("default-tool") || tool.is_some() {
        true => "newSessionWithTool",
        false => "newSession",
    };
    let existing = options.text("existing-worktree").map(absolute);
    let wants_worktree = existing.is_some() || options.is_set("worktree");
    Ok(asking(
        command,
        &[
            ("title", options.text("title")),
            ("repoPath", options.text("repo").map(absolute)),
            ("branchName", options.text("branch")),
            ("createWorktree", wants_worktree.then(|| "true".to_owned())),
            ("existingWorktreePath", existing),
            ("toolID", tool),
        ],
    ))
}

/// The server has a directory of its own, so that a path must say all of it.
fn absolute(path: String) -> String {
    if path.starts_with('~') {
        return path;
    }
    let absolute = std::path::absolute(Path::new(&path));
    absolute.map_or(path, |absolute| absolute.to_string_lossy().into_owned())
}

fn checkpoint(options: &Options) -> Result<Request> {
    let review = options.is_set("request-review").then(|| "true".to_owned());
    let payload = [
        ("title", options.text("title")),
        ("summary", options.text("summary")),
        ("requestReview", review),
    ];
    about_session("checkpoint", "createCheckpoint", options, &payload)
}

fn handoff(options: &Options) -> Result<Request> {
    let payload = [
        ("targetSession", options.text("target")),
        ("checkpointID", options.text("checkpoint-id")),
        ("title", options.text("title")),
        ("summary", options.text("summary")),
        ("risks", options.text("risks")),
        ("nextActions", options.text("next-actions")),
    ];
    about_session("handoff", "createHandoff", options, &payload)
}

fn request_review(options: &Options) -> Result<Request> {
    let payload =
        [("checkpointID", options.text("checkpoint-id")), ("summary", options.text("summary"))];
    about_session("request-review", "requestReview", options, &payload)
}

fn list_approvals(options: &Options) -> Result<Request> {
    let status = options.text("status").map(|status| status.to_lowercase());
    Ok(asking("listApprovals", &[("session", options.text("session")), ("status", status)]))
}

fn respond_approval(options: &Options) -> Result<Request> {
    let id = options.text("approval-id");
    let id = id.ok_or("respond-approval requires --approval-id <uuid>")?;
    let status = options.text("status").map(|status| status.to_lowercase());
    let status = status.ok_or("respond-approval requires --status approved|denied|deferred")?;
    if !matches!(status.as_str(), "approved" | "denied" | "deferred") {
        let message = "respond-approval status must be one of: approved, denied, deferred";
        return Err(message.to_owned());
    }
    let message = options.text("message");
    let payload = [("approvalID", Some(id)), ("status", Some(status)), ("message", message)];
    Ok(asking("respondApproval", &payload))
}

fn notify(options: &Options) -> Result<Request> {
    let own = std::env::var("IDX0_SESSION_ID").ok().filter(|id| !id.is_empty());
    let session = options.text("session").or(own);
    let session = session.ok_or("notify requires --session <uuid>")?;
    let payload = [
        ("sessionID", Some(session)),
        ("title", options.text("title")),
        ("summary", options.text("summary")),
        ("category", options.text("category")),
        ("activity", options.text("activity")),
        ("activityDescription", options.text("activity-description")),
    ];
    Ok(asking("notify", &payload))
}

fn agent_event(options: &Options) -> Result<Request> {
    let envelope = options.text("envelope").ok_or("agent-event requires --envelope <json>")?;
    Ok(asking("agentEvent", &[("envelope", Some(envelope))]))
}

fn review(options: &Options) -> Result<Request> {
    let id = options.text("review-id").ok_or("review requires --review-id <uuid>")?;
    let status = options.text("status");
    let status = status.ok_or("review requires --status approved|changesRequested|deferred")?;
    Ok(asking("setReviewStatus", &[("reviewID", Some(id)), ("status", Some(status))]))
}

fn resolve(options: &Options) -> Result<Request> {
    let id = options.text("queue-id").ok_or("resolve requires --queue-id <uuid>")?;
    Ok(asking("markQueueResolved", &[("queueID", Some(id))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &[&str]) -> Result<Request> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let subcommand = SUBCOMMANDS.iter().find(|one| one.name == words[0]).unwrap();
        (subcommand.request)(&Options::read(&words[1..]))
    }

    fn payload(words: &[&str]) -> (String, Vec<(String, String)>) {
        let request = request(words).unwrap();
        (request.command, request.payload.into_iter().collect())
    }

    fn of(command: &str, members: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        (command.to_owned(), members.iter().map(own).collect())
    }

    #[test]
    fn new_sessions_say_what_tool_they_want() {
        assert_eq!(payload(&["new-session"]), of("newSession", &[]));
        assert_eq!(
            payload(&["new-session", "--tool", "claude", "--title", "a b"]),
            of("newSessionWithTool", &[("title", "a b"), ("toolID", "claude")])
        );
        assert_eq!(
            payload(&["new-session", "--default-tool", "--tool", "claude"]),
            of("newSessionWithTool", &[])
        );
        assert_eq!(
            payload(&["new-session", "--repo=/r", "--existing-worktree", "/w"]),
            of(
                "newSession",
                &[("createWorktree", "true"), ("existingWorktreePath", "/w"), ("repoPath", "/r")]
            )
        );
    }

    #[test]
    fn what_is_missing_is_said_in_the_words_of_the_original() {
        let error = |words: &[&str]| request(words).unwrap_err();
        assert_eq!(error(&["focus"]), "focus requires --session <id-or-title>");
        assert_eq!(
            error(&["checkpoint", "--session", ""]),
            "checkpoint requires --session <id-or-title>"
        );
        assert_eq!(error(&["respond-approval"]), "respond-approval requires --approval-id <uuid>");
        assert_eq!(
            error(&["respond-approval", "--approval-id", "x"]),
            "respond-approval requires --status approved|denied|deferred"
        );
        assert_eq!(
            error(&["respond-approval", "--approval-id", "x", "--status", "maybe"]),
            "respond-approval status must be one of: approved, denied, deferred"
        );
    }

    #[test]
    fn words_of_status_are_small() {
        let asked = payload(&["respond-approval", "--approval-id", "x", "--status", "Approved"]);
        assert_eq!(asked, of("respondApproval", &[("approvalID", "x"), ("status", "approved")]));
    }
}
