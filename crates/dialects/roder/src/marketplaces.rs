//! Marketplaces and plugins as this dialect shows them, and what is reported of them.

use rookery_core as core;
use rookery_marketplace as market;
use rookery_model as model;
use serde::Serialize;
use serde_json::Value;

use crate::show;
use crate::wire::marketplace::{
    ComponentHints, DedupedPlugin, DefaultSelection, IdentityKey, InstallState, InstalledPlugin,
    Marketplace, MarketplaceKind, MarketplaceSource, MarketplaceState, MarketplaceUpdated,
    PluginChanged, PluginEntry, PluginInstalled, PluginPreview, PluginRisk, PluginSource,
    PluginVariant, name,
};

/// Enums that have the same members on both sides.
macro_rules! mirrors {
    ($($function:ident: $Ours:path => $Wire:ident { $($Member:ident),* })*) => {
        $(pub(crate) fn $function(value: $Ours) -> $Wire {
            use $Ours as Ours;
            match value {
                $(Ours::$Member => $Wire::$Member,)*
            }
        })*
    };
}

mirrors! {
    kind: market::Kind => MarketplaceKind { Claude, Codex, Cursor, Roder, Custom }
    market_state: market::MarketState => MarketplaceState { BakedIn, Installed, Refreshed, Disabled, RemovedByUser }
    risk: market::Risk => PluginRisk { Passive, ReadsWorkspace, StartsProcess, RunsHook, Unknown }
    install_state: market::InstallState => InstallState { Previewed, Installed, Disabled, Uninstalled }
}

pub(crate) fn kind_of(kind: MarketplaceKind) -> market::Kind {
    match kind {
        MarketplaceKind::Claude => market::Kind::Claude,
        MarketplaceKind::Cursor => market::Kind::Cursor,
        MarketplaceKind::Codex => market::Kind::Codex,
        MarketplaceKind::Roder => market::Kind::Roder,
        MarketplaceKind::Custom => market::Kind::Custom,
    }
}

pub(crate) fn defaults_of(selection: DefaultSelection) -> market::Defaults {
    match selection {
        DefaultSelection::None => market::Defaults::None,
        DefaultSelection::Anthropic => market::Defaults::Of(market::Kind::Claude),
        DefaultSelection::Cursor => market::Defaults::Of(market::Kind::Cursor),
        DefaultSelection::Codex => market::Defaults::Of(market::Kind::Codex),
        DefaultSelection::All => market::Defaults::All,
    }
}

pub(crate) fn source_of(source: MarketplaceSource) -> market::MarketSource {
    use market::MarketSource;
    match source {
        MarketplaceSource::LocalPath { path } => MarketSource::LocalPath { path },
        MarketplaceSource::Git { url, ref_name, catalog_path } => {
            MarketSource::Git { url, ref_name, catalog_path }
        }
        MarketplaceSource::Github { repo, ref_name, catalog_path, plugin_root } => {
            MarketSource::Github { repo, ref_name, catalog_path, plugin_root }
        }
        MarketplaceSource::HttpJson { url } => MarketSource::HttpJson { url },
    }
}

fn source(source: &market::MarketSource) -> MarketplaceSource {
    use market::MarketSource;
    match source.clone() {
        MarketSource::LocalPath { path } => MarketplaceSource::LocalPath { path },
        MarketSource::Git { url, ref_name, catalog_path } => {
            MarketplaceSource::Git { url, ref_name, catalog_path }
        }
        MarketSource::Github { repo, ref_name, catalog_path, plugin_root } => {
            MarketplaceSource::Github { repo, ref_name, catalog_path, plugin_root }
        }
        MarketSource::HttpJson { url } => MarketplaceSource::HttpJson { url },
    }
}

pub(crate) fn marketplace(from: &market::Marketplace) -> Marketplace {
    Marketplace {
        id: from.id.clone(),
        kind: kind(from.kind),
        display_name: from.display_name.clone(),
        source: source(&from.source),
        homepage: from.homepage.clone(),
        owner_name: from.owner_name.clone(),
        owner_email: from.owner_email.clone(),
        description: from.description.clone(),
        is_default: from.is_default,
        enabled: from.enabled,
        state: market_state(from.state),
        last_refreshed_at: from.last_refreshed_at.map(show::time),
        content_hash: from.content_hash.clone(),
        last_error: from.last_error.clone(),
    }
}

fn plugin_source(source: &market::PluginSource) -> PluginSource {
    use market::PluginSource as Ours;
    match source.clone() {
        Ours::MarketplacePath { marketplace_id, path } => {
            let marketplace = marketplace_id.clone();
            PluginSource::MarketplacePath { marketplace_id, marketplace, path }
        }
        Ours::Git { url, path, ref_name, sha } => PluginSource::Git { url, path, ref_name, sha },
        Ours::Http { url, sha } => PluginSource::Http { url, sha },
        Ours::Npm { package, version } => PluginSource::Npm { package, version },
        Ours::LocalPath { path } => PluginSource::LocalPath { path },
        Ours::Unsupported { value } => PluginSource::Unsupported { value },
    }
}

