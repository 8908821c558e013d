//! Arguments of `rookery marketplace` and `rookery plugin`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

/// Manage catalogs of plugins for coding agents
#[derive(Debug, Args)]
pub(crate) struct Marketplace {
    #[command(subcommand)]
    pub(crate) action: MarketplaceAction,
}

/// What to do with marketplaces.
#[derive(Debug, Subcommand)]
pub(crate) enum MarketplaceAction {
    /// List marketplaces
    #[command(visible_alias = "list")]
    Ls(MarketplaceLs),
    /// Add a marketplace and fetch its catalog
    Add(MarketplaceAdd),
    /// Add marketplaces that are known already: anthropic, cursor, codex or all
    Default(MarketplaceDefault),
    /// Remove a marketplace; its plugins stay installed
    #[command(visible_alias = "rm")]
    Remove(MarketplaceRemove),
    /// Fetch the catalogs of marketplaces
    Refresh(MarketplaceRefresh),
    /// Search plugins by words in their id, name, description and tags
    Search(MarketplaceSearch),
    /// Show a plugin as its catalog describes it
    Show(PluginName),
}

/// Arguments of `rookery marketplace ls`.
#[derive(Debug, Args)]
pub(crate) struct MarketplaceLs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery marketplace add`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").required(true).args(["path", "git", "github", "http_json"]))]
pub(crate) struct MarketplaceAdd {
    /// The marketplace's id: lower case letters, digits, - and .
    pub(crate) id: String,
    /// A folder of this machine
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// A git repository: https://, ssh://, git@ or file://
    #[arg(long, value_name = "URL")]
    pub(crate) git: Option<String>,
    /// A repository of GitHub
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) github: Option<String>,
    /// A catalog as JSON: https://, http:// or file://
    #[arg(long, value_name = "URL")]
    pub(crate) http_json: Option<String>,
    /// The branch, tag or commit of the repository
    #[arg(long = "ref", value_name = "NAME")]
    pub(crate) ref_name: Option<String>,
    /// Where the catalog is in the repository
    #[arg(long, value_name = "PATH")]
    pub(crate) catalog: Option<String>,
    /// The format of the catalog: claude, cursor, codex, roder or custom; inferred if omitted
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// The marketplace's name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Do not fetch the catalog yet
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery marketplace default`.
#[derive(Debug, Args)]
pub(crate) struct MarketplaceDefault {
    /// anthropic, cursor, codex, all or none
    #[arg(default_value = "all")]
    pub(crate) selection: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery marketplace remove`.
#[derive(Debug, Args)]
pub(crate) struct MarketplaceRemove {
    /// The marketplace's id
    pub(crate) marketplace: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery marketplace refresh`.
#[derive(Debug, Args)]
pub(crate) struct MarketplaceRefresh {
    /// The ids of marketplaces; all that were added if omitted
    pub(crate) marketplaces: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery marketplace search`.
#[derive(Debug, Args)]
pub(crate) struct MarketplaceSearch {
    /// The text to search for; all plugins if omitted
    pub(crate) query: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// One plugin.
#[derive(Debug, Args)]
pub(crate) struct PluginName {
    /// The plugin, as MARKETPLACE:PLUGIN
    pub(crate) plugin: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Install plugins of marketplaces
#[derive(Debug, Args)]
pub(crate) struct Plugin {
    #[command(subcommand)]
    pub(crate) action: PluginAction,
}

/// What to do with plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginAction {
    /// Show what an install would bring: files, and every command that the plugin could start
    Preview(PluginName),
    /// Install a plugin; nothing of it is run
    Install(PluginInstall),
    /// List installed plugins
    #[command(visible_alias = "list")]
    Ls(PluginLs),
    /// Enable a plugin that was disabled
    Enable(PluginName),
    /// Disable a plugin; its files stay
    Disable(PluginName),
    /// Remove a plugin and its files
    Uninstall(PluginName),
}

/// Arguments of `rookery plugin install`.
#[derive(Debug, Args)]
pub(crate) struct PluginInstall {
    /// The plugin, as MARKETPLACE:PLUGIN
    pub(crate) plugin: String,
    /// Install the variants of all marketplaces, or none
    #[arg(long)]
    pub(crate) all_variants: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery plugin ls`.
#[derive(Debug, Args)]
pub(crate) struct PluginLs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
