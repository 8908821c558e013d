//! Writes the scripts to disk, where the shells read them.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::FOLDER;

/// Every file, relative to the folder of the scripts.
const FILES: &[(&str, &str)] = &[
    ("roost.bash", include_str!("../../resources/shell-integration/roost.bash")),
    ("bash/start.bash", include_str!("../../resources/shell-integration/bash/start.bash")),
    ("roost.zsh", include_str!("../../resources/shell-integration/roost.zsh")),
    ("zsh/.zshenv", include_str!("../../resources/shell-integration/zsh/.zshenv")),
    ("roost.fish", include_str!("../../resources/shell-integration/roost.fish")),
];

/// Makes the number in a temporary name differ within this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Writes the scripts to `<dir>/shell-integration` and returns `dir` as an absolute path.
///
/// That path is the resources folder: what `prepare` takes and `ROOST_RESOURCES_DIR` names.
/// A file that is there already as it should be is left alone. Each of the others is replaced in
/// one step, so a shell or another daemon that starts meanwhile sees the old or the new one, whole.
pub fn install(dir: &Path) -> io::Result<PathBuf> {
    let resources = std::path::absolute(dir)?;
    let folder = resources.join(FOLDER);
    make_private(&folder)?;
    for (name, text) in FILES {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            make_private(parent)?;
        }
        if !is_current(&file, text) {
            replace(&file, text)?;
        }
    }
    Ok(resources)
}

/// Creates a folder for the user alone, and takes back what others may do with one that is there.
fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let meta = fs::metadata(folder)?;
    if meta.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Whether a file says what it should and belongs to the user alone; a link never does.
fn is_current(file: &Path, text: &str) -> bool {
    let is_private = fs::symlink_metadata(file)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o777 == 0o600);
    is_private && fs::read(file).is_ok_and(|bytes| bytes == text.as_bytes())
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut name = OsString::from(file);
    name.push(format!(".{}-{}.new", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let fresh = PathBuf::from(name);
    // Left by a process that died and whose number came around again.
    let _ = fs::remove_file(&fresh);
    let done = write_new(&fresh, text).and_then(|()| fs::rename(&fresh, file));
    if done.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    done
}

fn write_new(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut found: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        found
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn everything_is_written_for_the_user_alone_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let resources = install(&dir.path().join("deep/down")).unwrap();
        assert_eq!(resources, dir.path().join("deep/down"));
        let folder = resources.join(FOLDER);
        assert_eq!(names(&folder), ["bash", "roost.bash", "roost.fish", "roost.zsh", "zsh"]);
        assert_eq!(names(&folder.join("zsh")), [".zshenv"]);
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("zsh")), 0o700);
        for (name, text) in FILES {
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), *text);
            assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
        }
    }

    #[test]
    fn only_what_differs_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = install(dir.path()).unwrap().join(FOLDER);
        let number = |name: &str| fs::metadata(folder.join(name)).unwrap().ino();
        let bash = number("roost.bash");
        let zsh = fs::read_to_string(folder.join("roost.zsh")).unwrap();
        fs::write(folder.join("roost.zsh"), "old").unwrap();
        // Two daemons of one user share the folder.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| install(dir.path()).unwrap());
            }
        });
        assert_eq!(number("roost.bash"), bash);
        assert_eq!(fs::read_to_string(folder.join("roost.zsh")).unwrap(), zsh);
        assert_eq!(names(&folder), ["bash", "roost.bash", "roost.fish", "roost.zsh", "zsh"]);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = install(dir.path()).unwrap().join(FOLDER);
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "mine").unwrap();
        fs::remove_file(folder.join("roost.fish")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("roost.fish")).unwrap();
        install(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(elsewhere).unwrap(), "mine");
        assert!(fs::symlink_metadata(folder.join("roost.fish")).unwrap().is_file());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(install(&file).is_err());
    }
}
