//! `rookery checkpoint`: states of work trees, kept, compared and put back.

use std::path::PathBuf;

use rookery_native::wire::{
    Checkpoint, CheckpointCreate, CheckpointDelete, CheckpointDiff, CheckpointDiffed,
    CheckpointList, CheckpointPrune, CheckpointRestore, CheckpointRestored, CheckpointShow,
    CheckpointSource, Checkpoints, CheckpointsDeleted, Differences,
};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::{self, CheckpointAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::{self, ask},
    output::{self, Colors, Table, Tone, shorten, working},
    talk::{
        age, patch,
        requests::short_id,
        sessions::{self, SessionTarget},
    },
};

/// What to do when a checkpoint is not found.
const SEE: &str = "run `rookery checkpoint list` to list checkpoints";
/// Columns of a title.
const TITLE_WIDTH: usize = 48;

pub(super) async fn run(action: CheckpointAction) -> Outcome {
    let client = match action {
        CheckpointAction::Create(_) => daemon_process::connect_or_start().await?,
        _ => link::connect().await?,
    };
    match action {
        CheckpointAction::Create(args) => create(&client, args).await,
        CheckpointAction::List(args) => list(&client, args).await,
        CheckpointAction::Show(args) => show(&client, args).await,
        CheckpointAction::Diff(args) => diff(&client, args).await,
        CheckpointAction::Restore(args) => restore(&client, args).await,
        CheckpointAction::Delete(args) => delete(&client, args).await,
        CheckpointAction::Prune(args) => prune(&client, args).await,
    }
}

async fn create(client: &Client, args: args::CheckpointCreate) -> Outcome {
    let SessionTarget { session, tree } = sessions::choose(client, &args.place).await?;
    let (title, summary) = (args.title, args.summary);
    let params = CheckpointCreate { session, tree, title, summary, review: args.review };
    let making = ask(client, params, sessions::SEE);
    let made: Checkpoint = working("taking a checkpoint", making).await?;
    if args.json {
        output::json(&made)?;
        return done();
    }
    output::line(&made.id)?;
    match made.snapshot {
        Some(_) => output::note(sum(&made.differences)),
        None => output::note(
            "the session works in no repository, so no files were saved; choose a work tree with --tree",
        ),
    }
    done()
}

/// What differs, in a few words.
pub(super) fn sum(differences: &Differences) -> String {
    let count = differences.files.len();
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let (added, deleted) = (differences.additions.unwrap_or(0), differences.deletions.unwrap_or(0));
    format!("{files}, +{added} -{deleted}")
}

async fn list(client: &Client, args: args::CheckpointList) -> Outcome {
    let tree = sessions::directory(args.tree.as_deref())?;
    let params = CheckpointList { session: args.session, tree };
    let list: Checkpoints = ask(client, params, sessions::SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.checkpoints.is_empty() {
        output::note("no checkpoints; create one with `rookery checkpoint create`");
    } else {
        let table = table(&list.checkpoints, age::now());
        table.print()?;
    }
    done()
}

fn table(all: &[Checkpoint], now: i64) -> Table {
    let mut table = Table::new(&["ID", "AGE", "BRANCH", "CHANGES", "TITLE"]);
    let ids = all.iter().map(|one| &*one.id);
    for one in all {
        let changes = match one.snapshot {
            Some(_) => sum(&one.differences),
            None => "record only".to_owned(),
        };
        let tone =
            if one.source == CheckpointSource::Automatic { Tone::Faint } else { Tone::Plain };
        table.row(vec![
            (Tone::Strong, short_id(&one.id, ids.clone()).to_owned()),
            (Tone::Faint, age::since_text(&one.created_at, now)),
            (Tone::Plain, one.branch.as_deref().map_or("-".to_owned(), safe::line)),
            (Tone::Faint, changes),
            (tone, shorten(&safe::line(&one.title), TITLE_WIDTH)),
        ]);
    }
    table
}

async fn show(client: &Client, args: args::IdArg) -> Outcome {
    let params = CheckpointShow { id: args.id };
    let one: Checkpoint = ask(client, params, SEE).await?;
    if args.json {
        output::json(&one)?;
    } else {
        output::write(described(&one, Colors::of_stdout()).as_bytes())?;
    }
    done()
}

fn described(one: &Checkpoint, colors: Colors) -> String {
    let mut out = format!("{}\n", colors.paint(Tone::Strong, &safe::line(&one.title)));
    let mut say = |name: &str, value: &str| {
        out += &format!(
            "{} {}\n",
            colors.paint(Tone::Faint, &format!("{name:<8}")),
            safe::line(value)
        );
    };
    say("id", &one.id);
    say("about", &one.summary);
    say("made", &one.created_at);
    let optional = [
        ("session", &one.session),
        ("repo", &one.repo),
        ("worktree", &one.worktree),
        ("branch", &one.branch),
        ("head", &one.head),
        ("snapshot", &one.snapshot),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            say(name, value);
        }
    }
    say("changes", &sum(&one.differences));
    out + &files(&one.differences)
}

