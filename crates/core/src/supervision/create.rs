//! New sessions: a terminal, in a working tree of its own if that was asked for, with an agent
//! started in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_host::git::worktree::{self, NewWorktree, RemoveRequest, WorktreeError};
use rookery_host::git::{GitError, Repository};
use rookery_host::{AgentTool, FoundTool, find_agent_tools};
use rookery_model::{
    Category, Checkout, Error, ErrorKind, OnExit, ProjectId, Result, SessionId, Source, Terminal,
    TerminalId, TerminalUuid,
};

use super::checkpoints::no_session;
use super::sessions::session_of;
use super::{NewItem, SessionHome};
use crate::core::Core;
use crate::terminals::OpenTerminal;

/// How long a shell may take to show its first prompt before something is typed.
const FIRST_PROMPT: Duration = Duration::from_secs(2);

/// Which agent is started in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolWish {
    /// None.
    #[default]
    None,
    /// The one that the settings name, if they do.
    Usual,
    /// This one.
    Named(String),
}

/// A session to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its title; made of repository and branch if none is given.
    pub title: Option<String>,
    /// The repository or directory to work in; home if none is given.
    pub repo: Option<PathBuf>,
    /// The branch of a new worktree, or a label.
    pub branch: Option<String>,
    /// Whether it gets a worktree of its own.
    pub create_worktree: bool,
    /// A worktree that exists and is used.
    pub existing_worktree: Option<PathBuf>,
    /// Which agent is started in it.
    pub tool: ToolWish,
}

/// Where a session is going to be.
struct Place {
    cwd: PathBuf,
    checkout: Option<Checkout>,
    /// The name of the repository.
    name: Option<String>,
    /// A worktree that was made for it.
    made: Option<PathBuf>,
}

impl Core {
    /// An id for a session that is about to be made.
    pub fn new_session_id(&self) -> SessionId {
        SessionId::new(uuid::Uuid::new_v4().as_u128())
    }

    /// Makes a session in the background. What goes wrong becomes an item of the queue.
    pub fn make_session_soon(&self, id: SessionId, new: NewSession) {
        let core = self.clone();
        let work = async move { drop(core.make_session_or_tell(id, new).await) };
        self.inner.endings.spawn_on(work, &self.inner.runtime);
    }

    /// Makes a session. That it could not be made is told in the queue, too.
    ///
    /// # Errors
    /// As [`Core::make_session`].
    pub async fn make_session_or_tell(&self, id: SessionId, new: NewSession) -> Result<Terminal> {
        let made = self.make_session(id, new).await;
        if let Err(error) = &made {
            self.file_failure(id, "Session creation failed", error).await;
        }
        made
    }

    /// Makes a session. What fails leaves nothing behind; that an agent could not be started is told
    /// in the queue.
    ///
    /// # Errors
    /// If the directory or the worktree cannot be had, or no terminal can be opened.
    pub async fn make_session(&self, id: SessionId, new: NewSession) -> Result<Terminal> {
        let place = self.find_place(&new).await?;
        let opened = self.open_session(id, &new, &place).await;
        let terminal = match opened {
            Ok(terminal) => terminal,
            Err(error) => {
                if let Some(made) = place.made {
                    undo_worktree(&place.cwd, &made).await;
                }
                return Err(error);
            }
        };
        match &new.tool {
            ToolWish::None => {}
            ToolWish::Usual => {
                if let Some(tool) = self.usual_tool() {
                    self.launch_or_tell(&terminal, &tool, "Default Tool Launch Failed").await;
                }
            }
            ToolWish::Named(tool) => {
                self.launch_or_tell(&terminal, tool, "Vibe Tool Launch Failed").await;
            }
        }
        Ok(terminal)
    }

