//! Rules: texts of the user and of a workspace that agents get beside their role.

use std::path::{Path, PathBuf};

use rookery_host::{Beneath, EntryKind};

/// How much of one file is sent.
const FILE_LIMIT: usize = 32 << 10;
/// How much of all files is sent.
const TOTAL_LIMIT: usize = 128 << 10;
/// How many files are sent.
const FILES_LIMIT: usize = 64;
/// How deep below its directory a file may lie.
const DEPTH_LIMIT: usize = 5;
/// How many entries of one directory are looked at.
const ENTRIES_LIMIT: usize = 1024;
/// Endings of files that are no rules.
const LEFT_OUT: &[&str] =
    &["bak", "cache", "crdownload", "log", "old", "swo", "swp", "temp", "tmp"];

/// What agents are sent in a role, in order: of the user, then of the workspace; for the role, then for
/// all. A directory counts before the file of the same purpose. Nothing leads out of the workspace.
pub(super) fn rules(workspace: &Path, home: &Path, slug: &str) -> Vec<String> {
    let mut told = RuleTexts::default();
    if let Ok(tree) = Beneath::new(&home.join(".roo")) {
        for dir in [format!("rules-{slug}"), "rules".to_owned()] {
            told.directory(&tree, Path::new(&dir), "~/.roo/", 0);
        }
    }
    if let Ok(tree) = Beneath::new(workspace) {
        for suffix in [format!("-{slug}"), String::new()] {
            let (dir, file) = (format!(".roo/rules{suffix}"), format!(".roorules{suffix}"));
            if !told.directory(&tree, Path::new(&dir), "", 0) {
                told.file(&tree, Path::new(&file), "");
            }
        }
    }
    told.texts
}

#[derive(Default)]
struct RuleTexts {
    texts: Vec<String>,
    bytes: usize,
}

impl RuleTexts {
    /// Adds all files of a directory in the order of their names. True if there were any.
    fn directory(&mut self, tree: &Beneath, dir: &Path, shown: &str, depth: usize) -> bool {
        let Ok(mut entries) = tree.list(dir, ENTRIES_LIMIT) else { return false };
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        let before = self.texts.len();
        for (name, kind) in entries {
            let path: PathBuf = dir.join(name);
            match kind {
                EntryKind::Dir if depth < DEPTH_LIMIT => {
                    self.directory(tree, &path, shown, depth + 1);
                }
                EntryKind::File | EntryKind::Link if is_rule(&path) => {
                    self.file(tree, &path, shown)
                }
                _ => {}
            }
        }
        self.texts.len() > before
    }

    fn file(&mut self, tree: &Beneath, path: &Path, shown: &str) {
        if self.texts.len() >= FILES_LIMIT || self.bytes >= TOTAL_LIMIT {
            return;
        }
        let Ok(bytes) = tree.read_start(path, FILE_LIMIT.min(TOTAL_LIMIT - self.bytes)) else {
            return;
        };
        if bytes.contains(&0) {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.bytes += bytes.len();
        self.texts.push(format!("Rules from {shown}{}:\n{text}", path.display()));
    }
}

fn is_rule(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    !name.starts_with('.')
        && !name.ends_with('~')
        && name != "Thumbs.db"
        && !LEFT_OUT.contains(&ending.as_str())
}
