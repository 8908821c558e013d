//! Marketplaces: listed, added, fetched and searched; plugins: looked at, installed, switched and removed.

use rookery_core::NewMarketplace;
use rookery_marketplace::{Defaults, Kind};
use rookery_model as model;

use crate::{
    Cx, Error,
    wire::{
        Empty, InstalledPlugin, InstalledPlugins, Marketplace, MarketplaceAdd,
        MarketplaceAddDefaults, MarketplaceList, MarketplaceRefresh, MarketplaceRefreshed,
        MarketplaceRemove, MarketplaceSearch, MarketplaceShow, Marketplaces, PluginDisable,
        PluginEnable, PluginEntry, PluginInstall, PluginList, PluginPreview, PluginPreviewed,
        PluginRows, PluginUninstall,
    },
};

pub(crate) async fn list(cx: Cx, _: MarketplaceList) -> Result<Marketplaces, Error> {
    let all = cx.core.marketplaces().list().await?;
    Ok(Marketplaces { marketplaces: all.into_iter().map(Marketplace::from).collect() })
}

pub(crate) async fn add_defaults(
    cx: Cx,
    params: MarketplaceAddDefaults,
) -> Result<Marketplaces, Error> {
    let which = Defaults::from_word(&params.selection).ok_or_else(|| {
        let message = "selection must be anthropic, cursor, codex, all or none";
        Error::invalid("selection", message)
    })?;
    let affected = cx.core.marketplaces().install_defaults(which).await?;
    Ok(Marketplaces { marketplaces: affected.into_iter().map(Marketplace::from).collect() })
}

pub(crate) async fn add(cx: Cx, params: MarketplaceAdd) -> Result<Marketplace, Error> {
    let kind = |word: String| {
        let kinds = Kind::ALL.map(Kind::word).join(", ");
        Kind::from_word(&word)
            .ok_or_else(|| Error::invalid("kind", format!("kind must be one of {kinds}")))
    };
    let new = NewMarketplace {
        id: params.id,
        display_name: params.display_name,
        kind: params.kind.map(kind).transpose()?,
        source: params.source.into(),
    };
    Ok(cx.core.marketplaces().add(new).await?.into())
}

pub(crate) async fn remove(cx: Cx, params: MarketplaceRemove) -> Result<Empty, Error> {
    match cx.core.marketplaces().remove(&params.marketplace).await? {
        true => Ok(Empty {}),
        false => Err(no_marketplace(&params.marketplace)),
    }
}

pub(crate) async fn refresh(
    cx: Cx,
    params: MarketplaceRefresh,
) -> Result<MarketplaceRefreshed, Error> {
    let refreshed = cx.core.marketplaces().refresh(&params.marketplace).await;
    let (marketplace, catalog) = refreshed.map_err(|error| match error.field() {
        Some("marketplace_id") => no_marketplace(&params.marketplace),
        _ => error.into(),
    })?;
    Ok(MarketplaceRefreshed {
        marketplace: marketplace.into(),
        plugins: catalog.entries.len(),
        diagnostics: catalog.diagnostics.clone(),
    })
}

pub(crate) async fn search(cx: Cx, params: MarketplaceSearch) -> Result<PluginRows, Error> {
    let found = cx.core.marketplaces().search(&params.query).await?;
    Ok(PluginRows { plugins: found.iter().map(Into::into).collect() })
}

pub(crate) async fn show(cx: Cx, params: MarketplaceShow) -> Result<PluginEntry, Error> {
    let (marketplace, plugin) = variant(&params.plugin)?;
    let found = cx.core.marketplaces().plugin(marketplace, plugin).await?;
    let found = found.ok_or_else(|| no_plugin(&params.plugin))?;
    Ok((&found).into())
}

pub(crate) async fn preview(cx: Cx, params: PluginPreview) -> Result<PluginPreviewed, Error> {
    let (marketplace, plugin) = variant(&params.plugin)?;
    Ok(cx.core.marketplaces().preview(marketplace, plugin).await?.into())
}

pub(crate) async fn install(cx: Cx, params: PluginInstall) -> Result<InstalledPlugins, Error> {
    let (marketplace, plugin) = variant(&params.plugin)?;
    let room = cx.core.marketplaces();
    let installed = match params.all_variants {
        true => room.install_all_variants(marketplace, plugin).await?,
        false => vec![room.install(marketplace, plugin).await?],
    };
    Ok(InstalledPlugins { plugins: installed.into_iter().map(InstalledPlugin::from).collect() })
}

pub(crate) async fn list_installed(cx: Cx, _: PluginList) -> Result<InstalledPlugins, Error> {
    let all = cx.core.marketplaces().installed().await?;
    Ok(InstalledPlugins { plugins: all.into_iter().map(InstalledPlugin::from).collect() })
}

pub(crate) async fn enable(cx: Cx, params: PluginEnable) -> Result<InstalledPlugin, Error> {
    let switched = cx.core.marketplaces().enable(&params.plugin).await?;
    switched.map(InstalledPlugin::from).ok_or_else(|| not_installed(&params.plugin))
}

pub(crate) async fn disable(cx: Cx, params: PluginDisable) -> Result<InstalledPlugin, Error> {
    let switched = cx.core.marketplaces().disable(&params.plugin).await?;
    switched.map(InstalledPlugin::from).ok_or_else(|| not_installed(&params.plugin))
}

pub(crate) async fn uninstall(cx: Cx, params: PluginUninstall) -> Result<Empty, Error> {
    match cx.core.marketplaces().uninstall(&params.plugin).await? {
        true => Ok(Empty {}),
        false => Err(not_installed(&params.plugin)),
    }
}

/// Marketplace and plugin of a variant's name.
fn variant(key: &str) -> Result<(&str, &str), Error> {
    key.split_once(':')
        .ok_or_else(|| Error::invalid("plugin", "plugin must be written MARKETPLACE:PLUGIN"))
}

fn no_marketplace(id: &str) -> Error {
    model::Error::not_found(format!("no marketplace {}", short(id))).into()
}

fn no_plugin(key: &str) -> Error {
    model::Error::not_found(format!("plugin not found: {}", short(key))).into()
}

fn not_installed(key: &str) -> Error {
    model::Error::not_found(format!("plugin {} is not installed", short(key))).into()
}

fn short(text: &str) -> String {
    text.chars().take(128).collect()
}
