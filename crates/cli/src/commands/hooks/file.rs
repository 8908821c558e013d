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
/// What is added to the name of a version that was there before.
const BACKUP: &str = ".rookery-backup";
/// How many of them are kept. The first one always stays; beyond that many the newest gives way.
const MOST_BACKUPS: usize = 20;
/// What some editors put before a text in UTF-8.
const MARK: char = '\u{feff}';
/// What settings say that are not there.
const NOTHING: &str = "{}\n";

/// A file as it was when it was read.
pub(super) struct SettingsFile {
    path: PathBuf,
    /// What it holds and its permissions; none if it does not exist.
    found: Option<(String, Permissions)>,
}

/// What is to become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    Says(String),
    /// It is what it was once, to the letter. Nothing is lost by that, so nothing is kept.
    Was(String),
    /// It is not there.
    Gone,
}

impl Next {
    /// What it will say.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Says(text) => text,
            Self::Was(whole) => text_of(whole),
            Self::Gone => NOTHING,
        }
    }

    /// What will be in it, without a mark at its beginning.
    pub(super) fn content(&self) -> &str {
        match self {
            Self::Says(text) => text,
            Self::Was(whole) => unmarked(whole),
            Self::Gone => "",
        }
    }
}

/// What a file says. An empty one is what some editors leave of a new one.
fn text_of(whole: &str) -> &str {
    let text = unmarked(whole);
    if text.trim().is_empty() { NOTHING } else { text }
}

fn unmarked(whole: &str) -> &str {
    whole.strip_prefix(MARK).unwrap_or(whole)
}

/// A version of a file that was there before.
pub(super) struct Earlier(String);

impl Earlier {
    /// What it says.
    pub(super) fn text(&self) -> &str {
        text_of(&self.0)
    }

    /// The file as it was then.
    pub(super) fn again(self) -> Next {
        Next::Was(self.0)
    }
}

