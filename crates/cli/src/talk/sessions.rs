//! Which session people mean if they do not say, and what sessions are called.

use std::path::{Path, PathBuf};

use rookery_native::wire::{Session, SessionList, Sessions};
use rookery_wire::Client;

use super::safe;
use crate::{
    args::SessionChoice,
    failure::{Failure, Outcome},
    link::ask,
};

/// What to do when a session is not found.
pub(crate) const SEE: &str = "see what there is with `rookery idx0 list-sessions`";
/// The variable by which a program in a session knows which one it is.
const OWN: &str = "IDX0_SESSION_ID";

/// A word that names the session that is meant.
pub(crate) async fn choose(client: &Client, choice: &SessionChoice) -> Outcome<String> {
    if let Some(word) = &choice.session {
        return Ok(word.clone());
    }
    if let Ok(own) = std::env::var(OWN)
        && !own.trim().is_empty()
    {
        return Ok(own);
    }
    let here = current_dir()?;
    let list: Sessions = ask(client, "rookery/sessions/list", SessionList::default(), SEE).await?;
    of_directory(&list.sessions, &here)
}

/// The current directory, without links.
pub(crate) fn current_dir() -> Outcome<PathBuf> {
    std::fs::canonicalize(".").map_err(Failure::doing("cannot find the current directory"))
}

/// The session whose place is around a directory: the nearest, and of several the only one.
fn of_directory(sessions: &[Session], here: &Path) -> Outcome<String> {
    let place = |session: &Session| {
        PathBuf::from(session.worktree.as_ref().or(session.repo.as_ref()).unwrap_or(&session.cwd))
    };
    let around = sessions.iter().map(|session| (place(session), session));
    let around: Vec<(PathBuf, &Session)> =
        around.filter(|(place, _)| here.starts_with(place)).collect();
    let depth = |place: &Path| place.components().count();
    let nearest = around.iter().map(|(place, _)| depth(place)).max();
    let fitting: Vec<&Session> = around
        .iter()
        .filter(|(place, _)| Some(depth(place)) == nearest)
        .map(|(_, session)| *session)
        .collect();
    match *fitting {
        [] => Err(Failure::new(format!("no session works in {}", here.display()))
            .hint("open one here with `rookery open`, or say which with --session")),
        [session] => Ok(session.id.clone()),
        _ => {
            let names: Vec<String> = fitting
                .iter()
                .take(5)
                .map(|one| format!("{} ({})", safe::line(&one.title), one.id))
                .collect();
            Err(Failure::new(format!("{} sessions work here", fitting.len()))
                .hint(format!("say which with --session: {}", names.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(id: &str, cwd: &str, worktree: Option<&str>) -> Session {
        serde_json::from_value(json!({
            "id": id, "title": format!("t{id}"), "cwd": cwd, "worktree": worktree,
            "repo": worktree.map(|_| "/r"),
        }))
        .unwrap()
    }

    #[test]
    fn the_nearest_session_is_meant() {
        let all = [
            session("1", "/r", None),
            session("2", "/elsewhere", Some("/r/tree")),
            session("3", "/other", None),
            session("4", "/other", None),
        ];
        let find = |here: &str| of_directory(&all, Path::new(here));
        assert_eq!(find("/r/src").unwrap(), "1");
        assert_eq!(find("/r/tree/src").unwrap(), "2");
        assert!(find("/nowhere").unwrap_err().message().contains("/nowhere"));
        assert!(find("/other/x").unwrap_err().message().contains("2 sessions"));
        assert!(find("/rr").is_err());
    }
}
