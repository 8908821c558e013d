//! What an item holds for the moment when it takes effect.

use crate::hooks::Hook;
use crate::mcp::McpServer;
use crate::plugin::Manifest;

/// What takes effect once an item is enabled.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A text for the model.
    Guidance(String),
    /// A text for the model, perhaps for some files only.
    Rule(Rule),
    /// A text that the model can ask for.
    Skill(Skill),
    /// The file of a slash command, with the name that it has here.
    SlashCommand {
        /// Its name, without a slash.
        name: String,
        /// The file.
        text: String,
    },
    /// The file of an agent's definition, with the name that it has here.
    Agent {
        name: String,
        /// The file.
        text: String,
    },
    McpServer(Box<McpServer>),
    /// Commands at events.
    Hooks(Vec<Hook>),
    Plugin(Box<Manifest>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub text: String,
    /// What it is about.
    pub description: Option<String>,
    /// The files that it is for; all of them if there is no pattern.
    pub globs: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skill {
    /// Its name, for the model.
    pub name: String,
    /// When it is of use.
    pub description: String,
    /// What it says.
    pub body: String,
}

impl Content {
    /// The skill, if it is one.
    pub fn skill(&self) -> Option<&Skill> {
        match self {
            Self::Skill(skill) => Some(skill),
            _ => None,
        }
    }

    /// The name by which it is used; none for what has no name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Skill(skill) => Some(&skill.name),
            Self::SlashCommand { name, .. } | Self::Agent { name, .. } => Some(name),
            Self::McpServer(server) => Some(&server.name),
            Self::Guidance(_) | Self::Rule(_) | Self::Hooks(_) | Self::Plugin(_) => None,
        }
    }
}
