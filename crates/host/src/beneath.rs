//! Files of a directory that others fill: a repository may hold links to anywhere, pipes and
//! devices. Links are followed only as long as they stay below, and only regular files are read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use rustix::io::Errno;

use crate::files::{READING, regular};

/// What an entry of a directory is, itself: a link is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Dir,
    /// A regular file.
    File,
    /// A link, to whatever.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// A directory that nothing leads out of.
#[derive(Debug)]
pub struct Beneath {
    root: OwnedFd,
}

impl Beneath {
    /// Opens the directory; its location is the caller's choice, so links to it are followed.
    pub fn new(root: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())? })
    }

    /// Opens a regular file by its path from the directory on. What leads out of it is
    /// `CrossesDevices`.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        regular(File::from(self.reach(path, READING)?))
    }

    /// The first bytes of a regular file, up to a limit.
    pub fn read_start(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The entries of a directory below, up to a limit, in the order of the file system.
    pub fn list(&self, path: &Path, most: usize) -> io::Result<Vec<(OsString, EntryKind)>> {
        let dir = self.reach(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY)?;
        let mut found = Vec::new();
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let known = statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(known.st_mode)
                }
                kind => kind,
            };
            let kind = match kind {
                FileType::Directory => EntryKind::Dir,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
            };
            found.push((OsString::from_vec(entry.file_name().to_bytes().to_vec()), kind));
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }

    fn reach(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.root, path, flags, Mode::empty(), within) {
            // Old kernels and some sandboxes do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => self.walk(path, flags),
            opened => Ok(opened?),
        }
    }

    /// The same part by part, without any link.
    fn walk(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut parts = path.components().filter(|part| *part != Component::CurDir).peekable();
        let mut at = openat(&self.root, ".", step, Mode::empty())?;
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { return Err(Errno::XDEV.into()) };
            if parts.peek().is_none() {
                return Ok(openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?);
            }
            at = openat(&at, name, step, Mode::empty())?;
        }
        Ok(openat(&at, ".", flags, Mode::empty())?)
    }
}

#[cfg(test)]
mod attack {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, Beneath) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::write(root.join("in/file"), "inside").unwrap();
        fs::write(dir.path().join("secret"), "outside").unwrap();
        for (to, name) in [
            ("../secret", "out"),
            ("/etc/passwd", "absolute"),
            ("/proc/self/environ", "environ"),
            ("/dev/zero", "zero"),
            ("..", "up"),
            ("loop", "loop"),
            ("in/file", "good"),
            ("in", "dir"),
        ] {
            symlink(to, root.join(name)).unwrap();
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), Mode::RWXU).unwrap();
        let beneath = Beneath::new(&root).unwrap();
        (dir, beneath)
    }

    #[test]
    fn nothing_leads_out_and_nothing_hangs() {
        let (_dir, tree) = tree();
        for path in [
            "out",
            "absolute",
            "environ",
            "zero",
            "up/secret",
            "loop",
            "pipe",
            "in/../../secret",
            "../secret",
            "/etc/passwd",
            "in",
            "none",
        ] {
            let path = Path::new(path);
            assert!(tree.read_start(path, 100).is_err(), "{path:?}");
            let walked = tree.walk(path, READING).map(File::from).and_then(regular);
            assert!(walked.is_err(), "{path:?}");
        }
        assert_eq!(tree.open(Path::new("out")).unwrap_err().kind(), io::ErrorKind::CrossesDevices);
    }

    #[test]
    fn what_stays_inside_is_read() {
        let (_dir, tree) = tree();
        for path in ["in/file", "good", "dir/file", "in/deep/../file"] {
            assert_eq!(tree.read_start(Path::new(path), 100).unwrap(), b"inside", "{path}");
        }
        assert_eq!(tree.read_start(Path::new("good"), 2).unwrap(), b"in");
        let mut walked = String::new();
        let file = tree.walk(Path::new("./in/file"), READING).unwrap();
        File::from(file).read_to_string(&mut walked).unwrap();
        assert_eq!(walked, "inside");
    }

    #[test]
    fn a_directory_is_listed_as_it_is() {
        let (_dir, tree) = tree();
        let mut names = tree.list(Path::new(""), 100).unwrap();
        names.sort_by(|one, other| one.0.cmp(&other.0));
        let kind = |name: &str| names.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(kind("in"), EntryKind::Dir);
        assert_eq!(kind("pipe"), EntryKind::Other);
        assert_eq!(kind("out"), EntryKind::Link);
        assert_eq!(tree.list(Path::new("dir"), 1).unwrap().len(), 1);
        assert!(tree.list(Path::new("up"), 9).is_err());
    }
}
