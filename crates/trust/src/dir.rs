//! A directory of this user, held open, and the files in it.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::walk::{
    Missing, STICKY, WRITABLE_BY_ALL, about, belongs, is_distrust, look, own_uid, refused, walk,
};

/// Longest file that is read whole.
pub const MAX_READ: u64 = 64 << 10;

const PRIVATE: u32 = 0o700;
const FOR_OTHERS: u32 = 0o077;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A directory that belongs to this user, reached by a way on which no other user can have put a link.
#[derive(Debug)]
pub struct TrustedDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl TrustedDir {
    /// Makes the directory if it is missing, and closes it to others if it is open to them.
    ///
    /// # Errors
    /// `PermissionDenied` if it belongs to another user or a link on the way may be another's; the message names it.
    pub fn private(path: &Path) -> io::Result<Self> {
        let (dir, found) = Self::at(path, Missing::Make)?;
        if found.st_mode & FOR_OTHERS != 0 {
            dir.set_mode(PRIVATE)?;
        }
        Ok(dir)
    }

    /// Makes the directory if it is missing. Others may look into one that exists; one that they could write to is
    /// closed.
    ///
    /// # Errors
    /// As for [`TrustedDir::private`].
    pub fn own(path: &Path) -> io::Result<Self> {
        let (dir, found) = Self::at(path, Missing::Make)?;
        if found.st_mode & WRITABLE_BY_OTHERS != 0 {
            dir.set_mode(PRIVATE)?;
        }
        Ok(dir)
    }

