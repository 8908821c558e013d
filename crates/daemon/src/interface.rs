//! What the user interface is started with: its settings file, its scripts, its desktop.

use std::path::{Path, PathBuf};

use rookery_core::UiConfig;
use rookery_host::shell_integration;

use crate::config::{Config, EndpointConfig};
use crate::homes::{Homes, create_private_dir};

/// Core's configuration of the user interface.
pub(crate) fn ui_config(
    homes: &Homes,
    config: &Config,
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
        max_viewers: config.faces.max_viewers,
        ..UiConfig::default()
    }
}

/// The originals' own variables move their endpoints, unless the config says where they are. One
/// that comes from a terminal of ours names the socket of that terminal's daemon, and is not taken.
pub(crate) fn take_overrides(config: &mut Config) {
    let is_inside = std::env::var_os("ROOKERY_TERMINAL_ID").is_some();
    let others =
        rookery_dialects::listening().map(|dialect| &dialect.endpoint).filter(|one| !one.always);
    let told = |one: &rookery_dialects::Endpoint| one.variable.filter(|_| !is_inside);
    let moved = others.filter_map(|one| Some((one.name, one.moved_by.or_else(|| told(one))?)));
    for (endpoint, variable) in moved {
        let path = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        if let (EndpointConfig::Enabled(true), Some(path)) = (config.endpoints.of(endpoint), path) {
            config.endpoints.set(endpoint, EndpointConfig::Path(path));
        }
    }
}

/// Puts our scripts for shells where shells find them. Without them terminals are plain.
pub(crate) fn install_resources(homes: &Homes) -> Option<PathBuf> {
    let data = homes.data_dir();
    let installed = create_private_dir(&data).and_then(|()| Ok(shell_integration::install(&data)?));
    match installed {
        Ok(dir) => Some(dir),
        Err(error) => {
            tracing::warn!("shells get no integration: {error:#}");
            None
        }
    }
}

/// The names under which programs in terminals find this one: those of tools that talk to the daemon.
/// Not our own, which would hide another version from a user who wants to replace the daemon with it.
fn helpers() -> impl Iterator<Item = &'static str> {
    rookery_dialects::listening().flat_map(|dialect| dialect.helpers).copied()
}

/// Makes a directory of links to this program, and nothing else, for those in terminals.
pub(crate) fn link_helpers(homes: &Homes, exe: &Path) -> Option<PathBuf> {
    let dir = homes.data_dir().join("bin");
    let made = create_private_dir(&dir)
        .and_then(|()| helpers().try_for_each(|name| Ok(link(&dir, name, exe)?)));
    match made {
        Ok(()) => Some(dir),
        Err(error) => {
            tracing::warn!("programs in terminals do not find ours: {error:#}");
            None
        }
    }
}

/// A link in place of whatever has its name; another daemon of this user may do the same.
fn link(dir: &Path, name: &str, exe: &Path) -> std::io::Result<()> {
    let link = dir.join(name);
    if std::fs::read_link(&link).is_ok_and(|target| target == exe) {
        return Ok(());
    }
    let fresh = dir.join(format!(".{name}.{}", std::process::id()));
    // Left by a process that died and whose number came around again.
    let _ = std::fs::remove_file(&fresh);
    let made =
        std::os::unix::fs::symlink(exe, &fresh).and_then(|()| std::fs::rename(&fresh, &link));
    if made.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_links_is_private_and_leads_to_the_newest_program() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().as_os_str().to_owned();
        let homes =
            Homes::from_lookup(&|name| (name == "ROOKERY_HOME").then(|| home.clone())).unwrap();
        for exe in ["/old/rookery", "/new/rookery", "/new/rookery"] {
            let bin = link_helpers(&homes, Path::new(exe)).unwrap();
            assert_eq!(bin, dir.path().join("data/rookery/bin"));
            let found = std::fs::read_dir(&bin).unwrap().map(|it| it.unwrap().file_name());
            let mut found: Vec<_> = found.map(|name| name.into_string().unwrap()).collect();
            found.sort();
            assert_eq!(found, ["idx0", "idx0-notify", "roostctl"]);
            for name in helpers() {
                assert_eq!(std::fs::read_link(bin.join(name)).unwrap(), Path::new(exe));
            }
            let mode = std::fs::metadata(&bin).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }
}
