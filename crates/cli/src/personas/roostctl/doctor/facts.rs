//! What is found. Nothing here judges, and nothing changes anything.

use std::{io, path::PathBuf, time::Duration};

use rookery_roost::wire::{
    app::Identity,
    tab::{Projects, Tab, TabList},
};
use tokio::time::timeout;

use super::{claude::Claude, shell::Shell};
use crate::personas::roostctl::{
    link::Link,
    tab_of,
    target::{self, Env, Flags, Origin, non_empty, process_env},
};

/// How long each question to the server may take.
const STEP: Duration = Duration::from_secs(2);

/// How a socket answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Listens,
    Missing,
    /// The file is there, but no server listens.
    Stale,
    Refuses(String),
}

impl Answer {
    fn of<T>(result: &io::Result<T>) -> Self {
        match result {
            Ok(_) => Self::Listens,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Self::Stale,
            Err(error) => Self::Refuses(error.to_string()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Facts {
    /// What `--tab` says.
    pub(super) asked_tab: Option<i64>,
    /// What `ROOST_TAB_ID` says, or why it says nothing.
    pub(super) named_tab: Result<Option<i64>, String>,
    pub(super) named_socket: Option<String>,
    /// Whether a tab started the shell that started this.
    pub(super) is_in_tab: bool,
    /// How the server is chosen.
    pub(super) origin: Result<Origin, String>,
    pub(super) sockets: Vec<(PathBuf, Answer)>,
    /// The server that was chosen.
    pub(super) chosen: Result<PathBuf, String>,
    pub(super) identity: Result<Identity, String>,
    pub(super) projects: Result<Projects, String>,
    pub(super) shell: Shell,
    pub(super) claude: Claude,
}

impl Facts {
    pub(super) async fn collect(flags: &Flags, asked_tab: Option<i64>) -> Self {
        let env: Env<'_> = &process_env;
        let mut facts = Self {
            asked_tab,
            named_tab: tab_of(non_empty(env, "ROOST_TAB_ID")),
            named_socket: non_empty(env, "ROOST_SOCKET")
                .map(|path| path.to_string_lossy().into_owned()),
            // Nothing but a tab sets these; the other two are also set by hand.
            is_in_tab: ["ROOST_SHELL_INTEGRATION", "ROOST_RESOURCES_DIR"]
                .iter()
                .any(|name| non_empty(env, name).is_some()),
            origin: Ok(Origin::Probe),
            sockets: Vec::new(),
            chosen: Err("no server was selected".to_owned()),
            identity: Err("no server was reached".to_owned()),
            projects: Err("no server was reached".to_owned()),
            shell: Shell::collect(env),
            claude: Claude::collect(env),
        };
        facts.ask_server(flags, env).await;
        facts
    }

    async fn ask_server(&mut self, flags: &Flags, env: Env<'_>) {
        let candidates = match target::candidates(flags, env) {
            Ok(candidates) => candidates,
            Err(failure) => {
                self.origin = Err(failure.message().to_owned());
                return;
            }
        };
        self.origin = Ok(candidates.origin);
        let answers = target::knock(&candidates).await;
        let answered = candidates.paths.iter().cloned().zip(answers.iter().map(Answer::of));
        self.sockets = answered.collect();
        match target::settle(&candidates, answers) {
            Err(failure) => self.chosen = Err(failure.message().to_owned()),
            Ok(found) => {
                self.chosen = Ok(found.path);
                let mut link = Link::over(found.stream);
                self.identity = step(link.call(crate::personas::roostctl::identify())).await;
                self.projects = step(link.call(TabList {})).await;
            }
        }
    }

    /// Every tab there is.
    pub(super) fn tabs(&self) -> impl Iterator<Item = &Tab> {
        let projects = self.projects.iter().flat_map(|all| &all.projects);
        projects.flat_map(|project| &project.tabs)
    }
}

async fn step<T, E: std::fmt::Display>(
    question: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match timeout(STEP, question).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err("the server does not answer".to_owned()),
    }
}
