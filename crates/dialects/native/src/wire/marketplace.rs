//! Params and results about marketplaces and plugins.

use rookery_marketplace as market;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::format_time;

/// Params of `rookery/marketplace/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarketplaceList {}

call!("rookery/marketplace/list" MarketplaceList -> Marketplaces);

/// Result of `rookery/marketplace/list` and `rookery/marketplace/addDefaults`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marketplaces {
    /// By their ids.
    pub marketplaces: Vec<Marketplace>,
}

/// Params of `rookery/marketplace/addDefaults`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceAddDefaults {
    /// `anthropic`, `cursor`, `codex`, `all` or `none`.
    pub selection: String,
}

call!("rookery/marketplace/addDefaults" MarketplaceAddDefaults -> Marketplaces);

/// Params of `rookery/marketplace/add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceAdd {
    pub id: String,
    /// `claude`, `cursor`, `codex`, `roder` or `custom`; found out if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    pub source: MarketplaceSource,
}

call!("rookery/marketplace/add" MarketplaceAdd -> Marketplace);

/// Params of `rookery/marketplace/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceRemove {
    pub marketplace: String,
}

call!("rookery/marketplace/remove" MarketplaceRemove -> super::Empty);

/// Params of `rookery/marketplace/refresh`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceRefresh {
    pub marketplace: String,
}

call!("rookery/marketplace/refresh" MarketplaceRefresh -> MarketplaceRefreshed);

/// Result of `rookery/marketplace/refresh`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceRefreshed {
    pub marketplace: Marketplace,
    /// How many plugins it has.
    pub plugins: usize,
    /// What is wrong with entries that were left out.
    pub diagnostics: Vec<String>,
}

/// Params of `rookery/marketplace/search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MarketplaceSearch {
    /// All plugins if it is blank.
    pub query: String,
}

call!("rookery/marketplace/search" MarketplaceSearch -> PluginRows);

/// Result of `rookery/marketplace/search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginRows {
    /// By their names.
    pub plugins: Vec<PluginRow>,
}

/// Params of `rookery/marketplace/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketplaceShow {
    /// The variant, as `MARKETPLACE:PLUGIN`.
    pub plugin: String,
}

call!("rookery/marketplace/show" MarketplaceShow -> PluginEntry);

/// Params of `rookery/plugin/preview`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginPreview {
    pub plugin: String,
}

call!("rookery/plugin/preview" PluginPreview -> PluginPreviewed);

/// Params of `rookery/plugin/install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginInstall {
    pub plugin: String,
    /// Whether every marketplace's variant of it is installed, or none.
    #[serde(default)]
    pub all_variants: bool,
}

call!("rookery/plugin/install" PluginInstall -> InstalledPlugins);

/// Params of `rookery/plugin/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginList {}

call!("rookery/plugin/list" PluginList -> InstalledPlugins);

/// Result of `rookery/plugin/install` and `rookery/plugin/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugins {
    /// By their variants.
    pub plugins: Vec<InstalledPlugin>,
}

/// Params of `rookery/plugin/enable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginEnable {
    pub plugin: String,
}

call!("rookery/plugin/enable" PluginEnable -> InstalledPlugin);

/// Params of `rookery/plugin/disable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginDisable {
    pub plugin: String,
}

call!("rookery/plugin/disable" PluginDisable -> InstalledPlugin);

/// Params of `rookery/plugin/uninstall`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginUninstall {
    pub plugin: String,
}

call!("rookery/plugin/uninstall" PluginUninstall -> super::Empty);

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
    pub kind: String,
    pub display_name: String,
    pub source: MarketplaceSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    pub is_default: bool,
    pub enabled: bool,
    /// `known`, `added`, `fetched` or `removed`.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
    /// SHA-256 of its catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Why it could not be fetched the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// A plugin with all its variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginRow {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its variants, as `MARKETPLACE:PLUGIN`, the recommended first.
    pub variants: Vec<String>,
    /// The variants that are installed.
    pub installed: Vec<String>,
    /// Variants of other plugins that only have the same name.
    pub related: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub components: Vec<String>,
    pub risk: String,
}

/// A plugin as its catalog has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginEntry {
    /// The variant, as `MARKETPLACE:PLUGIN`.
    pub plugin: String,
    pub name: String,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub tags: Vec<String>,
    pub source: String,
    pub components: Vec<String>,
    /// `passive`, `readsWorkspace`, `startsProcess`, `runsHook` or `unknown`.
    pub risk: String,
    /// Why it cannot be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub manifest: serde_json::Value,
}

/// What an install would bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginPreviewed {
    pub entry: PluginEntry,
    pub components: Vec<String>,
    pub risk: String,
    pub files: Vec<String>,
    pub total_bytes: u64,
    pub commands: Vec<PluginCommand>,
    pub warnings: Vec<String>,
}

/// A command line that a plugin could start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginCommand {
    /// `hook`, `mcpServer`, `lspServer` or `app`.
    pub component: String,
    /// The file that names it, or `manifest`.
    pub origin: String,
    pub line: String,
}

