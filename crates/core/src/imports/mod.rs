//! Imports: files of other agents that the user lets take effect in a workspace. Found and read by the
//! engine; decided on, kept and put into effect here.
//!
//! What was enabled holds for threads of that workspace: texts are sent to the model, skills can be read,
//! commands and agents can be used, servers are started when a turn needs them, and hooks run at their
//! events. What can start something takes effect only as it was when it was approved.

mod active;
mod change;
mod decide;
mod hooks;
mod prompt;
mod room;
mod servers;
mod skills;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_imports::{
    Decision, Item, Known, PluginRoot, Scan, ScanError, ScanRequest, SourceKind, State, UserPlaces,
    add_conflicts,
};
use rookery_model::{Error, Result};

pub(crate) use self::active::Active;
pub use self::change::ImportChange;
pub use self::decide::{EnabledImport, NewImport, Refreshed};
pub(crate) use self::hooks::{HookInput, ToolCall};
pub(crate) use self::room::Room;
pub use self::skills::{SkillList, SkillSelector};
use crate::core::blocking;
use crate::log::NoticeBody;
use crate::rooms::Imports;
use crate::{clock, secrets};

impl Imports {
    /// A workspace as decisions name it.
    ///
    /// # Errors
    /// If the path is relative, or no directory.
    pub async fn workspace(&self, path: &Path) -> Result<PathBuf> {
        if !path.is_absolute() {
            return Err(Error::invalid("workspace", "workspace must be absolute"));
        }
        let wanted = path.to_owned();
        let real =
            blocking(move || wanted.canonicalize().ok().filter(|real| real.is_dir())).await?;
        real.ok_or_else(|| {
            let message = format!("workspace is not a directory: {}", path.display());
            Error::invalid("workspace", message)
        })
    }

    /// Finds what can be enabled, with the user's own files if they are wanted, and tells others of it.
    ///
    /// # Errors
    /// If the workspace is wrong or cannot be read.
    pub async fn scan(&self, workspace: &Path, with_user: bool) -> Result<Scan> {
        let workspace = self.workspace(workspace).await?;
        let scan = self.look_at(workspace, with_user).await?;
        self.notify(ImportChange::Detected(Arc::new(scan.clone())));
        Ok(scan)
    }

    /// The same with the user's own files, without a word to others.
    ///
    /// # Errors
    /// If the workspace is wrong or cannot be read.
    pub async fn look(&self, workspace: &Path) -> Result<Scan> {
        let workspace = self.workspace(workspace).await?;
        self.look_at(workspace, true).await
    }

    /// Shows one item, or all of them; the user's own included.
    ///
    /// # Errors
    /// If the workspace is wrong or cannot be read.
    pub async fn preview(&self, workspace: &Path, id: Option<&str>) -> Result<Vec<Item>> {
        let workspace = self.workspace(workspace).await?;
        let mut items = self.look_at(workspace, true).await?.items;
        items.retain(|item| id.is_none_or(|id| item.id == id));
        for item in &mut items {
            if item.state == State::Detected {
                item.state = State::Previewed;
            }
            self.notify(ImportChange::Previewed(Arc::new(item.clone())));
        }
        Ok(items)
    }

    /// Installed plugins whose parts are items of the user's.
    pub fn plugin_roots(&self) -> Vec<PluginRoot> {
        self.room().plugins.read().clone()
    }

    /// Replaces the installed plugins that are enabled. What belongs to others ends at once.
    pub async fn set_plugin_roots(&self, plugins: Vec<PluginRoot>) {
        *self.room().plugins.write() = plugins;
        self.evaluate_all().await;
    }