    async fn find_place(&self, new: &NewSession) -> Result<Place> {
        let Some(asked) = &new.repo else {
            let cwd = self.inner.config.home.clone();
            return Ok(Place { cwd, checkout: None, name: None, made: None });
        };
        if !asked.is_absolute() {
            return Err(Error::invalid("repoPath", "the path must be absolute"));
        }
        let wants_worktree = new.create_worktree || new.existing_worktree.is_some();
        let repo = match Repository::discover(asked).await {
            Ok(repo) => repo,
            Err(GitError::NotARepository(_)) if !wants_worktree => {
                let name = base_name(asked);
                let checkout = Checkout { repo: asked.clone(), branch: None, worktree: None };
                let checkout = Some(checkout);
                return Ok(Place { cwd: asked.clone(), checkout, name, made: None });
            }
            Err(error) => return Err(told(WorktreeError::from(error))),
        };
        let top = repo.top().to_owned();
        let name = base_name(&top);
        if let Some(existing) = &new.existing_worktree {
            let tree = worktree::attach(&repo, existing).await.map_err(told)?;
            let worktree = Some(tree.path.clone());
            let checkout = Some(Checkout { repo: top, branch: tree.branch, worktree });
            return Ok(Place { cwd: tree.path, checkout, name, made: None });
        }
        if new.create_worktree {
            let request = NewWorktree {
                branch: new.branch.clone(),
                title: new.title.clone().unwrap_or_default(),
                ..NewWorktree::default()
            };
            let made = worktree::create(&top, &request).await.map_err(told)?;
            let worktree = Some(made.path.clone());
            let checkout = Checkout { repo: top, branch: Some(made.branch), worktree };
            let made = made.path;
            return Ok(Place {
                cwd: made.clone(),
                checkout: Some(checkout),
                name,
                made: Some(made),
            });
        }
        let current = worktree::current_branch(&repo).await.ok().flatten();
        let branch = new.branch.clone().or(current);
        let checkout = Some(Checkout { repo: top.clone(), branch, worktree: None });
        Ok(Place { cwd: top, checkout, name, made: None })
    }

    async fn open_session(
        &self,
        id: SessionId,
        new: &NewSession,
        place: &Place,
    ) -> Result<Terminal> {
        let (project, is_new) = self.project_for(place).await?;
        let branch = place.checkout.as_ref().and_then(|checkout| checkout.branch.as_deref());
        let first_title = match (&place.name, branch) {
            (Some(name), Some(branch)) => format!("{name}: {branch}"),
            (Some(name), None) => name.clone(),
            (None, _) => format!("Session {}", self.terminals().len() + 1),
        };
        let opened = self
            .open(OpenTerminal {
                cwd: Some(place.cwd.clone()),
                project,
                title: new.title.clone(),
                first_title: Some(first_title),
                activate: true,
                on_exit: OnExit::Keep,
                integrate: true,
                env: self.inner.config.tab_env.clone(),
                uuid: Some(TerminalUuid(id.get().to_be_bytes())),
                checkout: place.checkout.clone(),
                ..OpenTerminal::default()
            })
            .await;
        if let (Err(_), Some(project), true) = (&opened, project, is_new) {
            let _ = self.delete_project(project).await;
        }
        opened
    }

    /// The project of a repository, made if there is none yet. Sessions without a repository go where
    /// terminals usually go.
    async fn project_for(&self, place: &Place) -> Result<(Option<ProjectId>, bool)> {
        let Some(checkout) = &place.checkout else { return Ok((None, false)) };
        let known = self.projects().into_iter().find(|project| project.root == checkout.repo);
        if let Some(project) = known {
            return Ok((Some(project.id), false));
        }
        let name = place.name.clone().unwrap_or_else(|| "General".to_owned());
        let project = self.create_project(name, checkout.repo.clone()).await?;
        Ok((Some(project.id), true))
    }

    /// The agents that are known, and where they are installed.
    pub async fn agent_tools(&self) -> Vec<FoundTool> {
        let config = &self.inner.config;
        let path = config.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        find_agent_tools(path, &config.shell, config.home.clone()).await
    }

    /// The agent that the settings name.
    fn usual_tool(&self) -> Option<String> {
        self.inner.config.default_tool.clone()
    }

