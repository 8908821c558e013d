//! The way to a directory, one step at a time.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Links that are followed on one way, as in the kernel.
const MAX_LINKS: usize = 40;
const ROOT: u32 = 0;
pub(crate) const STICKY: u32 = 0o1000;
pub(crate) const WRITABLE_BY_ALL: u32 = 0o002;

pub(crate) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// What is there cannot be trusted; anything else that goes wrong is only the system's refusal.
#[derive(Debug)]
pub(crate) struct Untrusted(String);

impl std::fmt::Display for Untrusted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Untrusted {}

pub(crate) fn refused(path: &Path, reason: &str) -> io::Error {
    let reason = Untrusted(format!("{} {reason}", path.display()));
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

pub(crate) fn is_distrust(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Untrusted>())
}

pub(crate) fn about(path: &Path, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Whether missing directories are made on the way, for this user only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Fail,
}

/// A directory on the way.
struct Here {
    fd: OwnedFd,
    path: PathBuf,
    /// Every user may make entries in it.
    is_shared: bool,
}

impl Here {
    fn root() -> io::Result<Here> {
        let fd = rustix::fs::open("/", flags() | OFlags::DIRECTORY, Mode::empty())?;
        Here::at(fd, PathBuf::from("/"))
    }

    fn at(fd: OwnedFd, path: PathBuf) -> io::Result<Here> {
        let found = rustix::fs::fstat(&fd)?;
        let is_shared = found.st_mode & WRITABLE_BY_ALL != 0;
        Ok(Here { fd, path, is_shared })
    }

    /// In a directory like this every user may replace what others made, at any time.
    fn check_sticky(&self) -> io::Result<()> {
        let found = rustix::fs::fstat(&self.fd)?;
        if self.is_shared && found.st_mode & STICKY == 0 {
            let reason = "is writable by every user; fix it with `chmod o-w`";
            return Err(refused(&self.path, reason));
        }
        Ok(())
    }
}

fn flags() -> OFlags {
    OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Opens a directory (as a place, not to read it) by a way on which no other user can have put a link, or a
/// directory of their own.
pub(crate) fn walk(path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let path = std::path::absolute(path)?;
    let mut rest = steps(&path);
    let mut here = Here::root()?;
    let mut links = 0;
    while let Some(name) = rest.pop() {
        here.check_sticky()?;
        let shown = here.path.join(&name);
        let fd = step(&here, &name, &shown, missing)?;
        let found = rustix::fs::fstat(&fd).map_err(|error| about(&shown, error))?;
        let is_foreign = found.st_uid != own_uid() && found.st_uid != ROOT;
        if here.is_shared && is_foreign && name != ".." {
            return Err(refused(&shown, &belongs(&found)));
        }
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => here = Here::at(fd, shown)?,
            FileType::Symlink => {
                links += 1;
                let target = target(&here, &fd, &shown, is_foreign, links)?;
                if target.is_absolute() {
                    here = Here::root()?;
                }
                rest.extend(steps(&target));
            }
            _ => {
                let reason = format!("{} is not a directory", shown.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
            }
        }
    }
    Ok(here.fd)
}

/// Names to go through, the last one first.
fn steps(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

fn step(here: &Here, name: &OsStr, shown: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let open = || rustix::fs::openat(&here.fd, name, flags(), Mode::empty());
    match open() {
        Err(Errno::NOENT) if missing == Missing::Make => {
            match rustix::fs::mkdirat(&here.fd, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => open(),
                Err(error) => Err(error),
            }
        }
        other => other,
    }
    .map_err(|error| about(shown, error))
}

/// Where a link leads, if it may be followed.
fn target(
    here: &Here,
    link: &OwnedFd,
    shown: &Path,
    is_foreign: bool,
    links: usize,
) -> io::Result<PathBuf> {
    if here.is_shared || is_foreign {
        return Err(refused(shown, "is a link that another user may have put there"));
    }
    if links > MAX_LINKS {
        return Err(about(shown, Errno::LOOP));
    }
    let target =
        rustix::fs::readlinkat(link, "", Vec::new()).map_err(|error| about(shown, error))?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

pub(crate) fn belongs(found: &Stat) -> String {
    format!("belongs to another user (uid {})", found.st_uid)
}

/// What lies under a name in a directory, links not followed. None if nothing does.
pub(crate) fn look(dir: &OwnedFd, name: &str) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