    /// Looks at a directory that need not be there, before files in it are read or made by their paths: it may also be
    /// root's, and is closed as by [`TrustedDir::own`] if it is this user's. One that cannot be entered at all is left
    /// to the code that tries to use it.
    ///
    /// # Errors
    /// `PermissionDenied` if it cannot be trusted; the message names it.
    pub fn check_use(path: &Path) -> io::Result<()> {
        match Self::look_at(path) {
            Err(error) if is_distrust(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn look_at(path: &Path) -> io::Result<()> {
        let place = walk(path, Missing::Fail)?;
        let found = rustix::fs::fstat(&place)?;
        if found.st_uid == 0 && own_uid() != 0 && found.st_mode & WRITABLE_BY_ALL == 0 {
            return Ok(());
        }
        let (dir, found) = Self::of_own(place, path)?;
        if found.st_mode & WRITABLE_BY_OTHERS != 0 {
            dir.set_mode(PRIVATE)?;
        }
        Ok(())
    }

    /// Opens a directory of this user as it is.
    ///
    /// # Errors
    /// As for [`TrustedDir::private`], and `NotFound` if it is missing.
    pub fn existing(path: &Path) -> io::Result<Self> {
        Self::at(path, Missing::Fail).map(|(dir, _)| dir)
    }

    /// Makes the directory if it is missing, and leaves it as it is if not; refused if every user may write to it.
    /// With `shared`, a sticky directory of root's such as `/tmp` will do.
    ///
    /// # Errors
    /// As for [`TrustedDir::private`].
    pub fn for_socket(path: &Path, shared: bool) -> io::Result<Self> {
        let place = walk(path, Missing::Make)?;
        let found = rustix::fs::fstat(&place).map_err(|error| about(path, error))?;
        let is_shared = shared && found.st_uid == 0 && found.st_mode & STICKY != 0;
        if is_shared {
            return Self::over(place, path);
        }
        if found.st_uid == own_uid() && found.st_mode & WRITABLE_BY_ALL != 0 {
            let reason = "is writable by every user; fix it with `chmod o-w`";
            return Err(refused(path, reason));
        }
        Self::of_own(place, path).map(|(dir, _)| dir)
    }

    /// Whether it belongs to this user, and not to all: root's `/tmp` is not root's own.
    #[must_use]
    pub fn is_own(&self) -> bool {
        let found = rustix::fs::fstat(&self.fd);
        found.is_ok_and(|it| it.st_uid == own_uid() && it.st_mode & WRITABLE_BY_ALL == 0)
    }

    fn at(path: &Path, missing: Missing) -> io::Result<(Self, Stat)> {
        Self::of_own(walk(path, missing)?, path)
    }

    fn of_own(place: OwnedFd, path: &Path) -> io::Result<(Self, Stat)> {
        let found = rustix::fs::fstat(&place).map_err(|error| about(path, error))?;
        if found.st_uid != own_uid() {
            return Err(refused(path, &belongs(&found)));
        }
        Ok((Self::over(place, path)?, found))
    }

    fn over(place: OwnedFd, path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&place, ".", flags, Mode::empty());
        let fd = fd.map_err(|error| about(path, error))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(mode))
            .map_err(|error| about(&self.path, error))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path to an entry that is short however long the directory's own is, and means this very directory even if
    /// another has taken its place. Only for this process, and only as long as `self` lives.
    #[must_use]
    pub fn short_path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.fd.as_raw_fd()))
    }

    /// Opens a file to read and write, made with mode 0600 if it is missing.
    ///
    /// # Errors
    /// `PermissionDenied` if it is a link, has another name elsewhere, or is not this user's; the message names it.
    pub fn open(&self, name: &str) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// The same, to append to.
    ///
    /// # Errors
    /// As for [`TrustedDir::open`].
    pub fn append(&self, name: &str) -> io::Result<File> {
        self.open_with(name, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
    }

    /// Opens a file to read.
    ///
    /// # Errors
    /// As for [`TrustedDir::open`], and `NotFound` if it is missing.
    pub fn open_existing(&self, name: &str) -> io::Result<File> {
        self.open_with(name, OFlags::RDONLY)
    }

    fn open_with(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let path = self.path.join(name);
        // Not blocking, so that a pipe in its place cannot hold us up.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR);
        let file = file.map_err(|error| match error {
            Errno::LOOP => refused(&path, "is a link; remove it"),
            error => about(&path, error),
        })?;
        let found = rustix::fs::fstat(&file)?;
        check_file(&path, &found)?;
        if found.st_mode & FOR_OTHERS != 0 {
            rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        }
        Ok(File::from(file))
    }

    /// Fails if what lies under the name was put there by another user, before the directory was closed. For files
    /// that are opened by their path elsewhere; a link that this user made is this user's own business.
    ///
    /// # Errors
    /// As for [`TrustedDir::open`].
    pub fn check(&self, name: &str) -> io::Result<()> {
        let path = self.path.join(name);
        let Some(found) = look(&self.fd, name).map_err(|error| about(&path, error))? else {
            return Ok(());
        };
        if found.st_uid == own_uid() || found.st_uid == 0 {
            return Ok(());
        }
        Err(refused(&path, &format!("{}; remove it", belongs(&found))))
    }

    /// The whole of a small file.
    ///
    /// # Errors
    /// As for [`TrustedDir::open_existing`], and if it is longer than [`MAX_READ`].
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.open_existing(name)?.take(MAX_READ + 1).read_to_end(&mut content)?;
        if content.len() as u64 > MAX_READ {
            let reason = format!("{} is too long", self.path.join(name).display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(content)
    }

    /// Atomically replaces a file; readers find the old or the new content.
    ///
    /// # Errors
    /// What the system says; the message names the file.
    pub fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let fresh = fresh_name(name);
        self.write_new(&fresh, content)
            .and_then(|_| Ok(rustix::fs::renameat(&self.fd, &fresh, &self.fd, name)?))
            .map_err(|error| {
                let _ = rustix::fs::unlinkat(&self.fd, &fresh, AtFlags::empty());
                about(&path, error)
            })
    }

    fn write_new(&self, name: &str, content: &[u8]) -> io::Result<File> {
        // Left by a process that died and whose number came around again.
        let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        file.write_all(content)?;
        Ok(file)
    }

    /// The same, and what was written outlives a crash of the machine.
    ///
    /// # Errors
    /// As for [`TrustedDir::replace`].
    pub fn replace_durably(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let fresh = fresh_name(name);
        let written = self.write_new(&fresh, content).and_then(|file| file.sync_all());
        written
            .and_then(|()| Ok(rustix::fs::renameat(&self.fd, &fresh, &self.fd, name)?))
            .map_err(|error| {
                let _ = rustix::fs::unlinkat(&self.fd, &fresh, AtFlags::empty());
                about(&path, error)
            })?;
        self.sync()
    }

    /// Waits until the names in it are on disk.
    ///
    /// # Errors
    /// What the system says; the message names the directory.
    pub fn sync(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.fd).map_err(|error| about(&self.path, error))
    }

    /// The names of what lies in it, in no order; what is no UTF-8 is left out.
    ///
    /// # Errors
    /// What the system says; the message names the directory.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries =
            rustix::fs::Dir::read_from(&self.fd).map_err(|error| about(&self.path, error))?;
        let name = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(str::to_owned);
        let names = entries.filter_map(|entry| entry.map(name).transpose());
        let names: Result<Vec<String>, Errno> = names.collect();
        let mut names = names.map_err(|error| about(&self.path, error))?;
        names.retain(|name| name != "." && name != "..");
        Ok(names)
    }

    /// Removes a file; one that is missing is as good.
    ///
    /// # Errors
    /// What the system says; the message names the file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(about(&self.path.join(name), error)),
        }
    }

    /// Gives a file another name in the same directory.
    ///
    /// # Errors
    /// What the system says; the message names the file.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|error| about(&self.path.join(from), error))
    }

    /// The same, unless something has that name already.
    ///
    /// # Errors
    /// `AlreadyExists`, else what the system says; the message names the file.
    pub fn rename_new(&self, from: &str, to: &str) -> io::Result<()> {
        match rustix::fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            // The file system does not know it.
            Err(Errno::INVAL | Errno::NOSYS) => self.rename(from, to),
            renamed => renamed.map_err(|error| about(&self.path.join(to), error)),
        }
    }

    /// Device and inode of what lies under a name, links not followed.
    ///
    /// # Errors
    /// `NotFound` if nothing does.
    pub fn identity(&self, name: &str) -> io::Result<(u64, u64)> {
        let found = look(&self.fd, name)?.ok_or(io::ErrorKind::NotFound)?;
        Ok((found.st_dev, found.st_ino))
    }
}

impl AsFd for TrustedDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// What a file is called until it is whole.
fn fresh_name(name: &str) -> String {
    format!(".{name}.{}", std::process::id())
}

fn check_file(path: &Path, found: &Stat) -> io::Result<()> {
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(refused(path, "is not a regular file; remove it"));
    }
    if found.st_uid != own_uid() {
        return Err(refused(path, &belongs(found)));
    }
    if found.st_nlink > 1 {
        return Err(refused(path, "has several hard links; remove it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
