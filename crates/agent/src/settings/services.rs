//! Settings of memories and media: what is kept by itself, and the servers that make vectors and images.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySettings {
    /// Whether a turn is given the memories that fit its prompt.
    pub recalls: bool,
    /// Servers that make vectors, by their names.
    pub providers: BTreeMap<String, ServiceSettings>,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { recalls: true, providers: BTreeMap::new() }
    }
}

/// Images and other media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaSettings {
    /// Whether images that users send, tools return and screenshots show are kept.
    pub keeps: bool,
    /// Servers that make images, by their names.
    pub providers: BTreeMap<String, ServiceSettings>,
}

impl Default for MediaSettings {
    fn default() -> Self {
        Self { keeps: true, providers: BTreeMap::new() }
    }
}

impl super::Settings {
    /// The variables that hold keys of these servers.
    pub fn service_keys(&self) -> impl Iterator<Item = &String> {
        let servers = self.memory.providers.values().chain(self.media.providers.values());
        servers.filter_map(|server| server.api_key_env.as_ref())
    }
}

/// A server that speaks OpenAI's API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceSettings {
    /// Where its API begins, such as `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// The variable that has its key; none if it wants none.
    pub api_key_env: Option<String>,
    pub model: String,
    /// How many numbers a vector has; whatever the model gives if it is not said.
    pub dimensions: Option<u32>,
}