    async fn launch_or_tell(&self, terminal: &Terminal, tool: &str, failure: &str) {
        let session = session_of(terminal.uuid);
        match self.launch_tool(terminal.id, tool).await {
            Ok(_) => {}
            Err(error) => self.file_failure(session, failure, &error).await,
        }
    }

    /// Types the command of an agent into a terminal, once its shell is there.
    ///
    /// # Errors
    /// If the agent is not known or not installed, or the terminal is gone.
    pub async fn launch_tool(&self, id: TerminalId, tool: &str) -> Result<AgentTool> {
        let missing =
            || Error::not_found(format!("Tool '{tool}' is not installed or not on PATH."));
        let found = self.agent_tools().await.into_iter().find(|found| found.tool.id == tool);
        let found = found.ok_or_else(missing)?;
        let path = found.path.ok_or_else(missing)?;
        let handle = self.terminal(id)?;
        let mut progress = handle.progress();
        let shown = progress.wait_for(|progress| {
            progress.sequence > 0 || progress.is_finished || progress.is_closed
        });
        let _ = tokio::time::timeout(FIRST_PROMPT, shown).await;
        handle.write_all(format!("{}\r", typed(&path)).as_bytes()).await?;
        let session = self.describe(id).map(|terminal| session_of(terminal.uuid))?;
        self.transact_durably(|tx| {
            tx.file(NewItem {
                session,
                related: None,
                category: Category::Informational,
                title: "Vibe Tool Started".to_owned(),
                subtitle: Some(format!("Launched {tool} in session.")),
                source: Source::Protocol,
            });
            Ok(())
        })
        .await?;
        self.see_agent(id, found.tool.program, true);
        Ok(found.tool)
    }

    /// Removes the worktree of a session.
    ///
    /// # Errors
    /// If the session has none, work would be lost and that was not asked for, or something runs
    /// there besides the session itself.
    pub async fn remove_worktree(&self, id: SessionId, force: bool) -> Result<PathBuf> {
        let (place, terminal) = {
            let world = self.inner.world.lock();
            let session = world.session(id).ok_or_else(|| no_session(id))?;
            let place = world.checkout_of(id).and_then(|checkout| checkout.worktree.clone());
            let terminal = match session.home {
                SessionHome::Terminal(id) => Some(id),
                SessionHome::Thread(_) => None,
            };
            let none = || Error::new(ErrorKind::Conflict, "the session has no worktree");
            (place.ok_or_else(none)?, terminal)
        };
        let is_running = self.terminals_in(&place).into_iter().any(|other| Some(other) != terminal);
        let repo = Repository::discover(&place).await.map_err(|error| told(error.into()))?;
        let request =
            RemoveRequest { path: place.clone(), force, delete_branch: false, is_running };
        worktree::remove(&repo, &request).await.map_err(told)?;
        Ok(place)
    }
}

/// What is typed to start a program, wherever a shell looks for its commands.
fn typed(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain =
        path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte));
    match is_plain {
        true => path.into_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

async fn undo_worktree(place: &Path, made: &Path) {
    let Ok(repo) = Repository::discover(place).await else { return };
    let request = RemoveRequest {
        path: made.to_owned(),
        force: true,
        delete_branch: true,
        is_running: false,
    };
    if let Err(error) = worktree::remove(&repo, &request).await {
        tracing::warn!(%error, path = %made.display(), "a worktree was left behind");
    }
}

fn base_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

pub(super) fn told(error: WorktreeError) -> Error {
    let kind = match error {
        WorktreeError::NoSuchPath(_) | WorktreeError::NoSuchBranch(_) => ErrorKind::NotFound,
        WorktreeError::NotARepository
        | WorktreeError::InvalidPath
        | WorktreeError::Foreign
        | WorktreeError::BadBranchName(_) => ErrorKind::Invalid,
        _ => ErrorKind::Conflict,
    };
    Error::new(kind, error.to_string())
}
