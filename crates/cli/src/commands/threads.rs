//! `rookery threads`: conversations with agents, listed, shown and kept in order.

use rookery_roder::wire::{
    thread::{
        Thread, ThreadHistoryReadParams, ThreadHistoryReadResult, ThreadListParams,
        ThreadListResult,
    },
    upkeep::{ThreadForkParams, ThreadIdParams, ThreadNameSetParams, ThreadResult},
};
use rookery_wire::Client;
use serde::Serialize;
use serde_json::Value;

use crate::{
    args::{self, ThreadsAction},
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    output::{self, Colors, Table, Tone, shorten},
    talk::{age, show, threads},
};

/// Columns of a name.
const TITLE_WIDTH: usize = 60;
/// The most the daemon gives at once.
const LARGEST_PAGE: u32 = 500;
/// About how much of a conversation comes at once.
const PAGE_BYTES: u64 = 4 << 20;

pub(super) async fn run(args: args::Threads) -> Outcome {
    let client = link::connect().await?;
    match args.action {
        None => list(&client, args.list).await,
        Some(ThreadsAction::Show(args)) => show_one(&client, args).await,
        Some(ThreadsAction::Archive(args)) => each(&client, args, &ARCHIVE).await,
        Some(ThreadsAction::Unarchive(args)) => each(&client, args, &UNARCHIVE).await,
        Some(ThreadsAction::Delete(args)) => each(&client, args, &DELETE).await,
        Some(ThreadsAction::Interrupt(args)) => each(&client, args, &INTERRUPT).await,
        Some(ThreadsAction::Rename(args)) => rename(&client, args).await,
        Some(ThreadsAction::Fork(args)) => fork(&client, args).await,
    }
}

/// Threads for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    threads: &'a [Thread],
    /// Whether there are older ones.
    has_more: bool,
}

async fn list(client: &Client, args: args::ThreadsList) -> Outcome {
    let cwd = args.cwd.map(|path| {
        let found = std::fs::canonicalize(&path);
        found.map_err(|error| Failure::new(format!("no directory {}: {error}", path.display())))
    });
    let cwd = cwd.transpose()?.map(|path| path.to_string_lossy().into_owned());
    let mut all: Vec<Thread> = Vec::new();
    let mut cursor = None;
    loop {
        let left = args.limit.saturating_sub(u32::try_from(all.len()).unwrap_or(u32::MAX));
        let params = ThreadListParams {
            limit: Some(left.min(LARGEST_PAGE)),
            cursor,
            archived: args.archived,
            cwd: cwd.clone(),
            search_term: args.search.clone(),
        };
        let page: ThreadListResult = call(client, params).await?;
        let count = u32::try_from(page.data.len()).unwrap_or(u32::MAX);
        all.extend(page.data);
        cursor = page.next_cursor;
        if cursor.is_none() || count == 0 || count >= left {
            break;
        }
    }
    if args.json {
        output::json(&Listed { threads: &all, has_more: cursor.is_some() })?;
    } else if all.is_empty() {
        output::note("no threads; start one with `rookery chat`");
    } else {
        table(&all, age::now()).print()?;
    }
    done()
}

fn table(threads: &[Thread], now: i64) -> Table {
    let mut table = Table::new(&["ID", "STATE", "MODEL", "AGE", "NAME"]);
    for thread in threads {
        let tone = if thread.name.is_some() { Tone::Strong } else { Tone::Plain };
        let mut title = shorten(&show::title(thread), TITLE_WIDTH);
        if thread.ephemeral {
            title.push_str(" (ephemeral)");
        }
        table.row(vec![
            (Tone::Strong, show::short_id(&thread.id).to_owned()),
            show::status(&thread.status),
            (Tone::Faint, shorten(&show::model(thread), 32)),
            (Tone::Faint, age::since(thread.updated_at, now)),
            (tone, title),
        ]);
    }
    table
}

async fn show_one(client: &Client, args: args::ThreadsShow) -> Outcome {
    let id = threads::find(client, &args.target.id).await?;
    let thread = read_whole(client, &id).await?;
    if args.target.json {
        output::json(&thread)?;
    } else {
        let colors = Colors::of_stdout();
        let shown = show::conversation(&thread, args.reasoning_text, colors);
        output::write(shown.as_bytes())?;
    }
    done()
}

