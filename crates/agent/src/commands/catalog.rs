//! Finds the commands of the user and of a workspace, and remembers the files it has read.
//!
//! Everything here blocks on the disk: callers put it on a thread that may.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::{Beneath, EntryKind};

use super::command::{Command, FILE_LIMIT};
use super::{CommandError, CommandInfo, Source, Warning, built_ins};
use crate::settings::CommandSettings;

/// How deep below its directory a file may lie.
const DEPTH_LIMIT: usize = 8;
/// How many files of one directory are read.
const FILES_LIMIT: usize = 1000;
/// How many entries of one directory are looked at.
const ENTRIES_LIMIT: usize = 16_384;
/// A file that was written this recently can be written again within the same tick of its clock.
const SETTLED: Duration = Duration::from_millis(100);
/// How many files are remembered over all directories.
const MEMORY_LIMIT: usize = 4096;

/// Where others keep commands, below the user's home and below a workspace.
const PLAIN_DIR: &str = ".roo/commands";

/// How the files of a directory are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// As ours are, at any depth.
    Own,
    /// As others write them, right in the directory.
    Plain,
}

impl Format {
    fn depth(self) -> usize {
        match self {
            Self::Own => DEPTH_LIMIT,
            Self::Plain => 0,
        }
    }
}

/// All commands there are.
#[derive(Debug)]
pub struct Catalog {
    settings: CommandSettings,
    home: Option<PathBuf>,
    extra: Mutex<Vec<Arc<Command>>>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    files: HashMap<PathBuf, Remembered>,
    /// The last scan of a directory, for those who do not want it repeated.
    scans: HashMap<PathBuf, Arc<Scan>>,
}

#[derive(Clone, Debug)]
struct Remembered {
    /// None if it has to be read again whatever its stamp says.
    stamp: Option<Stamp>,
    parsed: Result<Arc<Command>, String>,
}

/// What tells a file from its earlier self.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
    len: u64,
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            inode: (meta.dev(), meta.ino()),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            len: meta.len(),
        }
    }
}

/// The commands of one directory.
#[derive(Clone, Debug, Default)]
struct Scan {
    found: Vec<(PathBuf, Arc<Command>)>,
    warnings: Vec<Warning>,
}

/// The commands that a workspace has, and the files that are none.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    commands: BTreeMap<String, Arc<Command>>,
    /// What was skipped, and why; the same again at each listing until it is mended.
    pub warnings: Vec<Warning>,
}

impl Listing {
    /// What clients see, sorted by name.
    pub fn infos(&self) -> Vec<CommandInfo> {
        self.commands.values().map(|command| command.info.clone()).collect()
    }

    /// Adds commands whose names are free.
    pub fn add(&mut self, commands: &[Arc<Command>]) {
        for command in commands {
            let name = command.info.name.clone();
            self.commands.entry(name).or_insert_with(|| Arc::clone(command));
        }
    }

    /// Leaves out the commands of these files.
    pub fn leave_out(&mut self, files: &[PathBuf]) {
        let is_in =
            |command: &Command| command.info.file.as_ref().is_some_and(|file| files.contains(file));
        self.commands.retain(|_, command| !is_in(command));
    }

    /// The command of this name; a slash before it is ignored.
    pub fn find(&self, name: &str) -> Result<Arc<Command>, CommandError> {
        let bare = name.strip_prefix('/').unwrap_or(name);
        self.commands.get(bare).cloned().ok_or_else(|| CommandError::Unknown(name.to_owned()))
    }
}

impl Catalog {
    /// A catalog with these settings. Nothing is read yet.
    pub fn new(settings: CommandSettings) -> Self {
        Self { settings, home: None, extra: Mutex::default(), memory: Mutex::default() }
    }

    /// The same with the commands that others keep in this home of a user.
    #[must_use]
    pub fn with_home(self, home: PathBuf) -> Self {
        Self { home: Some(home), ..self }
    }

    /// What it was made with.
    pub fn settings(&self) -> &CommandSettings {
        &self.settings
    }

    /// Replaces the commands that come from neither us nor a directory. Files of the same name win.
    pub fn set_extra(&self, commands: Vec<Arc<Command>>) {
        *self.extra.lock() = commands;
    }

