//! Worktrees: listed, made, filled, attached to, landed and removed.

use std::path::Path;

use rookery_core::{AgentChoice, LandOutcome, Tree};
use rookery_host::git::worktree::{Base, LandMode, LandRequest, NewWorktree, State as TreeState};

use super::named::absolute;
use super::sessions::of_terminal;
use crate::{
    Cx, Error,
    wire::{
        LandConflict, LandHow, Session, Worktree, WorktreeAttach, WorktreeBootstrap,
        WorktreeCreate, WorktreeLand, WorktreeLanded, WorktreeList, WorktreeMade, WorktreeRemove,
        WorktreeRemoved, WorktreeState, Worktrees,
    },
};

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn to_wire(tree: Tree) -> Worktree {
    Worktree {
        path: text(&tree.path),
        branch: tree.branch,
        head: tree.head,
        main: tree.is_main,
        locked: tree.locked,
        state: match tree.state {
            TreeState::Attached => WorktreeState::Attached,
            TreeState::MissingOnDisk => WorktreeState::Missing,
            TreeState::Dirty => WorktreeState::Dirty,
            TreeState::Clean => WorktreeState::Clean,
            TreeState::PendingDeletion => WorktreeState::Removing,
        },
        terminals: tree.terminals.iter().map(|id| id.get()).collect(),
        threads: tree.threads,
    }
}

pub(crate) async fn list(cx: Cx, params: WorktreeList) -> Result<Worktrees, Error> {
    absolute("repo", &params.repo)?;
    let trees = cx.core.worktrees().list(&params.repo).await?;
    Ok(Worktrees { worktrees: trees.into_iter().map(to_wire).collect() })
}

pub(crate) async fn create(cx: Cx, params: WorktreeCreate) -> Result<WorktreeMade, Error> {
    absolute("repo", &params.repo)?;
    if let Some(path) = &params.path {
        absolute("path", path)?;
    }
    let base = match (params.base, params.remote_base) {
        (None, false) => Base::Head,
        (Some(name), false) => Base::Ref(name),
        (None, true) => Base::RemoteDefault,
        (Some(_), true) => {
            return Err(Error::invalid("base", "give either base or remoteBase"));
        }
    };
    let request = NewWorktree {
        path: params.path,
        branch: params.branch,
        title: params.title.unwrap_or_default(),
        base,
        fetch: params.fetch,
        is_trusted: params.trusted,
        setup: params.setup,
    };
    let made = cx.core.worktrees().create(&params.repo, &request).await?;
    let setup_terminal = match made.setup {
        Some(setup) => Some(cx.core.worktrees().set_up(setup).await?.id.get()),
        None => None,
    };
    Ok(WorktreeMade {
        path: text(&made.path),
        branch: Some(made.branch),
        base: made.base.map(|oid| oid.as_str().to_owned()),
        copied: made.copied.iter().map(|path| text(path)).collect(),
        setup_terminal,
    })
}

pub(crate) async fn bootstrap(cx: Cx, params: WorktreeBootstrap) -> Result<WorktreeMade, Error> {
    absolute("path", &params.path)?;
    if let Some(source) = &params.source {
        absolute("source", source)?;
    }
    let (copied, source) = cx.core.worktrees().fill(&params.path, params.source.as_deref()).await?;
    let setup_terminal = match params.setup {
        Some(command) => {
            let setup = cx.core.worktrees().setup_of(&params.path, &source, command).await?;
            Some(cx.core.worktrees().set_up(setup).await?.id.get())
        }
        None => None,
    };
    Ok(WorktreeMade {
        path: text(&params.path),
        branch: None,
        base: None,
        copied: copied.iter().map(|path| text(path)).collect(),
        setup_terminal,
    })
}

pub(crate) async fn attach(cx: Cx, params: WorktreeAttach) -> Result<Session, Error> {
    absolute("path", &params.path)?;
    if let Some(title) = &params.title {
        super::check_name("title", title)?;
    }
    if let Some(tool) = &params.tool {
        cx.core.sessions().check_tool(tool).await?;
    }
    let tool = params.tool.map_or(AgentChoice::None, AgentChoice::Named);
    let terminal = cx.core.worktrees().attach(&params.path, params.title, tool).await?;
    of_terminal(&cx.core, &terminal)
}

pub(crate) async fn land(cx: Cx, params: WorktreeLand) -> Result<WorktreeLanded, Error> {
    absolute("path", &params.path)?;
    let landing = LandRequest {
        worktree: params.path,
        into: params.into.unwrap_or_default(),
        how: match params.how {
            LandHow::Merge => LandMode::Merge,
            LandHow::Squash => LandMode::Squash,
            LandHow::Rebase => LandMode::Rebase,
        },
        message: params.message,
        delete_after: params.remove,
        is_running: false,
        is_trusted: params.trusted,
    };
    let (into, outcome) = cx.core.worktrees().land(landing).await?;
    match outcome {
        LandOutcome::Landed(landed) => Ok(WorktreeLanded {
            into,
            old: landed.old.as_str().to_owned(),
            new: landed.new.as_str().to_owned(),
            commits: landed.commits,
            checkout: landed.checkout.as_deref().map(text),
            removed: landed.removed,
        }),
        LandOutcome::Conflicts(conflicts) => {
            let conflicts: Vec<LandConflict> = conflicts
                .into_iter()
                .map(|one| LandConflict { path: text(&one.path), kinds: one.kinds })
                .collect();
            Err(Error::in_conflict(&into, &conflicts))
        }
    }
}

pub(crate) async fn remove(cx: Cx, params: WorktreeRemove) -> Result<WorktreeRemoved, Error> {
    absolute("path", &params.path)?;
    let branch =
        cx.core.worktrees().remove(&params.path, params.force, params.delete_branch).await?;
    let branch_deleted = params.delete_branch && branch.is_some();
    Ok(WorktreeRemoved { path: text(&params.path), branch, branch_deleted })
}
