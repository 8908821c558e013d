//! New sessions: a terminal, in a working tree of its own if that was asked for, with an agent
//! started in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rookery_host::git::worktree::{self, NewWorktree, RemoveRequest, WorktreeError};
use rookery_host::git::{GitError, Repository};
use rookery_host::{FoundTool, KnownAgent, find_agent_tools};
use rookery_model::{
    AcceptedSession, AcceptedTool, AcceptedWork, Category, Checkout, Error, ErrorKind, OnExit,
    Origin, PlannedTree, ProjectId, Result, SessionId, Source, Terminal, TerminalId, TerminalUuid,
};

use crate::checkpoints::no_session;
use crate::queue::{AgentStart, NewItem};
use crate::rooms::Sessions;
use crate::sessions::SessionHome;
use crate::sessions::session_of;
use crate::terminals::OpenTerminal;

/// How long a shell may take to show its first prompt before something is typed.
const FIRST_PROMPT: Duration = Duration::from_secs(2);

/// Which agent is started in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentChoice {
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
    pub tool: AgentChoice,
}

/// Where a session is going to be.
struct Place {
    cwd: PathBuf,
    checkout: Option<Checkout>,
    /// The name of the repository.
    name: Option<String>,
}

impl NewSession {
    fn accepted(&self, id: SessionId, origin: Origin) -> AcceptedSession {
        AcceptedSession {
            session: id,
            title: self.title.clone(),
            repo: self.repo.clone(),
            branch: self.branch.clone(),
            create_worktree: self.create_worktree,
            existing_worktree: self.existing_worktree.clone(),
            tool: match &self.tool {
                AgentChoice::None => AcceptedTool::None,
                AgentChoice::Usual => AcceptedTool::Usual,
                AgentChoice::Named(name) => AcceptedTool::Named(name.clone()),
            },
            tree: None,
            is_launching: false,
            origin,
        }
    }

    fn from_accepted(accepted: &AcceptedSession) -> NewSession {
        NewSession {
            title: accepted.title.clone(),
            repo: accepted.repo.clone(),
            branch: accepted.branch.clone(),
            create_worktree: accepted.create_worktree,
            existing_worktree: accepted.existing_worktree.clone(),
            tool: match &accepted.tool {
                AcceptedTool::None => AgentChoice::None,
                AcceptedTool::Usual => AgentChoice::Usual,
                AcceptedTool::Named(name) => AgentChoice::Named(name.clone()),
            },
        }
    }
}

/// The plan as the host knows it.
pub(crate) fn planned(tree: &PlannedTree) -> worktree::Planned {
    worktree::Planned {
        top: tree.top.clone(),
        path: tree.path.clone(),
        branch: tree.branch.clone(),
        base: tree.base.clone(),
    }
}

impl Sessions {
    /// The user's home, where sessions work that name no other place.
    pub fn home(&self) -> PathBuf {
        self.core.inner.config.home.clone()
    }

    /// An id for a session that is about to be made.
    pub fn new_id(&self) -> SessionId {
        SessionId::new(uuid::Uuid::new_v4().as_u128())
    }

    /// Accepts a session, durably, and makes it in the background. What goes wrong then becomes an
    /// item of the queue.
    ///
    /// # Errors
    /// If it cannot be accepted; then nothing happens.
    pub async fn make_soon(&self, id: SessionId, new: NewSession) -> Result<()> {
        let accepted = new.accepted(id, self.core.caller().origin());
        self.accept(AcceptedWork::Session(Box::new(accepted.clone()))).await?;
        let core = self.core.clone();
        let work = async move { drop(core.sessions().finish(accepted).await) };
        self.core.inner.background.spawn_on(work, &self.core.inner.runtime);
        Ok(())
    }

    /// Makes a session. That it could not be made is reported in the queue, too.
    ///
    /// # Errors
    /// As [`Sessions::make`].
    pub async fn make_or_report(&self, id: SessionId, new: NewSession) -> Result<Terminal> {
        let accepted = new.accepted(id, self.core.caller().origin());
        self.accept(AcceptedWork::Session(Box::new(accepted.clone()))).await?;
        self.finish(accepted).await
    }