    /// The commands for a workspace, or for none. Reads only files that changed since. Blocks.
    pub fn list(&self, workspace: Option<&Path>) -> Result<Listing, CommandError> {
        if !self.settings.enabled {
            return Err(CommandError::Disabled);
        }
        if workspace.is_some_and(|path| !path.is_absolute()) {
            return Err(CommandError::RelativeWorkspace);
        }
        let user = self.settings.user_dir.as_deref();
        let local = workspace.map(|root| root.join(&self.settings.workspace_dir));
        let plain_user = self.home.as_ref().map(|home| home.join(PLAIN_DIR));
        let plain_local = workspace.map(|root| root.join(PLAIN_DIR));
        let of_user = |dir: Option<&Path>, format| {
            dir.map(|dir| self.scan(dir, None, &Source::User, format)).unwrap_or_default()
        };
        let of_workspace = |dir: Option<PathBuf>, format| {
            let scan = |dir: PathBuf| self.scan(&dir, workspace, &Source::Workspace, format);
            dir.map(scan).unwrap_or_default()
        };
        // The later, the nearer.
        let scans = [
            of_user(plain_user.as_deref(), Format::Plain),
            of_workspace(plain_local, Format::Plain),
            of_user(user, Format::Own),
            of_workspace(local, Format::Own),
        ];
        Ok(merge(&self.extra.lock(), &scans))
    }

    /// Reads the commands of a directory; of a repository's, nothing that leads out of `within`.
    fn scan(
        &self,
        dir: &Path,
        within: Option<&Path>,
        source: &Source,
        format: Format,
    ) -> Arc<Scan> {
        if !self.settings.live_reload
            && let Some(scan) = self.memory.lock().scans.get(dir)
        {
            return scan.clone();
        }
        let mut scan = Scan::default();
        let mut paths = Vec::new();
        let reach = Reach::new(dir, within);
        walk(&reach, dir, format.depth(), &mut paths, &mut scan.warnings);
        if paths.len() > FILES_LIMIT {
            let message = format!("only the first {FILES_LIMIT} files are read");
            scan.warnings.push(Warning { path: dir.to_owned(), message });
        }
        paths.sort();
        paths.truncate(FILES_LIMIT);
        for path in &paths {
            match reach.open(path).map(|file| self.read(path, file, source, format)) {
                Ok(Ok(command)) => scan.found.push((path.clone(), command)),
                Ok(Err(message)) => scan.warnings.push(Warning { path: path.clone(), message }),
                // A link that leads nowhere.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => scan.warnings.push(complaint(path, &error)),
            }
        }
        let scan = Arc::new(scan);
        let mut memory = self.memory.lock();
        let there: HashSet<&PathBuf> = paths.iter().collect();
        memory.files.retain(|path, _| !path.starts_with(dir) || there.contains(path));
        if memory.files.len() > MEMORY_LIMIT {
            memory.files.clear();
        }
        // Only kept where it is read: a directory that is looked at each time needs no copy.
        if !self.settings.live_reload && memory.scans.len() < MEMORY_LIMIT {
            memory.scans.insert(dir.to_owned(), scan.clone());
        }
        scan
    }

    fn read(
        &self,
        path: &Path,
        file: File,
        source: &Source,
        format: Format,
    ) -> Result<Arc<Command>, String> {
        let meta = file.metadata().map_err(|error| error.to_string())?;
        let stamp = Stamp::of(&meta);
        if let Some(known) = self.memory.lock().files.get(path)
            && known.stamp == Some(stamp)
        {
            return known.parsed.clone();
        }
        let parsed = load(path, file, source, format).map(Arc::new);
        let age = meta.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        let stamp = (age > SETTLED).then_some(stamp);
        let remembered = Remembered { stamp, parsed: parsed.clone() };
        self.memory.lock().files.insert(path.to_owned(), remembered);
        parsed
    }
}

fn load(path: &Path, file: File, source: &Source, format: Format) -> Result<Command, String> {
    let mut text = String::new();
    let read = file.take(FILE_LIMIT + 1).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    })?;
    if text.len() as u64 > FILE_LIMIT {
        return Err(format!("it is longer than {FILE_LIMIT} bytes"));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut command = match format {
        Format::Own => Command::parse(&text, &stem, source.clone()),
        Format::Plain => Command::parse_plain(&text, &stem, source.clone()),
    }?;
    command.info.file = Some(path.to_owned());
    Ok(command)
}