/// A plugin that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugin {
    /// The variant, as `MARKETPLACE:PLUGIN`.
    pub plugin: String,
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub path: String,
    /// The hash of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    pub installed_at: String,
}

impl From<MarketplaceSource> for market::MarketSource {
    fn from(source: MarketplaceSource) -> Self {
        match source {
            MarketplaceSource::LocalPath { path } => Self::LocalPath { path },
            MarketplaceSource::Git { url, ref_name, catalog_path } => {
                Self::Git { url, ref_name, catalog_path }
            }
            MarketplaceSource::Github { repo, ref_name, catalog_path, plugin_root } => {
                Self::Github { repo, ref_name, catalog_path, plugin_root }
            }
            MarketplaceSource::HttpJson { url } => Self::HttpJson { url },
        }
    }
}

impl From<market::MarketSource> for MarketplaceSource {
    fn from(source: market::MarketSource) -> Self {
        use market::MarketSource;
        match source {
            MarketSource::LocalPath { path } => Self::LocalPath { path },
            MarketSource::Git { url, ref_name, catalog_path } => {
                Self::Git { url, ref_name, catalog_path }
            }
            MarketSource::Github { repo, ref_name, catalog_path, plugin_root } => {
                Self::Github { repo, ref_name, catalog_path, plugin_root }
            }
            MarketSource::HttpJson { url } => Self::HttpJson { url },
        }
    }
}

impl From<market::Marketplace> for Marketplace {
    fn from(from: market::Marketplace) -> Self {
        use market::MarketState;
        let state = match from.state {
            MarketState::BakedIn => "known",
            MarketState::Installed => "added",
            MarketState::Refreshed => "fetched",
            MarketState::Disabled | MarketState::RemovedByUser => "removed",
        };
        Marketplace {
            id: from.id,
            kind: from.kind.word().to_owned(),
            display_name: from.display_name,
            source: from.source.into(),
            description: from.description,
            owner: from.owner_name,
            is_default: from.is_default,
            enabled: from.enabled,
            state: state.to_owned(),
            fetched_at: from.last_refreshed_at.map(format_time),
            content_hash: from.content_hash,
            last_error: from.last_error,
        }
    }
}

impl From<&market::PluginRow> for PluginRow {
    fn from(from: &market::PluginRow) -> Self {
        let keys =
            |variants: &[market::Variant]| variants.iter().map(market::Variant::key).collect();
        let first = from.variants.first();
        PluginRow {
            name: from.display_name.clone(),
            description: from.description.clone(),
            variants: keys(&from.variants),
            installed: from.installed_variants.clone(),
            related: keys(&from.related_candidates),
            version: first.and_then(|first| first.version.clone()),
            components: first.map(|first| components(first.component_hints)).unwrap_or_default(),
            risk: first.map(|first| risk(first.risk)).unwrap_or_default(),
        }
    }
}

impl From<&market::Entry> for PluginEntry {
    fn from(from: &market::Entry) -> Self {
        PluginEntry {
            plugin: from.variant_key(),
            name: from.display_name.clone(),
            kind: from.kind.word().to_owned(),
            description: from.description.clone(),
            version: from.version.clone(),
            author: from.author_name.clone(),
            homepage: from.homepage.clone(),
            repository: from.repository.clone(),
            category: from.category.clone(),
            tags: from.tags.clone(),
            source: from.source.shown(),
            components: components(from.component_hints),
            risk: risk(from.risk),
            problem: from.problem.clone(),
            manifest: from.raw_manifest.clone(),
        }
    }
}

impl From<market::Preview> for PluginPreviewed {
    fn from(from: market::Preview) -> Self {
        let command = |command: market::PluginCommand| PluginCommand {
            component: command.component.word().to_owned(),
            origin: command.origin,
            line: command.line,
        };
        PluginPreviewed {
            entry: (&from.entry).into(),
            components: components(from.component_hints),
            risk: risk(from.risk),
            files: from.files,
            total_bytes: from.total_bytes,
            commands: from.commands.into_iter().map(command).collect(),
            warnings: from.warnings,
        }
    }
}

impl From<market::Installed> for InstalledPlugin {
    fn from(from: market::Installed) -> Self {
        InstalledPlugin {
            plugin: from.variant_key,
            enabled: from.state == market::InstallState::Installed,
            version: from.version,
            path: from.install_path,
            content_hash: from.content_hash,
            installed_at: format_time(from.installed_at),
        }
    }
}

fn components(hints: market::Hints) -> Vec<String> {
    let all = [
        ("skills", hints.skills),
        ("commands", hints.commands),
        ("agents", hints.agents),
        ("mcpServers", hints.mcp_servers),
        ("hooks", hints.hooks),
        ("apps", hints.apps),
        ("lspServers", hints.lsp_servers),
        ("rules", hints.rules),
        ("assets", hints.assets),
    ];
    all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name.to_owned()).collect()
}

fn risk(risk: market::Risk) -> String {
    use market::Risk;
    let word = match risk {
        Risk::Passive => "passive",
        Risk::ReadsWorkspace => "readsWorkspace",
        Risk::StartsProcess => "startsProcess",
        Risk::RunsHook => "runsHook",
        Risk::Unknown => "unknown",
    };
    word.to_owned()
}
