//! Marketplaces: catalogs of plugins that others publish, which of them are known, and which plugins are installed.
//!
//! What catalogs mean, how they are fetched and where contents go is [`rookery_marketplace`]'s. Lists and searches
//! read what was fetched before; only a refresh, a preview and an install talk to others, and none of them holds
//! anything else up.
//! Nothing that a marketplace brings is run.

mod change;
mod plugins;
mod room;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_host::Beneath;
use rookery_imports::PluginRoot;
use rookery_marketplace::{
    Catalog, Defaults, Entry, Fetched, InstallState, Kind, MarketSource, MarketState, Marketplace,
    MarketplaceError, default_marketplaces, infer_kind_from_words, is_id,
};
use rookery_model::{Error, ErrorKind, Result};

pub use self::change::MarketplaceChange;
pub use self::room::MarketplaceDirs;
use self::room::Registry;
pub(crate) use self::room::Room;
use crate::core::blocking;
use crate::log::NoticeBody;
use crate::rooms::Marketplaces;
use crate::{clock, secrets};

/// Marketplaces that there may be.
const MOST_MARKETPLACES: usize = 200;
/// The longest name for people, in characters.
const LONGEST_NAME: usize = 200;

/// A marketplace to be added.
#[derive(Clone, Debug)]
pub struct NewMarketplace {
    pub id: String,
    /// Its name for people; the id if none is given.
    pub display_name: Option<String>,
    /// Whose format its catalog has; found out if it is not said.
    pub kind: Option<Kind>,
    /// Where it is.
    pub source: MarketSource,
}

impl Marketplaces {
    /// All marketplaces, those that everyone knows included, by their ids.
    ///
    /// # Errors
    /// If the state file cannot be read.
    pub async fn list(&self) -> Result<Vec<Marketplace>> {
        let state = self.registry().await?.state();
        let mut all = state.marketplaces.clone();
        all.extend(
            default_marketplaces().into_iter().filter(|known| state.market(&known.id).is_none()),
        );
        all.sort_by(|one, two| one.id.cmp(&two.id));
        Ok(all)
    }

    /// Adds those that everyone knows, and gives them; nothing is fetched.
    ///
    /// # Errors
    /// If they cannot be kept.
    pub async fn install_defaults(&self, which: Defaults) -> Result<Vec<Marketplace>> {
        let registry = self.registry().await?;
        let wanted = default_marketplaces().into_iter().filter(|known| which.has(known.kind));
        let mut affected = Vec::new();
        for known in wanted {
            let order = self.room().order.lock().await;
            let state = registry.state();
            let mut market = state.market(&known.id).cloned().unwrap_or(known);
            if !market.is_shown() {
                let is_fetched = market.last_refreshed_at.is_some();
                market.state =
                    if is_fetched { MarketState::Refreshed } else { MarketState::Installed };
                market.enabled = true;
                self.set(&registry, market.clone()).await?;
            }
            drop(order);
            if registry.catalog(&market.id).is_none() {
                self.read_local(&registry, &market).await?;
            }
            affected.push(market);
        }
        Ok(affected)
    }

    /// Adds a marketplace. One of this machine is read at once; others are fetched when that is asked for.
    ///
    /// # Errors
    /// If a part of it is wrong, there is one of that id, or it cannot be kept.
    pub async fn add(&self, new: NewMarketplace) -> Result<Marketplace> {
        let NewMarketplace { id, display_name, kind, source } = new;
        if !is_id(&id) {
            let shown: String = id.chars().take(64).collect();
            let message = format!("id must have lower case letters, digits, - and . only: {shown}");
            return Err(Error::invalid("id", message));
        }
        let display_name = display_name.filter(|name| !name.trim().is_empty());
        let display_name = display_name.unwrap_or_else(|| id.clone());
        if display_name.chars().count() > LONGEST_NAME || display_name.chars().any(char::is_control)
        {
            let message =
                format!("display_name must have at most {LONGEST_NAME} characters, on one line");
            return Err(Error::invalid("display_name", message));
        }
        source.check().map_err(failed)?;
        if let MarketSource::LocalPath { path } = &source {
            let folder = PathBuf::from(path);
            let is_there = blocking(move || Beneath::new(&folder).is_ok()).await?;
            if !is_there {
                let message = format!("source is not a directory on this machine: {path}");
                return Err(Error::invalid("source", message));
            }
        }
        // A catalog alone has no files that would say more than words.
        let has_files = !matches!(source, MarketSource::HttpJson { .. });
        let market = Marketplace {
            is_kind_guessed: kind.is_none() && has_files,
            kind: kind.unwrap_or_else(|| infer_kind_from_words(&source)),
            id,
            display_name,
            source,
            homepage: None,
            owner_name: None,
            owner_email: None,
            description: None,
            is_default: false,
            enabled: true,
            state: MarketState::Installed,
            last_refreshed_at: None,
            content_hash: None,
            last_error: None,
        };
        self.register(market).await
    }

