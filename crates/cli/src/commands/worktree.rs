//! `rookery worktree`: checkouts for pieces of work, landed without losing any of it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rookery_native::{
    TerminalRef, code,
    wire::{
        Exit, LandConflict, LandHow, Session, Terminal, TerminalGet, Wait, Worktree,
        WorktreeAttach, WorktreeBootstrap, WorktreeCreate, WorktreeLand, WorktreeList,
        WorktreeMade, WorktreeRemove, WorktreeState, Worktrees,
    },
};
use rookery_view::safe;
use rookery_wire::{Client, ClientError};

use super::checkpoint::directory;
use crate::{
    args::{self, WorktreeAction},
    commands::done,
    failure::{Failure, Outcome},
    link::{self, ask, call},
    output::{self, Table, Tone, working},
    talk::sessions::current_dir,
};

/// What to do when a worktree is not found.
const SEE: &str = "run `rookery worktree list` to list worktrees";
/// The code of a landing that files are in conflict with.
const CONFLICTS: u8 = 5;
/// How long a setup command is waited for at once.
const SETUP_WAIT_MS: u64 = 60_000;

pub(super) async fn run(action: WorktreeAction) -> Outcome {
    let client = link::connect().await?;
    match action {
        WorktreeAction::Create(args) => create(&client, args).await,
        WorktreeAction::List(args) => list(&client, args).await,
        WorktreeAction::Attach(args) => attach(&client, args).await,
        WorktreeAction::Bootstrap(args) => bootstrap(&client, args).await,
        WorktreeAction::Land(args) => land(&client, args).await,
        WorktreeAction::Remove(args) => remove(&client, args).await,
    }
}

async fn create(client: &Client, args: args::WorktreeCreate) -> Outcome {
    let params = WorktreeCreate {
        repo: directory(args.repo)?,
        path: args.path.map(|path| absolute(&path)).transpose()?,
        branch: args.branch,
        title: args.title,
        base: args.base,
        remote_base: args.remote,
        fetch: args.fetch,
        trusted: args.trust,
        setup: args.setup,
    };
    let what = if args.fetch { "fetching, then creating a worktree" } else { "making a worktree" };
    let making = ask(client, params, SEE);
    let made: WorktreeMade = working(what, making).await?;
    let code = follow_setup(client, &made).await?;
    let session: Option<Session> = match args.attach {
        true => Some(open_in(client, PathBuf::from(&made.path), None, None).await?),
        false => None,
    };
    if args.json {
        let mut value = serde_json::to_value(&made).unwrap_or_default();
        if let Some(session) = &session {
            value["session"] = serde_json::to_value(session).unwrap_or_default();
        }
        output::json(&value)?;
        return Ok(code);
    }
    output::line(&made.path)?;
    if let Some(branch) = &made.branch {
        output::note(format!("on branch {}{}", safe::line(branch), copied(&made)));
    }
    if let Some(terminal) = session.and_then(|session| session.terminal) {
        output::note(format!("opened terminal {terminal} in it"));
    }
    Ok(code)
}

fn copied(made: &WorktreeMade) -> String {
    match made.copied.len() {
        0 => String::new(),
        1 => ", 1 file copied".to_owned(),
        count => format!(", {count} files copied"),
    }
}

/// Waits for the end of a setup command, and says how to look at it if it failed.
async fn follow_setup(client: &Client, made: &WorktreeMade) -> Outcome<ExitCode> {
    let Some(number) = made.setup_terminal else { return Ok(ExitCode::SUCCESS) };
    let terminal = TerminalRef::Number(rookery_model::TerminalId::new(number));
    let ended = async {
        loop {
            let params = Wait {
                terminal,
                text: None,
                regex: None,
                transcript_text: None,
                exit: Some(true),
                stable_ms: None,
                needs_input: None,
                timeout_ms: Some(SETUP_WAIT_MS),
                include_text: false,
                redact: true,
            };
            match client.send(params).await {
                Err(ClientError::Rpc(error)) if error.code == code::TIMEOUT => {}
                Err(error) => return Err(Failure::from(error)),
                Ok(_) => return Ok(()),
            }
        }
    };
    working("the setup command is running", ended).await?;
    let params = TerminalGet { terminal };
    let ended: Terminal = call(client, &params).await?;
    if matches!(ended.exit, Some(Exit::Code(0))) {
        return Ok(ExitCode::SUCCESS);
    }
    output::note(format!(
        "rookery: the setup command failed in {}; see it with `rookery dump {number}`",
        safe::line(&made.path)
    ));
    Ok(ExitCode::FAILURE)
}

async fn list(client: &Client, args: args::WorktreeList) -> Outcome {
    let params = WorktreeList { repo: directory(args.repo)? };
    let looking = ask(client, params, "choose the repository with --repo");
    let list: Worktrees = working("reading worktrees", looking).await?;
    if args.json {
        output::json(&list)?;
    } else {
        table(&list.worktrees).print()?;
    }
    done()
}

