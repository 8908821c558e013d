//! New sessions, with their worktrees and tools.

use std::path::{Component, Path, PathBuf};

use rookery_core::{AgentChoice, NewSession};

use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled};
use crate::values::{is_true, uuid};

pub(crate) async fn new_session(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    make(cx, payload, AgentChoice::None, "Session creation requested").await
}

pub(crate) async fn new_session_with_tool(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    make(cx, payload, AgentChoice::Usual, "Session with tool requested").await
}

async fn make(
    cx: Cx,
    payload: Payload,
    otherwise: AgentChoice,
    message: &str,
) -> Result<Reply, Failure> {
    let flag = |key: &str| payload.get(key).is_some_and(|value| is_true(value));
    let text = |key: &str| filled(&payload, key).map(str::to_owned);
    let home = cx.core.sessions().home();
    let repo = path(&home, &payload, "repoPath")?;
    let new = NewSession {
        title: text("title"),
        branch: text("branchName"),
        create_worktree: repo.is_some() && flag("createWorktree"),
        existing_worktree: path(&home, &payload, "existingWorktreePath")?
            .filter(|_| repo.is_some()),
        repo,
        tool: text("toolID").map_or(otherwise, AgentChoice::Named),
    };
    let id = cx.core.sessions().new_id();
    if flag("wait") {
        cx.core.sessions().make_or_report(id, new).await?;
    } else {
        cx.core.sessions().make_soon(id, new).await?;
    }
    Ok(Reply::ok(message).with("sessionID", uuid(id.get())))
}

/// A path with `~` and dots resolved.
fn path(home: &Path, payload: &Payload, key: &str) -> Result<Option<PathBuf>, Failure> {
    let Some(text) = filled(payload, key) else { return Ok(None) };
    let path = match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => PathBuf::from(text),
    };
    match path.is_absolute() {
        true => Ok(Some(normal(&path))),
        false => Err(Failure::new(format!("{key} must be an absolute path"))),
    }
}

/// The same path without dots.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

pub(crate) async fn remove_worktree(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = ids::session(&cx.core, &payload)?;
    let force = payload.get("force").is_some_and(|value| is_true(value));
    let removed = cx.core.sessions().remove_worktree(session.id, force).await?;
    Ok(Reply::ok("Worktree removed").with("path", removed.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_dots_and_must_be_absolute() {
        let of = |text: &str| {
            let payload = Payload::from([("repoPath".to_owned(), text.to_owned())]);
            path(Path::new("/home/u"), &payload, "repoPath")
        };
        assert_eq!(of(" /a/./b/../c "), Ok(Some("/a/c".into())));
        assert_eq!(of("/../.."), Ok(Some("/".into())));
        assert_eq!(of("  "), Ok(None));
        assert!(of("a/b").is_err() && of("~x/b").is_err());
        assert_eq!(of("~/b"), Ok(Some("/home/u/b".into())));
        assert_eq!(of("~"), Ok(Some("/home/u".into())));
    }
}
