//! `rookery hunk`: what edit tools of a thread changed, and rolling it back.

use std::io::{self, BufRead as _, IsTerminal as _};

use rookery_native::wire::{Hunk, HunkList, HunkRollback, HunkRolledBack, HunkShow, Hunks};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::{self, HunkAction},
    commands::done,
    failure::{Failure, Outcome},
    link::{self, ask},
    output::{self, Colors, Table, Tone},
    talk::{age, patch, threads},
};

/// What to do when a hunk is not found.
const SEE: &str = "run `rookery hunk ls THREAD` to list hunks";

pub(super) async fn run(action: HunkAction) -> Outcome {
    let client = link::connect().await?;
    match action {
        HunkAction::Ls(args) => list(&client, args).await,
        HunkAction::Show(args) => show(&client, args).await,
        HunkAction::Rollback(args) => rollback(&client, args).await,
    }
}

async fn list(client: &Client, args: args::HunkLs) -> Outcome {
    let thread = threads::find(client, &args.thread).await?;
    let params = HunkList { thread, turn: args.turn, path: args.path };
    let list: Hunks = ask(client, params, SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.hunks.is_empty() {
        output::note("no hunks");
    } else {
        table(&list.hunks, age::now()).print()?;
    }
    done()
}

fn table(all: &[Hunk], now: i64) -> Table {
    let mut table = Table::new(&["ID", "AGE", "TOOL", "CHANGE", "LINES", "ROLLBACK", "FILE"]);
    for hunk in all {
        table.row(vec![
            (Tone::Strong, safe::line(&hunk.id)),
            (Tone::Faint, age::since_text(&hunk.at, now)),
            (Tone::Plain, safe::line(&hunk.tool)),
            (Tone::Plain, hunk.operation.clone()),
            (Tone::Faint, format!("+{} -{}", hunk.additions, hunk.deletions)),
            (rollback_tone(hunk), hunk.rollback.clone()),
            (Tone::Plain, format!("{}:{}", safe::exact(&hunk.path), hunk.new_start)),
        ]);
    }
    table
}

fn rollback_tone(hunk: &Hunk) -> Tone {
    match hunk.rollback.as_str() {
        "available" => Tone::Good,
        "applied" => Tone::Faint,
        "conflict" => Tone::Bad,
        _ => Tone::Warning,
    }
}

async fn show(client: &Client, args: args::HunkShow) -> Outcome {
    let thread = threads::find(client, &args.thread).await?;
    let hunk: Hunk = ask(client, HunkShow { thread, hunk: args.hunk }, SEE).await?;
    match args.json {
        true => output::json(&hunk)?,
        false => {
            let lines = patch::lines(&as_patch(&hunk), &[]);
            output::write(patch::painted(&lines, Colors::of_stdout()).as_bytes())?;
            if let Some(reason) = &hunk.reason {
                output::note(format!("{}: {}", hunk.rollback, safe::line(reason)));
            }
        }
    }
    done()
}

/// A hunk as a unified diff.
fn as_patch(hunk: &Hunk) -> String {
    let old = hunk.old_path.as_deref().unwrap_or(&hunk.path);
    let (from, to) = match hunk.operation.as_str() {
        "create" => ("/dev/null".to_owned(), format!("b/{}", hunk.path)),
        "delete" => (format!("a/{}", hunk.path), "/dev/null".to_owned()),
        _ => (format!("a/{old}"), format!("b/{}", hunk.path)),
    };
    let Hunk { old_start, old_lines, new_start, new_lines, .. } = hunk;
    let mut text = format!("--- {from}\n+++ {to}\n");
    if !hunk.lines.is_empty() {
        text.push_str(&format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@\n"));
    }
    for line in &hunk.lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

async fn rollback(client: &Client, args: args::HunkRollback) -> Outcome {
    let thread = threads::find(client, &args.thread).await?;
    let shown = HunkShow { thread: thread.clone(), hunk: args.hunk.clone() };
    let hunk: Hunk = ask(client, shown, SEE).await?;
    if !args.yes && !confirmed(&hunk)? {
        return Err(Failure::new("the hunk was not rolled back"));
    }
    let params = HunkRollback { thread, hunk: args.hunk };
    let done_to: HunkRolledBack = ask(client, params, SEE).await?;
    if args.json {
        output::json(&done_to)?;
    }
    match done_to.error {
        None if args.json => done(),
        None => {
            output::line(format!("rolled back {}", safe::exact(&hunk.path)))?;
            done()
        }
        Some(_) if args.json => Err(Failure::quiet(1)),
        Some(why) => Err(Failure::new(format!("not rolled back: {}", safe::line(&why)))),
    }
}

/// Shows the hunk and asks on the terminal.
fn confirmed(hunk: &Hunk) -> Outcome<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let failure = Failure::new("a rollback changes files, and no terminal is there to ask");
        return Err(failure.hint("repeat the command with --yes to roll back unasked").code(2));
    }
    let lines = patch::lines(&as_patch(hunk), &[]);
    output::note(patch::painted(&lines, Colors::of_stderr()));
    output::status("put the old lines back? [y/N]: ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Failure::doing("cannot read the answer"))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(operation: &str, old_path: Option<&str>) -> Hunk {
        Hunk {
            id: "c-hunk-1".into(),
            turn: None,
            call: "c".into(),
            tool: "edit".into(),
            path: "a".into(),
            old_path: old_path.map(str::to_owned),
            operation: operation.into(),
            old_start: 1,
            old_lines: 1,
            new_start: 1,
            new_lines: 1,
            additions: 1,
            deletions: 1,
            lines: vec!["-old".into(), "+new".into()],
            rollback: "available".into(),
            reason: None,
            at: "2026-03-01T12:00:00.000000Z".into(),
        }
    }

    #[test]
    fn hunks_are_shown_as_diffs() {
        let text = as_patch(&hunk("rename", Some("b")));
        assert_eq!(text, "--- a/b\n+++ b/a\n@@ -1,1 +1,1 @@\n-old\n+new\n");
        assert!(as_patch(&hunk("create", None)).starts_with("--- /dev/null\n+++ b/a\n"));
        assert!(as_patch(&hunk("delete", None)).starts_with("--- a/a\n+++ /dev/null\n"));
    }
}