fn identity(key: &market::IdentityKey) -> IdentityKey {
    IdentityKey {
        canonical_slug: key.canonical_slug.clone(),
        normalized_name: key.normalized_name.clone(),
        repository: key.repository.clone(),
        homepage_domain: key.homepage_domain.clone(),
        author_name: key.author_name.clone(),
    }
}

fn hints(hints: market::Hints) -> ComponentHints {
    let market::Hints {
        skills,
        commands,
        agents,
        mcp_servers,
        hooks,
        apps,
        lsp_servers,
        rules,
        assets,
    } = hints;
    ComponentHints {
        skills,
        commands,
        agents,
        mcp_servers,
        hooks,
        apps,
        lsp_servers,
        rules,
        assets,
    }
}

pub(crate) fn entry(from: &market::Entry) -> PluginEntry {
    PluginEntry {
        marketplace_id: from.marketplace_id.clone(),
        plugin_id: from.plugin_id.clone(),
        identity_key: identity(&from.identity_key),
        display_name: from.display_name.clone(),
        description: from.description.clone(),
        kind: kind(from.kind),
        version: from.version.clone(),
        source: plugin_source(&from.source),
        homepage: from.homepage.clone(),
        repository: from.repository.clone(),
        author_name: from.author_name.clone(),
        category: from.category.clone(),
        tags: from.tags.clone(),
        component_hints: hints(from.component_hints),
        capability_hints: from.capability_hints.clone(),
        risk: risk(from.risk),
        raw_manifest: from.raw_manifest.clone(),
        problem: from.problem.clone(),
    }
}

fn variant(from: &market::Variant) -> PluginVariant {
    PluginVariant {
        marketplace_id: from.marketplace_id.clone(),
        plugin_id: from.plugin_id.clone(),
        kind: kind(from.kind),
        source: plugin_source(&from.source),
        homepage: from.homepage.clone(),
        category: from.category.clone(),
        tags: from.tags.clone(),
        component_hints: hints(from.component_hints),
        capability_hints: from.capability_hints.clone(),
        version: from.version.clone(),
        content_hash: from.content_hash.clone(),
        risk: risk(from.risk),
    }
}

pub(crate) fn row(from: &market::PluginRow) -> DedupedPlugin {
    DedupedPlugin {
        identity_key: identity(&from.identity_key),
        display_name: from.display_name.clone(),
        description: from.description.clone(),
        variants: from.variants.iter().map(variant).collect(),
        related_candidates: from.related_candidates.iter().map(variant).collect(),
        recommended_variant_key: from.recommended_variant_key.clone(),
        installed_variants: from.installed_variants.clone(),
    }
}

pub(crate) fn installed(from: &market::Installed) -> InstalledPlugin {
    InstalledPlugin {
        marketplace_id: from.marketplace_id.clone(),
        plugin_id: from.plugin_id.clone(),
        identity_key: identity(&from.identity_key),
        variant_key: from.variant_key.clone(),
        install_path: from.install_path.clone(),
        version: from.version.clone(),
        content_hash: from.content_hash.clone(),
        state: install_state(from.state),
        installed_at: show::time(from.installed_at),
    }
}

pub(crate) fn preview(from: market::Preview) -> PluginPreview {
    PluginPreview {
        display_name: from.entry.display_name,
        identity_key: identity(&from.entry.identity_key),
        source: plugin_source(&from.entry.source),
        marketplace_id: from.entry.marketplace_id,
        plugin_id: from.entry.plugin_id,
        component_hints: hints(from.component_hints),
        capability_hints: from.entry.capability_hints,
        risk: risk(from.risk),
        raw_manifest: from.entry.raw_manifest,
        files: from.files,
        total_bytes: from.total_bytes,
        commands: from.commands.into_iter().map(|command| command.line).collect(),
        warnings: from.warnings,
    }
}

/// What is reported of a change.
pub(crate) fn notification(
    at: model::Timestamp,
    change: &core::MarketplaceChange,
) -> (&'static str, Value) {
    use core::MarketplaceChange;
    let timestamp = show::time(at);
    match change {
        MarketplaceChange::Updated(changed) => notice_of(
            name::UPDATED,
            MarketplaceUpdated { marketplace: marketplace(changed), timestamp },
        ),
        MarketplaceChange::Installed(plugin) => {
            notice_of(name::INSTALLED, PluginInstalled { plugin: installed(plugin), timestamp })
        }
        MarketplaceChange::Plugin { key, state, plugin } => {
            let plugin = plugin.as_deref().map(installed);
            let (variant_key, state) = (key.clone(), install_state(*state));
            notice_of(name::CHANGED, PluginChanged { plugin, variant_key, state, timestamp })
        }
    }
}

fn notice_of(name: &'static str, params: impl Serialize) -> (&'static str, Value) {
    (name, serde_json::to_value(params).unwrap_or_default())
}