    async fn register(&self, mut market: Marketplace) -> Result<Marketplace> {
        let registry = self.registry().await?;
        let check = |registry: &Registry| {
            let state = registry.state();
            let is_known = state.market(&market.id).is_some()
                || default_marketplaces().iter().any(|known| known.id == market.id);
            if is_known {
                let message = format!("duplicate marketplace `{}`", market.id);
                return Err(Error::invalid("id", message));
            }
            match state.marketplaces.len() >= MOST_MARKETPLACES {
                true => Err(Error::busy(format!(
                    "there are {MOST_MARKETPLACES} marketplaces already; remove some first"
                ))),
                false => Ok(()),
            }
        };
        check(&registry)?;
        let read = self.room().fetcher.read_local(&market).await;
        let _order = self.room().order.lock().await;
        check(&registry)?;
        match read {
            Some(Ok(fetched)) => {
                if market.is_kind_guessed {
                    (market.kind, market.is_kind_guessed) = (fetched.kind, false);
                }
                describe(&mut market, &fetched.catalog);
                self.keep_catalog(&registry, &market.id, fetched.catalog).await?;
            }
            Some(Err(error)) => market.last_error = Some(error_text(&error)),
            None => {}
        }
        self.set(&registry, market.clone()).await?;
        Ok(market)
    }

