//! Patches of either format, applied to real files: all or none, never outside of the workspace, and the
//! diff that is shown before leads to the same files.
#![no_main]

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rookery_agent::tool::{
    PathScope, TerminalCommand, TerminalOutput, ToolContext, ToolOutput, ToolWorld, WorldFuture,
};
use rookery_agent::tools::{self, MemoryAnswer, MemoryCall, Sessions, SkillText};
use rookery_model::{Goal, GoalStatus, PlanStep, TerminalId, ThreadId};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// What is there before each patch.
const FILES: [(&str, &str); 3] =
    [("a", "one\ntwo\nthree\n"), ("b", "one\r\ntwo\r\n"), ("d/c", "same\nsame\nsame\nlast")];

/// Longer previews are cut.
const SHOWN: usize = 2000;

thread_local! {
    static BENCH: LazyCell<Bench> = LazyCell::new(Bench::new);
}

fuzz_target!(|input: &[u8]| {
    let patch = String::from_utf8_lossy(input);
    BENCH.with(|bench| bench.check(&patch));
});

/// All files below a directory with their contents, directories as well.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// A workspace, and a place beside it that nothing may touch.
struct Bench {
    dir: TempDir,
    runtime: Runtime,
}

impl Bench {
    fn new() -> Self {
        // In memory if that is possible: every patch is written to the disk.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let dir = dir.expect("a directory");
        fs::write(dir.path().join("beside"), "one\ntwo\n").expect("a file");
        fs::create_dir(dir.path().join("home")).expect("a directory");
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        Self { dir, runtime }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    /// Puts the workspace back to what it was.
    fn reset(&self) -> Tree {
        let root = self.root();
        if root.exists() {
            fs::remove_dir_all(&root).expect("it can go");
        }
        for (name, content) in FILES {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content).expect("a file");
        }
        tree(self.dir.path())
    }

    fn apply(&self, patch: &str) -> ToolOutput {
        let arguments = json!({"patch": patch});
        self.runtime.block_on(tools::call(self.context(), "apply_patch", arguments))
    }

    fn check(&self, patch: &str) {
        let before = self.reset();
        let arguments = json!({"patch": patch});
        let shown = self.runtime.block_on(tools::preview(self.context(), "apply_patch", arguments));
        assert_eq!(tree(self.dir.path()), before, "to look at a patch changes nothing");
        let output = self.apply(patch);
        let after = tree(self.dir.path());
        if output.is_error {
            assert_eq!(after, before, "a patch that fails changes nothing: {}", output.text);
            return;
        }
        let outside = |tree: &Tree| -> Tree {
            let is_outside = |path: &Path| !path.starts_with(self.root());
            tree.iter()
                .filter(|(path, _)| is_outside(path))
                .map(|(p, c)| (p.clone(), c.clone()))
                .collect()
        };
        assert_eq!(outside(&after), outside(&before));
        let diff = shown.expect("what can be done can be shown");
        // Invisible characters are escaped in previews, which therefore differ from what is applied.
        let is_spelled = diff.contains("\\u{");
        if diff.len() <= SHOWN && !is_spelled && can_be_told(&diff) {
            self.reset();
            let again = self.apply(&diff);
            assert!(!again.is_error, "{}\n{diff}", again.text);
            assert_eq!(files(tree(self.dir.path())), files(after), "{diff}");
        }
    }

    fn context(&self) -> ToolContext {
        ToolContext {
            thread: ThreadId::new(1),
            turn: None,
            root: self.root(),
            home: self.dir.path().join("home"),
            scope: PathScope::Workspace,
            search: Default::default(),
            artifacts: None,
            writes: None,
            read_only: false,
            sandbox: None,
            seal: None,
            unattended: None,
            shell: "/bin/sh".into(),
            withheld: Vec::new(),
            command_limit: None,
            secrets: rookery_host::sandbox::Secrets::default(),
            sessions: Arc::new(Sessions::new()),
            cancel: CancellationToken::new(),
            time_left: None,
            commands: None,
            files: None,
            session: None,
            world: Arc::new(Nowhere),
        }
    }
}

fn tree(dir: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![dir.to_owned()];
    while let Some(path) = open.pop() {
        let is_dir = fs::symlink_metadata(&path).expect("it is there").is_dir();
        if is_dir {
            let entries = fs::read_dir(&path).expect("a directory");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
        let content = (!is_dir).then(|| fs::read(&path).expect("a file"));
        tree.insert(path, content);
    }
    tree
}

/// Only the files of a tree: a diff says nothing of directories.
fn files(mut tree: Tree) -> Tree {
    tree.retain(|_, content| content.is_some());
    tree
}

/// Whether a diff says everything: each file of it has lines, keeps its name and has a plain one.
fn can_be_told(diff: &str) -> bool {
    let lines: Vec<&str> = diff.lines().collect();
    let is_plain =
        |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "/._".contains(c));
    let name = |line: &str| line.get(6..).unwrap_or_default().to_owned();
    let headers = lines.windows(3).enumerate().filter(|(_, lines)| {
        lines[0].starts_with("--- ") && lines[1].starts_with("+++ ") && lines[2].starts_with("@@ ")
    });
    let mut told = 0;
    for (_, header) in headers {
        let is_one_side = header[..2].iter().any(|line| line.ends_with(" /dev/null"));
        if !header[..2].iter().all(|line| is_plain(&line[4..]))
            || !(is_one_side || name(header[0]) == name(header[1]))
        {
            return false;
        }
        told += 1;
    }
    let begun =
        lines.windows(2).filter(|two| two[0].starts_with("--- ") && two[1].starts_with("+++ "));
    told > 0 && told == begun.count()
}

/// A world without anything, which no patch needs.
struct Nowhere;

fn nothing<T: Send + 'static>() -> WorldFuture<'static, T> {
    Box::pin(async { Err("there is nothing here".to_owned()) })
}

impl ToolWorld for Nowhere {
    fn open(&self, _: TerminalCommand) -> WorldFuture<'_, TerminalId> {
        nothing()
    }

    fn output(&self, _: TerminalId, _: u64, _: Duration) -> WorldFuture<'_, TerminalOutput> {
        nothing()
    }

    fn write(&self, _: TerminalId, _: Vec<u8>) -> WorldFuture<'_, ()> {
        nothing()
    }

    fn end(&self, _: TerminalId) -> WorldFuture<'_, ()> {
        nothing()
    }

    fn goal(&self, _: ThreadId) -> Option<Goal> {
        None
    }

    fn set_goal(&self, _: ThreadId, _: String, _: Option<u64>) -> WorldFuture<'_, Goal> {
        nothing()
    }

    fn update_goal(&self, _: ThreadId, _: GoalStatus) -> WorldFuture<'_, Goal> {
        nothing()
    }

    fn set_plan(&self, _: ThreadId, _: Vec<PlanStep>) -> WorldFuture<'_, ()> {
        nothing()
    }

    fn set_ledger(&self, _: ThreadId, _: Vec<PlanStep>) -> WorldFuture<'_, ()> {
        nothing()
    }

    fn memory<'a>(&'a self, _: &'a ToolContext, _: MemoryCall) -> WorldFuture<'a, MemoryAnswer> {
        nothing()
    }

    fn skill(&self, _: String) -> WorldFuture<'_, SkillText> {
        nothing()
    }
}
