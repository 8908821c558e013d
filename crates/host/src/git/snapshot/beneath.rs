//! Files below the top of a work tree, reached without ever following a link.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};

/// A work tree, by its top. Remembers the last directory, since paths come sorted.
pub(in crate::git) struct Beneath {
    top: OwnedFd,
    last: Option<(Vec<u8>, OwnedFd)>,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Beneath {
    pub(in crate::git) fn new(top: &Path) -> io::Result<Self> {
        // The top itself may be reached by a link.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { top: rustix::fs::open(top, flags, Mode::empty())?, last: None })
    }

    /// The directory that a path lies in, and its name there.
    pub(in crate::git) fn parent<'p>(
        &mut self,
        path: &'p [u8],
    ) -> io::Result<(BorrowedFd<'_>, &'p OsStr)> {
        let (directory, name) = split(path);
        let is_there = self.last.as_ref().is_some_and(|(known, _)| known == directory);
        if !is_there {
            let mut current = self.top.try_clone()?;
            for part in parts(directory) {
                current = rustix::fs::openat(&current, part, DIRECTORY, Mode::empty())?;
            }
            self.last = Some((directory.to_owned(), current));
        }
        let found = self.last.as_ref().map_or(self.top.as_fd(), |(_, fd)| fd.as_fd());
        Ok((found, name))
    }

    /// The same, making the directories that are missing.
    pub(in crate::git) fn make_parent(&mut self, path: &[u8]) -> io::Result<()> {
        let (directory, _) = split(path);
        let mut current = self.top.try_clone()?;
        for part in parts(directory) {
            match rustix::fs::mkdirat(&current, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            current = rustix::fs::openat(&current, part, DIRECTORY, Mode::empty())?;
        }
        self.last = Some((directory.to_owned(), current));
        Ok(())
    }

    /// What is there now, a link as itself. None if nothing is, or a parent is no directory.
    pub(in crate::git) fn stat(&mut self, path: &[u8]) -> io::Result<Option<Stat>> {
        let found = self.parent(path).and_then(|(parent, name)| {
            Ok(rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
        });
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file to read it; a pipe or a link is not waited for or followed.
    pub(in crate::git) fn open(&mut self, path: &[u8]) -> io::Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::openat(parent, name, flags, Mode::empty())?.into())
    }

    /// Where a link leads.
    pub(in crate::git) fn link(&mut self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::readlinkat(parent, name, Vec::new())?.into_bytes())
    }

    /// Removes a file, and the directories above it that become empty.
    pub(in crate::git) fn remove(&mut self, path: &[u8]) -> io::Result<()> {
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(error) if is_absence(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        self.last = None;
        let mut directory = split(path).0;
        while !directory.is_empty() {
            let (parent, name) = self.parent(directory)?;
            // Not empty, or in use: it stays.
            if rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).is_err() {
                break;
            }
            self.last = None;
            directory = split(directory).0;
        }
        Ok(())
    }
}

/// Whether an error says that there is no such file, since a part of its path is none.
fn is_absence(error: &io::Error) -> bool {
    let codes = [libc::ENOENT, libc::ENOTDIR, libc::ELOOP];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// A path's directory and name.
fn split(path: &[u8]) -> (&[u8], &OsStr) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], OsStr::from_bytes(&path[at + 1..])),
        None => (&[], OsStr::from_bytes(path)),
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = &OsStr> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(OsStr::from_bytes)
}

/// Whether a path of a tree may be written: it stays below the top and out of `.git`.
pub(in crate::git) fn is_safe(path: &[u8]) -> bool {
    !path.is_empty()
        && path
            .split(|byte| *byte == b'/')
            .all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
        && !path.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_that_lead_elsewhere_are_not_safe() {
        for path in ["a", "a/b", ".gitignore", "a/.github/b", "..."] {
            assert!(is_safe(path.as_bytes()), "{path}");
        }
        for path in ["", "/a", "a//b", "..", "a/../b", "./a", ".git/config", "sub/.GIT/hooks/x"] {
            assert!(!is_safe(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let dir = tempfile::tempdir().unwrap();
        symlink(outside.path(), dir.path().join("way")).unwrap();
        symlink(outside.path().join("secret"), dir.path().join("link")).unwrap();
        let mut beneath = Beneath::new(dir.path()).unwrap();
        assert!(beneath.stat(b"way/secret").unwrap().is_none());
        assert!(beneath.open(b"way/secret").is_err());
        assert!(beneath.open(b"link").is_err());
        assert!(beneath.make_parent(b"way/deep/new").is_err());
        beneath.remove(b"way/secret").unwrap();
        assert!(outside.path().join("secret").exists());
        assert_eq!(
            beneath.link(b"link").unwrap(),
            outside.path().join("secret").as_os_str().as_bytes()
        );
    }

    #[test]
    fn directories_go_with_their_last_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut beneath = Beneath::new(dir.path()).unwrap();
        beneath.make_parent(b"a/b/c/file").unwrap();
        fs::write(dir.path().join("a/b/c/file"), "x").unwrap();
        fs::write(dir.path().join("a/kept"), "x").unwrap();
        beneath.remove(b"a/b/c/file").unwrap();
        assert!(!dir.path().join("a/b").exists());
        assert!(dir.path().join("a/kept").exists());
        beneath.remove(b"a/b/c/file").unwrap();
    }
}
