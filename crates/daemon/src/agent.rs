//! What agents are started with: their settings, and where their files lie.

use std::path::PathBuf;
use std::sync::Arc;

use rookery_agent::providers::Environment;
use rookery_agent::settings::Settings;
use rookery_core::{AgentConfig, MarketplaceDirs, RunnerDirs};
use rookery_host::SettingsFile;

use crate::homes::{Homes, create_private_dir};
use crate::run::user_home;

/// The file that holds settings, in whichever directory.
const FILE: &str = "config.toml";

/// Where agents' files lie.
pub(crate) struct AgentPaths {
    settings: PathBuf,
    artifacts: PathBuf,
    cache: PathBuf,
    config: Option<PathBuf>,
    workflows: PathBuf,
    auth: PathBuf,
    memories: PathBuf,
    media: PathBuf,
    imports: PathBuf,
    marketplaces: MarketplaceDirs,
    /// All that is ours.
    private: Vec<PathBuf>,
    /// Where runners keep what they make.
    runners: RunnerDirs,
}

impl AgentPaths {
    /// In our own directories; settings where Roder has them if we have none and it does.
    pub(crate) fn from_homes(homes: &Homes) -> AgentPaths {
        let ours = homes.config_file();
        let settings = if ours.exists() || std::env::var_os("ROOKERY_HOME").is_some() {
            ours
        } else {
            roder_file().unwrap_or(ours)
        };
        let mut private = vec![homes.state_dir(), homes.data_dir(), homes.cache_dir()];
        private.extend(homes.config_file().parent().map(PathBuf::from));
        private.extend(homes.rookery_socket().parent().map(PathBuf::from));
        private.push(settings.clone());
        let auth = data_dir(homes).join("auth");
        private.push(auth.clone());
        AgentPaths {
            private,
            runners: RunnerDirs {
                data: homes.data_dir(),
                run: homes.runtime_dir().join("rookery"),
            },
            settings,
            artifacts: homes.state_dir().join("artifacts"),
            cache: homes.cache_dir(),
            config: homes.config_file().parent().map(PathBuf::from),
            workflows: data_dir(homes).join("dynamic-workflows"),
            auth,
            memories: named_path("RODER_MEMORIES_PATH")
                .unwrap_or_else(|| data_dir(homes).join("memory/memories.sqlite3")),
            media: named_path("RODER_MEDIA_ARTIFACT_DIR")
                .unwrap_or_else(|| data_dir(homes).join("artifacts")),
            imports: named_path("RODER_WORKFLOW_IMPORTS_PATH")
                .unwrap_or_else(|| config_dir(homes).join("workflow-imports.json")),
            marketplaces: MarketplaceDirs {
                state_file: named_path("RODER_MARKETPLACES_PATH")
                    .unwrap_or_else(|| config_dir(homes).join("marketplaces.json")),
                sources: named_path("RODER_MARKETPLACE_SOURCE_CACHE_DIR")
                    .unwrap_or_else(|| data_dir(homes).join("marketplaces/cache")),
                plugins: named_path("RODER_MARKETPLACE_CACHE_DIR")
                    .unwrap_or_else(|| data_dir(homes).join("plugins/cache")),
                github_folders: named_path("RODER_MARKETPLACE_GITHUB_FIXTURE_DIR"),
            },
        }
    }
}

impl AgentPaths {
    /// The file with the settings of agents.
    pub(crate) fn settings_file(&self) -> PathBuf {
        self.settings.clone()
    }

    /// Where images and other files are kept.
    pub(crate) fn media_dir(&self) -> PathBuf {
        self.media.clone()
    }

    /// Where marketplaces and plugins are kept.
    pub(crate) fn marketplaces(&self) -> MarketplaceDirs {
        self.marketplaces.clone()
    }

    /// The file with decisions about imports.
    pub(crate) fn imports_file(&self) -> PathBuf {
        self.imports.clone()
    }

    pub(crate) fn memories_file(&self) -> PathBuf {
        self.memories.clone()
    }
}

/// Where data lies: where Roder's variable says, unless all of our directories were moved.
fn data_dir(homes: &Homes) -> PathBuf {
    let is_moved = std::env::var_os("ROOKERY_HOME").is_some();
    let named = std::env::var_os("RODER_DATA_DIR").filter(|_| !is_moved).map(PathBuf::from);
    named.filter(|dir| dir.is_absolute()).unwrap_or_else(|| homes.data_dir())
}

/// Where settings lie: where Roder's variable says, unless all of our directories were moved.
fn config_dir(homes: &Homes) -> PathBuf {
    let is_moved = std::env::var_os("ROOKERY_HOME").is_some();
    let named = std::env::var_os("RODER_CONFIG_DIR").filter(|_| !is_moved).map(PathBuf::from);
    let ours = || homes.config_file().parent().map_or_else(|| homes.data_dir(), PathBuf::from);
    named.filter(|dir| dir.is_absolute()).unwrap_or_else(ours)
}

/// A path that a variable of Roder names, which always counts.
fn named_path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Roder's settings file: where its variables say, or in its usual place if it is there.
fn roder_file() -> Option<PathBuf> {
    let named = ["RODER_CONFIG_DIR", "RODER_DATA_DIR"].iter().find_map(|name| {
        let dir = PathBuf::from(std::env::var_os(name)?);
        dir.is_absolute().then(|| dir.join(FILE))
    });
    named.or_else(|| Some(user_home().join(".roder").join(FILE)).filter(|file| file.exists()))
}

/// Core's configuration of agents.
pub(crate) fn config(paths: &AgentPaths, program: Option<PathBuf>) -> AgentConfig {
    let environment: Environment = Arc::new(|name| std::env::var(name).ok());
    let (mut settings, mut warnings) = Settings::load(&SettingsFile::new(paths.settings.clone()));
    warnings.extend(settings.apply_environment(&*environment));
    for warning in &mut warnings {
        *warning = format!("{}: {warning}", paths.settings.display());
        tracing::warn!("{warning}");
    }
    let artifacts = create_private_dir(&paths.artifacts).is_ok().then(|| paths.artifacts.clone());
    let cache_dir = create_private_dir(&paths.cache).is_ok().then(|| paths.cache.clone());
    AgentConfig {
        settings,
        settings_file: Some(paths.settings.clone()),
        environment,
        cwd: std::env::current_dir().unwrap_or_else(|_| user_home()),
        artifacts,
        sandbox: program,
        private: paths.private.clone(),
        commands_dir: paths.settings.parent().map(|dir| dir.join("commands")),
        config_home: paths.config.clone(),
        cache_dir,
        workflows_dir: Some(paths.workflows.clone()),
        // Only the daemon of these homes has the teams in them.
        teams_dir: None,
        auth_dir: Some(paths.auth.clone()),
        memories_file: None,
        media_dir: None,
        imports_file: None,
        marketplaces: None,
        warnings,
        runners: Some(paths.runners.clone()),
    }
}
