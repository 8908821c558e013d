//! Contents of plugins: fetched to a staging folder, looked at, and put in place at once. What a process that was
//! killed left half-done is undone at the next start. Nothing of it is run.
//!
//! A staging folder has the content, and beside it a note of where that belongs. So a killed install or uninstall
//! can be distinguished from a finished one by what the state file says of that place.

use std::path::{Path, PathBuf};

use rookery_host::git::checkout::{Wanted, check_out};
use rookery_host::tree::{self, Tree, TreeLimits};
use rookery_host::{Beneath, files};
use rookery_model::Timestamp;
use serde_json::{Value, json};

use crate::components;
use crate::fetch;
use crate::ids::version_folder;
use crate::plugin_source::PluginSource;
use crate::preview::open;
use crate::source::github_repo;
use crate::state::State;
use crate::types::{Entry, InstallState, Installed, Marketplace, MarketplaceError, Places};

/// How much a plugin may have in it.
pub(crate) const CONTENT_LIMITS: TreeLimits = TreeLimits { files: 5000, bytes: 50 << 20 };
/// How much the repository of a plugin may have in it, of which the plugin may be a part.
const CHECKOUT_LIMITS: TreeLimits = TreeLimits { files: 50_000, bytes: 500 << 20 };
/// What is written beside the content of a plugin.
pub(crate) const PREVIEW_FILE: &str = "install-preview.json";
/// The largest note that is written in lines; indented, what is deep becomes many times as large.
const LARGEST_PRETTY: usize = 1 << 20;
/// What is not taken from the content of a plugin.
pub(crate) const SKIPPED: &[&str] = &[".git", PREVIEW_FILE];
/// The folder with staging folders.
const STAGING: &str = ".staging";
const CONTENT: &str = "content";
const CHECKOUT: &str = "git";
/// Says where the content of a staging folder belongs.
const NOTE: &str = "target";

/// Where contents are put.
#[derive(Clone, Debug)]
pub struct Staging {
    places: Places,
}

/// A staging folder, which goes when it is dropped.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = files::remove_tree(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "a staging folder cannot be removed");
        }
    }
}

/// Content that was fetched only to be looked at. Dropping it leaves nothing.
#[derive(Debug)]
pub struct Glance {
    root: PathBuf,
    path: String,
    _folder: Folder,
}

impl Glance {
    /// Where it is: a root that nothing leads out of, and a path in it.
    pub(crate) fn place(&self) -> (PathBuf, String) {
        (self.root.clone(), self.path.clone())
    }
}

/// Content that is ready to be put in place. Dropping it leaves nothing.
#[derive(Debug)]
pub struct Staged {
    folder: Folder,
    target: PathBuf,
    record: Installed,
}

/// Content that is in place, and can still be taken back.
#[derive(Debug)]
pub struct Placed {
    folder: Folder,
    target: PathBuf,
    /// Whether the staging folder has what was there before.
    has_old: bool,
}

impl Staging {
    /// One in these places.
    pub fn new(places: Places) -> Self {
        Self { places }
    }

    /// Fetches the content of a plugin.
    ///
    /// # Errors
    /// If it cannot be had, or is not what may be installed; nothing is left of it then.
    pub async fn stage(
        &self,
        entry: &Entry,
        market: Option<&Marketplace>,
        now: Timestamp,
    ) -> Result<Staged, MarketplaceError> {
        if !entry.source.is_supported() {
            return Err(MarketplaceError::Unsupported(entry.source.shown()));
        }
        if let Some(problem) = &entry.problem {
            return Err(MarketplaceError::Content(format!(
                "{} cannot be installed: {problem}",
                entry.variant_key()
            )));
        }
        let folder = self.fresh().await?;
        let (root, path) = self.content(entry, market, &folder.0).await?;
        let (staging, entry, plugins) = (folder, entry.clone(), self.places.plugins.clone());
        blocking(move || copied(staging, &root, &path, &entry, &plugins, now)).await
    }

    /// Fetches the content of a plugin to look at it, as an install would. None if it is on this machine, or
    /// nothing of it can be installed.
    ///
    /// # Errors
    /// If it cannot be had; nothing is left of it then.
    pub async fn glance(&self, entry: &Entry) -> Result<Option<Glance>, MarketplaceError> {
        let PluginSource::Git { url, .. } = &entry.source else { return Ok(None) };
        let here = github_repo(url).and_then(|repo| fetch::github_folder(repo, Some(&self.places)));
        if here.is_some() || entry.problem.is_some() {
            return Ok(None);
        }
        let folder = self.fresh().await?;
        let (root, path) = self.content(entry, None, &folder.0).await?;
        Ok(Some(Glance { root, path, _folder: folder }))
    }

