//! The table of providers: what each can do, what it needs, and how it is opened.

use std::ffi::OsString;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use rookery_host::git::worktree::{self, Created, NewWorktree};
use rookery_host::http;
use serde_json::Value;

use crate::providers::{docker, git_worktree, hosted_http, ssh, unix_local};
use crate::session::Work;
use crate::{Manifest, MountKind, RunnerError, Session};

/// What a provider can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Runs commands.
    pub command_exec: bool,
    pub file_read: bool,
    pub file_write: bool,
    /// Makes ports reachable.
    pub port_preview: bool,
    /// Keeps states.
    pub snapshots: bool,
    /// Ends commands before their end.
    pub cancellation: bool,
    /// Hands files out as artifacts.
    pub artifact_export: bool,
    /// Can be held.
    pub pausable: bool,
    /// Can be let go of and found again.
    pub detachable: bool,
    /// Which storage it mounts.
    pub mounts: MountSupport,
}

/// Which storage a provider mounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountSupport {
    /// Its own.
    pub provider_native: bool,
}

impl MountSupport {
    fn any(self) -> bool {
        self.provider_native
    }
}

/// Where the files and the commands of a provider's sessions are; known before any of them is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Both are on this machine.
    Here,
    /// The files are on this machine, the commands are not.
    FilesHere,
    /// Neither is.
    Away,
}

/// How commands of a provider's sessions run in terminals of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTerminals {
    /// As they are: they run on this machine.
    Here,
    /// By a client in the terminal; they live on without this daemon.
    Lasting,
    /// By a client in the terminal; they end with the daemon, which has the connection.
    WithDaemon,
    /// Not at all.
    Never,
}

/// How worktrees are made. Core writes down what it is about to make, so that a crash leaves nothing half made.
pub trait TreeMaker: Send + Sync {
    /// Makes a worktree of the repository around a directory.
    fn make<'a>(&'a self, repo: &'a Path, new: &'a NewWorktree) -> Work<'a, Created>;
}

/// Makes worktrees without writing anything down.
pub(crate) struct PlainTrees;

impl TreeMaker for PlainTrees {
    fn make<'a>(&'a self, repo: &'a Path, new: &'a NewWorktree) -> Work<'a, Created> {
        Box::pin(async move {
            worktree::create(repo, new)
                .await
                .map_err(|error| RunnerError::failed(error.to_string()))
        })
    }
}

/// Wraps program and arguments that run in a directory of this machine in what holds them to something.
pub type Wrap = Arc<dyn Fn(&Path, Vec<OsString>) -> Vec<OsString> + Send + Sync>;

/// What a session is opened with.
#[derive(Clone)]
pub struct Opening {
    /// The id that it gets.
    pub session: String,
    /// The destination it belongs to.
    pub destination: String,
    /// The configuration, with its secrets.
    pub config: Value,
    /// What it is to have in it.
    pub manifest: Manifest,
    /// Where work is done if the configuration does not say it.
    pub cwd: PathBuf,
    /// Where a provider keeps what it makes: worktrees, snapshots.
    pub data: PathBuf,
    /// Where control sockets go; short, and the user's own.
    pub run: PathBuf,
    /// The environment that programs start from, without keys.
    pub env: Vec<(OsString, OsString)>,
    /// Metadata of the same session as it was before; none makes a new one.
    pub found: Option<Value>,
    /// How a program of this machine is wrapped before it runs in a directory; none runs it as it is.
    pub wrap: Option<Wrap>,
    /// How worktrees are made.
    pub trees: Arc<dyn TreeMaker>,
    /// The way out to the web.
    pub http: http::Client,
}

impl Opening {
    /// Something to open sessions with: nothing is found again, and worktrees are made without more ado.
    pub fn new(destination: impl Into<String>, config: Value, cwd: PathBuf, data: PathBuf) -> Self {
        Self {
            session: crate::new_session_id(),
            destination: destination.into(),
            config,
            manifest: Manifest::default(),
            cwd,
            run: data.clone(),
            data,
            env: Vec::new(),
            found: None,
            wrap: None,
            trees: Arc::new(PlainTrees),
            http: http::Client::new(),
        }
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&std::ffi::OsStr> {
        self.env.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }
}

/// What is answered some time.
pub(crate) type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One kind of place.
pub struct Provider {
    pub id: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// How its commands run in terminals.
    pub in_terminals: InTerminals,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Members of its configuration.
    pub members: &'static [&'static str],
    /// Those that are secrets: kept in memory, never shown.
    pub secrets: &'static [&'static str],
    /// Whether threads can work there without naming a directory.
    pub has_default_workspace: bool,
    /// Where its files and commands are.
    pub whereabouts: Location,
    /// Whether a new session makes something that stays: a checkout, a container.
    pub makes_place: bool,
    /// Commands that a configuration has run on this machine when a session is opened.
    pub(crate) programs: fn(&Value) -> Vec<Vec<String>>,
    pub(crate) check: fn(&Value) -> Result<(), RunnerError>,
    pub(crate) hint: Hint,
    pub(crate) open: fn(Opening) -> Work<'static, Arc<dyn Session>>,
}

/// Says what is missing before a provider can be used, in this environment and with this configuration.
type Hint = fn(Vec<(OsString, OsString)>, Value) -> Answer<Option<String>>;

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("id", &self.id).finish_non_exhaustive()
    }
}

/// All providers.
pub const PROVIDERS: &[Provider] = &[
    unix_local::PROVIDER,
    git_worktree::PROVIDER,
    ssh::PROVIDER,
    docker::PROVIDER,
    hosted_http::PROVIDER,
];