    /// Forgets what was decided about the parts of the plugin in a folder, because it is uninstalled.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn forget_plugin(&self, root: &Path) -> Result<()> {
        let root = root.to_owned();
        let is_of_plugin = move |decision: &Decision| Path::new(&decision.path).starts_with(&root);
        let forgotten = self.with_decisions(move |all| all.forget(is_of_plugin)).await?;
        forgotten.map_err(|error| Error::failed(format!("decisions cannot be kept: {error}")))?;
        self.evaluate_all().await;
        Ok(())
    }

    /// Takes along what was decided about the parts of a plugin whose content was replaced. Parts that can start
    /// something have to be enabled again unless the content is the same; that is said.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn follow_plugin(
        &self,
        name: &str,
        from: &Path,
        to: &Path,
        is_same: bool,
    ) -> Result<()> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let followed = self.with_decisions(move |all| all.follow(&from, &to, is_same)).await?;
        let forgotten = followed
            .map_err(|error| Error::failed(format!("decisions cannot be kept: {error}")))?;
        for decision in &forgotten {
            self.notify(ImportChange::Disabled(decision.clone()));
        }
        if !forgotten.is_empty() {
            let message = format!(
                "the content of plugin {name} has changed: its hooks and servers have to be enabled again"
            );
            self.core.log().warn(None, message);
        }
        Ok(())
    }

    /// Scans, without a word to others.
    async fn look_at(&self, workspace: PathBuf, with_user: bool) -> Result<Scan> {
        let known = self.known(&workspace).await;
        let mut scan = self.read(workspace, with_user).await?;
        let failed = self.room().failures(&scan.workspace);
        add_conflicts(&mut scan.items, &known);
        for item in &mut scan.items {
            hide_secrets(item);
            let why = failed.get(&(item.id.clone(), item.source.hash.clone()));
            if let Some(why) = why.filter(|_| item.state == State::Enabled) {
                item.state = State::Failed;
                let (path, title) = (item.source.path.clone(), &item.title);
                scan.errors.push(ScanError { path, message: format!("{title}: {why}") });
            }
        }
        scan.errors.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
        Ok(scan)
    }

    /// What is there, as the engine reads it.
    async fn read(&self, workspace: PathBuf, with_user: bool) -> Result<Scan> {
        let decisions = self.decisions_of(&workspace).await?;
        let plugins = self.plugin_roots();
        let user = with_user.then(|| UserPlaces {
            config: self.core.inner.agents.config.config_home.clone(),
            home: Some(self.core.inner.config.home.clone()),
        });
        let scanned = blocking(move || {
            rookery_imports::scan(ScanRequest {
                workspace: &workspace,
                user: user.as_ref(),
                plugins: &plugins,
                decisions: &decisions,
                now: clock::wall(),
            })
        });
        scanned.await?.map_err(|error| Error::failed(format!("workspace cannot be read: {error}")))
    }

    /// Names that are taken whatever is enabled.
    async fn known(&self, workspace: &Path) -> Known {
        let mut known = Known::default();
        let listed = self.core.agents().live_commands(workspace).await.unwrap_or_default();
        for command in listed {
            let file = command.file.unwrap_or_else(|| PathBuf::from("built in"));
            known.names.insert((SourceKind::SlashCommand, command.name), file);
        }
        for name in self.core.agents().settings().mcp_servers.keys() {
            let file = PathBuf::from("the settings");
            known.names.insert((SourceKind::McpServer, name.clone()), file);
        }
        for definition in rookery_agent::definitions::built_ins() {
            known.names.insert((SourceKind::Agent, definition.name), PathBuf::from("built in"));
        }
        known
    }

    fn notify(&self, change: ImportChange) {
        let body = NoticeBody::Import(Box::new(change));
        self.core.inner.log.spine().send(None, [body]);
    }
}

/// What is shown of an item passes the rule for secrets, whatever its author wrote into it.
fn hide_secrets(item: &mut Item) {
    secrets::hide(&mut item.title);
    secrets::hide(&mut item.summary);
    let mut preview = item.preview.to_string();
    secrets::hide_in_json(&mut preview);
    item.preview = serde_json::from_str(&preview).unwrap_or_default();
}
