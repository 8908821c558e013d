//! Where our files lie: XDG directories, or everything under `ROOKERY_HOME`.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// The base directories; ours is the folder `rookery` inside each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    config: PathBuf,
    state: PathBuf,
    data: PathBuf,
    cache: PathBuf,
    run: PathBuf,
}

impl Homes {
    /// From the environment of this process.
    pub fn from_env() -> anyhow::Result<Homes> {
        Self::from_lookup(&|name| std::env::var_os(name))
    }

    /// From any environment. Nothing is created except the fallback runtime directory.
    pub fn from_lookup(lookup: &dyn Fn(&str) -> Option<OsString>) -> anyhow::Result<Homes> {
        if let Some(dir) = lookup("ROOKERY_HOME").filter(|dir| !dir.is_empty()) {
            let dir = std::path::absolute(&dir).context("ROOKERY_HOME is not usable")?;
            return Ok(Homes {
                config: dir.join("config"),
                state: dir.join("state"),
                data: dir.join("data"),
                cache: dir.join("cache"),
                run: dir.join("run"),
            });
        }
        let absolute =
            |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home =
            absolute("HOME").context("neither ROOKERY_HOME nor HOME is set to an absolute path")?;
        let run = match absolute("XDG_RUNTIME_DIR").filter(|dir| is_ours(dir)) {
            Some(dir) => dir,
            None => fallback_runtime_dir()?,
        };
        Ok(Homes {
            config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            state: absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")),
            data: absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")),
            cache: absolute("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache")),
            run,
        })
    }

    /// The runtime directory that endpoint paths are relative to.
    pub fn runtime_dir(&self) -> &Path {
        &self.run
    }

    /// Our state: the store and the log.
    pub fn state_dir(&self) -> PathBuf {
        self.state.join("rookery")
    }

    /// Our data.
    pub fn data_dir(&self) -> PathBuf {
        self.data.join("rookery")
    }

    /// The files of idx0.
    pub fn idx0_dir(&self) -> PathBuf {
        self.data.join("idx0")
    }

    /// Our cache.
    pub fn cache_dir(&self) -> PathBuf {
        self.cache.join("rookery")
    }

    /// The config file; it need not exist.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("rookery/config.toml")
    }

    /// The settings file of the user interface; it need not exist.
    pub fn roost_config(&self) -> PathBuf {
        self.config.join("roost/config.conf")
    }

    /// Our own socket, unless the config moves it.
    pub fn rookery_socket(&self) -> PathBuf {
        self.run.join("rookery/rookery.sock")
    }

    /// Where the Roost dialect listens. Without a runtime directory its clients look elsewhere.
    pub fn roost_socket(&self) -> PathBuf {
        if self.run == fallback_dir("rookery") {
            return fallback_dir("roost").join("roost.sock");
        }
        self.run.join("roost/roost.sock")
    }

    /// Where the idx0 dialect listens, by the rule of that tool's own clients.
    pub fn idx0_socket(&self) -> PathBuf {
        if self.run == fallback_dir("rookery") {
            return fallback_dir("idx0").join("idx0.sock");
        }
        self.run.join("idx0/idx0.sock")
    }

    /// Where the keeper listens.
    pub fn keeper_socket(&self) -> PathBuf {
        self.run.join("rookery/keeper.sock")
    }

    /// Held while a daemon runs.
    pub fn lock_file(&self) -> PathBuf {
        self.run.join("rookery/daemon.lock")
    }

    /// Log of a daemon in the background.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir().join("daemon.log")
    }
}

fn is_ours(dir: &Path) -> bool {
    dir.metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == rustix::process::getuid().as_raw())
}

fn fallback_dir(name: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/{name}-{}", rustix::process::getuid().as_raw()))
}

/// `/tmp/rookery-UID`, made or checked: a directory of ours that nobody else may enter.
fn fallback_runtime_dir() -> anyhow::Result<PathBuf> {
    let dir = fallback_dir("rookery");
    match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
        Ok(()) => return Ok(dir),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(error).with_context(|| format!("cannot create {}", dir.display()));
        }
    }
    let found = dir.symlink_metadata()?;
    if !found.is_dir() || found.uid() != rustix::process::getuid().as_raw() {
        bail!("{} belongs to somebody else; set XDG_RUNTIME_DIR or ROOKERY_HOME", dir.display());
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(dir)
}

/// Makes a directory of ours, with its parents, 0700 where it is new.
pub fn create_private_dir(dir: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("cannot create {}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(vars: &[(&str, &str)]) -> Homes {
        let vars: Vec<(String, OsString)> =
            vars.iter().map(|(key, value)| ((*key).to_owned(), OsString::from(value))).collect();
        Homes::from_lookup(&|name| {
            vars.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        })
        .unwrap()
    }

    #[test]
    fn one_variable_moves_everything() {
        let homes = homes(&[("ROOKERY_HOME", "/x"), ("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]);
        assert_eq!(homes.config_file(), Path::new("/x/config/rookery/config.toml"));
        assert_eq!(homes.state_dir(), Path::new("/x/state/rookery"));
        assert_eq!(homes.rookery_socket(), Path::new("/x/run/rookery/rookery.sock"));
    }

    #[test]
    fn xdg_directories_and_their_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().to_str().unwrap();
        let homes =
            homes(&[("HOME", "/h"), ("XDG_STATE_HOME", "relative"), ("XDG_RUNTIME_DIR", run)]);
        assert_eq!(homes.state_dir(), Path::new("/h/.local/state/rookery"));
        assert_eq!(homes.config_file(), Path::new("/h/.config/rookery/config.toml"));
        assert_eq!(homes.runtime_dir(), dir.path());
    }
}
