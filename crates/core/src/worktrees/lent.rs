//! Worktrees that are lent to a piece of work. Each is on record for as long as it is out, so that after
//! a crash one without work in it goes, and one with work in it stays and is reported.

use std::path::{Path, PathBuf};

use rookery_host::git::worktree::{self, Base, NewWorktree, ReturnOutcome};
use rookery_model::{AcceptedWork, Error, PlannedTree, Result};

use super::discover;
use crate::rooms::Worktrees;
use crate::sessions::{planned, worktree_error};
use crate::world::draw;

/// A worktree that is out.
#[derive(Debug)]
pub(crate) struct TemporaryWorktree {
    tree: PlannedTree,
    /// The directory in it that stands for the one it was asked for.
    pub(crate) cwd: PathBuf,
}

impl TemporaryWorktree {
    /// Its top.
    pub(crate) fn path(&self) -> &Path {
        &self.tree.path
    }

    /// What is known of it if nothing more can be found out.
    pub(crate) fn unsettled(&self) -> KeptTree {
        KeptTree { path: self.tree.path.clone(), branch: Some(self.tree.branch.clone()) }
    }
}

/// A worktree with work in it, which stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTree {
    /// Its top.
    pub path: PathBuf,
    /// Its branch, unless its head is detached.
    pub branch: Option<String>,
}

impl Worktrees {
    /// Makes a worktree of the repository around a directory, on a branch of its own that begins at the
    /// head. It lies with our data, and nothing is written into the checkout.
    ///
    /// # Errors
    /// If it cannot be made. Then nothing is left of it.
    pub(crate) async fn lend(&self, place: &Path, name: &str) -> Result<TemporaryWorktree> {
        let dirs = self.core.inner.config.agent.runners.clone();
        let dirs = dirs.ok_or_else(|| Error::failed("this server keeps no worktrees"))?;
        let repo = discover(place).await?;
        let token = draw() & 0xffff_ffff;
        let name = format!("{}-{token:08x}", worktree::slug(name));
        let new = NewWorktree {
            path: Some(rookery_runners::worktrees_of(&dirs.data, repo.common_dir()).join(&name)),
            branch: Some(format!("rookery/{name}")),
            title: name,
            base: Base::Head,
            ..NewWorktree::default()
        };
        let (created, tree) = self.create_held(place, &new).await?;
        // From here on there may be work in it.
        let lent = AcceptedWork::LentWorktree(tree.clone());
        let id = lent.id();
        if let Err(error) = self.core.sessions().accept(lent).await {
            if let Err(error) = worktree::undo_planned(&planned(&tree)).await {
                tracing::warn!(%error, "a worktree that cannot be lent is still there");
            }
            self.core.sessions().give_up(id);
            return Err(error);
        }
        let below = place.strip_prefix(repo.top()).unwrap_or(Path::new("")).to_owned();
        let cwd = created.path.join(&below);
        let (cwd, top) = (cwd.clone(), created.path);
        let cwd = crate::core::blocking(move || if cwd.is_dir() { cwd } else { top }).await?;
        Ok(TemporaryWorktree { tree, cwd })
    }

    /// Takes a worktree back whose work is over: it goes with its branch, unless something was left in it
    /// or still runs there.
    ///
    /// # Errors
    /// If that cannot be found out. It is looked at again after a restart.
    pub(crate) async fn take_back(&self, lent: &TemporaryWorktree) -> Result<Option<KeptTree>> {
        let (terminals, _) = self.at_work_in(lent.path());
        let kept = match terminals.is_empty() {
            true => worktree::give_back(&planned(&lent.tree)).await.map_err(worktree_error)?,
            false => ReturnOutcome::Kept(Some(lent.tree.branch.clone())),
        };
        self.core.sessions().give_up(AcceptedWork::LentWorktree(lent.tree.clone()).id());
        Ok(match kept {
            ReturnOutcome::Removed => None,
            ReturnOutcome::Kept(branch) => Some(KeptTree { path: lent.tree.path.clone(), branch }),
        })
    }
}
