//! What a scan finds: items with their source, risk and state.

use std::path::PathBuf;

use rookery_model::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::content::Content;

/// Declares an enum with one word per value, as files and clients spell it.
macro_rules! words {
    ($(#[$doc:meta])* $Name:ident { $($(#[$value_doc:meta])* $Value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Name {
            $($(#[$value_doc])* $Value,)*
        }

        impl $Name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$Value,)*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$Value => $word,)*
                }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What an item is.
    SourceKind {
        /// Text for every turn.
        Guidance = "guidance",
        /// Text for every turn, or for files that match a pattern.
        Rule = "rule",
        /// A text that the model reads when it needs it.
        Skill = "skill",
        /// A prompt with a name.
        SlashCommand = "slashCommand",
        /// A kind of child agent.
        Agent = "agent",
        /// A server of the Model Context Protocol.
        McpServer = "mcpServer",
        /// Commands that run at events of a turn.
        Hook = "hook",
        /// A folder with items of its own.
        Plugin = "plugin",
        /// Something else.
        Unknown = "unknown",
    }
}

impl SourceKind {
    /// Whether it is text and can start nothing.
    pub fn is_passive(self) -> bool {
        match self {
            Self::Guidance | Self::Rule | Self::Skill | Self::SlashCommand | Self::Agent => true,
            Self::McpServer | Self::Hook | Self::Plugin | Self::Unknown => false,
        }
    }
}

words! {
    /// What may happen once an item is enabled.
    Risk {
        /// It is text.
        Passive = "passive",
        /// It reads files of the workspace.
        ReadsWorkspace = "readsWorkspace",
        /// It starts a program, or contacts a server.
        StartsProcess = "startsProcess",
        /// It runs commands at events.
        RunsHook = "runsHook",
        /// That depends on its parts.
        Unknown = "unknown",
    }
}

words! {
    /// Where an item stands.
    State {
        /// It was found.
        Detected = "detected",
        /// It was shown.
        Previewed = "previewed",
        /// It takes effect.
        Enabled = "enabled",
        /// It is not wanted.
        Ignored = "ignored",
        /// It was enabled once.
        Disabled = "disabled",
        /// Its decision was taken back.
        Removed = "removed",
        /// It was enabled, and its file has changed since.
        Stale = "stale",
        /// It was enabled, and cannot take effect.
        Failed = "failed",
    }
}

/// Where an item comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// Its file: from the workspace on, or absolute if it is the user's.
    pub path: String,
    /// Its name in that file or folder, if the path alone does not say which item it is.
    pub name: Option<String>,
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    /// When it was found.
    pub detected_at: Timestamp,
}

/// The plugin that an item is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRef {
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// The key of an installed plugin; none for one of a workspace.
    pub variant_key: Option<String>,
}

/// Something with the same name that is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which part of both is the same.
    pub field: String,
    /// Where the other one is.
    pub existing: String,
    /// Where this one is.
    pub incoming: String,
    /// Which of them counts.
    pub detail: String,
}

/// One thing that can be enabled.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its id, which stays the same when its file is edited.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it is, in a line.
    pub summary: String,
    /// Where it comes from.
    pub source: Source,
    /// Where it stands.
    pub state: State,
    /// What may happen.
    pub risk: Risk,
    /// Whether it can start a program.
    pub is_command_capable: bool,
    /// Whether it may only be enabled together with its side effects.
    pub needs_approval: bool,
    /// What it holds, without secrets.
    pub preview: Value,
    /// What has the same name.
    pub conflicts: Vec<Conflict>,
    /// Since when it is enabled.
    pub enabled_at: Option<Timestamp>,
    /// Whether it takes effect without a decision.
    pub is_live: bool,
    pub file: PathBuf,
    /// The plugin that it is a part of.
    pub plugin: Option<PluginRef>,
    /// What takes effect.
    pub content: Content,
}

/// A file that could not be read or understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// Its path, as items spell theirs.
    pub path: String,
    /// Why.
    pub message: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scan {
    /// Where.
    pub workspace: PathBuf,
    /// Items, sorted by id.
    pub items: Vec<Item>,
    /// Files that are no items, sorted by path.
    pub errors: Vec<ScanError>,
}

impl Scan {
    /// The item of an id.
    pub fn item(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }
}

/// The id of an item: the same for the same kind, path and name, whatever its file says.
pub fn item_id(kind: SourceKind, path: &str, name: Option<&str>) -> String {
    let identity = format!("{}:{path}:{}", kind.word(), name.unwrap_or_default());
    format!("workflow-{}", &digest(identity.as_bytes())[..16])
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_kind_path_and_name_and_on_nothing_else() {
        let id = item_id(SourceKind::McpServer, ".mcp.json", Some("docs"));
        assert_eq!(id.len(), "workflow-".len() + 16);
        assert_eq!(id, item_id(SourceKind::McpServer, ".mcp.json", Some("docs")));
        assert_ne!(id, item_id(SourceKind::McpServer, ".mcp.json", Some("web")));
        assert_ne!(id, item_id(SourceKind::Hook, ".mcp.json", Some("docs")));
        assert_ne!(id, item_id(SourceKind::McpServer, "mcp.json", Some("docs")));
        let expected = &digest(b"guidance:AGENTS.md:")[..16];
        assert_eq!(
            item_id(SourceKind::Guidance, "AGENTS.md", None),
            format!("workflow-{expected}")
        );
    }

    #[test]
    fn words_come_back() {
        for kind in SourceKind::ALL {
            assert_eq!(SourceKind::from_word(kind.word()), Some(*kind));
        }
        for state in State::ALL {
            assert_eq!(State::from_word(state.word()), Some(*state));
        }
        assert_eq!(Risk::from_word("none"), None);
    }
}
