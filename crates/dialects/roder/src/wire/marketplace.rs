//! Marketplaces and plugins, in camelCase. Only the folder of a plugin in its marketplace names that marketplace
//! in both spellings: published clients read the one that is not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whose format a catalog has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MarketplaceKind {
    Claude,
    Cursor,
    Codex,
    Roder,
    Custom,
}

/// Which marketplaces that everyone knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DefaultSelection {
    None,
    #[serde(alias = "claude")]
    Anthropic,
    Cursor,
    Codex,
    All,
}

/// Where a marketplace stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MarketplaceState {
    BakedIn,
    Installed,
    Refreshed,
    Disabled,
    RemovedByUser,
}

/// Where a marketplace is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum MarketplaceSource {
    /// A folder of this machine.
    LocalPath { path: String },
    /// A repository.
    Git {
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catalog_path: Option<String>,
    },
    /// A repository of GitHub.
    Github {
        repo: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catalog_path: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plugin_root: Option<String>,
    },
    /// A catalog alone.
    HttpJson { url: String },
}

/// A marketplace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marketplace {
    pub id: String,
    pub kind: MarketplaceKind,
    pub display_name: String,
    pub source: MarketplaceSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether everyone knows it.
    pub is_default: bool,
    pub enabled: bool,
    pub state: MarketplaceState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_refreshed_at: Option<String>,
    /// SHA-256 of its catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Why it could not be fetched the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// Where the content of a plugin is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum PluginSource {
    /// A folder in its marketplace.
    MarketplacePath {
        marketplace_id: String,
        #[serde(rename = "marketplaceId")]
        marketplace: String,
        path: String,
    },
    /// A repository, or a folder in it.
    Git {
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(default, rename = "refName", skip_serializing_if = "Option::is_none")]
        ref_name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha: Option<String>,
    },
    /// An archive; not installed.
    Http {
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha: Option<String>,
    },
    /// A package of JavaScript; not installed.
    Npm {
        package: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A folder of this machine.
    LocalPath { path: String },
    /// Something else; not installed.
    Unsupported { value: Value },
}

/// What a plugin seems to have in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentHints {
    pub skills: bool,
    pub commands: bool,
    pub agents: bool,
    pub mcp_servers: bool,
    pub hooks: bool,
    pub apps: bool,
    pub lsp_servers: bool,
    pub rules: bool,
    pub assets: bool,
}

/// The worst that a plugin may do once its components are active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PluginRisk {
    Passive,
    ReadsWorkspace,
    StartsProcess,
    RunsHook,
    Unknown,
}

/// By what a plugin is recognized in several marketplaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityKey {
    pub canonical_slug: String,
    pub normalized_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage_domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
}

/// A plugin as its catalog has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginEntry {
    pub marketplace_id: String,
    pub plugin_id: String,
    pub identity_key: IdentityKey,
    pub display_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub kind: MarketplaceKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub source: PluginSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub tags: Vec<String>,
    pub component_hints: ComponentHints,
    pub capability_hints: Vec<String>,
    pub risk: PluginRisk,
    pub raw_manifest: Value,
    /// Why it cannot be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One marketplace's variant of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginVariant {
    pub marketplace_id: String,
    pub plugin_id: String,
    pub kind: MarketplaceKind,
    pub source: PluginSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub tags: Vec<String>,
    pub component_hints: ComponentHints,
    pub capability_hints: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The hash of its content, if it is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    pub risk: PluginRisk,
}

/// A plugin with all its variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DedupedPlugin {
    pub identity_key: IdentityKey,
    pub display_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The recommended first.
    pub variants: Vec<PluginVariant>,
    /// Variants of other plugins that only have the same name.
    pub related_candidates: Vec<PluginVariant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_variant_key: Option<String>,
    pub installed_variants: Vec<String>,
}

/// Where an installed plugin stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InstallState {
    Previewed,
    Installed,
    Disabled,
    Uninstalled,
}

