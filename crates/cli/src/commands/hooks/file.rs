//! The file of settings: read whole, replaced at once, with the version before kept beside it.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::failure::{Failure, Outcome};

/// The largest file that is touched.
const LARGEST: u64 = 4 * 1024 * 1024;
/// What is added to the name of the version before.
const BACKUP: &str = ".rookery-backup";

/// A file as it was when it was read.
pub(super) struct SettingsFile {
    path: PathBuf,
    /// Its text and permissions; none if it does not exist.
    found: Option<(String, Permissions)>,
}

impl SettingsFile {
    pub(super) fn open(path: PathBuf) -> Outcome<Self> {
        let found = read(&path).map_err(Failure::doing(path.display()))?;
        Ok(Self { path, found })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its text, that of an empty object if there is no file.
    pub(super) fn text(&self) -> &str {
        // An empty file is what some editors leave of a new one.
        match &self.found {
            Some((text, _)) if !text.trim().is_empty() => text,
            _ => "{}\n",
        }
    }

    /// What is in the file, nothing if there is none.
    pub(super) fn before(&self) -> &str {
        self.found.as_ref().map_or("", |(text, _)| text)
    }

    /// Replaces the file, and says where the version before is.
    pub(super) fn replace(&self, text: &str) -> Outcome<Option<PathBuf>> {
        let failed = || Failure::doing(self.path.display().to_string());
        // A link stays one; what it leads to is replaced.
        let target = match self.path.canonicalize() {
            Ok(target) => target,
            Err(_) => std::path::absolute(&self.path).map_err(failed())?,
        };
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir).map_err(failed())?;
        }
        let mode = match &self.found {
            Some((_, permissions)) => permissions.mode() & 0o7777,
            None => 0o600,
        };
        let new = beside(&target, &format!(".rookery-{}", std::process::id()));
        let outcome = write_new(&new, text, mode).and_then(|()| {
            let backup = self.keep(mode)?;
            let now = read(&self.path)?.map(|(text, _)| text);
            if now.as_deref() != self.found.as_ref().map(|(text, _)| text.as_str()) {
                return Err(io::Error::other(
                    "somebody else changed it just now; nothing was done",
                ));
            }
            fs::rename(&new, &target)?;
            Ok(backup)
        });
        outcome.map_err(|error| {
            // There is none if it could not be made.
            let _ = fs::remove_file(&new);
            failed()(error)
        })
    }

    /// Keeps the version before.
    fn keep(&self, mode: u32) -> io::Result<Option<PathBuf>> {
        let Some((text, _)) = &self.found else { return Ok(None) };
        let backup = beside(&self.path, BACKUP);
        let new = beside(&self.path, &format!("{BACKUP}-{}", std::process::id()));
        let written = write_new(&new, text, mode).and_then(|()| fs::rename(&new, &backup));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written.map(|()| Some(backup))
    }
}

fn read(path: &Path) -> io::Result<Option<(String, Permissions)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > LARGEST) {
        return Err(io::Error::other("it is too large"));
    }
    Ok(Some((text, metadata.permissions())))
}

fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn mode_and_version_before_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let backup = SettingsFile::open(path.clone()).unwrap().replace("new").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "old");
        for file in [&path, &backup] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o640);
        }
        SettingsFile::open(path).unwrap().replace("newer").unwrap();
        assert_eq!(fs::read_to_string(&backup).unwrap(), "new");
        assert_eq!(names(dir.path()), ["settings.json", "settings.json.rookery-backup"]);
    }

    #[test]
    fn a_new_file_is_private_and_a_link_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/settings.json");
        assert_eq!(SettingsFile::open(path.clone()).unwrap().replace("{}").unwrap(), None);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let link = dir.path().join("link.json");
        symlink(&path, &link).unwrap();
        SettingsFile::open(link.clone()).unwrap().replace("{\n}").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n}");
    }

    #[test]
    fn a_change_by_somebody_else_is_respected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        let file = SettingsFile::open(path.clone()).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(file.replace("ours").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert!(
            !names(dir.path()).iter().any(|name| name.contains(&std::process::id().to_string()))
        );
        fs::create_dir(dir.path().join("d")).unwrap();
        assert!(SettingsFile::open(dir.path().join("d")).is_err());
    }
}
