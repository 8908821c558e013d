//! Worktrees by their paths: made, filled, landed and removed, with an eye on who works in them.
//!
//! How git does it is the host's business; that nothing is taken from under a program is ours.

mod lent;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rookery_host::git::worktree::{
    self, Base, Conflict, Created, LandRequest, Landed, NewWorktree, RemoveRequest, Setup, State,
};
use rookery_host::git::{GitError, Repository, branch_around, metrics};
use rookery_model::{
    AcceptedWork, Checkout, Error, ErrorKind, PlannedTree, Result, SessionId, Terminal, TerminalId,
};

pub use self::lent::KeptTree;

use crate::log::Shows;
use crate::rooms::Worktrees;
use crate::sessions::AgentChoice;
use crate::sessions::NewSession;
use crate::sessions::worktree_error;
use crate::terminals::OpenTerminal;
use crate::world::draw;

/// A worktree, and who works in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Its top.
    pub path: PathBuf,
    /// Its branch, unless its head is detached.
    pub branch: Option<String>,
    /// The commit it stands on.
    pub head: Option<String>,
    /// Whether it is the repository's own checkout.
    pub is_main: bool,
    /// Why it is locked, if it is.
    pub locked: Option<String>,
    /// Whether it is there, and has changes.
    pub state: State,
    /// The terminals that work in it.
    pub terminals: Vec<TerminalId>,
    /// How many conversations are at work in it.
    pub threads: usize,
}

/// What came of a landing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LandOutcome {
    /// The branch has the commits.
    Landed(Landed),
    /// Both sides changed the same; nothing was done.
    Conflicts(Vec<Conflict>),
}