/// A thread with all of its turns, which may be too much for one message.
async fn read_whole(client: &Client, id: &str) -> Outcome<Thread> {
    let mut later = Vec::new();
    let mut before = None;
    loop {
        let params = ThreadHistoryReadParams {
            thread_id: id.to_owned(),
            before,
            limit: Some(LARGEST_PAGE),
            max_bytes: Some(PAGE_BYTES),
        };
        let page: ThreadHistoryReadResult = call(client, params).await?;
        let mut thread = page.thread.ok_or_else(|| threads::unreadable(id))?;
        let mut turns = thread.turns.take().unwrap_or_default();
        turns.append(&mut later);
        if !page.has_more || page.before.is_none() {
            thread.turns = Some(turns);
            return Ok(thread);
        }
        (later, before) = (turns, page.before);
    }
}

/// Something done to one thread after the other.
struct Operation {
    method: &'static str,
    /// What it makes of a thread.
    done: &'static str,
    /// What the result has to say for it to have worked, if anything.
    proof: Option<(&'static str, bool)>,
}

const ARCHIVE: Operation =
    Operation { method: "thread/archive", done: "archived", proof: Some(("archived", true)) };
const UNARCHIVE: Operation =
    Operation { method: "thread/unarchive", done: "unarchived", proof: Some(("archived", false)) };
const DELETE: Operation =
    Operation { method: "thread/delete", done: "deleted", proof: Some(("deleted", true)) };
const INTERRUPT: Operation =
    Operation { method: "turn/interrupt", done: "interrupted", proof: None };

async fn each(client: &Client, args: args::ThreadTargets, operation: &Operation) -> Outcome {
    // All names are looked up before anything is done to the first.
    let mut ids = Vec::new();
    for text in &args.ids {
        ids.push(threads::find(client, text).await?);
    }
    for id in ids {
        let result: Value =
            client.call(operation.method, ThreadIdParams { thread_id: id.clone() }).await?;
        let has_worked = operation.proof.is_none_or(|(member, wanted)| result[member] == wanted);
        if !has_worked {
            return Err(Failure::new(format!("no thread {id}"))
                .hint("run `rookery threads` to list threads"));
        }
        tell(args.json, &result, &format!("{} {id}", operation.done))?;
    }
    done()
}

async fn rename(client: &Client, args: args::ThreadsRename) -> Outcome {
    let thread_id = threads::find(client, &args.target.id).await?;
    let text = format!("renamed {thread_id}");
    let params = ThreadNameSetParams { thread_id, name: args.name.join(" ") };
    let result = call(client, params).await?;
    tell(args.target.json, &result, &text)?;
    done()
}

async fn fork(client: &Client, args: args::ThreadsFork) -> Outcome {
    let thread_id = threads::find(client, &args.target.id).await?;
    let (from_turn_id, name) = (args.from, args.name);
    let params = ThreadForkParams { thread_id, from_turn_id, name, provider: None };
    let forked = ThreadResult { thread: call(client, params).await?.thread };
    tell(args.target.json, &forked, &forked.thread.id)?;
    done()
}

fn tell(json: bool, result: &impl Serialize, text: &str) -> Outcome<()> {
    if json { output::json_line(result) } else { output::line(text) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_line_per_thread() {
        let thread = |id: &str, name: Option<&str>, status: Value| -> Thread {
            serde_json::from_value(json!({
                "id": id, "sessionId": id, "preview": "make it\nwork \u{1b}[2J", "name": name,
                "modelProvider": "mock", "model": "mock", "createdAt": 0, "updatedAt": 60,
                "cwd": "/", "messageCount": 0, "ephemeral": name.is_some(), "status": status,
            }))
            .unwrap()
        };
        let flags = json!(["approvalRequired", "interrupting"]);
        let all = [
            thread("a-12345678", None, json!({"type": "idle", "activeFlags": []})),
            thread("b-87654321", Some("docs"), json!({"type": "running", "activeFlags": flags})),
        ];
        expect![[r#"
            ID        STATE                   MODEL      AGE  NAME
            12345678  idle                    mock/mock  2m   make it work [2J
            87654321  approval, interrupting  mock/mock  2m   docs (ephemeral)
        "#]]
        .assert_eq(&table(&all, 180).render(Colors::none(), None));
    }
}
