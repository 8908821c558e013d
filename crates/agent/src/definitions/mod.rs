//! Agent definitions: kinds of child agents, with with its instructions, may use and is bounded by. Some ship
//! with us, others are Markdown files of the user and of the workspace.
//!
//! [`parse`] is pure; [`list`] and [`find`] block while they read files. What a file tells its agent is
//! for the model alone: it is in no message here.

mod builtin;
mod file;
mod lanes;
mod names;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use rookery_host::{Beneath, EntryKind, files};

pub use builtin::{EXPLORE, GENERAL, built_ins};
pub use file::parse;
pub use lanes::{LANES, LaneRow, lane};
pub use names::{claude_name, is_for_children, tools_named};

/// The longest file that is read.
pub const FILE_LIMIT: usize = 64 << 10;
/// Files that are read in one directory.
pub const FILES_LIMIT: usize = 200;
/// Entries that are looked at in one directory.
const ENTRIES_LIMIT: usize = 4096;

/// The user's definitions, below our directory of settings.
const USER_DIR: &str = "agents";
/// The user's definitions for Claude Code, below the home.
const USER_CLAUDE_DIR: &str = ".claude/agents";
/// Where a workspace has its definitions; the later, the nearer.
const WORKSPACE_DIRS: [&str; 3] = [".claude/agents", ".agents/agents", ".roder/agents"];

/// What an agent may do beside what its mode allows. It never allows more than the mode does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Permission {
    /// It is held to reading.
    ReadOnly,
    /// As its parent.
    #[default]
    Default,
    /// It is meant to edit files; whether it is asked for that is up to the mode.
    AutoEdit,
}

/// Where a definition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// It ships with us.
    BuiltIn,
    /// The user wrote it.
    User,
    /// It came with the workspace.
    Workspace,
}

/// One kind of child agent.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    /// When it is the right one, for agents that choose.
    pub description: String,
    /// The only tools it has, by our names; all of its parent's if there is no list.
    pub tools: Option<Vec<String>>,
    /// The model that answers; its parent's if none is named.
    pub model: Option<String>,
    /// What it may do.
    pub permission: Permission,
    /// How many calls of the model it may make.
    pub max_turns: Option<u32>,
    /// How many characters of its answer its parent gets.
    pub max_result_chars: Option<u32>,
    /// Its instructions.
    pub prompt: String,
    /// Where it comes from.
    pub source: Source,
}

/// Without the prompt, which is for the model alone.
impl std::fmt::Debug for AgentDefinition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentDefinition")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .field("model", &self.model)
            .field("permission", &self.permission)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// What is wrong with a file or a directory of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Where definitions are looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places<'a> {
    /// The workspace; none looks at the user's own alone.
    pub workspace: Option<&'a Path>,
    /// Our directory of settings.
    pub config_home: Option<&'a Path>,
    /// The user's home.
    pub home: Option<&'a Path>,
}

/// All definitions by name, and what is wrong with the files. Of two with the same name that of the
/// workspace counts, then that of the user, then the one that ships with us.
pub fn list(places: Places<'_>) -> (Vec<AgentDefinition>, Vec<Diagnostic>) {
    let mut scan = Scan::default();
    for definition in built_ins() {
        scan.found.insert(definition.name.clone(), definition);
    }
    let of_user = [
        places.home.map(|home| home.join(USER_CLAUDE_DIR)),
        places.config_home.map(|config| config.join(USER_DIR)),
    ];
    for dir in of_user.into_iter().flatten() {
        scan.user(&dir);
    }
    if let Some(workspace) = places.workspace {
        scan.workspace(workspace);
    }
    (scan.found.into_values().collect(), scan.diagnostics)
}

/// The definition of a name.
pub fn find(places: Places<'_>, name: &str) -> Option<AgentDefinition> {
    list(places).0.into_iter().find(|definition| definition.name == name)
}

#[derive(Default)]
struct Scan {
    found: BTreeMap<String, AgentDefinition>,
    diagnostics: Vec<Diagnostic>,
}

impl Scan {
    /// The user's own: links lead wherever the user wants.
    fn user(&mut self, dir: &Path) {
        let entries = files::read_dir(dir).map(|entries| {
            let plain = entries.into_iter().filter(|entry| entry.is_file);
            plain.map(|entry| PathBuf::from(entry.name)).collect()
        });
        let read = |path: &Path| files::read_start(path, FILE_LIMIT + 1);
        self.dir(dir, entries, Source::User, read);
    }

    /// A repository's: nothing that leads out of it is read.
    fn workspace(&mut self, root: &Path) {
        // One that is not there has no definitions, and says so elsewhere.
        let Ok(tree) = Beneath::new(root) else { return };
        for place in WORKSPACE_DIRS {
            let entries = tree.list(Path::new(place), ENTRIES_LIMIT).map(|entries| {
                let is_file = |kind: EntryKind| matches!(kind, EntryKind::File | EntryKind::Link);
                let named = entries.into_iter().filter(|(_, kind)| is_file(*kind));
                named.map(|(name, _)| PathBuf::from(name)).collect()
            });
            let read = |path: &Path| {
                let below = path.strip_prefix(root).map_err(io::Error::other)?;
                tree.read_start(below, FILE_LIMIT + 1)
            };
            self.dir(&root.join(place), entries, Source::Workspace, read);
        }
    }

    fn dir(
        &mut self,
        dir: &Path,
        entries: io::Result<Vec<PathBuf>>,
        source: Source,
        read: impl Fn(&Path) -> io::Result<Vec<u8>>,
    ) {
        let mut names = match entries {
            Ok(names) => names,
            // Most have no such directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.complain(dir, &trouble(&error)),
        };
        names.retain(|name| name.extension().is_some_and(|ending| ending == "md"));
        names.sort();
        if names.len() > FILES_LIMIT {
            self.complain(dir, &format!("only the first {FILES_LIMIT} files are read"));
            names.truncate(FILES_LIMIT);
        }
        let mut defined: BTreeMap<String, PathBuf> = BTreeMap::new();
        for name in names {
            let path = dir.join(name);
            let text = match read(&path) {
                Ok(bytes) => text_of(bytes),
                // A link that leads nowhere.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err(trouble(&error)),
            };
            match text.and_then(|text| parse(&text, source)) {
                Ok((definition, _)) if defined.contains_key(&definition.name) => {
                    let name = &definition.name;
                    self.complain(&path, &format!("another file here defines {name} already"));
                }
                Ok((definition, doubts)) => {
                    doubts.iter().for_each(|doubt| self.complain(&path, doubt));
                    defined.insert(definition.name.clone(), path);
                    self.found.insert(definition.name.clone(), definition);
                }
                Err(message) => self.complain(&path, &message),
            }
        }
    }

    fn complain(&mut self, path: &Path, message: &str) {
        let (path, message) = (path.to_owned(), message.to_owned());
        self.diagnostics.push(Diagnostic { path, message });
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > FILE_LIMIT {
        return Err(format!("it is longer than {FILE_LIMIT} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn trouble(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::CrossesDevices => "it leads out of the workspace".to_owned(),
        _ => error.to_string(),
    }
}
