//! Slash commands: prompts with arguments and included context, built in or from files.
//!
//! [`Command::parse`] and [`Template`] are pure, [`Catalog`] finds the files and blocks while it reads
//! them, [`expand()`] makes a message of a command. Nothing here starts a turn or knows a wire.

mod builtin;
mod catalog;
mod command;
mod expand;
mod front_matter;
mod include;
mod review;
mod template;

use std::fmt;
use std::path::PathBuf;

use rookery_model::ErrorKind;
use serde_json::Value;

pub use builtin::built_ins;
pub use catalog::{Catalog, Listing};
pub use command::{Command, ForeignCommand};
pub use expand::{ExpandContext, expand};
pub use include::{Fetch, Fetched, Fetching, Gate, NoNetwork};
pub use template::Template;

/// Where a command comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// It ships with us.
    BuiltIn,
    /// A file of the user's.
    User,
    /// A file of the workspace's.
    Workspace,
    /// The extension of this id.
    Extension(String),
    /// The package of this id.
    Package(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::User => f.write_str("user"),
            Self::Workspace => f.write_str("workspace"),
            Self::Extension(id) => write!(f, "extension:{id}"),
            Self::Package(id) => write!(f, "package:{id}"),
        }
    }
}

/// A command as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its name, without a slash.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What its arguments look like.
    pub argument_hint: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// The model it wants.
    pub model: Option<String>,
    /// The agent it wants.
    pub agent: Option<String>,
    /// The role it wants, by its slug.
    pub role: Option<String>,
    pub file: Option<PathBuf>,
    /// Whether it includes what programs print.
    pub has_shell_includes: bool,
    /// Whether it includes what the network says.
    pub has_url_includes: bool,
}

/// What a command came to with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    pub command: CommandInfo,
    /// What the user says by it.
    pub message: String,
    /// What the model gets to read beside it.
    pub blocks: Vec<Block>,
    /// The only tools it may use; empty leaves all of them.
    pub allowed_tools: Vec<String>,
    /// The model it wants.
    pub model: Option<String>,
    /// The agent it wants.
    pub agent: Option<String>,
}

/// A piece of context for the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What the message calls it, without the brackets: `command.NAME.KIND.ID`.
    pub id: String,
    /// What it is.
    pub kind: BlockKind,
    /// The text, cut at the limit.
    pub text: String,
    /// The higher, the later it is dropped when there is no room for all.
    pub priority: i32,
    /// About how many tokens it costs.
    pub token_estimate: Option<u64>,
    /// Where it came from, and whether it was cut (`truncated`).
    pub metadata: Value,
}

/// What a piece of context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A file or a page.
    RetrievedDocument,
    /// What a program said of the surroundings.
    Environment,
}

impl BlockKind {
    /// Its name on a wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RetrievedDocument => "RetrievedDocument",
            Self::Environment => "Environment",
        }
    }
}

/// A file that is no command, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Warning {
    /// The file or directory.
    pub path: PathBuf,
    /// Why it was skipped.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command file {} was skipped: {}", self.path.display(), self.message)
    }
}

/// Why a command could not be listed or expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("unknown command \"{0}\"")]
    Unknown(String),
    /// The settings turned commands off.
    #[error("commands are disabled")]
    Disabled,
    /// The workspace is no absolute path.
    #[error("workspace must be absolute")]
    RelativeWorkspace,
    /// The arguments do not fit the command.
    #[error("invalid arguments of command \"{name}\": {reason}")]
    Arguments {
        /// The command.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The settings or the policy do not let it include this.
    #[error("{include} is not allowed: {reason}")]
    Denied {
        /// What it wanted to include.
        include: String,
        /// Who said no.
        reason: String,
    },
    /// Something to include could not be had.
    #[error("{include} failed: {reason}")]
    Include {
        /// What it wanted to include.
        include: String,
        /// What went wrong.
        reason: String,
    },
}

impl From<CommandError> for rookery_model::Error {
    fn from(error: CommandError) -> Self {
        let message = error.to_string();
        match error {
            CommandError::Unknown(_) => Self::not_found(message),
            CommandError::RelativeWorkspace => Self::invalid("workspace", message),
            CommandError::Arguments { .. } => Self::invalid("arguments", message),
            CommandError::Denied { .. } => Self::new(ErrorKind::Denied, message),
            CommandError::Disabled | CommandError::Include { .. } => Self::failed(message),
        }
    }
}

#[cfg(test)]
mod tests;
