//! Where a recording is written: stdout, or a file that only its owner can read.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use tokio::io::AsyncWriteExt as _;

use crate::failure::{Failure, Outcome};

/// Names tried for a file that is to take the place of another.
const MOST_TRIES: u32 = 100;

/// Takes the lines of a recording.
pub(super) enum Sink {
    Stdout,
    File(File, PathBuf),
}

impl Sink {
    /// Makes the file, which must be new unless it may be replaced; none is stdout.
    pub(super) fn open(path: Option<PathBuf>, replace: bool) -> Outcome<Self> {
        let Some(path) = path else { return Ok(Self::Stdout) };
        let shown = path.display();
        let created = match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && replace => {
                require_file(&path)?;
                take_place(&path)
            }
            other => other,
        };
        match created {
            Ok(file) => Ok(Self::File(file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Failure::new(format!("{shown} exists already"))
                    .hint("choose another name, or overwrite it with `--force`"))
            }
            Err(error) => Err(Failure::new(format!("cannot create {shown}: {error}"))
                .hint("choose another place, or `-` for stdout")),
        }
    }

    /// The file, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(_, path) => Some(path),
        }
    }

    pub(super) async fn write(&mut self, lines: &[u8]) -> Outcome<()> {
        match self {
            Self::File(file, path) => file
                .write_all(lines)
                .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display()))),
            Self::Stdout => {
                let mut stdout = tokio::io::stdout();
                let written = match stdout.write_all(lines).await {
                    Ok(()) => stdout.flush().await,
                    failed => failed,
                };
                written.map_err(|error| match error.kind() {
                    io::ErrorKind::BrokenPipe => Failure::quiet(141),
                    _ => Failure::new(format!("cannot write the recording: {error}")),
                })
            }
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Devices and links are not replaced: that is hardly ever intended.
fn require_file(path: &Path) -> Outcome<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(Failure::new(format!("{} is not a regular file", path.display()))
                .hint("choose another name, or `-` for stdout"))
        }
        _ => Ok(()),
    }
}

/// A new file under the name of another, so that neither the mode nor a process that has the old one open
/// matters.
fn take_place(path: &Path) -> io::Result<File> {
    let mut tries = 0;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{tries}.new", std::process::id()));
        let fresh = PathBuf::from(name);
        match create(&fresh) {
            Ok(file) => {
                return fs::rename(&fresh, path).map(|()| file).inspect_err(|_| {
                    let _ = fs::remove_file(&fresh);
                });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MOST_TRIES => {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn files_are_private_and_only_replaced_on_request() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.cast");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Sink::open(Some(path.clone()), false).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        Sink::open(Some(path.clone()), true).ok().unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (Vec::new(), 0o600));
        let fresh = dir.path().join("b.cast");
        Sink::open(Some(fresh.clone()), false).ok().unwrap();
        assert_eq!(mode(&fresh), 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn devices_links_and_directories_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for path in [Path::new("/dev/null"), dir.path(), &link] {
            assert!(Sink::open(Some(path.to_owned()), true).is_err(), "{path:?}");
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