    /// A staging folder.
    async fn fresh(&self) -> Result<Folder, MarketplaceError> {
        let parent = self.places.plugins.join(STAGING);
        blocking(move || tree::fresh_dir(&parent).map(Folder).map_err(unwritten)).await
    }

    /// The folder that its content is in: a root that nothing leads out of, and a path in it.
    async fn content(
        &self,
        entry: &Entry,
        market: Option<&Marketplace>,
        staging: &Path,
    ) -> Result<(PathBuf, String), MarketplaceError> {
        match &entry.source {
            PluginSource::MarketplacePath { path, .. } => {
                let root = market.and_then(|market| fetch::root(market, &self.places));
                let root = root.ok_or_else(|| {
                    let message = format!("its marketplace {} has no folder", entry.marketplace_id);
                    MarketplaceError::Content(message)
                })?;
                Ok((root, path.clone()))
            }
            PluginSource::Git { url, path, ref_name, sha } => {
                let path = path.clone().unwrap_or_default();
                let known = github_repo(url)
                    .and_then(|repo| fetch::github_folder(repo, Some(&self.places)));
                if let Some(root) = known {
                    return Ok((root, path));
                }
                let root = staging.join(CHECKOUT);
                let wanted =
                    Wanted { url: url.clone(), reference: ref_name.clone(), commit: sha.clone() };
                let done = check_out(&root, &wanted, CHECKOUT_LIMITS).await;
                done.map_err(|error| MarketplaceError::Fetch {
                    what: url.clone(),
                    why: error.to_string(),
                })?;
                Ok((root, path))
            }
            PluginSource::LocalPath { path } => Ok((PathBuf::from(path), String::new())),
            PluginSource::Http { .. }
            | PluginSource::Npm { .. }
            | PluginSource::Unsupported { .. } => {
                Err(MarketplaceError::Unsupported(entry.source.shown()))
            }
        }
    }

    /// Takes the content of an installed plugin away, so that it can still be put back. None if there is none
    /// of ours. Blocks.
    ///
    /// # Errors
    /// If the system says no; nothing has happened then.
    pub fn retire(&self, installed: &Installed) -> Result<Option<Placed>, MarketplaceError> {
        let target = PathBuf::from(&installed.install_path);
        if !self.is_ours(&target) || !tree::is_there(&target) {
            return Ok(None);
        }
        let folder =
            tree::fresh_dir(&self.places.plugins.join(STAGING)).map(Folder).map_err(unwritten)?;
        note(&folder.0, &target)?;
        files::rename(&target, &folder.0.join(CONTENT)).map_err(unwritten)?;
        Ok(Some(Placed { folder, target, has_old: true }))
    }

    /// Whether a path is one where we put contents.
    fn is_ours(&self, path: &Path) -> bool {
        let parts: Option<Vec<&str>> = path
            .strip_prefix(&self.places.plugins)
            .ok()
            .and_then(|rest| rest.components().map(|part| part.as_os_str().to_str()).collect());
        matches!(parts.as_deref(), Some([market, plugin, version])
            if crate::is_id(market) && crate::is_id(plugin) && version_folder(version).is_some())
    }

    /// Undoes what a process that was killed left half-done. Blocks.
    pub fn sweep(&self, state: &State) {
        let parent = self.places.plugins.join(STAGING);
        let listed = Beneath::new(&parent).and_then(|dir| dir.list(Path::new(""), 10_000));
        for (name, _) in listed.unwrap_or_default() {
            let folder = Folder(parent.join(name));
            if let Err(error) = self.settle(&folder.0, state) {
                tracing::warn!(%error, path = %folder.0.display(), "a half-done install cannot be undone");
            }
        }
    }

    fn settle(&self, folder: &Path, state: &State) -> Result<(), MarketplaceError> {
        let Ok(dir) = Beneath::new(folder) else { return Ok(()) };
        let Ok(note) = dir.read_start(Path::new(NOTE), 4096) else { return Ok(()) };
        let target = PathBuf::from(String::from_utf8_lossy(&note).into_owned());
        if !self.is_ours(&target) {
            return Ok(());
        }
        let recorded =
            state.installed.iter().find(|known| Path::new(&known.install_path) == target);
        let content = dir.below(Path::new(CONTENT)).ok();
        match (recorded, content) {
            // New, and never recorded.
            (None, None) => files::remove_tree(&target).map_err(unwritten),
            // What was replaced or taken away, while the state file still means it.
            (Some(recorded), Some(content)) => {
                let hash = tree::list(&content, SKIPPED, CONTENT_LIMITS).ok().map(|tree| tree.hash);
                let is_it = hash.is_some() && hash == recorded.content_hash;
                if is_it {
                    tree::exchange(&folder.join(CONTENT), &target).map_err(unwritten)?;
                }
                Ok(())
            }
            (None, Some(_)) | (Some(_), None) => Ok(()),
        }
    }
}

