//! Who answers in new threads, and who could.

use rookery_wire::empty_calls;
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
