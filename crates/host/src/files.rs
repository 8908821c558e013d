//! Files and directories: read whole or in part, listed, and replaced at once. It knows nothing of what
//! is in them. Blocking; callers keep it off the runtime's threads.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};

/// Tells files apart that are replaced at the same time.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// One child of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name; what is no UTF-8 is replaced.
    pub name: String,
    /// Whether it is a directory, or a link to one.
    pub is_dir: bool,
    /// Whether it is a regular file, or a link to one.
    pub is_file: bool,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The system said no.
    Io(io::Error),
    /// There is more of it than allowed.
    TooLarge {
        /// How many bytes are allowed.
        limit: u64,
    },
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

/// Why a path may not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ConfinedError {
    /// It leads out of the directories that may be read.
    #[error("{}: outside the directories that may be read", .0.display())]
    Outside(PathBuf),
    /// It cannot be found.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

/// The path without links, if there are roots, and then only within one of them. Blocks.
///
/// # Errors
/// If it leads elsewhere, or nowhere.
pub fn confined(path: &Path, roots: &[PathBuf]) -> Result<PathBuf, ConfinedError> {
    if roots.is_empty() {
        return Ok(path.to_owned());
    }
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let is_inside = |real: &Path| roots.iter().any(|root| real.starts_with(root));
    match path.canonicalize() {
        Ok(real) if is_inside(&real) => Ok(real),
        Ok(_) => Err(ConfinedError::Outside(path.to_owned())),
        Err(error) => {
            // What is not there is said only where one may look; elsewhere that would tell as well.
            let nearest = path.ancestors().find_map(|above| above.canonicalize().ok());
            match nearest.is_some_and(|above| is_inside(&above)) {
                true => Err(ConfinedError::Io(path.to_owned(), error)),
                false => Err(ConfinedError::Outside(path.to_owned())),
            }
        }
    }
}

/// The first bytes of a file, up to a limit.
pub fn read_start(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file, wherever links lead. Never waits: a pipe or a device is an error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path)
}

/// Bytes of a file from an offset on: `length` of them, or all there are. More than `limit` is an error.
pub fn read_range(
    path: &Path,
    offset: u64,
    length: Option<u64>,
    limit: u64,
) -> Result<Vec<u8>, ReadError> {
    let mut file = open(path)?;
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))?;
    }
    let wanted = length.unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    // One byte more than allowed tells that there is more; sizes are not trusted, since some files have none.
    file.take(wanted.min(limit.saturating_add(1))).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(ReadError::TooLarge { limit }),
        false => Ok(bytes),
    }
}

/// The children of a directory, sorted by the bytes of their names.
pub fn read_dir(path: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries: Vec<_> = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by(|a, b| a.file_name().as_bytes().cmp(b.file_name().as_bytes()));
    let shown = entries.iter().map(|entry| {
        // A link that leads nowhere is neither, and no error.
        let kind = std::fs::metadata(entry.path()).ok();
        DirEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_dir: kind.as_ref().is_some_and(std::fs::Metadata::is_dir),
            is_file: kind.as_ref().is_some_and(std::fs::Metadata::is_file),
        }
    });
    Ok(shown.collect())
}

/// Replaces a file, or makes it and its directory. After a crash either the old or the new content is
/// there, and no other user can read it at any moment.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let path = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mut name = path.clone().into_os_string();
    name.push(format!(".{}-{}.new", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let fresh = PathBuf::from(name);
    // Left by a process that died and whose number came around again.
    let _ = fs::remove_file(&fresh);
    let done = write_new(&fresh, bytes).and_then(|()| fs::rename(&fresh, &path));
    if done.is_err() {
        let _ = fs::remove_file(&fresh);
        return done;
    }
    File::open(dir)?.sync_all()
}

/// Makes a file of our own, with its directory, that no other user can read; what is there already stays.
pub fn create_private(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a directory of our own, with those around it, that no other user can look into.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a file for good; one that is not there is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed?,
    }
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

/// Removes a directory of ours with all that is in it; links in it are removed, not followed, and one that
/// is not there is no error.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Gives a file another name in its directory.
pub fn rename(path: &Path, name: &Path) -> io::Result<()> {
    fs::rename(path, name)?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// How a file is opened for reading without waiting for another process.
pub(crate) const READING: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens a regular file. A pipe without a writer would hang the open, and a device may never end.
fn open(path: &Path) -> io::Result<File> {
    regular(File::from(rustix::fs::open(path, READING, Mode::empty())?))
}

/// The same file, if it is a regular one.
pub(crate) fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?;
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        let message = "not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_limits_hold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        assert_eq!(read_start(&path, 3).unwrap(), b"012");
        assert_eq!(read_range(&path, 0, None, 10).unwrap(), b"0123456789");
        assert_eq!(read_range(&path, 8, Some(5), 10).unwrap(), b"89");
        assert_eq!(read_range(&path, 99, None, 10).unwrap(), b"");
        assert!(matches!(read_range(&path, 0, None, 9), Err(ReadError::TooLarge { limit: 9 })));
        assert_eq!(read_range(&path, 0, Some(9), 9).unwrap().len(), 9);
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/f");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        // A directory cannot be replaced by a file, and nothing is left of the attempt.
        assert!(replace(path.parent().unwrap(), b"three").is_err());
        let names = |dir: &Path| read_dir(dir).unwrap().len();
        assert_eq!((names(dir.path()), names(path.parent().unwrap())), (1, 1));
    }

    #[test]
    fn what_is_no_file_is_refused_and_does_not_hang() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(read_start(&pipe, 1).is_err());
        assert!(read_start(Path::new("/dev/zero"), 1).is_err());
        assert_eq!(read_start(dir.path(), 1).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_directory_lists_hidden_and_broken_children_in_order() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b"), "").unwrap();
        std::fs::write(dir.path().join(".a"), "").unwrap();
        std::fs::create_dir(dir.path().join("B")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("c")).unwrap();
        std::os::unix::fs::symlink("B", dir.path().join("d")).unwrap();
        let seen = read_dir(dir.path()).unwrap();
        let seen: Vec<_> = seen.iter().map(|e| (e.name.as_str(), e.is_dir, e.is_file)).collect();
        assert_eq!(
            seen,
            [
                (".a", false, true),
                ("B", true, false),
                ("b", false, true),
                ("c", false, false),
                ("d", true, false)
            ]
        );
    }

    #[test]
    fn roots_hold_whatever_links_and_dots_say() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (inside, outside) = (base.join("in"), base.join("out"));
        for dir in [&inside, &outside] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("file"), "x").unwrap();
        }
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let linked_root = base.join("root");
        std::os::unix::fs::symlink(&inside, &linked_root).unwrap();
        let roots = [linked_root.clone()];
        let check = |path: PathBuf| confined(&path, &roots);
        assert_eq!(check(inside.join("file")).unwrap(), inside.join("file"));
        assert_eq!(check(linked_root.join("file")).unwrap(), inside.join("file"));
        assert_eq!(check(inside.clone()).unwrap(), inside);
        let missing = check(inside.join("none")).unwrap_err().to_string();
        assert!(!missing.contains("outside"), "{missing}");
        for wrong in [
            outside.join("file"),
            outside.join("none"),
            inside.join("../out/file"),
            inside.join("link/file"),
            inside.join("link/none"),
            base.clone(),
        ] {
            let error = check(wrong.clone()).unwrap_err().to_string();
            assert!(error.contains("outside the directories"), "{}: {error}", wrong.display());
        }
        assert_eq!(confined(&outside, &[]).unwrap(), outside);
        assert!(confined(&outside, &[base.join("gone")]).is_err());
    }
}
