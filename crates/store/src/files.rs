//! The files of the store: who may read them, how they are replaced, where bad ones go.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The database file.
pub(crate) const DATABASE: &str = "rookery.db";

const PRIVATE: u32 = 0o600;

/// Whole seconds since the Unix epoch; 0 if the clock is before it.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Creates the directory, for the owner only, if it is not there.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// What lies at a path.
pub(crate) enum Found {
    Nothing,
    /// A regular file of this length.
    File(u64),
    /// Something that cannot be a database.
    Other,
}

/// Looks at a path, following links as SQLite does.
pub(crate) fn look(path: &Path) -> io::Result<Found> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Found::File(meta.len())),
        Ok(_) => Ok(Found::Other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is something, too.
            Ok(if fs::symlink_metadata(path).is_ok() { Found::Other } else { Found::Nothing })
        }
        Err(error) => Err(error),
    }
}

/// The file that SQLite keeps beside the database under this suffix.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    name.into()
}

/// Creates an empty file that only the owner may read, from its first byte on.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path).map(drop)
}

/// Gives an existing file the right mode. One that is not ours keeps its own.
pub(crate) fn make_private(path: &Path) {
    let Ok(meta) = fs::metadata(path) else { return };
    if meta.permissions().mode() & 0o7777 != PRIVATE
        && let Err(error) = fs::set_permissions(path, Permissions::from_mode(PRIVATE))
    {
        tracing::warn!(path = %path.display(), %error, "cannot make a store file private");
    }
}

/// Writes a file so that after a crash either the old or the new content is there.
pub(crate) fn replace(dir: &Path, name: &str, content: &str) -> io::Result<()> {
    let path = dir.join(name);
    let fresh = dir.join(format!("{name}.new"));
    // Left over from a crash, perhaps with another mode; and a mode only counts at creation.
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if matches!(look(&path)?, Found::Other) {
        fs::rename(&path, free_name(&path))?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&fresh)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, &path)?;
    sync_dir(dir)
}

/// Moves the database and what SQLite keeps beside it out of the way, and says where the first
/// of them now lies. `None` if there was nothing to move.
pub(crate) fn set_aside(dir: &Path) -> io::Result<Option<PathBuf>> {
    let database = dir.join(DATABASE);
    let target = free_name(&database);
    let mut moved = None;
    // The database goes first: a log without its database is recognized at the next open
    // should we die in between, a database without its log would look healthy and be stale.
    for suffix in ["", "-wal", "-shm"] {
        let place = beside(&target, suffix);
        match fs::rename(beside(&database, suffix), &place) {
            Ok(()) => moved = moved.or(Some(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    sync_dir(dir)?;
    Ok(moved)
}

/// Makes a whole database that lies beside the place of ours be it.
pub(crate) fn put_in_place(dir: &Path, name: &str) -> io::Result<()> {
    let whole = dir.join(name);
    File::open(&whole)?.sync_all()?;
    fs::rename(whole, dir.join(DATABASE))?;
    sync_dir(dir)
}

/// `NAME.damaged-SECONDS`, with a number behind it if that is taken.
fn free_name(path: &Path) -> PathBuf {
    let base = beside(path, &format!(".damaged-{}", unix_seconds()));
    let taken = |path: &Path| {
        ["", "-wal", "-shm"].iter().any(|suffix| fs::symlink_metadata(beside(path, suffix)).is_ok())
    };
    let numbered = (2..u32::MAX).map(|n| beside(&base, &format!("-{n}")));
    std::iter::once(base.clone()).chain(numbered).find(|path| !taken(path)).unwrap_or(base)
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
