//! Sessions: listed, made and closed.

use rookery_core::{AgentChoice, Core, NewSession, Session as Known, SessionHome};
use rookery_model as model;

use super::named::{absolute, session};
use crate::{
    Cx, Error,
    wire::{Empty, Session, SessionClose, SessionCreate, SessionList, Sessions},
};

/// A session as it goes over the wire.
pub(super) fn to_wire(core: &Core, session: Known) -> Session {
    let checkout = core.worktrees().checkout_of(session.id);
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let (terminal, thread) = match session.home {
        SessionHome::Terminal(id) => (Some(id.get()), None),
        SessionHome::Thread(id) => (None, Some(id.to_string())),
    };
    let worktree = checkout.as_ref().and_then(|one| one.worktree.as_deref().map(path));
    Session {
        id: session.id.to_string(),
        title: session.title,
        cwd: path(&session.cwd),
        terminal,
        thread,
        repo: checkout.as_ref().map(|one| path(&one.repo)),
        branch: checkout.and_then(|one| one.branch),
        worktree,
    }
}

/// The session that a new terminal is.
pub(super) fn of_terminal(core: &Core, terminal: &model::Terminal) -> Result<Session, Error> {
    let id = model::SessionId::new(u128::from_be_bytes(terminal.uuid.0));
    let gone = || model::Error::not_found("the session was closed at once");
    Ok(to_wire(core, core.sessions().get(id).ok_or_else(gone)?))
}

pub(crate) async fn list(cx: Cx, params: SessionList) -> Result<Sessions, Error> {
    if let Some(cwd) = &params.cwd {
        absolute("cwd", cwd)?;
    }
    let is_wanted =
        |session: &Known| params.cwd.as_ref().is_none_or(|cwd| session.cwd.starts_with(cwd));
    let sessions = cx.core.sessions().list().into_iter().filter(is_wanted);
    Ok(Sessions { sessions: sessions.map(|session| to_wire(&cx.core, session)).collect() })
}

pub(crate) async fn create(cx: Cx, params: SessionCreate) -> Result<Session, Error> {
    if let Some(title) = &params.title {
        super::check_name("title", title)?;
    }
    if let Some(repo) = &params.repo {
        absolute("repo", repo)?;
    }
    if let Some(worktree) = &params.existing_worktree {
        absolute("existingWorktree", worktree)?;
    }
    if params.repo.is_none() && (params.worktree || params.existing_worktree.is_some()) {
        return Err(Error::invalid("repo", "a worktree needs a repository"));
    }
    if let Some(tool) = &params.tool {
        cx.core.sessions().check_tool(tool).await?;
    }
    let new = NewSession {
        title: params.title,
        repo: params.repo,
        branch: params.branch,
        create_worktree: params.worktree,
        existing_worktree: params.existing_worktree,
        tool: params.tool.map_or(AgentChoice::None, AgentChoice::Named),
    };
    let terminal = cx.core.sessions().make(cx.core.sessions().new_id(), new).await?;
    of_terminal(&cx.core, &terminal)
}

pub(crate) async fn close(cx: Cx, params: SessionClose) -> Result<Empty, Error> {
    let session = session(&cx.core, "session", &params.session)?;
    cx.core.check_session(session.id)?;
    match session.home {
        SessionHome::Terminal(id) => cx.core.terminals().close(id).await?,
        SessionHome::Thread(id) => drop(cx.core.threads().archive(id, true).await?),
    }
    Ok(Empty {})
}