    /// Removes a marketplace; its plugins stay installed. One that everyone knows is only switched off. False if
    /// there is none.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn remove(&self, id: &str) -> Result<bool> {
        let registry = self.registry().await?;
        let _order = self.room().order.lock().await;
        let state = registry.state();
        let stored = state.market(id).cloned();
        let known = default_marketplaces().into_iter().find(|known| known.id == id);
        let Some(mut market) = stored.or(known) else { return Ok(false) };
        (market.enabled, market.state) = (false, MarketState::RemovedByUser);
        if market.is_default {
            self.set(&registry, market).await?;
            return Ok(true);
        }
        let mut state = (*state).clone();
        state.marketplaces.retain(|known| known.id != id);
        self.write(&registry, state).await?;
        registry.forget_catalog(id);
        self.clear_cache(id);
        self.notify(MarketplaceChange::Updated(Arc::new(market)));
        Ok(true)
    }

    /// Removes what was fetched of a marketplace that is gone, once nothing is being fetched.
    fn clear_cache(&self, id: &str) {
        let Some(places) = &self.room().places else { return };
        let (folder, id) = (places.sources.join(id), id.to_owned());
        let room = self.core.detached().marketplaces();
        let work = async move {
            let _fetches = room.room().fetches.lock().await;
            let is_back = match room.registry().await {
                Ok(registry) => registry.state().market(&id).is_some(),
                Err(_) => true,
            };
            if !is_back {
                let _ = blocking(move || rookery_host::files::remove_tree(&folder)).await;
            }
        };
        let inner = &self.core.inner;
        inner.background.spawn_on(work, &inner.runtime);
    }

    /// Fetches a marketplace, and gives it with its plugins.
    ///
    /// # Errors
    /// If there is none, it cannot be fetched, or its catalog has an id twice; what was fetched before stays.
    pub async fn refresh(&self, id: &str) -> Result<(Marketplace, Arc<Catalog>)> {
        let registry = self.registry().await?;
        let _fetches = self.room().fetches.lock().await;
        let market = self.list().await?.into_iter().find(|market| market.id == id);
        let market = market.ok_or_else(|| unknown(id))?;
        if !market.enabled {
            let message = format!("marketplace {id} is switched off; add it again first");
            return Err(Error::failed(message));
        }
        match self.room().fetcher.fetch(&market).await {
            Ok(fetched) => self.take(&registry, id, fetched).await,
            Err(error) => {
                self.note_failure(&registry, id, &error).await?;
                Err(failed(error))
            }
        }
    }

    /// Takes over what was fetched.
    async fn take(
        &self,
        registry: &Registry,
        id: &str,
        fetched: Fetched,
    ) -> Result<(Marketplace, Arc<Catalog>)> {
        if let Some(plugin) = fetched.catalog.duplicates.first() {
            let (marketplace, plugin) = (id.to_owned(), plugin.clone());
            let error = MarketplaceError::Duplicate { marketplace, plugin };
            // What there was before counts more than half of what there is now.
            if registry.catalog(id).is_none() {
                self.keep_catalog(registry, id, fetched.catalog).await?;
            }
            self.note_failure(registry, id, &error).await?;
            return Err(failed(error));
        }
        let _order = self.room().order.lock().await;
        let Some(mut market) = self.current(registry, id) else { return Err(unknown(id)) };
        describe(&mut market, &fetched.catalog);
        (market.kind, market.is_kind_guessed) = (fetched.kind, false);
        market.content_hash = Some(fetched.content_hash);
        market.last_refreshed_at = Some(clock::wall());
        market.last_error = None;
        market.state = if market.enabled { MarketState::Refreshed } else { market.state };
        self.keep_catalog(registry, id, fetched.catalog).await?;
        self.set(registry, market.clone()).await?;
        let catalog = registry.catalog(id).ok_or_else(|| unknown(id))?;
        Ok((market, catalog))
    }

    /// A marketplace as it is now, also one that everyone knows and that was never stored.
    fn current(&self, registry: &Registry, id: &str) -> Option<Marketplace> {
        let known = || default_marketplaces().into_iter().find(|known| known.id == id);
        registry.state().market(id).cloned().or_else(known)
    }

    async fn note_failure(
        &self,
        registry: &Registry,
        id: &str,
        error: &MarketplaceError,
    ) -> Result<()> {
        let _order = self.room().order.lock().await;
        let Some(mut market) = registry.state().market(id).cloned() else { return Ok(()) };
        market.last_error = Some(error_text(error));
        self.set(registry, market).await
    }

    /// Reads the catalog of a marketplace that is on this machine.
    async fn read_local(&self, registry: &Registry, market: &Marketplace) -> Result<()> {
        if let Some(Ok(fetched)) = self.room().fetcher.read_local(market).await {
            self.keep_catalog(registry, &market.id, fetched.catalog).await?;
        }
        Ok(())
    }

    /// Stores a marketplace, and says so. The caller holds the order.
    async fn set(&self, registry: &Registry, market: Marketplace) -> Result<()> {
        let mut state = (*registry.state()).clone();
        state.set_market(market.clone());
        self.write(registry, state).await?;
        self.notify(MarketplaceChange::Updated(Arc::new(market)));
        Ok(())
    }

    fn notify(&self, change: MarketplaceChange) {
        self.core.inner.log.spine().send(None, [NoticeBody::Marketplace(Box::new(change))]);
    }

    /// Reads what is known, so that installed plugins are active from the start on.
    pub(crate) fn restore_soon(&self) {
        if self.room().places.is_none() {
            return;
        }
        let room = self.core.detached().marketplaces();
        self.core.inner.runtime.spawn(async move {
            match room.registry().await {
                Ok(_) => room.plugins_changed(None).await,
                Err(error) => tracing::warn!(%error, "marketplaces cannot be read"),
            }
        });
    }

    /// The installed plugins that are in use: variant key, plugin id and folder of each. None before they were read.
    pub fn active_plugins(&self) -> Vec<(String, String, PathBuf)> {
        let Some(registry) = self.room().loaded() else { return Vec::new() };
        let state = registry.state();
        let active =
            state.installed.iter().filter(|plugin| plugin.state == InstallState::Installed);
        let row = |plugin: &rookery_marketplace::Installed| {
            let root = Path::new(&plugin.install_path).to_owned();
            (plugin.variant_key.clone(), plugin.plugin_id.clone(), root)
        };
        active.map(row).collect()
    }

    /// Called after each install, enable, disable and uninstall, and once at start: imports learn which plugins
    /// are in use. `removed` is the folder of one that was uninstalled, whose decisions are forgotten.
    async fn plugins_changed(&self, removed: Option<&Path>) {
        let imports = self.core.imports();
        let root = |(variant_key, plugin_id, root)| PluginRoot { variant_key, plugin_id, root };
        imports.set_plugin_roots(self.active_plugins().into_iter().map(root).collect()).await;
        if let Some(root) = removed
            && let Err(error) = imports.forget_plugin(root).await
        {
            tracing::warn!(%error, "decisions about an uninstalled plugin are kept");
        }
    }
}

/// What a catalog says of its marketplace.
fn describe(market: &mut Marketplace, catalog: &Catalog) {
    let text =
        |text: &Option<String>| text.as_deref().map(|text| secrets::hidden(text).into_owned());
    market.owner_name = text(&catalog.owner_name);
    market.owner_email = text(&catalog.owner_email);
    market.description = text(&catalog.description);
}

fn error_text(error: &MarketplaceError) -> String {
    secrets::hidden(&error.to_string()).into_owned()
}

fn failed(error: MarketplaceError) -> Error {
    match error {
        MarketplaceError::InvalidSource(_) => Error::invalid("source", error.to_string()),
        _ => Error::failed(error_text(&error)),
    }
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    Error::invalid("marketplace_id", format!("unknown marketplace_id: {shown}"))
}

fn no_plugin(marketplace: &str, plugin: &str) -> Error {
    let shown = |text: &str| text.chars().take(128).collect::<String>();
    let message = format!("plugin not found: {}:{}", shown(marketplace), shown(plugin));
    Error::new(ErrorKind::NotFound, message)
}

/// All entries of catalogs.
fn entries(catalogs: &[Arc<Catalog>]) -> impl Iterator<Item = &Entry> {
    catalogs.iter().flat_map(|catalog| &catalog.entries)
}
