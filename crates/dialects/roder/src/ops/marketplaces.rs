//! Marketplaces: listed, added, fetched and searched; plugins: looked at, installed, switched and removed.

use rookery_core as core;
use rookery_model as model;
use rookery_wire::rpc::NoParams;

use crate::context::Cx;
use crate::errors::Error;
use crate::marketplaces as show;
use crate::wire::marketplace::{
    InstallDefaultParams, InstalledPluginsResult, MarketplaceAddParams, MarketplaceIdParams,
    MarketplacePluginResult, MarketplaceRefreshResult, MarketplaceResult, MarketplaceSearchParams,
    MarketplaceSearchResult, MarketplacesResult, PluginInstallResult, PluginParams,
    PluginPreviewResult, PluginSwitchResult, RemovedResult, VariantParams,
};

pub(crate) async fn list(cx: Cx, _: NoParams) -> Result<MarketplacesResult, Error> {
    let all = cx.core.marketplaces().list().await?;
    Ok(MarketplacesResult { marketplaces: all.iter().map(show::marketplace).collect() })
}

pub(crate) async fn install_default(
    cx: Cx,
    params: InstallDefaultParams,
) -> Result<MarketplacesResult, Error> {
    let which = show::defaults_of(params.selection);
    let affected = cx.flushed(cx.core.marketplaces().install_defaults(which)).await?;
    Ok(MarketplacesResult { marketplaces: affected.iter().map(show::marketplace).collect() })
}

pub(crate) async fn add(cx: Cx, params: MarketplaceAddParams) -> Result<MarketplaceResult, Error> {
    let new = core::NewMarketplace {
        id: params.id,
        display_name: params.display_name,
        kind: params.kind.map(show::kind_of),
        source: show::source_of(params.source),
    };
    let added = cx.flushed(cx.core.marketplaces().add(new)).await?;
    Ok(MarketplaceResult { marketplace: show::marketplace(&added) })
}

pub(crate) async fn remove(cx: Cx, params: MarketplaceIdParams) -> Result<RemovedResult, Error> {
    let removed = cx.flushed(cx.core.marketplaces().remove(&params.marketplace_id)).await?;
    Ok(RemovedResult { removed })
}

pub(crate) async fn refresh(
    cx: Cx,
    params: MarketplaceIdParams,
) -> Result<MarketplaceRefreshResult, Error> {
    let (market, catalog) =
        cx.flushed(cx.core.marketplaces().refresh(&params.marketplace_id)).await?;
    Ok(MarketplaceRefreshResult {
        marketplace: show::marketplace(&market),
        plugins: catalog.entries.iter().map(show::entry).collect(),
        diagnostics: catalog.diagnostics.clone(),
    })
}

pub(crate) async fn search(
    cx: Cx,
    params: MarketplaceSearchParams,
) -> Result<MarketplaceSearchResult, Error> {
    let found = cx.core.marketplaces().search(&params.query.unwrap_or_default()).await?;
    Ok(MarketplaceSearchResult { plugins: found.iter().map(show::row).collect() })
}

pub(crate) async fn plugin(cx: Cx, params: PluginParams) -> Result<MarketplacePluginResult, Error> {
    let found = cx.core.marketplaces().plugin(&params.marketplace_id, &params.plugin_id).await?;
    Ok(MarketplacePluginResult { plugin: found.as_ref().map(show::entry) })
}

pub(crate) async fn preview(cx: Cx, params: PluginParams) -> Result<PluginPreviewResult, Error> {
    let room = cx.core.marketplaces();
    let preview = room.preview(&params.marketplace_id, &params.plugin_id).await;
    Ok(PluginPreviewResult { preview: show::preview(preview.map_err(missing)?) })
}

pub(crate) async fn install(cx: Cx, params: PluginParams) -> Result<PluginInstallResult, Error> {
    let room = cx.core.marketplaces();
    let done = cx.flushed(room.install(&params.marketplace_id, &params.plugin_id)).await;
    Ok(PluginInstallResult { plugin: show::installed(&done.map_err(missing)?) })
}

pub(crate) async fn install_all_variants(
    cx: Cx,
    params: PluginParams,
) -> Result<InstalledPluginsResult, Error> {
    let room = cx.core.marketplaces();
    let done = room.install_all_variants(&params.marketplace_id, &params.plugin_id);
    let done = cx.flushed(done).await.map_err(missing)?;
    Ok(InstalledPluginsResult { plugins: done.iter().map(show::installed).collect() })
}

pub(crate) async fn list_installed(cx: Cx, _: NoParams) -> Result<InstalledPluginsResult, Error> {
    let all = cx.core.marketplaces().installed().await?;
    Ok(InstalledPluginsResult { plugins: all.iter().map(show::installed).collect() })
}

pub(crate) async fn disable(cx: Cx, params: VariantParams) -> Result<PluginSwitchResult, Error> {
    let plugin = cx.flushed(cx.core.marketplaces().disable(&params.variant_key)).await?;
    Ok(PluginSwitchResult { plugin: plugin.as_ref().map(show::installed) })
}

pub(crate) async fn enable(cx: Cx, params: VariantParams) -> Result<PluginSwitchResult, Error> {
    let plugin = cx.flushed(cx.core.marketplaces().enable(&params.variant_key)).await?;
    Ok(PluginSwitchResult { plugin: plugin.as_ref().map(show::installed) })
}

pub(crate) async fn uninstall(cx: Cx, params: VariantParams) -> Result<RemovedResult, Error> {
    let removed = cx.flushed(cx.core.marketplaces().uninstall(&params.variant_key)).await?;
    Ok(RemovedResult { removed })
}

/// A plugin that no catalog has is an error of its own in this dialect.
fn missing(error: model::Error) -> Error {
    match error.kind() == model::ErrorKind::NotFound {
        true => Error::plugin_not_found(error.message()),
        false => error.into(),
    }
}