/// How the files of a directory are reached.
enum Reach<'a> {
    /// The user's own: links lead wherever he wants.
    Anywhere,
    /// A repository's: nothing leads out of the workspace.
    Within { root: &'a Path, tree: io::Result<Beneath> },
}

impl<'a> Reach<'a> {
    fn new(dir: &Path, within: Option<&'a Path>) -> Self {
        // A directory elsewhere was named by the user's settings, not by the repository.
        match within.filter(|root| dir.starts_with(root)) {
            Some(root) => Self::Within { root, tree: Beneath::new(root) },
            None => Self::Anywhere,
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        match self {
            Self::Anywhere => {
                let entries = fs::read_dir(dir)?.flatten().take(ENTRIES_LIMIT);
                Ok(entries.map(|entry| (entry.file_name(), kind(&entry))).collect())
            }
            Self::Within { .. } => {
                let (tree, path) = self.below(dir)?;
                tree.list(path, ENTRIES_LIMIT)
            }
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        match self {
            Self::Anywhere => rookery_host::files::open_regular(path),
            Self::Within { .. } => {
                let (tree, path) = self.below(path)?;
                tree.open(path)
            }
        }
    }

    fn below<'p>(&self, path: &'p Path) -> io::Result<(&Beneath, &'p Path)> {
        let Self::Within { root, tree: Ok(tree) } = self else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let path = path.strip_prefix(root).map_err(io::Error::other)?;
        Ok((tree, path))
    }
}

fn kind(entry: &fs::DirEntry) -> EntryKind {
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => EntryKind::Dir,
        Ok(kind) if kind.is_file() => EntryKind::File,
        Ok(kind) if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

fn complaint(path: &Path, error: &io::Error) -> Warning {
    let message = match error.kind() {
        io::ErrorKind::CrossesDevices => "it leads out of the workspace".to_owned(),
        _ => error.to_string(),
    };
    Warning { path: path.to_owned(), message }
}

/// Collects the files below a directory, down to a depth. Linked files count, linked directories do not: they can
/// lead in circles.
fn walk(
    reach: &Reach<'_>,
    dir: &Path,
    depth: usize,
    paths: &mut Vec<PathBuf>,
    warnings: &mut Vec<Warning>,
) {
    let entries = match reach.list(dir) {
        Ok(entries) => entries,
        Err(error) => {
            // Most have no such directory, and one that vanished meanwhile is no error.
            if error.kind() != io::ErrorKind::NotFound {
                warnings.push(complaint(dir, &error));
            }
            return;
        }
    };
    for (name, kind) in entries {
        if paths.len() > FILES_LIMIT {
            return;
        }
        let path = dir.join(name);
        match kind {
            EntryKind::Dir if depth > 0 => {
                walk(reach, &path, depth - 1, paths, warnings);
            }
            EntryKind::File | EntryKind::Link
                if path.extension().is_some_and(|ending| ending == "md") =>
            {
                paths.push(path);
            }
            _ => {}
        }
    }
}

/// Puts everything in its order: ours cannot be replaced, the workspace beats the user.
fn merge(extra: &[Arc<Command>], scans: &[Arc<Scan>]) -> Listing {
    let mut listing = Listing::default();
    for command in extra {
        listing.commands.insert(command.info.name.clone(), command.clone());
    }
    for scan in scans {
        listing.warnings.extend(scan.warnings.iter().cloned());
        let mut of_scan = HashSet::new();
        for (path, command) in &scan.found {
            let name = &command.info.name;
            let reason = if is_built_in(name) {
                format!("/{name} is built in and cannot be replaced")
            } else if of_scan.insert(name) {
                listing.commands.insert(name.clone(), command.clone());
                continue;
            } else {
                format!("another file already defines /{name}")
            };
            listing.warnings.push(Warning { path: path.clone(), message: reason });
        }
    }
    for command in built_ins() {
        listing.commands.insert(command.info.name.clone(), command.clone());
    }
    listing
}

fn is_built_in(name: &str) -> bool {
    built_ins().iter().any(|command| command.info.name == name)
}
