//! The files of a workspace that are worth searching, in order.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{DirEntry, WalkBuilder};
use rookery_host::sandbox::Secrets;

use super::elsewhere;
use crate::tool::ToolContext;

/// Directories that are never searched.
const SKIPPED: [&str; 3] = [".git", ".roder", "target"];

/// All files below a directory, sorted, without what ignore files leave out; or the file itself.
/// Links are not followed: what they lead to may lie outside. Secrets are left out.
pub(super) fn files(
    context: &ToolContext,
    base: &Path,
) -> Result<Box<dyn Iterator<Item = PathBuf>>, String> {
    match elsewhere::files(context) {
        Some(files) => Ok(Box::new(elsewhere::find(files.as_ref(), base)?.into_iter())),
        None => Ok(Box::new(files_here(base, &context.secrets))),
    }
}

fn files_here(base: &Path, secrets: &Secrets) -> impl Iterator<Item = PathBuf> + use<> {
    let secrets = secrets.clone();
    WalkBuilder::new(base)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| is_searched(entry) && !secrets.hold(entry.path()))
        .sort_by_file_path(Path::cmp)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(DirEntry::into_path)
}

/// Files that the settings leave out of searches.
pub(super) struct Ignored(GlobSet);

impl Ignored {
    /// A glob means a path below the workspace, or a name anywhere in it, with all that is below.
    /// One that cannot be understood leaves nothing out.
    pub(super) fn new(globs: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let glob = glob.trim_matches('/');
            for pattern in [glob.to_owned(), format!("**/{glob}")] {
                for pattern in [format!("{pattern}/**"), pattern] {
                    if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                        set.add(glob);
                    }
                }
            }
        }
        Ignored(set.build().unwrap_or_else(|_| GlobSet::empty()))
    }

    /// Whether a file is left out, by its path below the workspace.
    pub(super) fn covers(&self, file: &Path, root: &Path) -> bool {
        self.0.is_match(file.strip_prefix(root).unwrap_or(file))
    }
}

fn is_searched(entry: &DirEntry) -> bool {
    let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
    let is_skipped = entry.file_name().to_str().is_some_and(|name| SKIPPED.contains(&name));
    // A directory that was asked for by name is searched in any case.
    entry.depth() == 0 || !(is_dir && is_skipped)
}