/// A plugin that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugin {
    pub marketplace_id: String,
    pub plugin_id: String,
    pub identity_key: IdentityKey,
    /// Marketplace and plugin, with a colon between them.
    pub variant_key: String,
    pub install_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The hash of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    pub state: InstallState,
    pub installed_at: String,
}

/// What an install would bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginPreview {
    pub marketplace_id: String,
    pub plugin_id: String,
    pub display_name: String,
    pub identity_key: IdentityKey,
    pub source: PluginSource,
    pub component_hints: ComponentHints,
    pub capability_hints: Vec<String>,
    pub risk: PluginRisk,
    pub raw_manifest: Value,
    /// Its files, as far as they are on this machine.
    pub files: Vec<String>,
    pub total_bytes: u64,
    /// Every command line that it could start.
    pub commands: Vec<String>,
    pub warnings: Vec<String>,
}

/// Result of `marketplaces/list` and `marketplaces/install_default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplacesResult {
    pub marketplaces: Vec<Marketplace>,
}

/// Params of `marketplaces/install_default`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallDefaultParams {
    pub selection: DefaultSelection,
}

/// Params of `marketplaces/add`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceAddParams {
    pub id: String,
    /// Found out if it is not said.
    #[serde(default)]
    pub kind: Option<MarketplaceKind>,
    /// The id if it is not said.
    #[serde(default)]
    pub display_name: Option<String>,
    pub source: MarketplaceSource,
}

/// Result of `marketplaces/add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceResult {
    pub marketplace: Marketplace,
}

/// Params of `marketplaces/remove` and `marketplaces/refresh`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceIdParams {
    pub marketplace_id: String,
}

/// Result of `marketplaces/remove` and `plugins/uninstall`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedResult {
    pub removed: bool,
}

/// Result of `marketplaces/refresh`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceRefreshResult {
    pub marketplace: Marketplace,
    pub plugins: Vec<PluginEntry>,
    /// What is wrong with entries that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
}

/// Params of `marketplaces/search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MarketplaceSearchParams {
    /// All plugins if it is blank.
    pub query: Option<String>,
}

/// Result of `marketplaces/search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceSearchResult {
    pub plugins: Vec<DedupedPlugin>,
}

/// Params that name a plugin of a marketplace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginParams {
    pub marketplace_id: String,
    pub plugin_id: String,
}

/// Result of `marketplaces/plugin`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplacePluginResult {
    /// Null if there is none.
    pub plugin: Option<PluginEntry>,
}

/// Result of `plugins/preview_install`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginPreviewResult {
    pub preview: PluginPreview,
}

/// Result of `plugins/install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginInstallResult {
    pub plugin: InstalledPlugin,
}

/// Result of `plugins/install_all_variants` and `plugins/list_installed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPluginsResult {
    pub plugins: Vec<InstalledPlugin>,
}

/// Params of `plugins/disable`, `plugins/enable` and `plugins/uninstall`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariantParams {
    pub variant_key: String,
}

/// Result of `plugins/disable` and `plugins/enable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginSwitchResult {
    /// Null if it is not installed.
    pub plugin: Option<InstalledPlugin>,
}

/// Params of `marketplaces/updated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceUpdated {
    pub marketplace: Marketplace,
    pub timestamp: String,
}

/// Params of `plugins/installed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginInstalled {
    pub plugin: InstalledPlugin,
    pub timestamp: String,
}

/// Params of `plugins/changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginChanged {
    /// Null if it is gone.
    pub plugin: Option<InstalledPlugin>,
    pub variant_key: String,
    pub state: InstallState,
    pub timestamp: String,
}

/// The names of what is reported of marketplaces and plugins.
pub mod name {
    /// Carries a [`MarketplaceUpdated`](super::MarketplaceUpdated).
    pub const UPDATED: &str = "marketplaces/updated";
    /// Carries a [`PluginInstalled`](super::PluginInstalled).
    pub const INSTALLED: &str = "plugins/installed";
    /// Carries a [`PluginChanged`](super::PluginChanged).
    pub const CHANGED: &str = "plugins/changed";
}
