//! Which server is meant: by flag, by environment, or the one that is there.

use std::{ffi::OsString, fmt, io, path::PathBuf, time::Duration};

use clap::ValueEnum;
use futures_util::future::join_all;
use rookery_daemon::{homes::Homes, running::Record};
use rookery_wire::transport::unix;
use tokio::{net::UnixStream, time::timeout};

use crate::{
    failure::{Failure, Outcome},
    link::moved,
};

/// How long a server may take to accept a probe.
const PROBE: Duration = Duration::from_millis(50);
/// How long the server that was named may take.
const CONNECT: Duration = Duration::from_secs(2);

/// Variables of the environment.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The environment of this process.
pub(super) fn process_env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// A variable that is there and not empty.
pub(super) fn non_empty(env: Env<'_>, name: &str) -> Option<OsString> {
    env(name).filter(|value| !value.is_empty())
}

/// A family of servers, which decides where its socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Profile {
    /// The application for macOS
    Mac,
    /// The GTK variant
    Gtk,
    /// The Iced variant
    Iced,
}

impl Profile {
    const ALL: [Self; 3] = [Self::Mac, Self::Gtk, Self::Iced];

    fn word(self) -> &'static str {
        match self {
            Self::Mac => "mac",
            Self::Gtk => "gtk",
            Self::Iced => "iced",
        }
    }

    /// Where its server listens.
    fn socket(self, env: Env<'_>) -> Outcome<PathBuf> {
        if let Some(home) = non_empty(env, "ROOKERY_HOME") {
            let home = std::path::absolute(&home).map_err(Failure::doing("ROOKERY_HOME"))?;
            return Ok(home.join("run/roost/roost.sock"));
        }
        let absolute =
            |name| non_empty(env, name).map(PathBuf::from).filter(|path| path.is_absolute());
        if cfg!(target_os = "macos") {
            let home = absolute("HOME").ok_or_else(|| Failure::new("HOME is not set"))?;
            let dir = match self {
                Self::Mac => "Roost",
                Self::Gtk => "Roost-gtk",
                Self::Iced => "Roost-iced",
            };
            return Ok(home.join("Library/Caches").join(dir).join("roost.sock"));
        }
        Ok(match absolute("XDG_RUNTIME_DIR") {
            Some(dir) => dir.join("roost/roost.sock"),
            None => {
                let uid = rustix::process::getuid().as_raw();
                PathBuf::from(format!("/tmp/roost-{uid}/roost.sock"))
            }
        })
    }
}

/// How a server was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    SocketFlag,
    SocketVariable,
    TargetFlag(Profile),
    ProfileVariable(Profile),
    Probe,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SocketFlag => f.write_str("--socket"),
            Self::SocketVariable => f.write_str("ROOST_SOCKET"),
            Self::TargetFlag(profile) => write!(f, "--target {}", profile.word()),
            Self::ProfileVariable(profile) => write!(f, "ROOST_BUNDLE_PROFILE={}", profile.word()),
            Self::Probe => f.write_str("the only one that listens"),
        }
    }
}

/// What the flags say.
#[derive(Debug, Clone, Default)]
pub(super) struct Flags {
    pub(super) socket: Option<PathBuf>,
    pub(super) target: Option<Profile>,
}

/// The places where the server may be: one that was named, or several that are to be probed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidates {
    pub(super) origin: Origin,
    pub(super) paths: Vec<PathBuf>,
}

/// A server that answers, and how it was chosen.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) stream: UnixStream,
    pub(super) path: PathBuf,
}