impl Staged {
    /// Its record, as it will be.
    pub fn record(&self) -> &Installed {
        &self.record
    }

    /// Puts it in place, at once. Blocks.
    ///
    /// # Errors
    /// If the system says no; nothing has happened then.
    pub fn place(self) -> Result<Placed, MarketplaceError> {
        let Staged { folder, target, .. } = self;
        note(&folder.0, &target)?;
        if let Some(parent) = target.parent() {
            files::make_private_dir(parent).map_err(unwritten)?;
        }
        let has_old = tree::exchange(&folder.0.join(CONTENT), &target).map_err(unwritten)?;
        Ok(Placed { folder, target, has_old })
    }
}

impl Placed {
    /// Takes it back. Blocks.
    pub fn undo(self) {
        let content = self.folder.0.join(CONTENT);
        let undone = match self.has_old {
            true => tree::exchange(&content, &self.target).map(drop),
            false => files::rename(&self.target, &content),
        };
        if let Err(error) = undone {
            tracing::error!(%error, path = %self.target.display(), "an install cannot be undone");
        }
    }
}

/// Copies content into its staging folder and describes it. Blocks.
fn copied(
    folder: Folder,
    root: &Path,
    path: &str,
    entry: &Entry,
    plugins: &Path,
    now: Timestamp,
) -> Result<Staged, MarketplaceError> {
    let refused = |why: &dyn std::fmt::Display| {
        MarketplaceError::Content(format!("{} cannot be installed: {why}", entry.variant_key()))
    };
    let from = open(root, path).map_err(|error| refused(&format!("{path}: {error}")))?;
    let content = folder.0.join(CONTENT);
    let tree =
        tree::copy(&from, &content, SKIPPED, CONTENT_LIMITS).map_err(|error| refused(&error))?;
    if tree.files.is_empty() {
        return Err(refused(&"it has no files"));
    }
    let own =
        Beneath::new(&content).ok().and_then(|own| components::own_manifest(&own, entry.kind));
    let version = entry.version.clone().or_else(|| {
        own.as_ref().and_then(|own| own.get("version")).and_then(Value::as_str).map(str::to_owned)
    });
    let last = folder_name(version.as_deref(), &tree);
    let target = plugins.join(&entry.marketplace_id).join(&entry.plugin_id).join(last);
    // The parts of the plugin are found by this.
    let noted = json!({
        "variantKey": entry.variant_key(),
        "marketplaceId": entry.marketplace_id,
        "pluginId": entry.plugin_id,
        "kind": entry.kind,
        "identityKey": entry.identity_key,
        "manifest": entry.raw_manifest,
    });
    let mut text = serde_json::to_vec_pretty(&noted).map_err(|error| refused(&error))?;
    if text.len() > LARGEST_PRETTY {
        text = serde_json::to_vec(&noted).map_err(|error| refused(&error))?;
    }
    files::replace(&content.join(PREVIEW_FILE), &text).map_err(unwritten)?;
    let record = Installed {
        marketplace_id: entry.marketplace_id.clone(),
        plugin_id: entry.plugin_id.clone(),
        identity_key: entry.identity_key.clone(),
        variant_key: entry.variant_key(),
        install_path: target.display().to_string(),
        version,
        content_hash: Some(tree.hash),
        state: InstallState::Installed,
        installed_at: now,
    };
    // The checkout is not needed any more, and a killed process should leave little.
    files::remove_tree(&folder.0.join(CHECKOUT)).map_err(unwritten)?;
    Ok(Staged { folder, target, record })
}

/// The last folder of a plugin's path.
fn folder_name(version: Option<&str>, tree: &Tree) -> String {
    let hash = || tree.hash.get(..16).unwrap_or("content");
    version.and_then(version_folder).unwrap_or_else(hash).to_owned()
}

fn note(folder: &Path, target: &Path) -> Result<(), MarketplaceError> {
    let text = target.display().to_string();
    files::replace(&folder.join(NOTE), text.as_bytes()).map_err(unwritten)
}

fn unwritten(error: std::io::Error) -> MarketplaceError {
    MarketplaceError::Files(format!("files of plugins cannot be written: {error}"))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, MarketplaceError> + Send + 'static,
) -> Result<T, MarketplaceError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(MarketplaceError::Files(error.to_string())))
}

#[cfg(test)]
mod tests;
