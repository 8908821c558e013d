//! Files of a directory that others fill: a repository may hold links to anywhere, pipes and
//! devices. Links are followed only as long as they stay below, and only regular files are read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, linkat, mkdirat, openat, openat2, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::files::{READING, regular};

/// How many links may lead to one file that is written.
const MAX_LINKS: usize = 8;

/// How a directory is opened to work in.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// The directory of a path, and its last part.
fn split(path: &Path) -> io::Result<(&Path, &std::ffi::OsStr)> {
    let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
    path.parent().zip(path.file_name()).ok_or_else(unnamed)
}

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

    /// A directory below as one of its own, by its path; links that stay below are followed.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: self.reach(path, flags)? })
    }

    /// Where a link leads, as it is written; none if it leads to nothing below. What leads out is
    /// `CrossesDevices`.
    pub fn link_within(&self, path: &Path) -> io::Result<Option<OsString>> {
        let (parent, name) = split(path)?;
        let dir = self.reach(parent, DIRECTORY)?;
        let target = rustix::fs::readlinkat(&dir, name, Vec::new())?;
        let target = OsString::from_vec(target.into_bytes());
        if Path::new(&target).is_absolute() {
            return Err(Errno::XDEV.into());
        }
        match self.reach(path, OFlags::PATH | OFlags::CLOEXEC) {
            Ok(_) => Ok(Some(target)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
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

    /// Replaces a file below, or makes it with its directories; at no moment it has half of the content.
    /// A link that stays below is followed, and what it leads to is replaced.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_at(path, bytes, MAX_LINKS)
    }

    fn write_at(&self, path: &Path, bytes: &[u8], links: usize) -> io::Result<()> {
        let (parent, name) = split(path)?;
        let dir = self.make_dirs(parent)?;
        let found = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let mode = match found.map(|found| (FileType::from_raw_mode(found.st_mode), found.st_mode))
        {
            Ok((FileType::Symlink, _)) if links > 0 => {
                let target = rustix::fs::readlinkat(&dir, name, Vec::new())?;
                let target = OsString::from_vec(target.into_bytes());
                if Path::new(&target).is_absolute() {
                    return Err(Errno::XDEV.into());
                }
                return self.write_at(&parent.join(target), bytes, links - 1);
            }
            Ok((FileType::RegularFile, mode)) => Some(mode & 0o7777),
            Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let fresh = format!(".rookery-{:016x}.new", fastrand::u64(..));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let first = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
        let mut file = File::from(openat(&dir, &fresh, flags | OFlags::CLOEXEC, first)?);
        let written = (|| {
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
            }
            file.sync_all()?;
            Ok(rustix::fs::renameat(&dir, &fresh, &dir, name)?)
        })();
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&dir, &fresh, AtFlags::empty());
        }
        written
    }

    /// Writes a file whole, or not at all; makes the directories above it. No link is followed. One that
    /// is there already is `AlreadyExists`, unless it may be replaced.
    pub fn put(&self, path: &Path, bytes: &[u8], replaces: bool) -> io::Result<()> {
        let Some(name) = path.file_name() else { return Err(Errno::ISDIR.into()) };
        let mut dir = openat(&self.root, ".", DIRECTORY, Mode::empty())?;
        for part in path.parent().unwrap_or(Path::new("")).components() {
            let Component::Normal(name) = part else { return Err(Errno::XDEV.into()) };
            match mkdirat(&dir, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            dir = openat(&dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        }
        let mut fresh = OsString::from(".");
        fresh.push(name);
        fresh.push(format!(".{}.new", std::process::id()));
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut file = File::from(openat(&dir, &fresh, flags, Mode::from_raw_mode(0o644))?);
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
            if replaces {
                return Ok(renameat(&dir, &fresh, &dir, name)?);
            }
            linkat(&dir, &fresh, &dir, name, AtFlags::empty())?;
            Ok(unlinkat(&dir, &fresh, AtFlags::empty())?)
        });
        if written.is_err() {
            let _ = unlinkat(&dir, &fresh, AtFlags::empty());
        }
        written
    }

    /// The permissions of a regular file below.
    pub fn mode(&self, path: &Path) -> io::Result<u32> {
        Ok(rustix::fs::fstat(self.open(path)?)?.st_mode & 0o7777)
    }

    /// Gives a regular file below other permissions.
    pub fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(self.open(path)?, Mode::from_raw_mode(mode & 0o7777))?)
    }

    /// Removes a file or a link below.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = split(path)?;
        let dir = self.reach(parent, DIRECTORY)?;
        Ok(rustix::fs::unlinkat(&dir, name, AtFlags::empty())?)
    }

    /// Makes a directory below with those around it.
    pub fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.make_dirs(path).map(drop)
    }

    /// Opens a directory below; what is missing of it is made.
    fn make_dirs(&self, path: &Path) -> io::Result<OwnedFd> {
        match self.reach(path, DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let (parent, name) = split(path)?;
        let above = self.make_dirs(parent)?;
        match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.reach(path, DIRECTORY),
            Err(error) => Err(error.into()),
        }
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
    fn links_that_lead_out_are_told_from_those_that_do_not() {
        let (_dir, tree) = tree();
        for path in ["out", "absolute", "environ", "zero", "up", "loop"] {
            assert!(tree.link_within(Path::new(path)).is_err(), "{path}");
        }
        assert_eq!(tree.link_within(Path::new("good")).unwrap(), Some("in/file".into()));
        let inner = tree.below(Path::new("in")).unwrap();
        assert_eq!(inner.read_start(Path::new("file"), 10).unwrap(), b"inside");
        assert!(inner.open(Path::new("../in/file")).is_err());
        assert!(tree.below(Path::new("up")).is_err());
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
    fn nothing_is_written_or_removed_outside() {
        let (dir, tree) = tree();
        let secret = || fs::read_to_string(dir.path().join("secret")).unwrap();
        for path in [
            "out",
            "up/secret",
            "up/new",
            "absolute",
            "loop",
            "../new",
            "in/../../new",
            "/tmp/rookery-never",
            "pipe",
            "in",
            "",
        ] {
            assert!(tree.write(Path::new(path), b"x").is_err(), "{path:?}");
        }
        for path in ["up/secret", "../secret", "in/../../secret"] {
            assert!(tree.remove(Path::new(path)).is_err(), "{path:?}");
        }
        assert_eq!(secret(), "outside");
        assert!(!dir.path().join("new").exists());
        assert!(!Path::new("/tmp/rookery-never").exists());
    }

    #[test]
    fn what_stays_inside_is_written_with_its_directories() {
        let (dir, tree) = tree();
        let read = |path: &str| fs::read_to_string(dir.path().join("root").join(path)).unwrap();
        tree.write(Path::new("a/b/c"), b"new").unwrap();
        tree.write(Path::new("dir/also"), b"linked").unwrap();
        tree.write(Path::new("good"), b"through").unwrap();
        assert_eq!(read("a/b/c"), "new");
        assert_eq!(read("in/also"), "linked");
        // The link stays a link.
        assert_eq!(read("in/file"), "through");
        assert!(dir.path().join("root/good").is_symlink());
        tree.remove(Path::new("a/b/c")).unwrap();
        assert!(!dir.path().join("root/a/b/c").exists());
        let names = fs::read_dir(dir.path().join("root/a/b")).unwrap().count();
        assert_eq!(names, 0, "nothing is left beside");
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

    #[test]
    fn files_are_written_and_removed_below_and_nowhere_else() {
        let (dir, tree) = tree();
        let path = Path::new("new/deep/file.js");
        tree.put(path, b"one", false).unwrap();
        let again = tree.put(path, b"two", false).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        tree.put(path, b"three", true).unwrap();
        assert_eq!(tree.read_start(path, 100).unwrap(), b"three");
        assert_eq!(tree.list(Path::new("new/deep"), 9).unwrap().len(), 1);
        for wrong in ["up/planted", "../planted", "dir/planted", "/tmp/planted", ""] {
            assert!(tree.put(Path::new(wrong), b"x", true).is_err(), "{wrong}");
        }
        // A link is replaced, not followed.
        tree.put(Path::new("out"), b"mine", true).unwrap();
        assert_eq!(fs::read(dir.path().join("secret")).unwrap(), b"outside");
        tree.remove(path).unwrap();
        assert!(tree.remove(path).is_err() && tree.remove(Path::new("up/secret")).is_err());
    }
}
