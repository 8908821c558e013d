//! The nouns: marketplaces, their entries, installed plugins. Their members are named as in the state file and in
//! cached catalogs, which other programs read as well.

use std::path::PathBuf;

use rookery_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::identity::IdentityKey;
use crate::plugin_source::PluginSource;
use crate::source::MarketSource;

/// Whose format a catalog has, in the order in which variants of a plugin are recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// `.claude-plugin/marketplace.json`.
    Claude,
    /// A folder of plugins, each with `.codex-plugin/plugin.json`.
    Codex,
    /// `.cursor-plugin/marketplace.json`.
    Cursor,
    /// `.roder-plugin/marketplace.json`.
    Roder,
    /// The same, or not known yet.
    Custom,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Claude, Kind::Codex, Kind::Cursor, Kind::Roder, Kind::Custom];

    pub fn word(self) -> &'static str {
        match self {
            Kind::Claude => "claude",
            Kind::Codex => "codex",
            Kind::Cursor => "cursor",
            Kind::Roder => "roder",
            Kind::Custom => "custom",
        }
    }

    /// The kind by its word.
    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Where a marketplace stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MarketState {
    /// Known by us, and never asked for.
    BakedIn,
    /// Added, and not fetched since.
    Installed,
    /// Fetched.
    Refreshed,
    /// Switched off.
    Disabled,
    /// One of ours that the user removed.
    RemovedByUser,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Marketplace {
    pub id: String,
    /// Whose format its catalog has.
    pub kind: Kind,
    /// Whether that is a guess by words of the source, and its files are to say it once they are here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kind_guessed: bool,
    /// Its name for people.
    pub display_name: String,
    /// Where it is.
    pub source: MarketSource,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Whose it is, as its catalog says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// How they are reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_email: Option<String>,
    /// What it says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is one of ours.
    #[serde(default)]
    pub is_default: bool,
    /// Whether its plugins are shown.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Where it stands.
    #[serde(default = "baked_in")]
    pub state: MarketState,
    /// When it was fetched last.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "time_text::optional")]
    pub last_refreshed_at: Option<Timestamp>,
    /// SHA-256 of its catalog then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Why it could not be fetched the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl Marketplace {
    /// Whether its plugins are shown.
    pub fn is_shown(&self) -> bool {
        self.enabled && matches!(self.state, MarketState::Installed | MarketState::Refreshed)
    }
}

fn yes() -> bool {
    true
}

fn baked_in() -> MarketState {
    MarketState::BakedIn
}

/// What a plugin seems to have in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hints {
    pub skills: bool,
    /// Slash commands.
    pub commands: bool,
    pub agents: bool,
    /// Servers of the Model Context Protocol.
    pub mcp_servers: bool,
    pub hooks: bool,
    pub apps: bool,
    /// Language servers.
    pub lsp_servers: bool,
    pub rules: bool,
    /// Images.
    pub assets: bool,
}

/// What the worst is that a plugin may do once its components are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Risk {
    /// Nothing: it is text.
    Passive,
    /// It reads files of the workspace.
    ReadsWorkspace,
    /// It starts programs.
    StartsProcess,
    /// It runs programs at events, unasked.
    RunsHook,
    /// That cannot be determined.
    Unknown,
}

/// A plugin as a catalog has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub marketplace_id: String,
    /// Its id there.
    pub plugin_id: String,
    /// By what it is recognized elsewhere.
    pub identity_key: IdentityKey,
    /// Its name for people.
    pub display_name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whose format it has.
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where its content is.
    pub source: PluginSource,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Where it is developed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    /// Under what it is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Words it is found by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What it seems to have in it.
    #[serde(default)]
    pub component_hints: Hints,
    /// What it says it can do.
    #[serde(default)]
    pub capability_hints: Vec<String>,
    /// What the worst is that it may do.
    pub risk: Risk,
    /// What its catalog says of it.
    #[serde(default)]
    pub raw_manifest: Value,
    /// Why it cannot be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Entry {
    /// Its name among all variants.
    pub fn variant_key(&self) -> String {
        crate::ids::variant_key(&self.marketplace_id, &self.plugin_id)
    }
}

/// Where an installed plugin stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InstallState {
    /// Looked at.
    Previewed,
    /// There, and in use.
    Installed,
    /// There, and not in use.
    Disabled,
    /// Gone.
    Uninstalled,
}

/// A plugin that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    pub marketplace_id: String,
    /// Its id there.
    pub plugin_id: String,
    /// By what it is recognized elsewhere.
    pub identity_key: IdentityKey,
    /// Its name among all variants.
    pub variant_key: String,
    /// Where its content lies.
    pub install_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Where it stands.
    pub state: InstallState,
    /// When it was installed.
    #[serde(with = "time_text")]
    pub installed_at: Timestamp,
}

/// Where files of marketplaces lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    pub state_file: PathBuf,
    /// Checkouts and cached catalogs, a folder for each marketplace.
    pub sources: PathBuf,
    /// Contents of plugins.
    pub plugins: PathBuf,
    /// Folders that stand for repositories of GitHub, by owner and name; for work without a network.
    pub github_folders: Option<PathBuf>,
}

/// Why something about a marketplace or a plugin cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarketplaceError {
    /// A source is none that is taken.
    #[error("invalid marketplace source: {0}")]
    InvalidSource(String),
    /// There is no catalog where one should be, or it cannot be read.
    #[error("{0}")]
    Catalog(String),
    /// Ids that a catalog has more than once.
    #[error("duplicate plugin `{plugin}` in marketplace `{marketplace}`")]
    Duplicate {
        marketplace: String,
        /// The first of them.
        plugin: String,
    },
    /// The other side cannot be reached, or says no.
    #[error("cannot fetch {what}: {why}")]
    Fetch {
        /// What was fetched.
        what: String,
        /// Why not.
        why: String,
    },
    /// Content comes from where we take none.
    #[error("unsupported source: {0}")]
    Unsupported(String),
    /// Content is not what may be installed.
    #[error("{0}")]
    Content(String),
    /// Files of ours cannot be written or read.
    #[error("{0}")]
    Files(String),
}

/// Times as texts in RFC 3339.
mod time_text {
    use rookery_model::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    fn read<E: de::Error>(text: &str) -> Result<Timestamp, E> {
        let time: jiff::Timestamp = text.parse().map_err(|_| E::custom("no time in RFC 3339"))?;
        Ok(Timestamp::from_micros(time.as_microsecond()))
    }

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        read(&String::deserialize(from)?)
    }

    pub(super) mod optional {
        use super::{Deserializer, Serializer, Timestamp, read};
        use serde::Deserialize as _;

        pub(in super::super) fn serialize<S: Serializer>(
            time: &Option<Timestamp>,
            out: S,
        ) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => out.collect_str(time),
                None => out.serialize_none(),
            }
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Timestamp>, D::Error> {
            Option::<String>::deserialize(from)?.as_deref().map(read).transpose()
        }
    }
}