/// Where to look, before anything is tried.
pub(super) fn candidates(flags: &Flags, env: Env<'_>) -> Outcome<Candidates> {
    let one = |origin, path| Ok(Candidates { origin, paths: vec![path] });
    if let Some(path) = &flags.socket {
        return one(Origin::SocketFlag, path.clone());
    }
    if let Some(path) = non_empty(env, "ROOST_SOCKET") {
        let path = match Homes::from_lookup(&|name| env(name)) {
            Ok(homes) => moved(&homes, "roost", path.into()),
            Err(_) => path.into(),
        };
        return one(Origin::SocketVariable, path);
    }
    if let Some(profile) = flags.target {
        return one(Origin::TargetFlag(profile), profile.socket(env)?);
    }
    if let Some(word) = non_empty(env, "ROOST_BUNDLE_PROFILE") {
        let profile = Profile::ALL.into_iter().find(|profile| word == profile.word());
        let profile = profile.ok_or_else(|| {
            let word = word.to_string_lossy();
            Failure::new(format!("ROOST_BUNDLE_PROFILE is `{word}`, not mac, gtk or iced"))
        })?;
        return one(Origin::ProfileVariable(profile), profile.socket(env)?);
    }
    let mut paths = Vec::new();
    for profile in Profile::ALL {
        let path = profile.socket(env)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if !paths.iter().any(|path| path.exists()) {
        paths.extend(recorded(env).filter(|path| !paths.contains(path)).collect::<Vec<_>>());
    }
    Ok(Candidates { origin: Origin::Probe, paths })
}

/// Where our daemon says that it listens; a login of another kind has other places.
fn recorded(env: Env<'_>) -> impl Iterator<Item = PathBuf> + use<> {
    let homes = Homes::from_lookup(&|name| env(name));
    let record = homes.map(|homes| Record::read(&homes)).unwrap_or_default();
    let sockets = record.sockets("roost").to_vec();
    sockets.into_iter().filter(|path| path.exists()).take(1)
}

/// Connects to each place at once.
pub(super) async fn knock(candidates: &Candidates) -> Vec<io::Result<UnixStream>> {
    let limit = if candidates.origin == Origin::Probe { PROBE } else { CONNECT };
    let one = |path| async move {
        let late = || Err(io::Error::new(io::ErrorKind::TimedOut, "it does not answer"));
        timeout(limit, unix::connect(path)).await.unwrap_or_else(|_| late())
    };
    join_all(candidates.paths.iter().map(one)).await
}

/// The server among the places; there must be exactly one.
pub(super) fn settle(
    candidates: &Candidates,
    answers: Vec<io::Result<UnixStream>>,
) -> Outcome<Found> {
    let mut found = Vec::new();
    let mut refusal = None;
    for (path, answer) in candidates.paths.iter().zip(answers) {
        match answer {
            Ok(stream) => found.push(Found { stream, path: path.clone() }),
            Err(error) if is_absence(&error) => {}
            Err(error) => refusal = Some(format!("cannot connect to {}: {error}", path.display())),
        }
    }
    if found.len() > 1 {
        let paths = list(found.iter().map(|found| &found.path));
        let message = format!("several servers are listening ({paths}); name one with --target");
        return Err(Failure::new(message));
    }
    let none = || {
        let tried = list(&candidates.paths);
        Failure::new(refusal.unwrap_or_else(|| format!("no server is listening (tried: {tried})")))
    };
    found.pop().ok_or_else(none)
}

/// The server that is meant, connected.
pub(super) async fn connect(flags: &Flags, env: Env<'_>) -> Outcome<Found> {
    let candidates = candidates(flags, env)?;
    let answers = knock(&candidates).await;
    settle(&candidates, answers)
}

/// Whether no server is there, rather than one that refuses us.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn list<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let paths: Vec<_> = paths.into_iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::*;

    fn choose(flags: &Flags, vars: &[(&str, &str)]) -> Result<Candidates, String> {
        let env = |name: &str| {
            let found = vars.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        };
        candidates(flags, &env).map_err(|failure| format!("{failure:?}"))
    }

    fn socket(path: &str) -> Flags {
        Flags { socket: Some(path.into()), target: Some(Profile::Gtk) }
    }

    #[test]
    fn the_first_that_says_something_wins() {
        let everything = [("ROOST_SOCKET", "/e/s"), ("ROOST_BUNDLE_PROFILE", "iced")];
        let named = |flags: &Flags, vars: &[_]| {
            let found = choose(flags, vars).unwrap();
            (found.origin, found.paths[0].display().to_string())
        };
        assert_eq!(named(&socket("/f/s"), &everything), (Origin::SocketFlag, "/f/s".into()));
        let target = Flags { socket: None, target: Some(Profile::Mac) };
        assert_eq!(named(&target, &everything), (Origin::SocketVariable, "/e/s".into()));
        let home = ("ROOKERY_HOME", "/h");
        let vars = [("ROOST_SOCKET", ""), ("ROOST_BUNDLE_PROFILE", "iced"), home];
        let path = "/h/run/roost/roost.sock".to_owned();
        let flag = Origin::TargetFlag(Profile::Mac);
        assert_eq!(named(&target, &vars), (flag, path.clone()));
        let variable = Origin::ProfileVariable(Profile::Iced);
        assert_eq!(named(&Flags::default(), &vars), (variable, path.clone()));
        let vars = [("ROOST_BUNDLE_PROFILE", ""), home];
        assert_eq!(named(&Flags::default(), &vars), (Origin::Probe, path));
    }

    #[test]
    fn an_unknown_profile_is_an_error() {
        let error = choose(&Flags::default(), &[("ROOST_BUNDLE_PROFILE", "Mac")]).unwrap_err();
        assert!(error.contains("`Mac`, not mac, gtk or iced"), "{error}");
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn all_profiles_share_the_runtime_directory() {
        let found = choose(&Flags::default(), &[("XDG_RUNTIME_DIR", "/run/user/7")]).unwrap();
        assert_eq!(found.paths, [PathBuf::from("/run/user/7/roost/roost.sock")]);
        let uid = rustix::process::getuid().as_raw();
        for vars in [&[][..], &[("XDG_RUNTIME_DIR", "relative")], &[("XDG_RUNTIME_DIR", "")]] {
            let found = choose(&Flags::default(), vars).unwrap();
            assert_eq!(found.paths, [PathBuf::from(format!("/tmp/roost-{uid}/roost.sock"))]);
        }
    }

    #[tokio::test]
    async fn exactly_one_must_listen() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = ["a", "b", "c"].map(|name| dir.path().join(name)).into();
        let candidates = Candidates { origin: Origin::Probe, paths: paths.clone() };
        let try_all = || async { settle(&candidates, knock(&candidates).await) };
        let error = format!("{:?}", try_all().await.unwrap_err());
        for path in &paths {
            assert!(error.contains(path.to_str().unwrap()), "{error}");
        }
        let _first = UnixListener::bind(&paths[1]).unwrap();
        assert_eq!(try_all().await.unwrap().path, paths[1]);
        let _second = UnixListener::bind(&paths[2]).unwrap();
        let error = format!("{:?}", try_all().await.unwrap_err());
        assert!(error.contains("several servers"), "{error}");
    }
}