fn table(all: &[Worktree]) -> Table {
    let mut table = Table::new(&["BRANCH", "STATE", "HEAD", "AT WORK", "DIRECTORY"]);
    for one in all {
        let (tone, state) = match (&one.locked, one.state) {
            (Some(_), _) => (Tone::Warning, "locked"),
            (None, WorktreeState::Missing) => (Tone::Bad, "missing"),
            (None, WorktreeState::Dirty) => (Tone::Warning, "dirty"),
            (None, WorktreeState::Clean) => (Tone::Good, "clean"),
            (None, WorktreeState::Attached) => (Tone::Good, "attached"),
            (None, WorktreeState::Removing) => (Tone::Faint, "removing"),
        };
        let mut who: Vec<String> =
            one.terminals.iter().map(|id| format!("terminal {id}")).collect();
        if one.threads > 0 {
            who.push(format!("{} threads", one.threads));
        }
        let head: String = one.head.iter().flat_map(|head| head.chars().take(9)).collect();
        let branch = one.branch.as_deref().map_or("(detached)".to_owned(), safe::line);
        table.row(vec![
            (if one.main { Tone::Strong } else { Tone::Plain }, branch),
            (tone, state.to_owned()),
            (Tone::Faint, head),
            (Tone::Plain, if who.is_empty() { "-".to_owned() } else { who.join(", ") }),
            (Tone::Plain, safe::exact(&one.path)),
        ]);
    }
    table
}

/// The worktree that is meant: a directory, else a branch of the repository around here.
async fn meant(client: &Client, given: Option<&str>) -> Outcome<PathBuf> {
    let Some(text) = given else { return top_of(client, current_dir()?).await };
    if Path::new(text).is_dir() {
        return top_of(client, absolute(Path::new(text))?).await;
    }
    let params = WorktreeList { repo: current_dir()? };
    let list: Worktrees = ask(client, params, SEE).await?;
    let gone = absolute(Path::new(text))?;
    let mut found = list
        .worktrees
        .iter()
        .filter(|tree| tree.branch.as_deref() == Some(text) || Path::new(&tree.path) == gone);
    let none =
        || Failure::new(format!("no worktree has the directory or branch {text:?}")).hint(SEE);
    found.next().map(|tree| PathBuf::from(&tree.path)).ok_or_else(none)
}

/// The worktree around a directory.
async fn top_of(client: &Client, place: PathBuf) -> Outcome<PathBuf> {
    let params = WorktreeList { repo: place.clone() };
    let list: Worktrees = ask(client, params, SEE).await?;
    let around = list.worktrees.iter().map(|tree| PathBuf::from(&tree.path));
    let around = around.filter(|top| place.starts_with(top));
    Ok(around.max_by_key(|top| top.components().count()).unwrap_or(place))
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    if let Ok(real) = std::fs::canonicalize(path) {
        return Ok(real);
    }
    std::path::absolute(path).map_err(Failure::doing(path.display()))
}

async fn open_in(
    client: &Client,
    path: PathBuf,
    title: Option<String>,
    tool: Option<String>,
) -> Outcome<Session> {
    let params = WorktreeAttach { path, title, tool };
    let opening = ask(client, params, SEE);
    working("opening a session", opening).await
}

async fn attach(client: &Client, args: args::WorktreeAttach) -> Outcome {
    let path = meant(client, args.target.worktree.as_deref()).await?;
    let session = open_in(client, path, args.title, args.tool).await?;
    if args.target.json {
        output::json(&session)?;
    } else {
        output::line(session.terminal.map_or(session.id, |id| id.to_string()))?;
    }
    done()
}

async fn bootstrap(client: &Client, args: args::WorktreeBootstrap) -> Outcome {
    let path = meant(client, args.target.worktree.as_deref()).await?;
    let source = args.source.map(|source| directory(Some(source))).transpose()?;
    let params = WorktreeBootstrap { path, source, setup: args.setup };
    let filling = ask(client, params, SEE);
    let made: WorktreeMade = working("copying", filling).await?;
    let code = follow_setup(client, &made).await?;
    if args.target.json {
        output::json(&made)?;
    } else {
        made.copied.iter().try_for_each(|path| output::line(safe::exact(path)))?;
        if made.copied.is_empty() {
            output::note("nothing to copy");
        }
    }
    Ok(code)
}