impl SettingsFile {
    pub(super) fn open(path: PathBuf) -> Outcome<Self> {
        let found = read(&path).map_err(Failure::doing(path.display()))?;
        Ok(Self { path, found })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What it says, that of an empty object if there is no file.
    pub(super) fn text(&self) -> &str {
        self.found.as_ref().map_or(NOTHING, |(whole, _)| text_of(whole))
    }

    /// What is in the file, nothing if there is none.
    pub(super) fn before(&self) -> &str {
        self.found.as_ref().map_or("", |(whole, _)| unmarked(whole))
    }

    /// Whether this would make another file of it.
    pub(super) fn changes_to(&self, next: &Next) -> bool {
        match (next, &self.found) {
            // No file is as good as one that says nothing.
            (Next::Says(text), _) => text != self.text(),
            (Next::Was(whole), Some((now, _))) => whole != now,
            (Next::Was(_), None) => true,
            (Next::Gone, found) => found.is_some(),
        }
    }

    /// The versions that were there before, the newest first. What cannot be read is passed over.
    pub(super) fn earlier(&self) -> Vec<Earlier> {
        let kept = (1..=MOST_BACKUPS).rev().map(|number| read(&self.backup(number)));
        kept.filter_map(|found| Some(Earlier(found.ok()??.0))).collect()
    }

    /// Makes another file of it, and says where the version before is if it was kept.
    pub(super) fn become_next(&self, next: &Next) -> Outcome<Option<PathBuf>> {
        let failed = || Failure::doing(self.path.display().to_string());
        // A link stays one; what it leads to is replaced.
        let target = match self.path.canonicalize() {
            Ok(target) => target,
            Err(_) => std::path::absolute(&self.path).map_err(failed())?,
        };
        let has_mark = self.found.as_ref().is_some_and(|(whole, _)| whole.starts_with(MARK));
        match next {
            Next::Says(text) if has_mark => self.replace(&target, &format!("{MARK}{text}"), true),
            Next::Says(text) => self.replace(&target, text, true),
            Next::Was(whole) => self.replace(&target, whole, false),
            Next::Gone => self.unchanged().and_then(|()| fs::remove_file(&target)).map(|()| None),
        }
        .map_err(failed())
    }

    fn replace(&self, target: &Path, whole: &str, keep: bool) -> io::Result<Option<PathBuf>> {
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir)?;
        }
        let mode = match &self.found {
            Some((_, permissions)) => permissions.mode() & 0o7777,
            None => 0o600,
        };
        let new = beside(target, &format!(".rookery-{}", std::process::id()));
        let written = write_new(&new, whole, mode).and_then(|()| {
            let backup = if keep { self.keep(mode)? } else { None };
            self.unchanged()?;
            fs::rename(&new, target)?;
            Ok(backup)
        });
        if written.is_err() {
            // There is none if it could not be made.
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// Whether it is still what it was when it was read.
    fn unchanged(&self) -> io::Result<()> {
        let now = read(&self.path)?.map(|(whole, _)| whole);
        if now.as_ref() == self.found.as_ref().map(|(whole, _)| whole) {
            return Ok(());
        }
        Err(io::Error::other("another program changed it just now; nothing was done"))
    }

    /// The place of a version that was there before.
    fn backup(&self, number: usize) -> PathBuf {
        match number {
            1 => beside(&self.path, BACKUP),
            number => beside(&self.path, &format!("{BACKUP}.{number}")),
        }
    }

    /// Keeps the version before, unless it is kept already. The first one that was kept is what the
    /// file was before we ever touched it, and is never written over.
    fn keep(&self, mode: u32) -> io::Result<Option<PathBuf>> {
        let Some((whole, _)) = &self.found else { return Ok(None) };
        let mut place = self.backup(MOST_BACKUPS);
        for number in 1..=MOST_BACKUPS {
            let backup = self.backup(number);
            match read(&backup) {
                Ok(Some((kept, _))) if kept == *whole => return Ok(Some(backup)),
                Ok(None) => {
                    place = backup;
                    break;
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
        let new = beside(&self.path, &format!("{BACKUP}-{}", std::process::id()));
        let written = write_new(&new, whole, mode).and_then(|()| fs::rename(&new, &place));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written.map(|()| Some(place))
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
        return Err(io::Error::other("it is not a file"));
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

    fn says(path: &Path, text: &str) -> Option<PathBuf> {
        let file = SettingsFile::open(path.to_owned()).unwrap();
        file.become_next(&Next::Says(text.to_owned())).unwrap()
    }

    #[test]
    fn mode_and_version_before_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let backup = says(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "old");
        for file in [&path, &backup] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o640);
        }
        let second = says(&path, "newer").unwrap();
        assert_eq!(fs::read_to_string(&backup).unwrap(), "old", "the first one stays");
        assert_eq!(fs::read_to_string(&second).unwrap(), "new");
        // What is kept already is not kept twice.
        fs::write(&path, "old").unwrap();
        assert_eq!(says(&path, "newest").unwrap(), backup);
        let kept = ["settings.json.rookery-backup", "settings.json.rookery-backup.2"];
        assert_eq!(names(dir.path()), [&["settings.json"][..], &kept[..]].concat());
        for number in 0..50 {
            says(&path, &number.to_string());
        }
        assert_eq!(names(dir.path()).len(), 1 + MOST_BACKUPS);
        assert_eq!(fs::read_to_string(&backup).unwrap(), "old");
        let earlier = SettingsFile::open(path).unwrap().earlier();
        assert_eq!((earlier[0].text(), earlier.last().unwrap().text()), ("48", "old"));
    }

    #[test]
    fn a_mark_at_the_beginning_is_read_over_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "\u{feff}{}").unwrap();
        let file = SettingsFile::open(path.clone()).unwrap();
        assert_eq!((file.text(), file.before()), ("{}", "{}"));
        assert!(!file.changes_to(&Next::Says("{}".to_owned())));
        says(&path, "{ }");
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}{ }");
        let file = SettingsFile::open(path.clone()).unwrap();
        let before = file.earlier().pop().unwrap().again();
        assert_eq!((before.text(), before.content()), ("{}", "{}"));
        assert_eq!(file.become_next(&before).unwrap(), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}{}");
    }

    #[test]
    fn a_file_goes_only_as_it_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        assert!(!SettingsFile::open(path.clone()).unwrap().changes_to(&Next::Gone));
        fs::write(&path, "old").unwrap();
        let file = SettingsFile::open(path.clone()).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(file.become_next(&Next::Gone).is_err());
        let file = SettingsFile::open(path.clone()).unwrap();
        assert!(file.changes_to(&Next::Gone));
        assert_eq!(file.become_next(&Next::Gone).unwrap(), None);
        assert!(!path.exists());
    }

    #[test]
    fn a_new_file_is_private_and_a_link_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/settings.json");
        assert_eq!(says(&path, "{}"), None);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let link = dir.path().join("link.json");
        symlink(&path, &link).unwrap();
        says(&link, "{\n}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n}");
    }

    #[test]
    fn a_change_by_another_program_is_respected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        let file = SettingsFile::open(path.clone()).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(file.become_next(&Next::Says("ours".to_owned())).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert!(
            !names(dir.path()).iter().any(|name| name.contains(&std::process::id().to_string()))
        );
        fs::create_dir(dir.path().join("d")).unwrap();
        assert!(SettingsFile::open(dir.path().join("d")).is_err());
    }
}
