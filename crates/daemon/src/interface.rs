//! What the user interface is started with: its settings file, its scripts, its desktop.

use std::path::{Path, PathBuf};

use rookery_core::UiConfig;
use rookery_host::shell_integration;

use crate::config::{Config, EndpointConfig};
use crate::homes::Homes;

/// What core is told about the user interface.
pub(crate) fn ui_config(
    homes: &Homes,
    socket: Option<PathBuf>,
    roostctl: Option<PathBuf>,
) -> UiConfig {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let chosen = std::env::var_os("ROOST_CONFIG").map(PathBuf::from);
    let settings = chosen.filter(|path| path.is_absolute()).unwrap_or_else(|| homes.roost_config());
    UiConfig {
        settings: Some(settings),
        has_display: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
        socket,
        roostctl,
        fonts: Some(rookery_paint::font_families),
    }
}

/// The originals' own variables move their endpoints, unless the config says where they are. One
/// that comes from a terminal of ours names the socket of that terminal's daemon, and is not taken.
pub(crate) fn take_overrides(config: &mut Config) {
    if std::env::var_os("ROOKERY_TERMINAL_ID").is_some() {
        return;
    }
    let path =
        std::env::var_os("ROOST_SOCKET").map(PathBuf::from).filter(|path| path.is_absolute());
    if let (EndpointConfig::Enabled(true), Some(path)) = (&config.endpoints.roost, path) {
        config.endpoints.roost = EndpointConfig::Path(path);
    }
}

/// Puts our scripts for shells where shells find them. Without them terminals are plain.
pub(crate) fn install_resources(homes: &Homes) -> Option<PathBuf> {
    match shell_integration::install(&homes.data_dir()) {
        Ok(dir) => Some(dir),
        Err(error) => {
            tracing::warn!(%error, "shells get no integration");
            None
        }
    }
}

/// Makes a link by which scripts find the command line program under the name they know.
pub(crate) fn link_roostctl(homes: &Homes, exe: &Path) -> Option<PathBuf> {
    let dir = homes.data_dir().join("bin");
    let link = dir.join("roostctl");
    if std::fs::read_link(&link).is_ok_and(|target| target == exe) {
        return Some(link);
    }
    let fresh = dir.join(format!(".roostctl.{}", std::process::id()));
    let made = crate::homes::create_private_dir(&dir).is_ok()
        && std::os::unix::fs::symlink(exe, &fresh).is_ok()
        && std::fs::rename(&fresh, &link).is_ok();
    if !made {
        tracing::debug!("there is no link to the command line program for scripts");
        let _ = std::fs::remove_file(&fresh);
    }
    made.then_some(link)
}
