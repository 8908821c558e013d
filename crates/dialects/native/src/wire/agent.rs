//! Who answers in new threads, and who could, with which models and keys.

use rookery_wire::{Secret, call, empty_calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

empty_calls! {
    /// Params of `rookery/agents/providers`, which takes none.
    pub ListProviders: "rookery/agents/providers" -> Providers,
}

/// Result of `rookery/agents/providers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Providers {
    /// Who answers in new threads.
    pub default: DefaultModel,
    /// All providers, in the order of a list.
    pub providers: Vec<Provider>,
}

/// Who answers in new threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefaultModel {
    pub provider: String,
    /// Its model; `default` leaves it to the provider.
    pub model: String,
    /// Whether the settings, the environment or a client chose it; the mock answers otherwise.
    pub chosen: bool,
}

/// Something that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether it has what it needs, such as a key.
    pub usable: bool,
    /// The variable that may hold its key; absent if it wants none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// Variables that a provider that is a program would find keys in and that the daemon does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted_keys: Vec<String>,
}

/// Params of `rookery/agents/models`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelList {
    /// Whose models; those of the provider that answers in new threads if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

call!("rookery/agents/models" ModelList -> Models);

/// Result of `rookery/agents/models`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Models {
    pub provider: String,
    /// Those that it lists; others may work as well.
    pub models: Vec<Model>,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How many tokens it takes, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How much it can be asked to think.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<String>,
    /// How much it thinks if it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_reasoning: Option<String>,
}

/// Params of `rookery/keys/lend`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LendKey {
    pub provider: String,
    /// The key, for what this connection starts.
    pub key: Secret,
    /// The variable that a provider that is a program finds it in; the usual one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

call!("rookery/keys/lend" LendKey -> super::Empty);
