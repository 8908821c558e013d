//! The plugins a server is started with. The one place where `serve` and plugins meet.

use std::path::PathBuf;
use std::sync::Arc;

use rookery_ptywright::Shared;
use rookery_watch::Adapters;

use super::ServeError;
use crate::run::user_home;

/// What the command line says about plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeOptions {
    /// Manifests to load before anything is served.
    pub plugins: Vec<PathBuf>,
    /// Whether clients may load plugins.
    pub allow_plugin_load: bool,
}

/// What the connections of a server share, with every plugin loaded. Reads files and runs Lua, so it may block.
pub(super) fn load(options: &ServeOptions) -> Result<Shared, ServeError> {
    let adapters = Adapters::default().allow_plugin_load(options.allow_plugin_load);
    for path in &options.plugins {
        std::fs::File::open(path).map_err(|error| {
            let path = path.display();
            ServeError::Plugin(format!(
                "config error: failed to read plugin manifest `{path}`: {error}"
            ))
        })?;
        let loaded = adapters.plugins().load(path);
        loaded.map_err(|error| ServeError::Plugin(error.to_string()))?;
    }
    Ok(Shared::new(user_home(), Arc::new(adapters)))
}