async fn land(client: &Client, args: args::WorktreeLand) -> Outcome {
    let path = meant(client, args.target.worktree.as_deref()).await?;
    let how = match (args.squash, args.rebase, args.how) {
        (true, _, _) | (_, _, args::LandHow::Squash) => LandHow::Squash,
        (_, true, _) | (_, _, args::LandHow::Rebase) => LandHow::Rebase,
        (false, false, args::LandHow::Merge) => LandHow::Merge,
    };
    let params = WorktreeLand {
        path,
        into: args.into,
        how,
        message: args.message,
        remove: args.remove,
        trusted: args.trust,
    };
    let landing = client.send(params);
    let landed = match working("landing", landing).await {
        Ok(landed) => landed,
        Err(ClientError::Rpc(error)) => return Err(not_landed(error, args.target.json)?),
        Err(error) => return Err(error.into()),
    };
    if args.target.json {
        output::json(&landed)?;
        return done();
    }
    let commits = match landed.commits {
        1 => "1 commit".to_owned(),
        count => format!("{count} commits"),
    };
    let short: String = landed.new.chars().take(9).collect();
    output::line(format!("landed {commits} on {}, now at {short}", safe::line(&landed.into)))?;
    if let Some(checkout) = &landed.checkout {
        output::note(format!("{} is up to date", safe::exact(checkout)));
    }
    if landed.removed {
        output::note("removed the worktree and its branch");
    }
    done()
}

/// Says why nothing was landed, and which files are in conflict.
fn not_landed(error: rookery_wire::rpc::RpcError, json: bool) -> Outcome<Failure> {
    let conflicts = error.data.as_ref().and_then(|data| data.get("conflicts"));
    let conflicts: Vec<LandConflict> =
        conflicts.and_then(|list| serde_json::from_value(list.clone()).ok()).unwrap_or_default();
    if conflicts.is_empty() {
        let hint = match error.code {
            code::NOT_FOUND => Some(SEE),
            code::CONFLICT if error.message.contains("not committed") => {
                Some("commit them in the worktree first")
            }
            _ => None,
        };
        let failure = Failure::new(error.message);
        return Ok(match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        });
    }
    if json {
        output::json(&serde_json::json!({ "landed": false, "conflicts": conflicts }))?;
    } else {
        for conflict in &conflicts {
            let kinds = safe::line(&conflict.kinds.join(", "));
            output::line(format!("conflict ({kinds}): {}", safe::exact(&conflict.path)))?;
        }
    }
    Ok(Failure::new(error.message)
        .hint("nothing was changed; merge the branch into the worktree there, then land again")
        .code(CONFLICTS))
}

async fn remove(client: &Client, args: args::WorktreeRemove) -> Outcome {
    let path = meant(client, args.target.worktree.as_deref()).await?;
    let params = WorktreeRemove { path, force: args.force, delete_branch: args.delete_branch };
    let removing = client.send(params);
    let removed = match working("removing", removing).await {
        Ok(removed) => removed,
        Err(ClientError::Rpc(error)) => return Err(not_removed(error)),
        Err(error) => return Err(error.into()),
    };
    if args.target.json {
        output::json(&removed)?;
        return done();
    }
    output::line(format!("removed {}", safe::exact(&removed.path)))?;
    if let Some(branch) = &removed.branch {
        let fate = if removed.branch_deleted { "deleted" } else { "kept" };
        output::note(format!("branch {} is {fate}", safe::line(branch)));
    }
    done()
}

/// Why a worktree stays, and what to do about it.
fn not_removed(error: rookery_wire::rpc::RpcError) -> Failure {
    let hints = [
        ("still runs", "end it first, or close it with `rookery close`"),
        (
            "local changes",
            "commit them, save them with `rookery checkpoint create`, or discard them with --force",
        ),
        (
            "on no other branch",
            "land them with `rookery worktree land`, push them, or discard them with --force",
        ),
        ("locked", "unlock it with `git worktree unlock`"),
    ];
    let hint = hints.iter().find(|(word, _)| error.message.contains(word)).map(|(_, hint)| *hint);
    let hint = hint.or((error.code == code::NOT_FOUND).then_some(SEE));
    let failure = Failure::new(error.message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use rookery_wire::rpc::RpcError;
    use serde_json::json;

    use super::*;
    use crate::output::Colors;

    #[test]
    fn one_line_per_worktree() {
        let all: Vec<Worktree> = serde_json::from_value(json!([
            {"path": "/r", "branch": "main", "head": "0123456789abcdef", "main": true,
             "state": "clean", "terminals": [], "threads": 0},
            {"path": "/r/x\u{1b}", "main": false, "state": "dirty", "terminals": [3], "threads": 2},
            {"path": "/y", "branch": "b", "main": false, "state": "clean", "locked": "",
             "terminals": [], "threads": 0},
        ]))
        .unwrap();
        expect![[r#"
            BRANCH      STATE   HEAD       AT WORK                DIRECTORY
            main        clean   012345678  -                      /r
            (detached)  dirty              terminal 3, 2 threads  /r/x\u{1b}
            b           locked             -                      /y
        "#]]
        .assert_eq(&table(&all).render(Colors::none(), None));
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        for message in [
            "something still runs in the worktree: terminal 3",
            "Worktree has local changes. Clean it before deletion.",
            "2 commit(s) of this worktree are on no other branch or remote",
            "the worktree is locked: on a stick",
        ] {
            let failure = format!("{:?}", not_removed(RpcError::new(code::CONFLICT, message)));
            assert!(failure.contains("hint: Some"), "{failure}");
        }
    }
}
