//! Finds the items of a workspace, and those of the user. Reads only; everything is bounded.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use rookery_host::EntryKind;
use rookery_model::Timestamp;

use crate::content::Content;
use crate::decisions::Decision;
use crate::item::{Item, PluginRef, Scan, ScanError, Source, SourceKind, State, digest, item_id};
use crate::plugin::PluginRoot;
use crate::read::{self, FileText};
use crate::sources::{self, Find, Read, Row};
use crate::tree::Tree;
use crate::{overlay, preview};

/// The longest file that is read.
pub(crate) const FILE_LIMIT: usize = 256 << 10;
/// Files that one scan reads.
pub(crate) const FILES_LIMIT: usize = 4000;
/// Bytes that one scan reads.
const BYTES_LIMIT: usize = 64 << 20;
/// Items of one scan.
pub(crate) const ITEMS_LIMIT: usize = 2000;
/// Complaints of one scan.
const ERRORS_LIMIT: usize = 500;
/// Directories that are searched for guidance below the root.
const NESTED_DIRS: usize = 2000;
/// How deep they may be.
const NESTED_DEPTH: usize = 4;
/// Directories in which no guidance is looked for.
const SKIPPED: [&str; 6] = ["node_modules", "target", "vendor", "dist", "build", "__pycache__"];

/// Where the user's own files are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPlaces {
    /// Our own directory of settings.
    pub config: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// What is to be scanned.
#[derive(Clone, Copy, Debug)]
pub struct ScanRequest<'a> {
    pub workspace: &'a Path,
    /// The user's own files, if they are wanted.
    pub user: Option<&'a UserPlaces>,
    /// Installed plugins, which are the user's.
    pub plugins: &'a [PluginRoot],
    /// What was decided in this workspace.
    pub decisions: &'a [Decision],
    /// The time.
    pub now: Timestamp,
}

/// Finds and reads everything that can be enabled, with the state that decisions give it.
///
/// # Errors
/// If the workspace cannot be opened.
pub fn scan(request: ScanRequest<'_>) -> io::Result<Scan> {
    let mut scanner = Scanner::new(request.now);
    let place = Place {
        tree: Tree::confined(request.workspace)?,
        root: request.workspace.to_owned(),
        is_user: false,
        below: PathBuf::new(),
        plugin: None,
    };
    sources::WORKSPACE.iter().for_each(|row| scanner.row(&place, row));
    if let Some(user) = request.user {
        let places = [(&user.config, sources::CONFIG), (&user.home, sources::HOME)];
        for (root, rows) in places {
            let Some(root) = root else { continue };
            let place = Place::of_user(Tree::Open(root.clone()), root, None);
            rows.iter().for_each(|row| scanner.row(&place, row));
        }
        request.plugins.iter().for_each(|plugin| scanner.installed(plugin));
    }
    overlay::apply(&mut scanner.found, request.decisions);
    scanner.leave_out_parts_of_ignored_plugins();
    scanner.parts_of_enabled_plugins(&place);
    Ok(scanner.finish(request))
}

/// A directory that rows are looked up in.
pub(crate) struct Place {
    pub(crate) tree: Tree,
    pub(crate) root: PathBuf,
    pub(crate) is_user: bool,
    /// Where in the tree the rows begin.
    pub(crate) below: PathBuf,
    pub(crate) plugin: Option<PluginRef>,
}

impl Place {
    pub(crate) fn of_user(tree: Tree, root: &Path, plugin: Option<PluginRef>) -> Self {
        Self { tree, root: root.to_owned(), is_user: true, below: PathBuf::new(), plugin }
    }

    /// A path as items spell it.
    fn shown(&self, path: &Path) -> String {
        let path = if self.is_user { self.root.join(path) } else { path.to_owned() };
        path.to_string_lossy().into_owned()
    }
}

pub(crate) struct Scanner {
    pub(crate) found: HashMap<String, Item>,
    pub(crate) errors: Vec<ScanError>,
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    pub(crate) now: Timestamp,
}

