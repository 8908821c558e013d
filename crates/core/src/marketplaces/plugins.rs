//! Plugins: found, looked at, installed, switched off and on, and removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rookery_marketplace::{
    Entry, Glance, InstallState, Installed, MarketplaceError, Placed, PluginRow, Preview, Staged,
    Staging, State, search, siblings,
};
use rookery_model::{Error, Result};

use super::room::Registry;
use super::{MarketplaceChange, entries, error_text, failed, no_plugin};
use crate::clock;
use crate::core::blocking;
use crate::rooms::Marketplaces;

/// Plugins that may be installed.
const MOST_INSTALLED: usize = 1000;
/// Variants of one plugin that are installed at once.
const MOST_VARIANTS: usize = 20;

impl Marketplaces {
    /// Plugins of all marketplaces that are shown, by what was fetched of them before.
    ///
    /// # Errors
    /// If the state file cannot be read.
    pub async fn search(&self, query: &str) -> Result<Vec<PluginRow>> {
        let registry = self.registry().await?;
        let (state, query) = (registry.state(), query.to_owned());
        // Thousands of entries take some milliseconds.
        blocking(move || search(entries(&registry.shown()), &installed(&state), &query)).await
    }

    /// A plugin as its catalog has it.
    ///
    /// # Errors
    /// If the state file cannot be read.
    pub async fn plugin(&self, marketplace: &str, plugin: &str) -> Result<Option<Entry>> {
        Ok(self.registry().await?.plugin(marketplace, plugin))
    }

    /// What an install would bring. Content that is elsewhere is fetched, looked at and removed again; nothing is
    /// run or recorded.
    ///
    /// # Errors
    /// If there is no such plugin. Content that cannot be fetched is a warning.
    pub async fn preview(&self, marketplace: &str, plugin: &str) -> Result<Preview> {
        let registry = self.registry().await?;
        let entry = registry.plugin(marketplace, plugin);
        let entry = entry.ok_or_else(|| no_plugin(marketplace, plugin))?;
        let (state, places) = (registry.state(), self.room().places.clone());
        let (fetched, failure) = match self.glance(&entry).await {
            Ok(fetched) => (fetched, None),
            Err(error) => (None, Some(error_text(&error))),
        };
        blocking(move || {
            let market = state.market(&entry.marketplace_id);
            let known = state.plugin(&entry.variant_key());
            let mut preview =
                Preview::new(&entry, market, known, places.as_ref(), fetched.as_ref());
            if let Some(failure) = failure {
                if !preview.files.is_empty() {
                    let message = "what is installed is shown instead";
                    preview.warnings.insert(0, message.to_owned());
                }
                preview.warnings.insert(0, failure);
            }
            preview
        })
        .await
    }

    /// The content of a plugin that is not on this machine.
    async fn glance(&self, entry: &Entry) -> std::result::Result<Option<Glance>, MarketplaceError> {
        let Some(places) = self.room().places.clone() else { return Ok(None) };
        let _fetches = self.room().fetches.lock().await;
        Staging::new(places).glance(entry).await
    }

    /// The installed plugins, by their keys.
    ///
    /// # Errors
    /// If the state file cannot be read.
    pub async fn installed(&self) -> Result<Vec<Installed>> {
        Ok(self.registry().await?.state().installed.clone())
    }

    /// Fetches a plugin and installs it; one that is installed is replaced.
    ///
    /// # Errors
    /// If there is none, its content cannot be had or may not be installed; nothing has changed then.
    pub async fn install(&self, marketplace: &str, plugin: &str) -> Result<Installed> {
        let registry = self.registry().await?;
        let entry = registry.plugin(marketplace, plugin);
        let entry = entry.ok_or_else(|| no_plugin(marketplace, plugin))?;
        let mut records = self.install_entries(&registry, vec![entry]).await?;
        records.pop().ok_or_else(|| no_plugin(marketplace, plugin))
    }

    /// Installs all variants of a plugin, or none of them.
    ///
    /// # Errors
    /// If there is none, or one of them cannot be installed; nothing has changed then.
    pub async fn install_all_variants(
        &self,
        marketplace: &str,
        plugin: &str,
    ) -> Result<Vec<Installed>> {
        let registry = self.registry().await?;
        let entry = registry.plugin(marketplace, plugin);
        let entry = entry.ok_or_else(|| no_plugin(marketplace, plugin))?;
        let catalogs = registry.shown();
        let variants = siblings(entries(&catalogs), &entry);
        if variants.len() > MOST_VARIANTS {
            let message = format!(
                "the plugin has more than {MOST_VARIANTS} variants; install them one by one"
            );
            return Err(Error::failed(message));
        }
        self.install_entries(&registry, variants.into_iter().cloned().collect()).await
    }

    fn install_entries<'a>(
        &'a self,
        registry: &'a Registry,
        wanted: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Vec<Installed>>> {
        Box::pin(self.install_entries_inner(registry, wanted))
    }

