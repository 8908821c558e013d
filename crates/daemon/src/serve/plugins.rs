//! The plugins a server is started with. The one place where `serve` and plugins meet.

use std::path::PathBuf;

use super::ServeError;

/// What the command line says about plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeOptions {
    /// Manifests to load before anything is served.
    pub plugins: Vec<PathBuf>,
    /// Whether clients may load plugins.
    pub allow_plugin_load: bool,
}

/// Checks that every plugin can be loaded, before anything is served.
///
/// There is no registry of plugins yet, so one that was asked for is refused rather than left out in silence.
pub(super) fn load(options: &ServeOptions) -> Result<(), ServeError> {
    let Some(path) = options.plugins.first() else { return Ok(()) };
    let wrong = |what: &str, error: &dyn std::fmt::Display| {
        ServeError::Config(format!("failed to {what} plugin manifest {}: {error}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong("read", &error))?;
    toml::from_str::<toml::Table>(&text).map_err(|error| wrong("parse", &error))?;
    Err(wrong("load", &"plugins are not supported yet"))
}
