//! Changes files: all of them or none, each by a new file that takes the old one's name.
//!
//! What is replaced is kept under another name until everything is in place, so that a failure
//! half way is undone by renaming alone.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, linkat, mkdirat, openat, renameat, statat, unlinkat,
};

use super::paths;
use crate::tool::ToolContext;

/// Held while files are read, changed and written back, so that no two changes mix.
static WRITING: Mutex<()> = Mutex::new(());

/// The same for files elsewhere, which may take their time.
static WRITING_ELSEWHERE: Mutex<()> = Mutex::new(());

/// Waits until no other change is being made, and keeps others waiting.
pub(super) fn exclusive(context: &ToolContext) -> MutexGuard<'static, ()> {
    match context.files {
        Some(_) => WRITING_ELSEWHERE.lock(),
        None => WRITING.lock(),
    }
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

/// Makes all changes. If one fails, everything is as it was.
pub(super) fn commit(changes: &[Change]) -> Result<(), String> {
    let mut work = Work::default();
    for change in changes {
        let result = work.prepare(change);
        result.map_err(|error| format!("cannot write {}: {error}", change.path.display()))?;
    }
    for (index, change) in changes.iter().enumerate() {
        let result = work.swap(index);
        result.map_err(|error| format!("cannot write {}: {error}", change.path.display()))?;
    }
    work.keep();
    Ok(())
}

/// Changes on their way. Dropped before they are kept, they are undone.
#[derive(Default)]
struct Work {
    steps: Vec<Step>,
    /// Directories that were made, outer ones first.
    made: Vec<PathBuf>,
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
    /// Makes the directory and writes the new file beside the old one.
    fn prepare(&mut self, change: &Change) -> io::Result<()> {
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
        let Some((step, content)) = self.steps.last_mut().zip(change.content.as_ref()) else {
            return Ok(());
        };
        let before = step.found()?;
        let mode = before.map(|found| found.st_mode & 0o7777).or(change.mode);
        let fresh = scratch_name();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let first = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
        let mut file = File::from(openat(&step.dir, &fresh, flags | OFlags::NOFOLLOW, first)?);
        step.fresh = Some(fresh);
        file.write_all(content)?;
        if let Some(mode) = mode {
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        file.sync_all()
    }

    /// Makes directories one by one, so that those can be taken back.
    fn make_dirs(&mut self, dir: &Path) -> io::Result<()> {
        let mut missing: Vec<&Path> = Vec::new();
        let mut at = dir;
        while std::fs::symlink_metadata(at).is_err() {
            missing.push(at);
            at = at.parent().unwrap_or(Path::new("/"));
        }
        for dir in missing.into_iter().rev() {
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
        let Some(step) = self.steps.get_mut(index) else { return Ok(()) };
        if step.found()?.is_some() {
            let backup = scratch_name();
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
    }
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
        commit(&[write(script.clone(), "new"), write(deep.clone(), "deep")]).unwrap();
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
        let mut work = Work::default();
        changes.iter().for_each(|change| work.prepare(change).unwrap());
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
        let why = commit(&[write(bench.root().join("dir"), "x")]).unwrap_err();
        assert!(why.ends_with("it is not a regular file"), "{why}");
        assert_eq!(bench.names(), ["dir", "dir/inner"]);
    }

    #[test]
    fn removing_what_is_not_there_is_no_failure() {
        let bench = Bench::new();
        let path = bench.root().join("none");
        commit(&[Change { path, content: None, mode: None }]).unwrap();
        assert!(bench.names().is_empty());
    }
}