    /// Makes a session. What fails leaves nothing behind; that an agent could not be started is reported
    /// in the queue.
    ///
    /// # Errors
    /// If the directory or the worktree cannot be had, or no terminal can be opened.
    pub async fn make(&self, id: SessionId, new: NewSession) -> Result<Terminal> {
        let mut accepted = new.accepted(id, self.core.caller().origin());
        self.accept(AcceptedWork::Session(Box::new(accepted.clone()))).await?;
        let made = self.carry_out(&mut accepted).await;
        self.give_up(id.get());
        made
    }

    /// Does what was accepted, or says in the queue why not.
    pub(crate) async fn finish(&self, mut accepted: AcceptedSession) -> Result<Terminal> {
        let id = accepted.session;
        let made = self.carry_out(&mut accepted).await;
        match &made {
            Ok(_) => self.give_up(id.get()),
            Err(error) => {
                let title = "Session creation failed";
                self.core.checkpoints().file_failure_of(id, title, error, Some(id.get())).await;
            }
        }
        made
    }

    fn carry_out<'a>(
        &'a self,
        accepted: &'a mut AcceptedSession,
    ) -> BoxFuture<'a, Result<Terminal>> {
        Box::pin(self.carry_out_inner(accepted))
    }

    async fn carry_out_inner(&self, accepted: &mut AcceptedSession) -> Result<Terminal> {
        let new = NewSession::from_accepted(accepted);
        let place = self.find_place(&new, accepted).await?;
        let terminal = match self.open(accepted, &new, &place).await {
            Ok(terminal) => terminal,
            Err(error) => {
                if let Some(made) = &accepted.tree {
                    if let Err(error) = worktree::undo_planned(&planned(made)).await {
                        tracing::warn!(%error, path = %made.path.display(), "a worktree was left behind");
                    }
                    self.core.worktrees().raise_changed();
                }
                return Err(error);
            }
        };
        self.start_agent(&terminal, accepted).await;
        Ok(terminal)
    }

    /// Starts the agent that was asked for. That its command may have been typed is written down
    /// first: after a restart it is not typed a second time.
    pub(crate) async fn start_agent(&self, terminal: &Terminal, accepted: &mut AcceptedSession) {
        let (tool, failure) = match accepted.tool.clone() {
            AcceptedTool::None => return,
            AcceptedTool::Usual => match self.usual_tool() {
                Some(tool) => (tool, AgentStart::UsualFailed.title()),
                None => return,
            },
            AcceptedTool::Named(tool) => (tool, AgentStart::Failed.title()),
        };
        accepted.is_launching = true;
        match self.accept(AcceptedWork::Session(Box::new(accepted.clone()))).await {
            Ok(()) => self.launch_or_report(terminal, &tool, failure).await,
            Err(error) => {
                self.core.checkpoints().file_failure(accepted.session, failure, &error).await
            }
        }
    }

    async fn find_place(&self, new: &NewSession, accepted: &mut AcceptedSession) -> Result<Place> {
        let Some(asked) = &new.repo else {
            let cwd = self.core.inner.config.home.clone();
            return Ok(Place { cwd, checkout: None, name: None });
        };
        if !asked.is_absolute() {
            return Err(Error::invalid("repo", "the path must be absolute"));
        }
        let wants_worktree = new.create_worktree || new.existing_worktree.is_some();
        let repo = match Repository::discover(asked).await {
            Ok(repo) => repo,
            Err(GitError::NotARepository(_)) if !wants_worktree => {
                let name = base_name(asked);
                let checkout = Checkout { repo: asked.clone(), branch: None, worktree: None };
                let checkout = Some(checkout);
                return Ok(Place { cwd: asked.clone(), checkout, name });
            }
            Err(error) => return Err(worktree_error(WorktreeError::from(error))),
        };
        let top = repo.top().to_owned();
        let name = base_name(&top);
        if let Some(existing) = &new.existing_worktree {
            let tree = worktree::attach(&repo, existing).await.map_err(worktree_error)?;
            let worktree = Some(tree.path.clone());
            let checkout = Some(Checkout { repo: top, branch: tree.branch, worktree });
            return Ok(Place { cwd: tree.path, checkout, name });
        }
        if new.create_worktree {
            let made = self.make_planned_tree(&top, new, accepted).await?;
            let worktree = Some(made.path.clone());
            let checkout = Some(Checkout { repo: top, branch: Some(made.branch), worktree });
            return Ok(Place { cwd: made.path, checkout, name });
        }
        let current = worktree::current_branch(&repo).await.ok().flatten();
        let branch = new.branch.clone().or(current);
        let checkout = Some(Checkout { repo: top.clone(), branch, worktree: None });
        Ok(Place { cwd: top, checkout, name })
    }

    /// Makes a worktree whose names are written down first, so that whatever is half made is found.
    async fn make_planned_tree(
        &self,
        top: &Path,
        new: &NewSession,
        accepted: &mut AcceptedSession,
    ) -> Result<worktree::Created> {
        let request = NewWorktree {
            branch: new.branch.clone(),
            title: new.title.clone().unwrap_or_default(),
            ..NewWorktree::default()
        };
        let token = format!("{:012x}", accepted.session.get() & 0xffff_ffff_ffff);
        let plan = worktree::plan(top, &request, &token).await.map_err(worktree_error)?;
        accepted.tree = Some(PlannedTree {
            top: plan.top,
            path: plan.path.clone(),
            branch: plan.branch.clone(),
            base: plan.base,
        });
        self.accept(AcceptedWork::Session(Box::new(accepted.clone()))).await?;
        let (path, branch) = (Some(plan.path), Some(plan.branch));
        let made = worktree::create(top, &NewWorktree { path, branch, ..request }).await;
        if made.is_ok() {
            self.core.worktrees().raise_changed();
        } else {
            // Undone already; what another program made there meanwhile is not ours.
            accepted.tree = None;
        }
        made.map_err(worktree_error)
    }

    async fn open(
        &self,
        accepted: &AcceptedSession,
        new: &NewSession,
        place: &Place,
    ) -> Result<Terminal> {
        let (project, is_new) = self.project_for(place).await?;
        let branch = place.checkout.as_ref().and_then(|checkout| checkout.branch.as_deref());
        let first_title = match (&place.name, branch) {
            (Some(name), Some(branch)) => format!("{name}: {branch}"),
            (Some(name), None) => name.clone(),
            (None, _) => format!("Session {}", self.core.terminals().list().len() + 1),
        };
        // Sessions in worktrees differ by their branches; a shell that calls all of them by their
        // directories would hide that.
        let is_worktree = place.checkout.as_ref().is_some_and(|one| one.worktree.is_some());
        let title = new.title.clone().or_else(|| is_worktree.then(|| first_title.clone()));
        let opened = self
            .core
            .terminals()
            .open(OpenTerminal {
                cwd: Some(place.cwd.clone()),
                project,
                title,
                first_title: Some(first_title),
                activate: true,
                on_exit: OnExit::Keep,
                integrate: true,
                env: self.core.inner.config.tab_env.clone(),
                uuid: Some(TerminalUuid(accepted.session.get().to_be_bytes())),
                origin: Some(accepted.origin),
                checkout: place.checkout.clone(),
                ..OpenTerminal::default()
            })
            .await;
        if let (Err(_), Some(project), true) = (&opened, project, is_new) {
            let _ = self.core.workspace().delete_project(project).await;
        }
        opened
    }

    /// The project of a repository, made if there is none yet. Sessions without a repository go where
    /// terminals usually go.
    async fn project_for(&self, place: &Place) -> Result<(Option<ProjectId>, bool)> {
        let Some(checkout) = &place.checkout else { return Ok((None, false)) };
        let known = self
            .core
            .workspace()
            .projects()
            .into_iter()
            .find(|project| project.root == checkout.repo);
        if let Some(project) = known {
            return Ok((Some(project.id), false));
        }
        let name = place.name.clone().unwrap_or_else(|| "General".to_owned());
        let project = self.core.workspace().create_project(name, checkout.repo.clone()).await?;
        Ok((Some(project.id), true))
    }

    /// The agents that are known, and where they are installed.
    pub async fn agent_tools(&self) -> Vec<FoundTool> {
        let config = &self.core.inner.config;
        let path = config.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        find_agent_tools(path, &config.shell, config.home.clone()).await
    }

    /// The agent that the settings name.
    fn usual_tool(&self) -> Option<String> {
        self.core.inner.config.default_tool.clone()
    }

    async fn launch_or_report(&self, terminal: &Terminal, tool: &str, failure: &str) {
        let session = session_of(terminal.uuid);
        match self.launch_tool(terminal.id, tool).await {
            Ok(_) => {}
            Err(error) => self.core.checkpoints().file_failure(session, failure, &error).await,
        }
    }

    /// Refuses an agent that could not be started, before anything is made for it.
    ///
    /// # Errors
    /// If it is not known, or not installed.
    pub async fn check_tool(&self, tool: &str) -> Result<()> {
        let all = self.agent_tools().await;
        match all.iter().find(|found| found.tool.id == tool) {
            Some(found) if found.path.is_some() => Ok(()),
            Some(found) => Err(Error::not_found(format!(
                "{} is not installed or not on PATH",
                found.tool.name
            ))),
            None => {
                let known: Vec<&str> = all.iter().map(|found| found.tool.id.as_str()).collect();
                let message =
                    format!("no agent is called {tool:?}; known are {}", known.join(", "));
                Err(Error::invalid("tool", message))
            }
        }
    }

    /// Types the command of an agent into a terminal, once its shell is there.
    ///
    /// # Errors
    /// If the agent is not known or not installed, or the terminal is gone.
    pub async fn launch_tool(&self, id: TerminalId, tool: &str) -> Result<&'static KnownAgent> {
        let missing =
            || Error::not_found(format!("Tool '{tool}' is not installed or not on PATH."));
        let found = self.agent_tools().await.into_iter().find(|found| found.tool.id == tool);
        let found = found.ok_or_else(missing)?;
        let path = found.path.ok_or_else(missing)?;
        let handle = self.core.terminals().get(id)?;
        let mut progress = handle.progress();
        let shown = progress.wait_for(|progress| {
            progress.sequence > 0 || progress.is_finished || progress.is_closed
        });
        let _ = tokio::time::timeout(FIRST_PROMPT, shown).await;
        handle.write_all(format!("{}\r", typed(&path)).as_bytes()).await?;
        let session =
            self.core.terminals().describe(id).map(|terminal| session_of(terminal.uuid))?;
        self.core
            .transact_durably(|tx| {
                tx.file(NewItem {
                    session: Some(session),
                    related: None,
                    category: Category::Informational,
                    title: AgentStart::Started.title().to_owned(),
                    subtitle: Some(format!("Launched {tool} in session.")),
                    source: Source::Protocol,
                });
                Ok(())
            })
            .await?;
        self.core.terminals().see_agent(id, found.tool.program(), true);
        Ok(found.tool)
    }

    /// Removes the worktree of a session.
    ///
    /// # Errors
    /// If the session has none, work would be lost and that was not asked for, or something runs
    /// there besides the session itself.
    pub async fn remove_worktree(&self, id: SessionId, force: bool) -> Result<PathBuf> {
        let (place, terminal) = {
            let world = self.core.look();
            let session = world.session(id).ok_or_else(|| no_session(id))?;
            let place = world.checkout_of(id).and_then(|checkout| checkout.worktree.clone());
            let terminal = match session.home {
                SessionHome::Terminal(id) => Some(id),
                SessionHome::Thread(_) => None,
            };
            let none = || Error::new(ErrorKind::Conflict, "the session has no worktree");
            (place.ok_or_else(none)?, terminal)
        };
        let others = self.core.terminals().below(&place);
        let is_running = others.into_iter().any(|other| Some(other) != terminal);
        let repo =
            Repository::discover(&place).await.map_err(|error| worktree_error(error.into()))?;
        let request =
            RemoveRequest { path: place.clone(), force, delete_branch: false, is_running };
        worktree::remove(&repo, &request).await.map_err(worktree_error)?;
        self.core.worktrees().raise_changed();
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

fn base_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

pub(crate) fn worktree_error(error: WorktreeError) -> Error {
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
