//! What a provider is started with: arguments, environment, standard input.

use std::time::Duration;

use rookery_model::{ProjectId, TerminalId};
use serde_json::{Map, Value, json};

use crate::settings::{Provider, ProviderRun};

/// What a run is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// List the rows.
    List,
    /// Do what the chosen row means.
    Activate {
        /// The row.
        id: String,
    },
}

impl Phase {
    /// Its word, also the argument.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Activate { .. } => "activate",
        }
    }

    fn selected(&self) -> Option<&str> {
        match self {
            Self::List => None,
            Self::Activate { id } => Some(id),
        }
    }
}

/// What a provider may know of the place it was called from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Path of the socket.
    pub socket: String,
    /// What stood in the filter.
    pub query: String,
    /// The active tab.
    pub tab: Option<TerminalId>,
    pub project: Option<ProjectId>,
    /// The active tab's directory; empty when there is none.
    pub cwd: String,
    /// The active tab's title.
    pub title: String,
    /// Absolute path of the command line program, if known.
    pub roostctl: Option<String>,
}

/// A run, ready to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables to set.
    pub env: Vec<(&'static str, String)>,
    /// Variables that must not be inherited.
    pub without: Vec<&'static str>,
    /// The line for its standard input.
    pub stdin: String,
    /// Where to run it, if that directory exists.
    pub cwd: Option<String>,
    /// When to kill it.
    pub timeout: Duration,
}

/// How to run `provider`; `shell` is the user's.
pub fn launch(provider: &Provider, phase: &Phase, context: &Context, shell: &str) -> Launch {
    let word = phase.word();
    let argv = match &provider.run {
        ProviderRun::Shell(line) => {
            vec![shell.to_owned(), "-c".to_owned(), format!("{line} {word}")]
        }
        ProviderRun::Executable(path) => vec![path.clone(), word.to_owned()],
    };
    let (env, without) = environment(phase, context);
    Launch {
        argv,
        env,
        without,
        stdin: stdin(phase, context),
        cwd: Some(context.cwd.clone()).filter(|cwd| !cwd.is_empty()),
        timeout: provider.timeout,
    }
}

/// Variables to set, and those of the same names to remove because they have no value.
fn environment(
    phase: &Phase,
    context: &Context,
) -> (Vec<(&'static str, String)>, Vec<&'static str>) {
    let all = [
        ("ROOST_PROVIDER_PHASE", Some(phase.word().to_owned())),
        ("ROOST_SOCKET", Some(context.socket.clone())),
        ("ROOST_QUERY", Some(context.query.clone())),
        ("ROOST_ACTIVE_CWD", Some(context.cwd.clone())),
        ("ROOST_ACTIVE_TITLE", Some(context.title.clone())),
        ("ROOST_ACTIVE_TAB_ID", context.tab.map(|tab| tab.to_string())),
        ("ROOST_ACTIVE_PROJECT_ID", context.project.map(|project| project.to_string())),
        ("ROOST_SELECTED_ID", phase.selected().map(str::to_owned)),
        ("ROOST_ROOSTCTL", context.roostctl.clone()),
    ];
    let mut set = Vec::new();
    let mut without = Vec::new();
    for (name, value) in all {
        match value {
            // A zero byte cannot be in an environment, and would keep the run from starting.
            Some(value) => set.push((name, value.replace('\0', ""))),
            None => without.push(name),
        }
    }
    (set, without)
}

fn stdin(phase: &Phase, context: &Context) -> String {
    let mut tab = Map::new();
    if let Some(id) = context.tab {
        tab.insert("id".to_owned(), Value::String(id.to_string()));
    }
    if let Some(id) = context.project {
        tab.insert("project_id".to_owned(), Value::String(id.to_string()));
    }
    tab.insert("cwd".to_owned(), Value::String(context.cwd.clone()));
    tab.insert("title".to_owned(), Value::String(context.title.clone()));
    let mut line = json!({
        "v": 1,
        "phase": phase.word(),
        "query": context.query,
        "active_tab": tab,
        "socket": context.socket,
    });
    if let Some(id) = phase.selected() {
        line["selected_id"] = Value::String(id.to_owned());
    }
    format!("{line}\n")
}