/// A line for each file that differs.
pub(super) fn files(differences: &Differences) -> String {
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let line = |file: &rookery_native::wire::ChangedFile| {
        let (added, deleted) = (number(file.additions), number(file.deletions));
        format!(
            "  {} {added:>5} {deleted:>5}  {}\n",
            safe::line(&file.status),
            safe::exact(&file.path)
        )
    };
    differences.files.iter().map(line).collect()
}

async fn diff(client: &Client, args: args::CheckpointDiff) -> Outcome {
    let with = match (args.head, args.with) {
        (true, _) => "head".to_owned(),
        (false, Some(other)) => other,
        (false, None) => "now".to_owned(),
    };
    let params = CheckpointDiff { id: args.target.id, with: Some(with) };
    let comparing = ask(client, params, SEE);
    let found: CheckpointDiffed = working("comparing", comparing).await?;
    if args.target.json {
        output::json(&found)?;
        return done();
    }
    print_patch(&found)?;
    done()
}

/// A patch, for people on a terminal and as it is elsewhere, so that `git apply` can read it.
pub(super) fn print_patch(found: &CheckpointDiffed) -> Outcome<()> {
    if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        let lines = patch::lines(&found.patch, &[]);
        output::write(patch::painted(&lines, Colors::of_stdout()).as_bytes())?;
    } else {
        output::write(found.patch.as_bytes())?;
    }
    if found.cut {
        output::note("the patch is truncated");
    }
    Ok(())
}

async fn restore(client: &Client, args: args::CheckpointRestore) -> Outcome {
    let params = CheckpointRestore { id: args.target.id, paths: args.paths, head: args.head };
    let restoring = ask(client, params, SEE);
    let restored: CheckpointRestored = working("restoring", restoring).await?;
    if args.target.json {
        output::json(&restored)?;
        return done();
    }
    let CheckpointRestored { id, safety, written, removed, untouched, moved_head } = restored;
    let head = if moved_head { ", head moved" } else { "" };
    output::line(format!("restored {id}: {written} written, {removed} removed{head}"))?;
    if !untouched.is_empty() {
        output::note(format!("not changed: {}", safe::line(&untouched.join(", "))));
    }
    let with_head = if moved_head { " --head" } else { "" };
    output::line(format!("undo it with `rookery checkpoint restore{with_head} {}`", safety.id))?;
    done()
}

async fn delete(client: &Client, args: args::CheckpointDelete) -> Outcome {
    for id in args.ids {
        let params = CheckpointDelete { id };
        let gone: CheckpointsDeleted = ask(client, params, SEE).await?;
        print_deleted(&gone, args.json)?;
    }
    done()
}

fn print_deleted(gone: &CheckpointsDeleted, json: bool) -> Outcome<()> {
    if json {
        return output::json_line(gone);
    }
    gone.deleted.iter().try_for_each(|id| output::line(format!("deleted {id}")))
}

async fn prune(client: &Client, args: args::CheckpointPrune) -> Outcome {
    let repo = directory(args.repo)?;
    let params = CheckpointPrune { repo, keep: args.keep, older_than: args.older_than };
    let pruning = ask(client, params, SEE);
    let gone: CheckpointsDeleted = working("pruning", pruning).await?;
    if gone.deleted.is_empty() && !args.json {
        output::note("no checkpoints to delete");
    }
    print_deleted(&gone, args.json)?;
    done()
}

/// A directory that is there, or the current one.
pub(super) fn directory(given: Option<PathBuf>) -> Outcome<PathBuf> {
    let path = given.unwrap_or_else(|| PathBuf::from("."));
    std::fs::canonicalize(&path)
        .map_err(|error| Failure::new(format!("no directory {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn one(id: &str, source: &str) -> Checkpoint {
        serde_json::from_value(json!({
            "id": id, "session": "s", "title": "before \u{1b}[2Jit", "summary": "Manual checkpoint",
            "branch": "main", "snapshot": "abc", "source": source,
            "createdAt": "1970-01-01T00:01:00Z",
            "differences": {"files": [{"path": "a\nb", "additions": 3, "status": "M"}],
                "additions": 3, "deletions": 1},
        }))
        .unwrap()
    }

    #[test]
    fn one_line_per_checkpoint() {
        let all = [one("x-1111111", "manual"), one("x-2222222", "automatic")];
        expect![[r#"
            ID      AGE  BRANCH  CHANGES        TITLE
            111111  2m   main    1 file, +3 -1  before [2Jit
            222222  2m   main    1 file, +3 -1  before [2Jit
        "#]]
        .assert_eq(&table(&all, 180).render(Colors::none(), None));
    }

    #[test]
    fn a_checkpoint_is_described() {
        expect![[r#"
            before [2Jit
            id       x-1111111
            about    Manual checkpoint
            made     1970-01-01T00:01:00Z
            session  s
            branch   main
            snapshot abc
            changes  1 file, +3 -1
              M     3     -  a\u{a}b
        "#]]
        .assert_eq(&described(&one("x-1111111", "manual"), Colors::none()));
    }
}
