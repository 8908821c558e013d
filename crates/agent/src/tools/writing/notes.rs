//! Notes of files that are on their way, each in a file of our own until everything is in place: a daemon
//! that was killed in between leaves no file of ours beside those of the user, and nothing half-made.
//!
//! What stands under a name by now is put back only if it is still exactly what we wrote there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, Stat, renameat, statat, unlinkat};
use serde::{Deserialize, Serialize};

use super::scratch_name;
use crate::tools::paths;

/// How long a note may be.
const MAX_NOTE: u64 = 64 << 20;
/// Notes that are looked at after a daemon was killed; far more than one can leave.
const MAX_NOTES: usize = 4096;
/// How notes end that are whole, those whose files are all in place, and those that are being written.
const WHOLE: &str = "json";
const DONE: &str = "done";
const DRAFT: &str = "draft";

/// What is known of one commit.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) steps: Vec<NotedStep>,
    /// Directories that are made for it, outer ones first.
    pub(super) made: Vec<OsString>,
}

/// What is known of one file of a commit.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NotedStep {
    pub(super) dir: OsString,
    pub(super) name: OsString,
    /// Where the new content is written first.
    pub(super) fresh: OsString,
    /// What the old file is called until everything is in place.
    pub(super) backup: OsString,
    /// The new file, once it is written.
    pub(super) written: Option<Written>,
}

/// What tells a file that we wrote from any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Written {
    device: u64,
    inode: u64,
    size: i64,
    seconds: i64,
    nanoseconds: u64,
}

impl From<&Stat> for Written {
    #[allow(clippy::unnecessary_cast, reason = "the types of a status differ between machines")]
    fn from(found: &Stat) -> Written {
        Written {
            device: found.st_dev as u64,
            inode: found.st_ino as u64,
            size: found.st_size as i64,
            seconds: found.st_mtime as i64,
            nanoseconds: found.st_mtime_nsec as u64,
        }
    }
}

/// The note of one commit, if there is a place for notes. Gone with the commit.
#[derive(Debug, Default)]
pub(super) struct Note {
    path: Option<PathBuf>,
}

impl Note {
    /// Begins a note in this directory. Without one, or where it cannot be written, files are changed all the
    /// same, and only a daemon that is killed meanwhile leaves something behind.
    pub(super) fn begin(dir: Option<&Path>, noted: &Noted) -> Note {
        let Some(dir) = dir else { return Note::default() };
        let mut note = Note { path: Some(dir.join(scratch_name()).with_extension(WHOLE)) };
        note.write(noted);
        note
    }

    /// Replaces the note.
    pub(super) fn write(&mut self, noted: &Noted) {
        let Some(path) = &self.path else { return };
        if let Err(error) = put(path, noted) {
            tracing::warn!(%error, "what is being written cannot be noted");
            self.remove();
        }
    }

    /// Notes that everything is in place: from now on it stays, whatever happens.
    pub(super) fn done(&mut self) {
        let Some(path) = &mut self.path else { return };
        let done = path.with_extension(DONE);
        match std::fs::rename(&*path, &done) {
            Ok(()) => *path = done,
            Err(error) => tracing::warn!(%error, "what was written cannot be noted"),
        }
    }

    pub(super) fn remove(&mut self) {
        if let Some(path) = self.path.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn put(path: &Path, noted: &Noted) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let draft = path.with_extension(DRAFT);
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    // A machine that loses power keeps none of it; a daemon that is killed loses nothing.
    serde_json::to_writer(io::BufWriter::new(&file), noted)?;
    std::fs::rename(&draft, path)
}

/// Undoes what a daemon that was killed was writing, or takes away what it left of what it wrote. Nothing
/// may be written meanwhile.
pub fn settle_writes(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten().take(MAX_NOTES) {
        let path = entry.path();
        let is_done = match path.extension().and_then(OsStr::to_str) {
            Some(WHOLE) => false,
            Some(DONE) => true,
            // One that was being written says nothing yet.
            Some(DRAFT) => {
                let _ = std::fs::remove_file(&path);
                continue;
            }
            _ => continue,
        };
        match read(&path) {
            Ok(noted) => noted.settle(is_done),
            Err(error) => tracing::warn!(%error, "a note of what was being written is damaged"),
        }
        let _ = std::fs::remove_file(&path);
    }
}

fn read(path: &Path) -> io::Result<Noted> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_NOTE).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

impl Noted {
    fn settle(&self, is_done: bool) {
        for step in self.steps.iter().rev().filter(|step| step.is_plain()) {
            let dir = paths::open(Path::new(&step.dir), OFlags::RDONLY | OFlags::DIRECTORY);
            // What is gone with its directory needs nothing more.
            let Ok(dir) = dir else { continue };
            if !is_done {
                step.undo(&dir);
            }
            for left in [&step.fresh, &step.backup] {
                let _ = unlinkat(&dir, left.as_os_str(), AtFlags::empty());
            }
        }
        if !is_done {
            for dir in self.made.iter().rev() {
                // Those in which there is something by now stay.
                let _ = std::fs::remove_dir(dir);
            }
        }
    }
}

impl NotedStep {
    /// Whether it names files of its directory, and ours by names of ours.
    fn is_plain(&self) -> bool {
        let is_name = |name: &OsStr| Path::new(name).file_name() == Some(name);
        let is_ours = |name: &OsStr| {
            let text = name.to_string_lossy();
            is_name(name) && text.starts_with(".rookery-") && text.ends_with(".tmp")
        };
        is_name(&self.name) && is_ours(&self.fresh) && is_ours(&self.backup)
    }

    fn undo(&self, dir: &File) {
        let found = |name: &OsStr| statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let now = found(&self.name);
        let is_gone = matches!(now, Err(rustix::io::Errno::NOENT));
        let is_ours = match (&now, self.written) {
            (Ok(now), Some(written)) => Written::from(now) == written,
            _ => false,
        };
        let has_backup = found(&self.backup).is_ok();
        if has_backup && (is_gone || is_ours) {
            let _ = renameat(dir, self.backup.as_os_str(), dir, self.name.as_os_str());
        } else if !has_backup && is_ours {
            let _ = unlinkat(dir, self.name.as_os_str(), AtFlags::empty());
        }
    }
}
