//! Changes files: all of them or none, each by a new file that takes the old one's name.
//!
//! What is replaced is kept under another name until everything is in place, so that a failure
//! half way is undone by renaming alone. What a killed daemon left of it is settled by the next one.

mod held;
mod notes;

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fstat, linkat, mkdirat, openat, renameat, statat,
    unlinkat,
};

pub use notes::settle_writes;
use notes::{Note, Noted, NotedStep, Written};

use super::{elsewhere, paths};
use crate::tool::ToolContext;

/// Held while files are read, changed and written back, so that no two changes mix.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits until no other change of these files is being made, and keeps others waiting. What is done elsewhere
/// may take its time, and holds up only changes of the same files there.
pub(super) fn exclusive(context: &ToolContext, named: &[String]) -> Alone {
    match context.files {
        None => Alone::Here(WRITING.lock()),
        Some(_) => {
            let session = context.session.as_deref().unwrap_or_default();
            // A name that leads nowhere is refused where it is used.
            let places = named.iter().filter_map(|name| elsewhere::resolve(context, name).ok());
            Alone::There(held::hold(session, places.map(|place| place.path)))
        }
    }
}

/// While it is there, nothing else is changed.
pub(super) enum Alone {
    Here(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>),
    There(#[expect(dead_code, reason = "it is held")] held::Held),
}

/// What is to become of one path, which must be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Where.
    pub(super) path: PathBuf,
    /// What the file is to contain; none if it is to be gone.
    pub(super) content: Option<Vec<u8>>,
    /// The permissions of a new file, if they are not the usual ones.
    pub(super) mode: Option<u32>,
}

/// Makes all changes. If one fails, everything is as it was. What is on its way is noted in the directory
/// `notes`, if there is one.
pub(super) fn commit(changes: &[Change], notes: Option<&Path>) -> Result<(), String> {
    let mut work = Work::begin(changes, notes);
    for (index, change) in changes.iter().enumerate() {
        let result = work.prepare(index, change);
        result.map_err(|error| format!("cannot write {}: {error}", change.path.display()))?;
    }
    work.note.write(&work.noted);
    for (index, change) in changes.iter().enumerate() {
        let result = work.swap(index);
        result.map_err(|error| format!("cannot write {}: {error}", change.path.display()))?;
    }
    work.keep();
    Ok(())
}

/// Changes on their way. Dropped before they are kept, they are undone.
struct Work {
    steps: Vec<Step>,
    /// Directories that were made, outer ones first.
    made: Vec<PathBuf>,
    /// What the next daemon needs if this one is killed, and where that is kept.
    noted: Noted,
    note: Note,
}

/// One change on its way.
struct Step {
    dir: File,
    name: PathBuf,
    /// The new file, under its first name.
    fresh: Option<PathBuf>,
    /// The old file, under its second name.
    backup: Option<PathBuf>,
    /// Whether the new state is in place.
    is_swapped: bool,
    removes: bool,
}

impl Step {
    /// What is there now. Only a regular file can be replaced or removed.
    fn found(&self) -> io::Result<Option<Stat>> {
        match statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Ok(found) if FileType::from_raw_mode(found.st_mode).is_file() => Ok(Some(found)),
            Ok(_) => Err(io::Error::other("it is not a regular file")),
            Err(error) => Err(error.into()),
        }
    }
}

impl Work {
    /// Notes what is going to be done, before any of it is.
    fn begin(changes: &[Change], notes: Option<&Path>) -> Work {
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_owned();
        let step = |change: &Change| NotedStep {
            dir: part(change.path.parent().map(Path::as_os_str)),
            name: part(change.path.file_name()),
            fresh: scratch_name().into(),
            backup: scratch_name().into(),
            written: None,
        };
        let mut made: Vec<OsString> = Vec::new();
        for change in changes.iter().filter(|change| change.content.is_some()) {
            let dirs = change.path.parent().map(missing).unwrap_or_default();
            for dir in dirs.into_iter().map(|dir| dir.as_os_str().to_owned()) {
                if !made.contains(&dir) {
                    made.push(dir);
                }
            }
        }
        let noted = Noted { steps: changes.iter().map(step).collect(), made };
        let note = Note::begin(notes, &noted);
        Work { steps: Vec::new(), made: Vec::new(), noted, note }
    }

