//! Where our files lie: XDG directories, or everything under `ROOKERY_HOME`.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rookery_dialects::Endpoint;
use rookery_trust::TrustedDir;

/// The base directories; ours is the folder `rookery` inside each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    config: PathBuf,
    state: PathBuf,
    data: PathBuf,
    cache: PathBuf,
    run: PathBuf,
    /// Whether the runtime directory is ours to make. The system's own goes and comes with the login.
    makes_run: bool,
}

impl Homes {
    /// From the environment of this process.
    pub fn from_env() -> anyhow::Result<Homes> {
        Self::from_lookup(&|name| std::env::var_os(name))
    }

    /// From any environment. Nothing is created.
    pub fn from_lookup(lookup: &dyn Fn(&str) -> Option<OsString>) -> anyhow::Result<Homes> {
        if let Some(dir) = lookup("ROOKERY_HOME").filter(|dir| !dir.is_empty()) {
            let dir = std::path::absolute(&dir).context("ROOKERY_HOME is not usable")?;
            return Ok(Homes {
                config: dir.join("config"),
                state: dir.join("state"),
                data: dir.join("data"),
                cache: dir.join("cache"),
                run: dir.join("run"),
                makes_run: true,
            });
        }
        let absolute =
            |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home =
            absolute("HOME").context("neither ROOKERY_HOME nor HOME is set to an absolute path")?;
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        let given = absolute("XDG_RUNTIME_DIR").filter(|dir| is_ours(dir));
        let makes_run = given.is_none();
        Ok(Homes {
            config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            run: given.unwrap_or_else(|| fallback_runtime_dir(&state)),
            state,
            data: absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")),
            cache: absolute("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache")),
            makes_run,
        })
    }

    /// The same homes with another runtime directory.
    #[must_use]
    pub fn with_runtime_dir(&self, run: &Path) -> Homes {
        if run == self.run {
            return self.clone();
        }
        let makes_run = run == fallback_dir("rookery") || run.starts_with(self.state_dir());
        Homes { run: run.to_owned(), makes_run, ..self.clone() }
    }

    /// Looks at every directory before the first file of ours is opened: it belongs to this user, no link on the way
    /// may be another user's, and it does not stay open to others' writing. Makes those that nothing works without.
    pub fn secure(&self) -> anyhow::Result<()> {
        let state = TrustedDir::private(&self.state_dir()).map_err(untrusted)?;
        for name in ["rookery.db", "rookery.db-wal", "rookery.db-shm", "reserved"] {
            state.check(name)?;
        }
        let settings = [self.config_file(), self.roost_config()];
        let settings = settings.iter().filter_map(|file| file.parent().map(Path::to_owned));
        let made = [self.data_dir(), self.idx0_dir(), self.cache_dir()];
        for dir in made.into_iter().chain(settings) {
            TrustedDir::check_use(&dir).map_err(untrusted)?;
        }
        self.secure_runtime_dir().map_err(untrusted)
    }

    /// The same for the runtime directory alone. One that the system makes must be there.
    pub(crate) fn secure_runtime_dir(&self) -> io::Result<()> {
        if self.makes_run {
            TrustedDir::private(&self.run)?;
        } else {
            TrustedDir::existing(&self.run)?;
            TrustedDir::own(&self.run)?;
        }
        TrustedDir::private(&self.run.join("rookery")).map(drop)
    }

    /// Whether a directory lies in the runtime directory or one of its stand-ins, and so is ours alone.
    pub(crate) fn is_for_sockets(&self, dir: &Path) -> bool {
        let elsewhere = rookery_dialects::listening().filter(|dialect| dialect.endpoint.stand_in);
        let mut names = elsewhere.map(|dialect| dialect.endpoint.name).chain(["rookery"]);
        dir.parent() == Some(&*self.run) || names.any(|name| dir == fallback_dir(name))
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

    /// Where an endpoint usually listens. Without a runtime directory the clients of some look elsewhere.
    pub fn socket(&self, endpoint: &Endpoint) -> PathBuf {
        let path = Path::new(endpoint.path);
        let stand_in = fallback_dir(endpoint.name);
        match path.file_name() {
            Some(name)
                if endpoint.stand_in
                    && self.run == fallback_dir("rookery")
                    && is_free_or_ours(&stand_in) =>
            {
                stand_in.join(name)
            }
            _ => self.run.join(path),
        }
    }

    /// Where the keeper listens: beside the store, whose terminals it holds.
    pub fn keeper_socket(&self) -> PathBuf {
        self.state_dir().join("keeper.sock")
    }

    /// Where keepers of former versions listen.
    pub fn former_keeper_socket(&self) -> PathBuf {
        self.run.join("rookery/keeper.sock")
    }

    /// Log of a daemon in the background.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir().join("daemon.log")
    }
}

/// Says what to do about a directory that cannot be trusted.
fn untrusted(error: io::Error) -> anyhow::Error {
    anyhow::anyhow!("{error}; fix it, or set ROOKERY_HOME to a directory that you own")
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_ours(dir: &Path) -> bool {
    dir.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own_uid())
}

fn fallback_dir(name: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/{name}-{}", own_uid()))
}

/// Whether a directory in `/tmp` can be ours. Another user may have taken its name before us.
fn is_free_or_ours(dir: &Path) -> bool {
    match dir.symlink_metadata() {
        Ok(found) => found.is_dir() && found.uid() == own_uid(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// `/tmp/rookery-UID`, or a directory beside the store if another user has that name.
fn fallback_runtime_dir(state: &Path) -> PathBuf {
    let usual = fallback_dir("rookery");
    if is_free_or_ours(&usual) { usual } else { state.join("rookery/run") }
}

/// Makes a directory of ours, with its parents, 0700 where it is new; no other user may write to it.
pub fn create_private_dir(dir: &Path) -> anyhow::Result<()> {
    TrustedDir::own(dir).map(drop).context("cannot create a directory")
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
    fn attack_directories_that_others_can_write_are_closed_before_anything_is_opened() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let homes = homes(&[("ROOKERY_HOME", dir.path().to_str().unwrap())]);
        let places = ["run", "run/rookery", "state/rookery", "data/rookery", "config/rookery"];
        for place in places {
            std::fs::create_dir_all(dir.path().join(place)).unwrap();
            let open = std::fs::Permissions::from_mode(0o777);
            std::fs::set_permissions(dir.path().join(place), open).unwrap();
        }
        homes.secure().unwrap();
        for place in places {
            let mode = dir.path().join(place).metadata().unwrap().mode() & 0o777;
            assert_eq!(mode, 0o700, "{place}");
        }
    }

    #[test]
    fn lock_and_keeper_are_beside_the_store_whatever_the_runtime_directory() {
        let one = homes(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/proc")]);
        let other = one.with_runtime_dir(Path::new("/run/other"));
        assert_eq!(one.keeper_socket(), other.keeper_socket());
        assert_eq!(one.keeper_socket(), Path::new("/h/.local/state/rookery/keeper.sock"));
        assert_eq!(other.rookery_socket(), Path::new("/run/other/rookery/rookery.sock"));
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
