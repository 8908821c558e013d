//! `rookery threads`: conversations with agents, listed, shown and kept in order.
//!
//! What `--json` prints has the members of Roder's objects, whichever dialect did the work.

mod published;

use rookery_native::{
    code,
    wire::{
        Thread, ThreadArchive, ThreadDelete, ThreadFork, ThreadItems, ThreadList, ThreadRead,
        ThreadRename, ThreadUnarchive, Threads, Turn, TurnInterrupt,
    },
};
use rookery_roder::wire::{
    turn::TurnIdResult,
    upkeep::{ThreadArchiveResult, ThreadDeleteResult, ThreadNameResult, ThreadResult},
};
use rookery_wire::{Call, Client, ClientError};
use serde::Serialize;

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
/// The most threads that the daemon gives at once, and the most items of one.
const LARGEST_PAGE: usize = 500;
const LARGEST_PART: usize = 1000;
/// About how much of a conversation comes at once.
const PAGE_BYTES: usize = 4 << 20;

pub(super) async fn run(args: args::Threads) -> Outcome {
    let client = link::connect().await?;
    match args.action {
        None => list(&client, args.list).await,
        Some(ThreadsAction::Show(args)) => show_one(&client, args).await,
        Some(ThreadsAction::Archive(args)) => each(&client, args, Operation::Archive).await,
        Some(ThreadsAction::Unarchive(args)) => each(&client, args, Operation::Unarchive).await,
        Some(ThreadsAction::Delete(args)) => each(&client, args, Operation::Delete).await,
        Some(ThreadsAction::Interrupt(args)) => each(&client, args, Operation::Interrupt).await,
        Some(ThreadsAction::Rename(args)) => rename(&client, args).await,
        Some(ThreadsAction::Fork(args)) => fork(&client, args).await,
    }
}

async fn list(client: &Client, args: args::ThreadsList) -> Outcome {
    let cwd = args.cwd.as_ref().map(|path| {
        let found = std::fs::canonicalize(path);
        found.map_err(|error| Failure::new(format!("no directory {}: {error}", path.display())))
    });
    let cwd = cwd.transpose()?;
    if args.json {
        output::json(&published::list(client, &args, cwd).await?)?;
        return done();
    }
    let wanted = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut all: Vec<Thread> = Vec::new();
    let mut cursor = None;
    loop {
        let left = wanted.saturating_sub(all.len());
        let params = ThreadList {
            limit: Some(left.min(LARGEST_PAGE)),
            cursor,
            archived: args.archived,
            cwd: cwd.clone(),
            search: args.search.clone(),
        };
        let page: Threads = call(client, params).await?;
        let count = page.threads.len();
        all.extend(page.threads);
        cursor = page.next;
        if cursor.is_none() || count == 0 || count >= left {
            break;
        }
    }
    if all.is_empty() {
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
            (Tone::Faint, shorten(&show::model(&thread.choice), 32)),
            (Tone::Faint, age::since_text(&thread.updated_at, now)),
            (tone, title),
        ]);
    }
    table
}

async fn show_one(client: &Client, args: args::ThreadsShow) -> Outcome {
    let id = threads::find(client, &args.target.id).await?;
    if args.target.json {
        output::json(&published::whole(client, &id).await?)?;
    } else {
        let whole = read_whole(client, &id).await?;
        let shown = show::conversation(&whole, args.reasoning_text, Colors::of_stdout());
        output::write(shown.as_bytes())?;
    }
    done()
}

/// A thread with all that was said in it, which may be too much for one message.
async fn read_whole(client: &Client, id: &str) -> Outcome<show::Conversation> {
    let (mut turns, mut items) = (Vec::new(), Vec::new());
    let mut before = None;
    loop {
        let params = ThreadRead {
            thread: id.to_owned(),
            before,
            limit: Some(LARGEST_PART),
            max_bytes: Some(PAGE_BYTES),
        };
        let mut page: ThreadItems = threads::known(client, id, params).await?;
        if page.thread.archived {
            return Err(threads::unreadable(id));
        }
        // A turn that a page begins in the middle of is on the page before as well.
        turns.retain(|turn: &Turn| page.turns.iter().all(|one| one.id != turn.id));
        page.turns.append(&mut turns);
        page.items.append(&mut items);
        if page.before.is_none() {
            let ThreadItems { thread, turns, items, .. } = page;
            return Ok(show::Conversation { thread, turns, items });
        }
        (turns, items, before) = (page.turns, page.items, page.before);
    }
}

