//! What agents are started with: their settings, and where their files lie.

use std::path::PathBuf;
use std::sync::Arc;

use rookery_agent::providers::Environment;
use rookery_agent::settings::Settings;
use rookery_core::AgentConfig;
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
    /// All that is ours.
    private: Vec<PathBuf>,
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
        AgentPaths {
            private,
            settings,
            artifacts: homes.state_dir().join("artifacts"),
            cache: homes.cache_dir(),
            config: homes.config_file().parent().map(PathBuf::from),
        }
    }
}

impl AgentPaths {
    /// The file with the settings of agents.
    pub(crate) fn settings_file(&self) -> PathBuf {
        self.settings.clone()
    }
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
        warnings,
    }
}
