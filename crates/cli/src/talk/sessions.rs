//! Which session or work tree people mean if they do not say, and what sessions are called.

use std::path::{Path, PathBuf};

use rookery_native::wire::{Session, SessionList, Sessions};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::PlaceChoice,
    failure::{Failure, Outcome},
    link::ask,
};

/// What to do when a session is not found.
pub(crate) const SEE: &str = "run `rookery idx0 list-sessions` to list sessions";
/// The variable by which a program in a session knows which one it is.
const OWN: &str = "IDX0_SESSION_ID";

/// Where the work is that is meant: what goes into `session` and `tree` of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionTarget {
    /// A word that names the session.
    pub(crate) session: Option<String>,
    /// A directory of the work tree, if no session is meant.
    pub(crate) tree: Option<PathBuf>,
}

impl SessionTarget {
    fn session(word: impl Into<String>) -> SessionTarget {
        SessionTarget { session: Some(word.into()), tree: None }
    }

    fn tree(directory: impl Into<PathBuf>) -> SessionTarget {
        SessionTarget { session: None, tree: Some(directory.into()) }
    }
}

/// The session or the work tree that is meant.
pub(crate) async fn choose(client: &Client, choice: &PlaceChoice) -> Outcome<SessionTarget> {
    if let Some(word) = &choice.session {
        return Ok(SessionTarget::session(word));
    }
    if let Some(tree) = directory(choice.tree.as_deref())? {
        return Ok(SessionTarget::tree(tree));
    }
    if let Ok(own) = std::env::var(OWN)
        && !own.trim().is_empty()
    {
        return Ok(SessionTarget::session(own));
    }
    let here = current_dir()?;
    let list: Sessions = ask(client, SessionList::default(), SEE).await?;
    of_directory(&list.sessions, &here, top_of(&here))
}

/// A directory that was named, without links.
pub(crate) fn directory(named: Option<&Path>) -> Outcome<Option<PathBuf>> {
    let found = named.map(|path| {
        std::fs::canonicalize(path)
            .map_err(|error| Failure::new(format!("no directory {}: {error}", path.display())))
    });
    found.transpose()
}

/// Where the git work tree around a directory begins, as far as names tell; the daemon asks git.
fn top_of(here: &Path) -> Option<&Path> {
    here.ancestors().find(|one| one.join(".git").symlink_metadata().is_ok())
}

/// The current directory, without links.
pub(crate) fn current_dir() -> Outcome<PathBuf> {
    std::fs::canonicalize(".").map_err(Failure::doing("cannot determine the current directory"))
}

/// The session whose place is around a directory, the nearest if there are several. In a work tree
/// only sessions of that tree count, and unless it is one of them, the tree itself is meant.
fn of_directory(sessions: &[Session], here: &Path, top: Option<&Path>) -> Outcome<SessionTarget> {
    let place = |session: &Session| {
        PathBuf::from(session.worktree.as_ref().or(session.repo.as_ref()).unwrap_or(&session.cwd))
    };
    let is_around =
        |place: &Path| here.starts_with(place) && top.is_none_or(|top| place.starts_with(top));
    let around = sessions.iter().map(|session| (place(session), session));
    let around: Vec<(PathBuf, &Session)> = around.filter(|(place, _)| is_around(place)).collect();
    let depth = |place: &Path| place.components().count();
    let nearest = around.iter().map(|(place, _)| depth(place)).max();
    let fitting: Vec<&Session> = around
        .iter()
        .filter(|(place, _)| Some(depth(place)) == nearest)
        .map(|(_, session)| *session)
        .collect();
    match (&*fitting, top) {
        ([session], _) => Ok(SessionTarget::session(&session.id)),
        (_, Some(_)) => Ok(SessionTarget::tree(here)),
        ([], None) => {
            let message =
                format!("no session works in {}, which is not a git work tree", here.display());
            let hint = "change to a git work tree, open a terminal here with `rookery open`, or \
                        use --session or --tree";
            Err(Failure::new(message).hint(hint))
        }
        (several, None) => {
            let names: Vec<String> = several
                .iter()
                .take(5)
                .map(|one| format!("{} ({})", safe::line(&one.title), one.id))
                .collect();
            Err(Failure::new(format!("{} sessions work here", several.len()))
                .hint(format!("choose one with --session: {}", names.join(", "))))
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
        let find = |here: &str| of_directory(&all, Path::new(here), None);
        assert_eq!(find("/r/src").unwrap(), SessionTarget::session("1"));
        assert_eq!(find("/r/tree/src").unwrap(), SessionTarget::session("2"));
        assert!(find("/nowhere").unwrap_err().message().contains("/nowhere"));
        assert!(find("/other/x").unwrap_err().message().contains("2 sessions"));
        assert!(find("/rr").is_err());
    }
    #[test]
    fn a_work_tree_is_meant_unless_one_session_stands_for_it() {
        let all = [
            session("1", "/home", None),
            session("2", "/home/api", None),
            session("3", "/home/web", None),
            session("4", "/home/web", None),
            session("5", "/home/lib/src", None),
        ];
        let find = |here: &str, top: &str| {
            of_directory(&all, Path::new(here), Some(Path::new(top))).unwrap()
        };
        assert_eq!(find("/home/api/src", "/home/api"), SessionTarget::session("2"));
        assert_eq!(
            find("/home/new", "/home/new"),
            SessionTarget::tree("/home/new"),
            "not the one of /home"
        );
        assert_eq!(
            find("/home/web", "/home/web"),
            SessionTarget::tree("/home/web"),
            "two are there"
        );
        assert_eq!(
            find("/home/lib", "/home/lib"),
            SessionTarget::tree("/home/lib"),
            "it is further below"
        );
    }
}
