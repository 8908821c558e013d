//! Files that git does not know: counted, and shown as if they were added. No link is followed.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::FileType;

use super::super::GitError;
use super::super::run::blocking;
use super::super::snapshot::Beneath;
use super::{FileChange, MAX_UNTRACKED, MAX_UNTRACKED_IN_ALL};

/// What an unknown file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// Where a link leads.
    Link(Vec<u8>),
    /// Something that is no text.
    Binary,
    /// More than is read.
    TooLarge,
    /// Nothing that could be read: a repository of its own, or gone meanwhile.
    Nothing,
}

/// Set when the caller is gone, so that the thread that reads for it stops.
#[derive(Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether the caller is gone.
    pub(super) fn asked(&self) -> impl Fn() -> bool + Send + 'static {
        let flag = Arc::clone(&self.0);
        move || flag.load(Ordering::Relaxed)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The files with their lines counted.
pub(super) async fn counted(top: &Path, names: Vec<Vec<u8>>) -> Result<Vec<FileChange>, GitError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let top = top.to_owned();
    let stop = Stop::default();
    let is_gone = stop.asked();
    blocking(move || {
        let mut tree = Beneath::new(&top).map_err(|error| GitError::file(&top, error))?;
        let mut budget = MAX_UNTRACKED_IN_ALL;
        let mut files = Vec::with_capacity(names.len());
        for name in names {
            if is_gone() {
                return Err(GitError::Abandoned);
            }
            let content = content(&mut tree, &name, &mut budget);
            let mut file = FileChange::untracked(name);
            match content {
                Content::Text(text) => file.additions = lines(&text),
                Content::Link(_) => file.additions = 1,
                Content::Binary => file.is_binary = true,
                Content::TooLarge => file.is_too_large = true,
                Content::Nothing => {}
            }
            files.push(file);
        }
        Ok(files)
    })
    .await
}

/// Reads an unknown file, within what may still be read. Blocking.
pub(super) fn content(tree: &mut Beneath, name: &[u8], budget: &mut u64) -> Content {
    let kind = match tree.stat(name) {
        Ok(Some(found)) => FileType::from_raw_mode(found.st_mode),
        Ok(None) | Err(_) => return Content::Nothing,
    };
    match kind {
        FileType::RegularFile => {}
        FileType::Symlink => return tree.link(name).map_or(Content::Nothing, Content::Link),
        _ => return Content::Nothing,
    }
    let Ok(file) = tree.open(name) else { return Content::Nothing };
    let limit = MAX_UNTRACKED.min(*budget);
    let mut bytes = Vec::new();
    if file.take(limit + 1).read_to_end(&mut bytes).is_err() {
        return Content::Nothing;
    }
    if bytes.len() as u64 > limit {
        return Content::TooLarge;
    }
    *budget -= bytes.len() as u64;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Content::Text(text),
        _ => Content::Binary,
    }
}

/// Lines as a diff counts them.
fn lines(text: &str) -> u64 {
    text.split_inclusive('\n').count() as u64
}

/// The patch that would add a file.
pub(super) fn patch(name: &str, mode: &str, content: &Content) -> String {
    let mut patch = format!("diff --git a/{name} b/{name}\nnew file mode {mode}\n");
    let text: Cow<'_, str> = match content {
        Content::Text(text) => text.as_str().into(),
        Content::Link(target) => String::from_utf8_lossy(target),
        Content::Binary | Content::TooLarge => {
            patch.push_str(&format!("Binary files /dev/null and b/{name} differ\n"));
            return patch;
        }
        Content::Nothing => return patch,
    };
    let count = lines(&text);
    if count == 0 {
        return patch;
    }
    patch.push_str(&format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{count} @@\n"));
    for line in text.split_inclusive('\n') {
        patch.push('+');
        patch.push_str(line);
    }
    if !text.ends_with('\n') {
        patch.push_str("\n\\ No newline at end of file\n");
    }
    patch
}