impl Worktrees {
    /// The branches that directories stand on, of those that stand on one.
    pub async fn branches(&self, dirs: Vec<PathBuf>) -> BTreeMap<PathBuf, String> {
        let read = move || {
            let branch = |dir: PathBuf| Some((dir.clone(), branch_around(&dir)?));
            dirs.into_iter().filter_map(branch).collect()
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }

    /// How many files differ from the last commit around directories, of those around which some do.
    pub async fn changed_files(&self, dirs: Vec<PathBuf>) -> BTreeMap<PathBuf, u32> {
        let mut found = BTreeMap::new();
        // One after the other: no one waits for them, and each runs git.
        for dir in dirs {
            if let Some(changes) = metrics::changes(&dir).await {
                found.insert(dir, u32::try_from(changes.files).unwrap_or(u32::MAX));
            }
        }
        found
    }

    /// The repository that a session was opened for, if it was for one.
    pub fn checkout_of(&self, session: SessionId) -> Option<Checkout> {
        self.core.look().checkout_of(session).cloned()
    }

    /// All worktrees of the repository around a directory, its own checkout first.
    ///
    /// # Errors
    /// If there is no repository, or git cannot tell.
    pub async fn list(&self, place: &Path) -> Result<Vec<Tree>> {
        let repo = discover(place).await?;
        let listed = worktree::list(&repo).await.map_err(|error| worktree_error(error.into()))?;
        let mut trees = Vec::with_capacity(listed.len());
        for tree in listed {
            let state = worktree::inspect(&tree.path).await.map_err(worktree_error)?;
            let (terminals, threads) = self.at_work_in(&tree.path);
            trees.push(Tree {
                state,
                terminals,
                threads,
                path: tree.path,
                branch: tree.branch,
                head: tree.head.map(|oid| oid.as_str().to_owned()),
                is_main: tree.is_main,
                locked: tree.locked,
            });
        }
        // A checkout within the main one does not make that one busy twice.
        let nested: Vec<(PathBuf, Vec<TerminalId>)> =
            trees.iter().map(|tree| (tree.path.clone(), tree.terminals.clone())).collect();
        for tree in &mut trees {
            let inner = nested
                .iter()
                .filter(|(path, _)| path.starts_with(&tree.path) && *path != tree.path);
            let theirs: Vec<TerminalId> = inner.flat_map(|(_, ids)| ids.clone()).collect();
            tree.terminals.retain(|id| !theirs.contains(id));
        }
        Ok(trees)
    }

    /// Makes a worktree of the repository around a directory.
    ///
    /// # Errors
    /// If it cannot be made. Then nothing is left of it.
    pub async fn create(&self, place: &Path, new: &NewWorktree) -> Result<Created> {
        let (created, tree) = self.create_held(place, new).await?;
        self.core.sessions().give_up(AcceptedWork::Worktree(tree).id());
        Ok(created)
    }

    /// Makes a worktree that is undone after a restart, until the caller forgets its record together with
    /// noting what it is for.
    ///
    /// # Errors
    /// If it cannot be made. Then nothing is left of it.
    pub(crate) async fn create_held(
        &self,
        place: &Path,
        new: &NewWorktree,
    ) -> Result<(Created, PlannedTree)> {
        let token = format!("{:012x}", draw() & 0xffff_ffff_ffff);
        // What cannot be planned fails below, and says why.
        let Ok(plan) = worktree::plan(place, new, &token).await else {
            let made = worktree::create(place, new).await.map_err(worktree_error)?;
            self.raise_changed();
            let tree = PlannedTree {
                top: discover(place).await?.top().to_owned(),
                path: made.path.clone(),
                branch: made.branch.clone(),
                base: made.base.as_ref().map(|base| base.as_str().to_owned()),
            };
            return Ok((made, tree));
        };
        let tree = PlannedTree {
            top: plan.top,
            path: plan.path.clone(),
            branch: plan.branch.clone(),
            base: plan.base.clone(),
        };
        let accepted = AcceptedWork::Worktree(tree.clone());
        let id = accepted.id();
        self.core.sessions().accept(accepted).await?;
        let (path, branch) = (Some(plan.path), Some(plan.branch));
        let base = plan.base.map_or_else(|| new.base.clone(), Base::Ref);
        let new = NewWorktree { path, branch, base, fetch: false, ..new.clone() };
        match worktree::create(place, &new).await {
            Ok(made) => {
                self.raise_changed();
                Ok((made, tree))
            }
            Err(error) => {
                self.core.sessions().give_up(id);
                Err(worktree_error(error))
            }
        }
    }

    /// Copies what a worktree should have besides what git gives it, from another checkout of the
    /// repository or from its own one. Gives what was copied.
    ///
    /// # Errors
    /// If there is no such worktree, or it is too much.
    pub async fn fill(
        &self,
        place: &Path,
        source: Option<&Path>,
    ) -> Result<(Vec<PathBuf>, PathBuf)> {
        let target = discover(place).await?;
        let source = match source {
            Some(source) => discover(source).await?,
            None => {
                let all =
                    worktree::list(&target).await.map_err(|error| worktree_error(error.into()))?;
                let main = all.into_iter().find(|tree| tree.is_main);
                let none = || {
                    Error::new(
                        ErrorKind::Conflict,
                        "the repository has no checkout of its own; name a source",
                    )
                };
                discover(&main.ok_or_else(none)?.path).await?
            }
        };
        if source.common_dir() != target.common_dir() {
            return Err(Error::invalid("source", "the source is another repository"));
        }
        if source.top() == target.top() {
            return Err(Error::invalid("path", "that is the checkout that files are copied from"));
        }
        let copied = worktree::bootstrap(&source, target.top()).await.map_err(worktree_error)?;
        Ok((copied, source.top().to_owned()))
    }

    /// Runs the command that prepares a worktree in a terminal that every client can watch.
    ///
    /// # Errors
    /// If no terminal can be opened.
    pub async fn set_up(&self, setup: Setup) -> Result<Terminal> {
        let text = |text: OsString| text.to_string_lossy().into_owned();
        let shell = self.core.inner.config.shell.clone();
        self.core
            .terminals()
            .open(OpenTerminal {
                argv: vec![shell, "-c".to_owned(), setup.command],
                cwd: Some(setup.cwd),
                env: setup.env.into_iter().map(|(name, value)| (text(name), text(value))).collect(),
                first_title: Some("Worktree setup".to_owned()),
                ..OpenTerminal::default()
            })
            .await
    }

    /// What a setup command learns of a worktree that exists.
    ///
    /// # Errors
    /// If there is no such worktree.
    pub async fn setup_of(&self, place: &Path, source: &Path, command: String) -> Result<Setup> {
        let repo = discover(place).await?;
        let branch = worktree::current_branch(&repo).await.ok().flatten().unwrap_or_default();
        let path = repo.top().to_owned();
        Ok(Setup {
            command,
            cwd: path.clone(),
            env: vec![
                ("ROOKERY_WORKTREE".into(), path.into()),
                ("ROOKERY_SOURCE_TREE".into(), source.into()),
                ("ROOKERY_BRANCH".into(), branch.into()),
            ],
        })
    }

    /// Opens a session in a worktree that exists.
    ///
    /// # Errors
    /// If it is none, or no terminal can be opened.
    pub async fn attach(
        &self,
        place: &Path,
        title: Option<String>,
        tool: AgentChoice,
    ) -> Result<Terminal> {
        let repo = discover(place).await?;
        let main = repo.common_dir().parent().filter(|_| repo.is_linked()).map(Path::to_owned);
        let new = NewSession {
            title,
            repo: Some(main.unwrap_or_else(|| repo.top().to_owned())),
            existing_worktree: Some(place.to_owned()),
            tool,
            ..NewSession::default()
        };
        self.core.sessions().make(self.core.sessions().new_id(), new).await
    }

    /// Brings the commits of a worktree onto a branch: the one named, else the one that the
    /// repository's own checkout stands on. Says which.
    ///
    /// # Errors
    /// If there is nothing to land, or changes or programs are in the way. Then nothing was changed.
    pub async fn land(&self, mut landing: LandRequest) -> Result<(String, LandOutcome)> {
        let repo = discover(&landing.worktree).await?;
        if landing.into.is_empty() {
            let all = worktree::list(&repo).await.map_err(|error| worktree_error(error.into()))?;
            let main = all.into_iter().find(|tree| tree.is_main).and_then(|tree| tree.branch);
            let none = || {
                Error::invalid(
                    "into",
                    "say onto which branch; the repository's own checkout stands on none",
                )
            };
            landing.into = main.ok_or_else(none)?;
        }
        if landing.delete_after {
            self.refuse_busy(&landing.worktree)?;
        }
        let into = landing.into.clone();
        match worktree::land(&repo, &landing).await {
            Ok(landed) => {
                self.raise_changed();
                Ok((into, LandOutcome::Landed(landed)))
            }
            Err(worktree::WorktreeError::Conflicts(conflicts)) => {
                Ok((into, LandOutcome::Conflicts(conflicts)))
            }
            Err(error) => Err(worktree_error(error)),
        }
    }

    /// Removes a worktree by its path. Gives its branch, which stays unless it is to go too.
    ///
    /// # Errors
    /// If work would be lost and that was not asked for, or a program or turn is at work there.
    pub async fn remove(
        &self,
        place: &Path,
        force: bool,
        delete_branch: bool,
    ) -> Result<Option<String>> {
        let repo = match Repository::discover(place).await {
            Ok(repo) => repo,
            // Its directory is gone; the repository around it still lists it.
            Err(GitError::NoSuchPath(_)) => {
                let above = place.ancestors().skip(1).find(|path| path.is_dir());
                discover(above.unwrap_or(Path::new("/"))).await?
            }
            Err(error) => return Err(worktree_error(error.into())),
        };
        let all = worktree::list(&repo).await.map_err(|error| worktree_error(error.into()))?;
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let found = all.into_iter().find(|tree| real(&tree.path) == real(place));
        if found.as_ref().is_none_or(|tree| !tree.is_main) {
            self.refuse_busy(place)?;
        }
        let branch = found.and_then(|tree| tree.branch);
        let request =
            RemoveRequest { path: place.to_owned(), force, delete_branch, is_running: false };
        worktree::remove(&repo, &request).await.map_err(worktree_error)?;
        self.raise_changed();
        Ok(branch)
    }

    /// A work tree was made, landed or removed.
    pub(crate) fn raise_changed(&self) {
        self.core.inner.signals.raise(Shows::Worktrees);
    }

    /// Refuses where something is at work, and names it.
    fn refuse_busy(&self, place: &Path) -> Result<()> {
        let (terminals, threads) = self.at_work_in(place);
        let mut who: Vec<String> =
            terminals.iter().map(|terminal| format!("terminal {terminal}")).collect();
        if threads > 0 {
            who.push(format!("{threads} thread(s)"));
        }
        if who.is_empty() {
            return Ok(());
        }
        let message = format!("something still runs in the worktree: {}", who.join(", "));
        Err(Error::new(ErrorKind::Conflict, message))
    }

    /// The terminals that work in a directory or below it, and how many threads do.
    fn at_work_in(&self, place: &Path) -> (Vec<TerminalId>, usize) {
        let real = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        let terminals = self.core.terminals().below(&real);
        let world = self.core.look();
        let threads = world
            .threads
            .values()
            .filter(|state| state.active.is_some() && state.thread.cwd.starts_with(&real));
        (terminals, threads.count())
    }
}

async fn discover(place: &Path) -> Result<Repository> {
    if !place.is_absolute() {
        return Err(Error::invalid("path", "the path must be absolute"));
    }
    Repository::discover(place).await.map_err(|error| worktree_error(error.into()))
}