/// The provider of an id.
pub fn find(id: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.id == id)
}

impl Provider {
    /// Checks a configuration and a manifest without doing anything.
    ///
    /// # Errors
    /// If a member is wrong or missing, or the manifest wants what the provider cannot do.
    pub fn check(&self, config: &Value, manifest: &Manifest) -> Result<(), RunnerError> {
        (self.check)(config)?;
        if !manifest.mounts.is_empty() && !self.capabilities.mounts.any() {
            let message = format!("manifest.mounts: runner provider {} mounts no storage", self.id);
            return Err(RunnerError::invalid("manifest", message));
        }
        let kinds = manifest.mounts.iter().filter_map(|mount| mount.intent.as_ref());
        let other = kinds.map(|intent| intent.kind).find(|kind| *kind != MountKind::ProviderNative);
        if let Some(kind) = other {
            let message = format!(
                "manifest.mounts: runner provider {} mounts no {}; use provider_native",
                self.id,
                kind.word()
            );
            return Err(RunnerError::invalid("manifest", message));
        }
        Ok(())
    }

    /// Commands of the configuration's own choice that are run on this machine when a session is opened.
    pub fn programs(&self, config: &Value) -> Vec<Vec<String>> {
        (self.programs)(config)
    }

    /// The directory of this machine that a configuration names.
    pub fn directory(&self, config: &Value) -> Option<PathBuf> {
        let is_here = matches!(self.whereabouts, Location::Here | Location::FilesHere);
        let named = |name| config.get(name).and_then(Value::as_str).map(PathBuf::from);
        named("repo").or_else(|| named("root")).filter(|path| is_here && path.is_absolute())
    }

    /// What is missing before it can be used with this configuration, if anything is.
    pub async fn setup_hint(
        &self,
        env: Vec<(OsString, OsString)>,
        config: Value,
    ) -> Option<String> {
        (self.hint)(env, config).await
    }

    /// Opens a session and fills it by its manifest. If that fails nothing is left of it.
    ///
    /// # Errors
    /// If something is missing or wrong, or the place does not answer.
    pub async fn open(&self, opening: Opening) -> Result<Arc<dyn Session>, RunnerError> {
        self.check(&opening.config, &opening.manifest)?;
        let hint = self.setup_hint(opening.env.clone(), opening.config.clone()).await;
        if let Some(hint) = hint {
            return Err(RunnerError::Missing(hint));
        }
        let (manifest, is_new) = (opening.manifest.clone(), opening.found.is_none());
        let session = (self.open)(opening).await?;
        if is_new && let Err(error) = manifest.fill(session.as_ref()).await {
            // Only what was copied just now can be lost.
            if let Err(error) = session.close(true).await {
                tracing::warn!(%error, "a runner session that could not be filled was not closed");
            }
            return Err(error);
        }
        Ok(session)
    }

    /// A configuration without secrets and without what the provider does not know, and the names of
    /// the secrets that it had.
    pub fn without_secrets(&self, config: &Value) -> (Value, Vec<String>) {
        let Some(members) = config.as_object() else { return (Value::Null, Vec::new()) };
        let mut kept = serde_json::Map::new();
        let mut secrets = Vec::new();
        for name in self.members {
            let camel = crate::config::camel(name);
            let value = members.get(*name).or_else(|| members.get(&camel));
            match value.filter(|value| !value.is_null()) {
                Some(_) if self.secrets.contains(name) => secrets.push((*name).to_owned()),
                Some(value) => drop(kept.insert((*name).to_owned(), value.clone())),
                None => {}
            }
        }
        (Value::Object(kept), secrets)
    }
}

/// Whether a program can be found in the `PATH` of an environment.
pub(crate) fn has_program(program: &str, env: &[(OsString, OsString)]) -> bool {
    let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
    rookery_host::find_program(program.as_ref(), path, Path::new("/")).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_unique_and_secrets_are_members() {
        for (at, provider) in PROVIDERS.iter().enumerate() {
            assert!(PROVIDERS[..at].iter().all(|other| other.id != provider.id));
            assert!(provider.secrets.iter().all(|secret| provider.members.contains(secret)));
        }
        assert!(find("daytona").is_none());
    }

    #[test]
    fn what_is_kept_of_a_configuration_has_no_secret() {
        let provider = find("hosted-http").unwrap();
        let config =
            json!({"baseUrl": "http://127.0.0.1:1", "token": "hunter2", "other": "hunter3"});
        let (kept, secrets) = provider.without_secrets(&config);
        assert_eq!(kept, json!({"base_url": "http://127.0.0.1:1"}));
        assert_eq!(secrets, ["token"]);
    }

    #[test]
    fn mounts_are_refused_where_there_are_none() {
        let manifest = json!({"mounts": [{"name": "m", "path": "/m"}]});
        let manifest = Manifest::read(&manifest).unwrap();
        let error = find("unix-local").unwrap().check(&Value::Null, &manifest).unwrap_err();
        assert!(error.to_string().contains("manifest.mounts"));
        // Where there are, what is not among the capabilities is refused as well.
        let hosted = find("hosted-http").unwrap();
        let config = json!({"base_url": "http://127.0.0.1:1"});
        hosted.check(&config, &manifest).unwrap();
        let manifest = json!({"mounts": [
            {"name": "m", "path": "/m", "intent": {"kind": "azure_blob", "uri": "az://b"}}]});
        let error = hosted.check(&config, &Manifest::read(&manifest).unwrap()).unwrap_err();
        assert!(error.to_string().contains("mounts no azure_blob"), "{error}");
    }
}