impl Scanner {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { found: HashMap::new(), errors: Vec::new(), files: 0, bytes: 0, now }
    }

    pub(crate) fn row(&mut self, place: &Place, row: &Row) {
        let path = place.below.join(row.path);
        match row.find {
            Find::File => self.file(place, &path, &path, row),
            Find::Files(endings, depth) => self.files(place, &path, &path, row, (endings, depth)),
            Find::InFolders(name) => self.in_folders(place, &path, name, row),
            Find::FoldersLike(endings) => self.folders_like(place, &path, endings, row),
            Find::Nested => self.nested(place, row),
        }
    }

    /// The entries of a directory that have usable names; none if there is no such directory.
    fn list(&mut self, place: &Place, dir: &Path) -> Vec<(String, EntryKind)> {
        let entries = match place.tree.list(dir) {
            Ok(entries) => entries,
            Err(error) => {
                let is_missing =
                    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
                if !is_missing {
                    self.complain(place, dir, &trouble(&error));
                }
                return Vec::new();
            }
        };
        let mut named = Vec::new();
        for (name, kind) in entries {
            match name {
                Ok(name) if !name.contains(char::is_control) => named.push((name, kind)),
                Ok(name) => self.odd_name(place, dir, &name),
                Err(name) => self.odd_name(place, dir, &name.to_string_lossy()),
            }
        }
        named
    }

    fn odd_name(&mut self, place: &Place, dir: &Path, name: &str) {
        let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
        self.complain(place, &dir.join(shown), "its name has characters that are not supported");
    }

    pub(crate) fn files(
        &mut self,
        place: &Place,
        base: &Path,
        dir: &Path,
        row: &Row,
        (endings, depth): (&[&str], usize),
    ) {
        for (name, kind) in self.list(place, dir) {
            let path = dir.join(&name);
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            match kind {
                EntryKind::Dir if depth > 0 => {
                    self.files(place, base, &path, row, (endings, depth - 1));
                }
                EntryKind::File | EntryKind::Link | EntryKind::Other
                    if endings.contains(&ending) =>
                {
                    self.file(place, base, &path, row);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn in_folders(&mut self, place: &Place, dir: &Path, name: &str, row: &Row) {
        for (folder, kind) in self.list(place, dir) {
            if matches!(kind, EntryKind::Dir | EntryKind::Link) {
                let path = dir.join(folder).join(name);
                self.file(place, dir, &path, row);
            }
        }
    }

    fn folders_like(&mut self, place: &Place, path: &Path, endings: &[&str], row: &Row) {
        let (Some(parent), Some(prefix)) = (path.parent(), path.file_name()) else { return };
        let prefix = prefix.to_string_lossy().into_owned();
        for (folder, kind) in self.list(place, parent) {
            if kind == EntryKind::Dir && folder.starts_with(&prefix) {
                let dir = parent.join(folder);
                self.files(place, parent, &dir, row, (endings, 2));
            }
        }
    }

    /// Looks for a file in the directories below the root, the nearer ones first.
    fn nested(&mut self, place: &Place, row: &Row) {
        let mut dirs: Vec<PathBuf> = vec![PathBuf::new()];
        let mut looked_at = 0;
        for depth in 0..=NESTED_DEPTH {
            let mut next = Vec::new();
            for dir in dirs {
                looked_at += 1;
                if looked_at > NESTED_DIRS {
                    return;
                }
                // What cannot be listed here is no place of ours.
                let Ok(entries) = place.tree.list(&dir) else { continue };
                for (name, kind) in entries {
                    let Ok(name) = name else { continue };
                    let is_searched = kind == EntryKind::Dir
                        && !name.starts_with('.')
                        && !name.contains(char::is_control)
                        && !SKIPPED.contains(&name.as_str());
                    if is_searched && depth < NESTED_DEPTH {
                        next.push(dir.join(&name));
                    } else if name == row.path && depth > 0 && kind != EntryKind::Dir {
                        let path = dir.join(&name);
                        self.file(place, &path, &path, row);
                    }
                }
            }
            dirs = next;
        }
    }

    /// Reads one file, which is named by its path below `base`.
    pub(crate) fn file(&mut self, place: &Place, base: &Path, path: &Path, row: &Row) {
        if self.files >= FILES_LIMIT || self.bytes >= BYTES_LIMIT {
            if self.files <= FILES_LIMIT {
                self.files = FILES_LIMIT + 1;
                self.complain(
                    place,
                    path,
                    "the scan has read as much as it may; the rest is left out",
                );
            }
            return;
        }
        let bytes = match place.tree.read(path, FILE_LIMIT + 1) {
            Ok(bytes) => bytes,
            Err(error) => {
                let kind = error.kind();
                use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
                if !matches!(kind, NotFound | NotADirectory | IsADirectory) {
                    self.complain(place, path, &trouble(&error));
                }
                return;
            }
        };
        self.files += 1;
        self.bytes += bytes.len();
        if bytes.len() > FILE_LIMIT {
            // A README is no file of agents; a long one is nothing to complain about.
            if row.read != Read::Excerpt {
                self.complain(place, path, &format!("it is longer than {FILE_LIMIT} bytes"));
            }
            return;
        }
        let hash = digest(&bytes);
        let Ok(text) = String::from_utf8(bytes) else {
            return self.complain(place, path, "it is not UTF-8");
        };
        self.text(place, (base, path), row, &text, &hash);
    }

    /// The items of a text that a file, or a part of one, holds.
    pub(crate) fn text(
        &mut self,
        place: &Place,
        (base, path): (&Path, &Path),
        row: &Row,
        text: &str,
        hash: &str,
    ) {
        let (name, folder) = (name_below(base, path), folder_of(path));
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let plugin = place.plugin.as_ref().map(|plugin| plugin.name.as_str());
        let file = FileText { text, name, folder, ending, plugin };
        let (drafts, problems) = match read::items(row.read, &file) {
            Ok(read) => read,
            Err(reason) => return self.complain(place, path, &reason),
        };
        problems.iter().for_each(|problem| self.complain(place, path, problem));
        let shown = place.shown(path);
        for draft in drafts {
            let id = item_id(draft.kind, &shown, draft.name.as_deref());
            let is_known = self.found.get(&id).is_some_and(|known| known.plugin.is_some());
            if is_known || self.found.len() >= ITEMS_LIMIT {
                continue;
            }
            let mut item = Item {
                id: id.clone(),
                title: draft.title,
                summary: draft.summary,
                source: Source {
                    kind: draft.kind,
                    path: shown.clone(),
                    name: draft.name,
                    hash: hash.to_owned(),
                    detected_at: self.now,
                },
                state: State::Detected,
                risk: draft.risk,
                is_command_capable: draft.is_command_capable,
                needs_approval: draft.needs_approval,
                preview: draft.preview,
                conflicts: Vec::new(),
                enabled_at: None,
                is_live: row.is_live,
                file: place.root.join(path),
                plugin: place.plugin.clone(),
                content: draft.content,
            };
            if let Content::Plugin(manifest) = &item.content {
                let manifest = manifest.clone();
                self.look_into(place, path, &manifest, &mut item);
            }
            item.preview = preview::bounded(item.preview);
            self.found.insert(id, item);
        }
    }

    pub(crate) fn complain(&mut self, place: &Place, path: &Path, message: &str) {
        if self.errors.len() < ERRORS_LIMIT {
            let (path, message) = (place.shown(path), message.to_owned());
            self.errors.push(ScanError { path, message });
        }
    }

    fn finish(mut self, request: ScanRequest<'_>) -> Scan {
        overlay::apply(&mut self.found, request.decisions);
        let mut items: Vec<Item> = self.found.into_values().collect();
        items.sort_by(|a, b| a.id.cmp(&b.id));
        self.errors.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
        self.errors.dedup();
        Scan { workspace: request.workspace.to_owned(), items, errors: self.errors }
    }
}

/// The name of a file by its path below a folder: parts joined by colons, without the ending.
fn name_below(base: &Path, path: &Path) -> String {
    let below = path.strip_prefix(base).ok().filter(|below| !below.as_os_str().is_empty());
    let below =
        below.map_or_else(|| PathBuf::from(path.file_name().unwrap_or_default()), Path::to_owned);
    let plain = below.with_extension("");
    let parts = plain.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join(":")
}

fn folder_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    folder.to_string_lossy().into_owned()
}

pub(crate) fn trouble(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::CrossesDevices => "it leads out of the workspace".to_owned(),
        io::ErrorKind::InvalidInput => "it is not a regular file".to_owned(),
        _ => error.to_string(),
    }
}

/// Which kinds of items have names that are used.
pub(crate) fn is_named(kind: SourceKind) -> bool {
    matches!(
        kind,
        SourceKind::Skill | SourceKind::SlashCommand | SourceKind::Agent | SourceKind::McpServer
    )
}
