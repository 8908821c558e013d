//! Files that are not on this machine, for tools that run on a thread which may block.
//!
//! Whether a path leads out of its place by a link is found out over there; here it is refused by its words.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Handle;

use super::paths::Place;
use super::writing::Change;
use crate::tool::{RemoteFiles, RemoteKind, ToolContext, WorldFuture};

/// How many files a search looks at.
const MAX_FILES: usize = 20_000;
/// How large a file may be that is put back after a failure.
const MAX_FILE: u64 = 64 << 20;

/// Waits for what is done elsewhere. Only for threads that may block.
fn wait<T>(work: WorldFuture<'_, T>) -> Result<T, String> {
    let runtime = Handle::try_current().map_err(|_| "the runtime is ending".to_owned())?;
    runtime.block_on(work)
}

/// The files of a context, if they are elsewhere.
pub(super) fn files(context: &ToolContext) -> Option<&Arc<dyn RemoteFiles>> {
    context.files.as_ref()
}

/// Finds the place that a path of a tool call means there.
pub(super) fn resolve(context: &ToolContext, text: &str) -> Result<Place, String> {
    let outside = || format!("path is outside workspace: {text}");
    if text.trim().is_empty() {
        return Err("path is empty".into());
    }
    if text.contains('\0') {
        return Err("path contains a NUL character".into());
    }
    // The home over there is not ours to know.
    if text == "~" || text.starts_with("~/") || text.starts_with("user://") {
        return Err(outside());
    }
    let text_below = text.strip_prefix("workspace://").map(|rest| rest.trim_start_matches('/'));
    let given = Path::new(text_below.unwrap_or(text));
    let given = match given.is_absolute() {
        true => given.strip_prefix(&context.root).map_err(|_| outside())?,
        false => given,
    };
    let mut below = PathBuf::new();
    for part in given.components() {
        match part {
            Component::Normal(name) => below.push(name),
            Component::CurDir => {}
            Component::ParentDir if below.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    if below.as_os_str().is_empty() {
        return Ok(Place { path: context.root.clone(), shown: ".".to_owned() });
    }
    Ok(Place { path: context.root.join(&below), shown: below.display().to_string() })
}

/// What a path is.
pub(super) fn kind(files: &dyn RemoteFiles, path: &Path) -> Result<Option<RemoteKind>, String> {
    wait(files.kind(path))
}

/// Reads a file whole.
pub(super) fn read(files: &dyn RemoteFiles, place: &Place, limit: u64) -> Result<Vec<u8>, String> {
    wait(files.read(&place.path, limit)).map_err(|why| match why.starts_with("no such file") {
        true => format!("no such file: {}", place.shown),
        false => why,
    })
}

/// The permissions of a file; none where they cannot be determined.
pub(super) fn mode(files: &dyn RemoteFiles, path: &Path) -> Option<u32> {
    wait(files.mode(path)).ok().flatten()
}

/// Names in a directory, those of directories with a slash.
pub(super) fn names(files: &dyn RemoteFiles, place: &Place) -> Result<Vec<String>, String> {
    let names = wait(files.list(&place.path))?;
    Ok(names.into_iter().map(|(name, is_dir)| if is_dir { name + "/" } else { name }).collect())
}

/// Files below a directory, or the file itself.
pub(super) fn find(files: &dyn RemoteFiles, base: &Path) -> Result<Vec<PathBuf>, String> {
    if kind(files, base)? == Some(RemoteKind::File) {
        return Ok(vec![base.to_owned()]);
    }
    let found = wait(files.find(base, MAX_FILES))?;
    Ok(found.into_iter().map(|below| base.join(below)).collect())
}

/// Makes all changes. If one fails, those before it are taken back.
pub(super) fn commit(files: &dyn RemoteFiles, changes: &[Change]) -> Result<(), String> {
    let mut before = Vec::new();
    for change in changes {
        let old = match kind(files, &change.path)? {
            Some(RemoteKind::File) => {
                let bytes = wait(files.read(&change.path, MAX_FILE))?;
                // What is replaced keeps them; what is removed would have to be made again.
                let mode = change.content.is_none().then(|| mode(files, &change.path)).flatten();
                Some((bytes, mode))
            }
            Some(RemoteKind::Dir) => {
                return Err(format!(
                    "cannot write {}: it is not a regular file",
                    change.path.display()
                ));
            }
            None => None,
        };
        before.push(old);
    }
    for (index, change) in changes.iter().enumerate() {
        let content = change.content.clone().map(|bytes| (bytes, change.mode));
        let done = put(files, &change.path, content, before[index].is_some());
        if let Err(why) = done {
            for (change, old) in changes.iter().zip(&before).take(index + 1) {
                // What cannot be taken back either is named by the error that follows.
                let _ = put(files, &change.path, old.clone(), true);
            }
            return Err(format!("cannot write {}: {why}", change.path.display()));
        }
    }
    Ok(())
}

fn put(
    files: &dyn RemoteFiles,
    path: &Path,
    content: Option<(Vec<u8>, Option<u32>)>,
    may_exist: bool,
) -> Result<(), String> {
    match content {
        Some((content, mode)) => wait(files.write(path, content, mode)),
        None if may_exist => match wait(files.remove(path)) {
            Err(why) if why.starts_with("no such file") => Ok(()),
            other => other,
        },
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use parking_lot::Mutex;
    use serde_json::json;

    use super::super::test_world::Bench;
    use super::*;

    /// Another machine: files by path, some of which cannot be written.
    #[derive(Default)]
    struct There {
        files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
        modes: Mutex<BTreeMap<PathBuf, u32>>,
        locked: Option<PathBuf>,
    }

    impl RemoteFiles for There {
        fn kind<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Option<RemoteKind>> {
            let files = self.files.lock();
            let is_dir = files.keys().any(|file| file != path && file.starts_with(path));
            let kind = match files.contains_key(path) {
                true => Some(RemoteKind::File),
                false => is_dir.then_some(RemoteKind::Dir),
            };
            Box::pin(std::future::ready(Ok(kind)))
        }

        fn read<'a>(&'a self, path: &'a Path, _: u64) -> WorldFuture<'a, Vec<u8>> {
            let found = self.files.lock().get(path).cloned();
            Box::pin(std::future::ready(found.ok_or("no such file: there".to_owned())))
        }

        fn mode<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Option<u32>> {
            Box::pin(std::future::ready(Ok(self.modes.lock().get(path).copied())))
        }

        fn write<'a>(
            &'a self,
            path: &'a Path,
            bytes: Vec<u8>,
            mode: Option<u32>,
        ) -> WorldFuture<'a, ()> {
            let is_locked = self.locked.as_deref() == Some(path);
            if !is_locked {
                let is_made = !self.files.lock().contains_key(path);
                if let Some(mode) = mode.filter(|_| is_made) {
                    self.modes.lock().insert(path.to_owned(), mode);
                }
                self.files.lock().insert(path.to_owned(), bytes);
            }
            let outcome = if is_locked { Err("it is read-only".to_owned()) } else { Ok(()) };
            Box::pin(std::future::ready(outcome))
        }

        fn remove<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, ()> {
            self.files.lock().remove(path);
            self.modes.lock().remove(path);
            Box::pin(std::future::ready(Ok(())))
        }

        fn list<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Vec<(String, bool)>> {
            let files = self.files.lock();
            let mut names: BTreeMap<String, bool> = BTreeMap::new();
            for file in files.keys().filter_map(|file| file.strip_prefix(path).ok()) {
                let mut parts = file.components();
                if let Some(first) = parts.next() {
                    let name = first.as_os_str().to_string_lossy().into_owned();
                    names.insert(name, parts.next().is_some());
                }
            }
            Box::pin(std::future::ready(Ok(names.into_iter().collect())))
        }

        fn find<'a>(&'a self, path: &'a Path, most: usize) -> WorldFuture<'a, Vec<String>> {
            let files = self.files.lock();
            let below = files.keys().filter_map(|file| file.strip_prefix(path).ok());
            let found = below.map(|file| file.display().to_string()).take(most).collect();
            Box::pin(std::future::ready(Ok(found)))
        }
    }

    fn context(bench: &Bench, there: Arc<There>) -> ToolContext {
        ToolContext { root: "/srv/work".into(), files: Some(there), ..bench.context() }
    }

    fn there(files: &[(&str, &str)]) -> Arc<There> {
        let files =
            files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()));
        Arc::new(There { files: Mutex::new(files.collect()), ..There::default() })
    }

    #[tokio::test]
    async fn every_tool_for_files_works_there_and_touches_nothing_here() {
        let bench = Bench::new();
        bench.file("a.txt", "here\n");
        let there =
            there(&[("/srv/work/a.txt", "one\ntwo\n"), ("/srv/work/src/b.rs", "fn main\n")]);
        let run = async |tool: &str, arguments| {
            super::super::call(context(&bench, there.clone()), tool, arguments).await
        };
        assert!(run("read_file", json!({"path": "a.txt"})).await.text.contains("1: one"));
        assert_eq!(run("list_files", json!({})).await.text, "a.txt\nsrc/");
        assert_eq!(run("glob", json!({"pattern": "**/*.rs"})).await.text, "src/b.rs");
        assert_eq!(run("grep", json!({"query": "main"})).await.text, "src/b.rs:1:fn main");
        run("write_file", json!({"path": "new/c", "content": "made"})).await;
        run("edit", json!({"path": "a.txt", "old_string": "two", "new_string": "2"})).await;
        let patch =
            "*** Begin Patch\n*** Delete File: src/b.rs\n*** Add File: d\n+x\n*** End Patch";
        let patched = run("apply_patch", json!({"patch": patch})).await;
        assert!(!patched.is_error, "{}", patched.text);
        let files: Vec<(String, String)> = there
            .files
            .lock()
            .iter()
            .map(|(path, text)| {
                (path.display().to_string(), String::from_utf8_lossy(text).into_owned())
            })
            .collect();
        let expected =
            [("/srv/work/a.txt", "one\n2\n"), ("/srv/work/d", "x\n"), ("/srv/work/new/c", "made")];
        assert_eq!(files, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
        assert_eq!(
            (bench.read("a.txt").as_str(), bench.names()),
            ("here\n", vec!["a.txt".to_owned()])
        );
    }

    #[tokio::test]
    async fn what_leads_out_is_refused_and_the_home_is_not_ours() {
        let bench = Bench::new();
        let there = there(&[("/etc/passwd", "root")]);
        for path in ["../x", "/etc/passwd", "~/x", "user://x", "a/../../x", "/srv/workshop"] {
            let context = context(&bench, there.clone());
            let output = super::super::call(context, "read_file", json!({"path": path})).await;
            assert_eq!(output.text, format!("path is outside workspace: {path}"));
        }
    }

    #[tokio::test]
    async fn what_is_moved_or_comes_back_there_has_its_permissions() {
        let bench = Bench::new();
        let there = there(&[("/srv/work/run.sh", "one\n"), ("/srv/work/gone.sh", "two\n")]);
        let modes = || there.modes.lock().clone();
        for name in ["run.sh", "gone.sh"] {
            there.modes.lock().insert(Path::new("/srv/work").join(name), 0o755);
        }
        let patch = "*** Begin Patch\n*** Update File: run.sh\n*** Move to: new.sh\n-one\n+1\n*** Delete File: gone.sh\n*** End Patch";
        let context = || context(&bench, there.clone());
        let output = super::super::call(context(), "apply_patch", json!({"patch": patch})).await;
        assert!(!output.is_error, "{}", output.text);
        assert_eq!(modes(), [("/srv/work/new.sh".into(), 0o755)].into());
        assert_eq!(output.edits.len(), 2);
        for edit in output.edits {
            super::super::roll_back(context(), edit, 1, false).await.unwrap();
        }
        let both = ["/srv/work/gone.sh", "/srv/work/run.sh"];
        assert_eq!(modes(), both.map(|path| (PathBuf::from(path), 0o755)).into());
        assert_eq!(there.files.lock()[Path::new(both[1])], b"one\n");
    }

    #[tokio::test]
    async fn a_failure_takes_back_what_was_done() {
        let bench = Bench::new();
        let mut there = there(&[("/srv/work/a", "old\n"), ("/srv/work/b", "kept\n")]);
        Arc::get_mut(&mut there).unwrap().locked = Some("/srv/work/b".into());
        let patch = "*** Begin Patch\n*** Update File: a\n-old\n+new\n*** Update File: b\n-kept\n+lost\n*** End Patch";
        let context = context(&bench, there.clone());
        let output = super::super::call(context, "apply_patch", json!({"patch": patch})).await;
        assert!(output.is_error && output.text.contains("read-only"), "{}", output.text);
        assert_eq!(there.files.lock()[Path::new("/srv/work/a")], b"old\n");
    }
}