/// Something done to one thread after the other.
#[derive(Clone, Copy)]
enum Operation {
    Archive,
    Unarchive,
    Delete,
    Interrupt,
}

async fn each(client: &Client, args: args::ThreadTargets, operation: Operation) -> Outcome {
    // All names are looked up before anything is done to the first.
    let mut ids = Vec::new();
    for text in &args.ids {
        ids.push(threads::find(client, text).await?);
    }
    for id in ids {
        one(client, &id, operation, args.json).await?;
    }
    done()
}

async fn one(client: &Client, id: &str, operation: Operation, json: bool) -> Outcome<()> {
    let (thread, thread_id) = (id.to_owned(), id.to_owned());
    match operation {
        Operation::Archive => {
            let archived = known(client, id, ThreadArchive { thread }).await?.archived;
            print_result(
                json,
                &ThreadArchiveResult { thread_id, archived },
                &format!("archived {id}"),
            )
        }
        Operation::Unarchive => {
            let archived = known(client, id, ThreadUnarchive { thread }).await?.archived;
            print_result(
                json,
                &ThreadArchiveResult { thread_id, archived },
                &format!("unarchived {id}"),
            )
        }
        Operation::Delete => {
            known(client, id, ThreadDelete { thread }).await?;
            let deleted = ThreadDeleteResult { thread_id, deleted: true };
            print_result(json, &deleted, &format!("deleted {id}"))
        }
        Operation::Interrupt => {
            let turn = known(client, id, TurnInterrupt { thread, turn: None }).await?.turn;
            print_result(json, &TurnIdResult { turn_id: turn }, &format!("interrupted {id}"))
        }
    }
}

/// Calls a method about a thread that was looked up, and may be gone all the same.
async fn known<P: Call>(client: &Client, id: &str, params: P) -> Outcome<P::Reply> {
    let see = "run `rookery threads` to list threads";
    match client.send(params).await {
        Err(ClientError::Rpc(error)) if error.code == code::NOT_FOUND => {
            Err(Failure::new(format!("no thread {id}")).hint(see))
        }
        reply => Ok(reply?),
    }
}

async fn rename(client: &Client, args: args::ThreadsRename) -> Outcome {
    let id = threads::find(client, &args.target.id).await?;
    let params = ThreadRename { thread: id.clone(), name: Some(args.name.join(" ")) };
    let renamed = known(client, &id, params).await?;
    let text = format!("renamed {id}");
    print_result(args.target.json, &ThreadNameResult { thread_id: id, name: renamed.name }, &text)?;
    done()
}

async fn fork(client: &Client, args: args::ThreadsFork) -> Outcome {
    let thread = threads::find(client, &args.target.id).await?;
    let id = thread.clone();
    let params = ThreadFork { thread, turn: args.from, name: args.name };
    let forked = known(client, &id, params).await?;
    if args.target.json {
        let thread = published::one(client, &forked.id).await?;
        output::json_line(&ThreadResult { thread })?;
    } else {
        output::line(&forked.id)?;
    }
    done()
}

fn print_result(json: bool, result: &impl Serialize, text: &str) -> Outcome<()> {
    if json { output::json_line(result) } else { output::line(text) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn one_line_per_thread() {
        let thread = |id: &str, name: Option<&str>, status: Value| -> Thread {
            serde_json::from_value(json!({
                "id": id, "preview": "make it\nwork \u{1b}[2J", "name": name, "mode": "default",
                "choice": {"provider": "mock", "model": "mock"}, "archived": false,
                "createdAt": "", "updatedAt": "1970-01-01T00:01:00.000000Z", "cwd": "/",
                "messages": 0, "ephemeral": name.is_some(), "status": status,
                "usage": {"prompt": 0, "completion": 0, "cached": 0, "cacheCreation": 0},
            }))
            .unwrap()
        };
        let waits = json!({"turn": "t", "waits": ["approval", "stop"]});
        let all =
            [thread("a-12345678", None, json!({})), thread("b-87654321", Some("docs"), waits)];
        expect![[r#"
            ID        STATE                   MODEL      AGE  NAME
            12345678  idle                    mock/mock  2m   make it work [2J
            87654321  approval, interrupting  mock/mock  2m   docs (ephemeral)
        "#]]
        .assert_eq(&table(&all, 180).render(Colors::none(), None));
    }
}
