//! The changes to settings that outlive us, and where in the file they go.

use rookery_host::{SettingsFileError, remove_setting, set_setting};
use rookery_model::Mode;
use toml_edit::{DocumentMut, Value};

use super::{Secret, Spelled, WebSearchMode, normalize_provider};

/// One change. Showing it does not show a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The provider, model and reasoning that new threads use. What is none is removed.
    Selection {
        provider: String,
        model: Option<String>,
        /// How hard it thinks.
        reasoning: Option<String>,
    },
    /// The key of a provider; none removes it.
    ApiKey { provider: String, key: Option<Secret> },
    /// A program that is a provider, with its arguments.
    Agent {
        provider: String,
        /// The program and its arguments.
        command: Vec<String>,
    },
    /// Where a provider is.
    BaseUrl {
        provider: String,
        /// The address.
        url: String,
    },
    /// Whether models search the web, in the words that were used.
    WebSearch(Spelled<WebSearchMode>),
    /// The mode to begin in, in the words that were used.
    DefaultMode(Spelled<Mode>),
    /// The shell that runs commands.
    Shell(String),
    /// Whether there is a search index.
    SearchIndex(bool),
    /// Whether long results are kept whole in files.
    DynamicContext(bool),
}

impl Edit {
    /// Changes a document, to be written by the owner of the file.
    pub fn apply(&self, document: &mut DocumentMut) -> Result<(), SettingsFileError> {
        match self {
            Self::Selection { provider, model, reasoning } => {
                set_setting(document, &["provider"], normalize_provider(provider))?;
                put(document, &["model"], model.as_deref())?;
                put(document, &["reasoning"], reasoning.as_deref())
            }
            Self::ApiKey { provider, key } => {
                let id = spelled_in(document, &normalize_provider(provider));
                put(document, &["providers", &id, "api_key"], key.as_ref().map(Secret::expose))
            }
            Self::Agent { provider, command } => {
                let id = spelled_in(document, &normalize_provider(provider));
                set_setting(document, &["providers", &id, "kind"], "acp")?;
                let command: Value = command.iter().map(String::as_str).collect();
                set_setting(document, &["providers", &id, "command"], command)
            }
            Self::BaseUrl { provider, url } => {
                let id = spelled_in(document, &normalize_provider(provider));
                set_setting(document, &["providers", &id, "base_url"], url.as_str())
            }
            Self::WebSearch(mode) => set_setting(document, &["web_search", "mode"], mode.spelling),
            Self::DefaultMode(mode) => {
                set_setting(document, &["policy_modes", "default"], mode.spelling)
            }
            Self::Shell(shell) => set_setting(document, &["tools", "shell"], shell.as_str()),
            Self::SearchIndex(is_on) => set_setting(document, &["search_index", "enabled"], *is_on),
            Self::DynamicContext(is_on) => {
                set_setting(document, &["context", "file_backed_dynamic_context"], *is_on)
            }
        }
    }
}

/// The key as the file has it: `[providers.X-AI]` is the same provider as `xai`.
fn spelled_in(document: &DocumentMut, id: &str) -> String {
    let known = document.get("providers").and_then(|item| item.as_table_like());
    let mut keys = known.into_iter().flat_map(|table| table.iter()).map(|(key, _)| key);
    keys.find(|key| normalize_provider(key) == id).unwrap_or(id).to_owned()
}

fn put(
    document: &mut DocumentMut,
    path: &[&str],
    value: Option<&str>,
) -> Result<(), SettingsFileError> {
    match value {
        Some(value) => set_setting(document, path, value),
        None => {
            remove_setting(document, path);
            Ok(())
        }
    }
}
