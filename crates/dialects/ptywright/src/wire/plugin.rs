//! Params and results of the `plugin.*` methods.

use rookery_plugins::{Manifest, Permission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Result of `plugin.capabilities`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Capabilities {
    /// Plugins that come with the server.
    pub builtin_plugins: Vec<Manifest>,
    /// Whether Lua plugins can be loaded.
    pub embedded_lua: bool,
    /// What a plugin can be permitted.
    pub permissions: Vec<Permission>,
    /// Whether WebAssembly plugins can be loaded.
    pub wasm: bool,
}

/// Params of `plugin.validate_manifest`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Validate {
    pub manifest: Manifest,
}

/// Result of `plugin.validate_manifest`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Valid {
    /// Always true.
    pub valid: bool,
}

/// Params of `plugin.load`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Load {
    /// The manifest file.
    pub manifest_path: String,
}

/// Result of `plugin.load`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Loaded {
    /// The plugin's name.
    pub plugin: String,
}

/// Params of methods that name a plugin.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Named {
    /// The plugin's name.
    pub plugin: String,
}

/// Result of `plugin.unload`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unloaded {
    /// Always true.
    pub unloaded: bool,
}

/// Result of `plugin.describe`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Described {
    /// The plugin's name.
    pub plugin: String,
    pub manifest: Manifest,
    /// What can be sent.
    pub intents: Vec<Value>,
    /// What can be waited for.
    pub wait_matchers: Vec<Value>,
    /// States that it may report.
    pub states: Vec<Value>,
}