    /// Makes the directory and writes the new file beside the old one.
    fn prepare(&mut self, index: usize, change: &Change) -> io::Result<()> {
        let absent = || io::Error::new(io::ErrorKind::InvalidInput, "it has no name");
        let (parent, name) =
            change.path.parent().zip(change.path.file_name()).ok_or_else(absent)?;
        if change.content.is_some() {
            self.make_dirs(parent)?;
        }
        let dir = paths::open(parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let removes = change.content.is_none();
        let name = PathBuf::from(name);
        let step = Step { dir, name, fresh: None, backup: None, is_swapped: false, removes };
        self.steps.push(step);
        let noted = self.noted.steps.get_mut(index);
        let Some(((step, content), noted)) =
            self.steps.last_mut().zip(change.content.as_ref()).zip(noted)
        else {
            return Ok(());
        };
        let before = step.found()?;
        let mode = before.map(|found| found.st_mode & 0o7777).or(change.mode);
        let fresh = PathBuf::from(&noted.fresh);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let first = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
        let mut file = File::from(openat(&step.dir, &fresh, flags | OFlags::NOFOLLOW, first)?);
        step.fresh = Some(fresh);
        file.write_all(content)?;
        if let Some(mode) = mode {
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        noted.written = Some(Written::from(&fstat(&file)?));
        Ok(())
    }

    /// Makes directories one by one, so that those can be taken back.
    fn make_dirs(&mut self, dir: &Path) -> io::Result<()> {
        for dir in missing(dir) {
            let parent =
                paths::open(dir.parent().unwrap_or(dir), OFlags::RDONLY | OFlags::DIRECTORY)?;
            let name = dir.file_name().unwrap_or_default();
            match mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => self.made.push(dir.to_owned()),
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Puts one new state in place, and the old one aside.
    fn swap(&mut self, index: usize) -> io::Result<()> {
        let names = self.steps.get_mut(index).zip(self.noted.steps.get(index));
        let Some((step, noted)) = names else { return Ok(()) };
        if step.found()?.is_some() {
            let backup = PathBuf::from(&noted.backup);
            // A second name keeps the first in place; where links are not possible it is moved.
            if linkat(&step.dir, &step.name, &step.dir, &backup, AtFlags::empty()).is_err() {
                renameat(&step.dir, &step.name, &step.dir, &backup)?;
            }
            step.backup = Some(backup);
        }
        match (&step.fresh, step.removes) {
            (Some(fresh), _) => renameat(&step.dir, fresh, &step.dir, &step.name)?,
            (None, true) => match unlinkat(&step.dir, &step.name, AtFlags::empty()) {
                Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            },
            (None, false) => return Err(io::Error::other("nothing was prepared")),
        }
        step.fresh = None;
        step.is_swapped = true;
        Ok(())
    }

    /// Everything is in place: forgets what was before.
    fn keep(mut self) {
        self.note.done();
        self.made.clear();
        for step in self.steps.drain(..) {
            if let Some(backup) = &step.backup {
                let _ = unlinkat(&step.dir, backup, AtFlags::empty());
            }
            let _ = step.dir.sync_all();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        for step in self.steps.drain(..).rev() {
            if let Some(fresh) = &step.fresh {
                let _ = unlinkat(&step.dir, fresh, AtFlags::empty());
            }
            match &step.backup {
                // Renaming one name of a file over another name of it does nothing, so both are tried.
                Some(backup) => {
                    let _ = renameat(&step.dir, backup, &step.dir, &step.name);
                    let _ = unlinkat(&step.dir, backup, AtFlags::empty());
                }
                None if step.is_swapped && !step.removes => {
                    let _ = unlinkat(&step.dir, &step.name, AtFlags::empty());
                }
                None => {}
            }
        }
        for dir in self.made.drain(..).rev() {
            let _ = std::fs::remove_dir(dir);
        }
        self.note.remove();
    }
}

/// The directories that are not there yet on the way to one, outer ones first.
fn missing(dir: &Path) -> Vec<&Path> {
    let is_missing = |dir: &&Path| std::fs::symlink_metadata(dir).is_err();
    let mut missing: Vec<&Path> = dir.ancestors().take_while(is_missing).collect();
    missing.reverse();
    missing
}

/// A unique name in the same directory.
fn scratch_name() -> PathBuf {
    let drawn = RandomState::new().hash_one(std::process::id());
    PathBuf::from(format!(".rookery-{drawn:016x}.tmp"))
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    fn write(path: PathBuf, content: &str) -> Change {
        Change { path, content: Some(content.into()), mode: None }
    }

    #[test]
    fn files_are_made_with_their_directories_and_keep_permissions() {
        let bench = Bench::new();
        let script = bench.file("run.sh", "old");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o751)).unwrap();
        let deep = bench.root().join("a/b/c.txt");
        commit(&[write(script.clone(), "new"), write(deep.clone(), "deep")], None).unwrap();
        assert_eq!(std::fs::read_to_string(&script).unwrap(), "new");
        assert_eq!(script.metadata().unwrap().permissions().mode() & 0o7777, 0o751);
        assert_eq!(std::fs::read_to_string(deep).unwrap(), "deep");
        assert_eq!(bench.names(), ["a", "a/b", "a/b/c.txt", "run.sh"]);
    }

    #[test]
    fn a_failure_puts_everything_back() {
        let bench = Bench::new();
        let first = bench.file("first", "1");
        let gone = bench.file("gone", "2");
        let third = bench.root().join("third");
        let before = bench.names();
        let changes = [
            write(first.clone(), "changed"),
            write(bench.root().join("new/dir/file"), "made"),
            Change { path: gone.clone(), content: None, mode: None },
            write(third.clone(), "never"),
        ];
        let mut work = Work::begin(&changes, None);
        for (index, change) in changes.iter().enumerate() {
            work.prepare(index, change).unwrap();
        }
        // A file cannot take the place of a directory, and this one comes up at the worst moment.
        std::fs::create_dir(&third).unwrap();
        (0..3).for_each(|index| work.swap(index).unwrap());
        assert_eq!(std::fs::read_to_string(&first).unwrap(), "changed");
        assert!(work.swap(3).is_err());
        drop(work);
        std::fs::remove_dir(&third).unwrap();
        assert_eq!(std::fs::read_to_string(first).unwrap(), "1");
        assert_eq!(std::fs::read_to_string(gone).unwrap(), "2");
        assert_eq!(bench.names(), before);
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let bench = Bench::new();
        bench.file("dir/inner", "kept");
        let why = commit(&[write(bench.root().join("dir"), "x")], None).unwrap_err();
        assert!(why.ends_with("it is not a regular file"), "{why}");
        assert_eq!(bench.names(), ["dir", "dir/inner"]);
    }

    #[test]
    fn removing_what_is_not_there_is_no_failure() {
        let bench = Bench::new();
        let path = bench.root().join("none");
        commit(&[Change { path, content: None, mode: None }], None).unwrap();
        assert!(bench.names().is_empty());
    }

    /// How far a commit had come when it was killed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Killed {
        Prepared,
        Swapped(usize),
        Done,
    }

    fn killed_at(changes: &[Change], notes: &Path, at: Killed) {
        let mut work = Work::begin(changes, Some(notes));
        for (index, change) in changes.iter().enumerate() {
            work.prepare(index, change).unwrap();
        }
        work.note.write(&work.noted);
        let swapped = match at {
            Killed::Prepared => 0,
            Killed::Swapped(count) => count,
            Killed::Done => changes.len(),
        };
        (0..swapped).for_each(|index| work.swap(index).unwrap());
        if at == Killed::Done {
            work.note.done();
        }
        std::mem::forget(work);
    }

    #[test]
    fn what_a_killed_daemon_was_writing_is_settled() {
        let stages = [Killed::Prepared, Killed::Swapped(1), Killed::Swapped(2), Killed::Swapped(3)];
        for at in stages.into_iter().chain([Killed::Done]) {
            let bench = Bench::new();
            let (old, gone) = (bench.file("old", "1"), bench.file("gone", "2"));
            let before = bench.names();
            let changes = [
                write(old.clone(), "new"),
                Change { path: gone, content: None, mode: None },
                write(bench.root().join("a/b/made"), "made"),
            ];
            killed_at(&changes, &bench.writes(), at);
            settle_writes(&bench.writes());
            let (names, text) = match at {
                Killed::Done => {
                    (["a", "a/b", "a/b/made", "old"].map(str::to_owned).to_vec(), "new")
                }
                _ => (before, "1"),
            };
            assert_eq!((bench.names(), bench.read("old").as_str()), (names, text), "{at:?}");
            assert_eq!(std::fs::read_dir(bench.writes()).unwrap().count(), 0, "{at:?}");
            // Once is enough.
            settle_writes(&bench.writes());
            assert_eq!(bench.read("old"), text);
        }
    }

    #[test]
    fn what_was_changed_since_stays_as_it_is() {
        let bench = Bench::new();
        let (old, made) = (bench.file("old", "1"), bench.root().join("made"));
        let changes = [write(old.clone(), "new"), write(made.clone(), "made")];
        killed_at(&changes, &bench.writes(), Killed::Swapped(2));
        for path in [&old, &made] {
            std::fs::write(path, "by a person").unwrap();
        }
        settle_writes(&bench.writes());
        assert_eq!(bench.names(), ["made", "old"]);
        assert_eq!(
            (bench.read("old"), bench.read("made")),
            ("by a person".into(), "by a person".into())
        );
    }

    #[test]
    fn attack_a_note_names_no_file_but_ours() {
        let bench = Bench::new();
        let kept = bench.file("kept", "1");
        let step = |fresh: &str, backup: &str| NotedStep {
            dir: bench.root().into(),
            name: "other".into(),
            fresh: fresh.into(),
            backup: backup.into(),
            written: None,
        };
        let steps = vec![step("kept", ".rookery-1.tmp"), step(".rookery-1.tmp", "../root/kept")];
        let mut note = Note::begin(Some(&bench.writes()), &Noted { steps, made: Vec::new() });
        std::fs::write(bench.writes().join("x.json"), "{").unwrap();
        std::fs::write(bench.writes().join("y.draft"), "{").unwrap();
        settle_writes(&bench.writes());
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "1");
        assert_eq!(std::fs::read_dir(bench.writes()).unwrap().count(), 0);
        note.remove();
    }

    #[test]
    fn a_commit_leaves_no_note() {
        let bench = Bench::new();
        commit(&[write(bench.root().join("a"), "1")], Some(&bench.writes())).unwrap();
        let why =
            commit(&[write(bench.root().join("a/b"), "2")], Some(&bench.writes())).unwrap_err();
        assert!(why.starts_with("cannot write"), "{why}");
        assert_eq!(bench.names(), ["a"]);
        assert_eq!(std::fs::read_dir(bench.writes()).unwrap().count(), 0);
    }
}