    async fn install_entries_inner(
        &self,
        registry: &Registry,
        wanted: Vec<Entry>,
    ) -> Result<Vec<Installed>> {
        let staging = self.staging()?;
        let fetches = self.room().fetches.lock().await;
        let mut staged = Vec::new();
        for entry in &wanted {
            let market = self.current(registry, &entry.marketplace_id);
            let one = staging.stage(entry, market.as_ref(), clock::wall()).await;
            staged.push(one.map_err(failed)?);
        }
        drop(fetches);
        let _order = self.room().order.lock().await;
        let records: Vec<Installed> = staged.iter().map(|one| one.record().clone()).collect();
        let before = registry.state();
        let mut after = (*before).clone();
        records.iter().for_each(|record| after.set_plugin(record.clone()));
        if after.installed.len() > MOST_INSTALLED {
            let message =
                format!("there are {MOST_INSTALLED} plugins already; uninstall some first");
            return Err(Error::busy(message));
        }
        let old = Arc::clone(&before);
        let placed = blocking(move || place(&staging, staged, &before)).await??;
        let written = self.write(registry, after).await;
        blocking(move || match written {
            Ok(()) => {
                drop(placed);
                Ok(())
            }
            Err(error) => {
                undo(placed);
                Err(error)
            }
        })
        .await??;
        for record in &records {
            if let Some(old) = old.plugin(&record.variant_key) {
                self.follow(old, record).await?;
            }
            self.notify(MarketplaceChange::Installed(Arc::new(record.clone())));
        }
        self.plugins_changed(None).await;
        Ok(records)
    }

    /// Has what was decided about the parts of a plugin count for its new content, as far as it may.
    async fn follow(&self, old: &Installed, new: &Installed) -> Result<()> {
        let is_same = old.content_hash.is_some() && old.content_hash == new.content_hash;
        if is_same && old.install_path == new.install_path {
            return Ok(());
        }
        let (from, to) = (Path::new(&old.install_path), Path::new(&new.install_path));
        self.core.imports().follow_plugin(&new.variant_key, from, to, is_same).await
    }

    /// Switches a plugin off, at once; its content stays. None if it is not installed.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn disable(&self, key: &str) -> Result<Option<Installed>> {
        self.switch(key, InstallState::Disabled).await
    }

    /// Switches a plugin on again. None if it is not installed.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn enable(&self, key: &str) -> Result<Option<Installed>> {
        self.switch(key, InstallState::Installed).await
    }

    async fn switch(&self, key: &str, to: InstallState) -> Result<Option<Installed>> {
        let registry = self.registry().await?;
        let _order = self.room().order.lock().await;
        let mut state = (*registry.state()).clone();
        let Some(mut plugin) = state.plugin(key).cloned() else { return Ok(None) };
        if plugin.state == to {
            return Ok(Some(plugin));
        }
        plugin.state = to;
        state.set_plugin(plugin.clone());
        self.write(&registry, state).await?;
        let (key, known) = (key.to_owned(), Some(Arc::new(plugin.clone())));
        self.notify(MarketplaceChange::Plugin { key, state: to, plugin: known });
        self.plugins_changed(None).await;
        Ok(Some(plugin))
    }

    /// Removes a plugin with its content. False if it is not installed.
    ///
    /// # Errors
    /// If it cannot be removed; it is as it was then.
    pub async fn uninstall(&self, key: &str) -> Result<bool> {
        let registry = self.registry().await?;
        let _order = self.room().order.lock().await;
        let mut state = (*registry.state()).clone();
        let Some(plugin) = state.plugin(key).cloned() else { return Ok(false) };
        state.installed.retain(|known| known.variant_key != key);
        let root = PathBuf::from(&plugin.install_path);
        let staging = self.staging()?;
        let retired = blocking(move || staging.retire(&plugin)).await?.map_err(failed)?;
        let written = self.write(&registry, state).await;
        blocking(move || match (written, retired) {
            (Err(error), Some(retired)) => {
                retired.undo();
                Err(error)
            }
            (written, _) => written,
        })
        .await??;
        let (name, state) = (key.to_owned(), InstallState::Uninstalled);
        self.notify(MarketplaceChange::Plugin { key: name, state, plugin: None });
        self.plugins_changed(Some(&root)).await;
        Ok(true)
    }
}

/// Puts contents in place, all of them or none, and takes older versions of them away. Blocks.
fn place(staging: &Staging, staged: Vec<Staged>, before: &State) -> Result<Vec<Placed>> {
    let mut placed = Vec::new();
    for one in staged {
        let record = one.record().clone();
        let old = before.plugin(&record.variant_key);
        let old = old.filter(|old| old.install_path != record.install_path);
        let retired = old.map_or(Ok(None), |old| staging.retire(old));
        let done = retired.and_then(|retired| {
            placed.extend(retired);
            one.place()
        });
        match done {
            Ok(done) => placed.push(done),
            Err(error) => {
                undo(placed);
                return Err(failed(error));
            }
        }
    }
    Ok(placed)
}

/// Takes back what was put in place, the last first.
fn undo(placed: Vec<Placed>) {
    placed.into_iter().rev().for_each(Placed::undo);
}

fn installed(state: &State) -> BTreeMap<String, Option<String>> {
    let row = |plugin: &Installed| (plugin.variant_key.clone(), plugin.content_hash.clone());
    state.installed.iter().map(row).collect()
}
