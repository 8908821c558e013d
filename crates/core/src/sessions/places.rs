//! Work places: the work trees that checkpoints, reviews and handoffs belong to, and the agents that
//! work in them.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_host::git::{GitError, Repository};
use rookery_model::{
    CheckpointId, Error, ErrorKind, Origin, Related, Result, Review, SessionId, WorkPlace,
};

use crate::checkpoints::no_session;
use crate::rooms::Sessions;
use crate::sessions::Session;
use crate::sessions::SessionHome;

/// Sessions that an error names, so that one of them can be chosen.
const NAMED: usize = 5;

impl Sessions {
    /// The work tree around a directory, by its top level and without links.
    ///
    /// # Errors
    /// If there is no such directory, it is in no work tree, or git cannot tell.
    pub async fn tree_at(&self, directory: &Path) -> Result<PathBuf> {
        let shown = directory.display();
        match Repository::discover(directory).await {
            Ok(repo) => Ok(repo.top().to_owned()),
            Err(GitError::NoSuchPath(_)) => {
                Err(Error::not_found(format!("there is no directory {shown}")))
            }
            Err(GitError::NotARepository(_)) => {
                let message = format!(
                    "{shown} is in no git work tree; name a directory of one, or make one with `git init`"
                );
                Err(Error::invalid("tree", message))
            }
            Err(error) => Err(Error::failed(error.to_string())),
        }
    }

    /// The directory of a place: a work tree's top, or where its session works. None if the session is
    /// gone.
    pub(crate) fn directory_of(&self, place: &WorkPlace) -> Option<PathBuf> {
        match place {
            WorkPlace::Session(id) => self.core.checkpoints().place_of(*id),
            WorkPlace::Tree(top) => Some(top.clone()),
        }
    }

    /// The work tree of what a queue item is about, if that is named by itself.
    pub fn tree_of(&self, related: Related) -> Option<PathBuf> {
        let world = self.core.look();
        let lists = &*world;
        let place = match related {
            Related::Request(_) | Related::Task(_) => None,
            Related::Review(id) => lists.reviews.get(&id).map(|one| &one.place),
            Related::Checkpoint(id) => lists.checkpoints.get(&id).map(|one| &one.place),
            Related::Handoff(id) => lists.handoffs.get(&id).map(|one| &one.from),
        };
        place.and_then(WorkPlace::tree).map(Path::to_owned)
    }

    /// Whether something of a place, and of a checkpoint if it has one, is about a work tree.
    pub fn is_about(
        &self,
        place: &WorkPlace,
        checkpoint: Option<CheckpointId>,
        tree: &Path,
    ) -> bool {
        let session = match place {
            WorkPlace::Tree(top) => return top == tree,
            WorkPlace::Session(id) => *id,
        };
        let captured = checkpoint.and_then(|id| {
            let world = self.core.look();
            let one = world.checkpoints.get(&id)?;
            one.worktree.clone().or_else(|| one.repo.clone())
        });
        match captured {
            Some(top) => top == tree,
            None => self
                .core
                .checkpoints()
                .place_of(session)
                .is_some_and(|place| place.starts_with(tree)),
        }
    }

    /// The recipient of the comments of a review: whoever was named, else the session whose changes they
    /// are, else the only agent that works in the tree.
    pub(crate) async fn addressee(
        &self,
        review: &Review,
        named: Option<SessionId>,
    ) -> Result<Session> {
        if let (None, WorkPlace::Tree(tree)) = (named, &review.place) {
            return only(self.agents_in(tree).await, tree);
        }
        let id = named.or(review.place.session());
        let id = id.ok_or_else(|| Error::not_found("the review belongs to no session"))?;
        self.get(id).ok_or_else(|| no_session(id))
    }

    /// The agents that work in a tree: threads, and terminals in which one was recognised. What else
    /// runs in a terminal might take what is typed for something else, so it has to be named.
    async fn agents_in(&self, tree: &Path) -> Vec<Session> {
        let agents: Vec<Session> = {
            let world = self.core.look();
            let is_agent = |session: &Session| match session.home {
                SessionHome::Thread(_) => true,
                SessionHome::Terminal(id) => world.terminals.get(&id).is_some_and(|terminal| {
                    terminal.is_alive()
                        && terminal.activity.agent.is_some()
                        && !matches!(terminal.origin, Origin::Tool(_))
                }),
            };
            world.sessions().into_iter().filter(is_agent).collect()
        };
        let tree = tree.to_owned();
        let looked = tokio::task::spawn_blocking(move || {
            agents.into_iter().filter(|session| is_in_tree(&session.cwd, &tree)).collect()
        });
        looked.await.unwrap_or_default()
    }
}

/// The work tree with this top level, and no other one around it.
pub(crate) async fn open_tree(top: &Path) -> Result<Repository> {
    match Repository::discover(top).await {
        Ok(repo) if repo.top() == top => Ok(repo),
        Ok(_) | Err(GitError::NotARepository(_) | GitError::NoSuchPath(_)) => {
            let message =
                format!("{} is no longer a git work tree; restore it and try again", top.display());
            Err(Error::new(ErrorKind::Conflict, message))
        }
        Err(error) => Err(Error::failed(error.to_string())),
    }
}

fn only(mut agents: Vec<Session>, tree: &Path) -> Result<Session> {
    let shown = tree.display();
    match agents.len() {
        0 => {
            let message = format!(
                "no agent works in {shown}; start one there, or name the session that receives it"
            );
            Err(Error::new(ErrorKind::Conflict, message))
        }
        1 => Ok(agents.remove(0)),
        several => {
            let names = agents.iter().take(NAMED).map(|one| format!("{} ({})", one.title, one.id));
            let message = format!(
                "{several} agents work in {shown}; name the one that receives it: {}",
                names.collect::<Vec<_>>().join(", ")
            );
            Err(Error::new(ErrorKind::Conflict, message))
        }
    }
}

/// Whether a directory belongs to a work tree, and not to another one inside of it.
fn is_in_tree(directory: &Path, tree: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let below = directory.ancestors().take_while(|one| *one != tree);
    directory.starts_with(tree)
        && below.into_iter().all(|one| fs::symlink_metadata(one.join(".git")).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_inside_of_a_tree_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let tree = home.path().canonicalize().unwrap().join("tree");
        let inner = tree.join("src/inner");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(tree.join(".git")).unwrap();
        fs::write(inner.join(".git"), "gitdir: elsewhere").unwrap();
        std::os::unix::fs::symlink(tree.join("src"), home.path().join("link")).unwrap();
        for (directory, is_in) in [
            (tree.clone(), true),
            (tree.join("src"), true),
            (home.path().join("link"), true),
            (inner, false),
            (home.path().to_owned(), false),
            (tree.join("gone"), false),
        ] {
            assert_eq!(is_in_tree(&directory, &tree), is_in, "{}", directory.display());
        }
    }
}
