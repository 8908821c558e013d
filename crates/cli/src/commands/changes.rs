//! `rookery changes`: what a work tree changed, and what commands of a thread were seen to change.

use rookery_native::wire::{
    ChangeArea, ChangeList, ChangeShow, ChangeShown, ChangesListed, Observed, TreeChanges, TreeFile,
};
use rookery_view::safe;
use rookery_wire::Client;

use super::marketplace::advised;
use crate::{
    args::{self, Area, ChangesAction, ChangesPlace},
    commands::done,
    daemon_process,
    failure::Outcome,
    link::ask,
    output::{self, Colors, Table, Tone, working},
    talk::{patch, sessions, threads},
};

/// What to do when there is no work tree.
const SEE: &str = "name a directory of a git work tree with --workspace, or a thread with --thread";

pub(super) async fn run(action: ChangesAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        ChangesAction::Ls(args) => list(&client, args).await,
        ChangesAction::Show(args) => show(&client, args).await,
    }
}

/// The thread or the directory that is meant.
async fn place(
    client: &Client,
    place: &ChangesPlace,
) -> Outcome<(Option<String>, Option<std::path::PathBuf>)> {
    match &place.thread {
        Some(text) => Ok((Some(threads::find(client, text).await?), None)),
        None => {
            let named = sessions::directory(place.workspace.as_deref())?;
            Ok((None, Some(named.map_or_else(sessions::current_dir, Ok)?)))
        }
    }
}

async fn list(client: &Client, args: args::ChangesLs) -> Outcome {
    let (thread, workspace) = place(client, &args.place).await?;
    let params = ChangeList { thread, workspace, limit: args.limit };
    let found = working("comparing", ask(client, params, SEE)).await;
    let found: ChangesListed = found.map_err(|failure| advised(failure, SEE))?;
    if args.json {
        output::json(&found)?;
        return done();
    }
    let colors = Colors::of_stdout();
    match &found.tree {
        None => output::note("the thread works in no git work tree"),
        Some(tree) => {
            output::line(heading(tree, colors))?;
            match tree.files.is_empty() {
                true => output::note("nothing changed"),
                false => files(&tree.files).print()?,
            }
            let hidden = tree.file_count.saturating_sub(tree.files.len() as u64);
            if hidden > 0 {
                output::note(format!("{hidden} more; list them with --limit"));
            }
        }
    }
    for seen in &found.observed {
        output::line("")?;
        output::line(observed(seen, colors))?;
        files(&seen.files).print()?;
    }
    done()
}

/// What is compared with what.
fn heading(tree: &TreeChanges, colors: Colors) -> String {
    let branch = tree.branch.as_deref().unwrap_or("detached");
    let base = match &tree.base {
        Some(base) => format!("since {}", safe::line(base)),
        None => "without a commit yet".to_owned(),
    };
    let files = if tree.file_count == 1 { "file" } else { "files" };
    let sum = format!("{} {files}, +{} -{}", tree.file_count, tree.additions, tree.deletions);
    let what = format!("{base}: {sum}");
    format!(
        "{} {} {}",
        colors.paint(Tone::Strong, &safe::line(branch)),
        what,
        colors.paint(Tone::Faint, &safe::line(&tree.root))
    )
}

/// Which command changed the files that follow.
fn observed(seen: &Observed, colors: Colors) -> String {
    let shared = if seen.shared { ", while other tools ran" } else { "" };
    let what = format!("{} {} changed{shared}", safe::line(&seen.tool), safe::line(&seen.call));
    colors.paint(Tone::Strong, &what)
}

fn files(all: &[TreeFile]) -> Table {
    let mut table = Table::new(&["STATUS", "LINES", "AREAS", "FILE"]);
    for file in all {
        let tone = match file.status.as_str() {
            "added" | "untracked" => Tone::Good,
            "deleted" => Tone::Bad,
            _ => Tone::Warning,
        };
        let lines = match (file.binary, file.too_large) {
            (true, _) => "binary".to_owned(),
            (_, true) => "too large".to_owned(),
            _ => format!("+{} -{}", file.additions, file.deletions),
        };
        let path = match &file.old_path {
            Some(old) => format!("{} → {}", safe::exact(old), safe::exact(&file.path)),
            None => safe::exact(&file.path),
        };
        table.row(vec![
            (tone, file.status.clone()),
            (Tone::Faint, lines),
            (Tone::Faint, file.areas.join(",")),
            (Tone::Plain, path),
        ]);
    }
    table
}

async fn show(client: &Client, args: args::ChangesShow) -> Outcome {
    let (thread, workspace) = place(client, &args.place).await?;
    let area = args.area.map(|area| match area {
        Area::Committed => ChangeArea::Committed,
        Area::Staged => ChangeArea::Staged,
        Area::Unstaged => ChangeArea::Unstaged,
        Area::Untracked => ChangeArea::Untracked,
    });
    let (ignore_whitespace, path) = (args.ignore_whitespace, args.path.clone());
    let params = ChangeShow { thread, workspace, path: args.path, area, ignore_whitespace };
    let shown = working("comparing", ask(client, params, SEE)).await;
    let shown: ChangeShown = shown.map_err(|failure| advised(failure, SEE))?;
    if args.json {
        output::json(&shown)?;
        return done();
    }
    if shown.patch.is_empty() {
        let path = safe::exact(&path);
        output::note(format!("nothing changed in {path}; `rookery changes ls` lists what did"));
        return done();
    }
    let lines = patch::lines(&shown.patch, &[]);
    output::write(patch::painted(&lines, Colors::of_stdout()).as_bytes())?;
    if shown.cut {
        output::note("output truncated");
    }
    done()
}
