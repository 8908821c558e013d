//! Real repositories, friendly and hostile.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use rustix::fs::Mode;

use super::*;
use crate::Script;

/// A busy machine must not make a test fail.
async fn changes(directory: &Path) -> Option<Changes> {
    changes_within(directory, Duration::from_secs(60)).await
}

/// A repository in a place of its own, with one commit.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    async fn empty() -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        tree.git("init --quiet --initial-branch main").await;
        tree
    }

    async fn new() -> Self {
        let tree = Self::empty().await;
        tree.write("kept", "one\ntwo\nthree\n");
        tree.write("sub/deep", "x\n");
        tree.commit().await;
        tree
    }

    async fn commit(&self) {
        self.git("add --all").await;
        self.git("-c user.name=n -c user.email=e commit --quiet --message m").await;
    }

    async fn git(&self, arguments: &str) {
        let argv = std::iter::once("git").chain(arguments.split(' '));
        let script = Script {
            cwd: Some(self.path("")),
            timeout: Duration::from_secs(60),
            env: vec![("GIT_CONFIG_GLOBAL".into(), "/dev/null".into())],
            ..Script::new(argv)
        };
        assert_eq!(script.run().await.failure(), None, "git {arguments}");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    async fn changes(&self) -> Option<(u64, u64, u64)> {
        let changes = changes(&self.path("")).await;
        changes.map(|changes| (changes.files, changes.added, changes.deleted))
    }
}

#[tokio::test]
async fn a_clean_tree_and_no_tree_have_no_changes() {
    let tree = Tree::new().await;
    assert_eq!(tree.changes().await, None);
    // Touched, but the same.
    tree.write("kept", "one\ntwo\nthree\n");
    let index = fs::read(tree.path(".git/index")).unwrap();
    assert_eq!(tree.changes().await, None);
    assert_eq!(fs::read(tree.path(".git/index")).unwrap(), index, "looking must not write");
    let plain = tempfile::tempdir().unwrap();
    assert_eq!(changes(plain.path()).await, None);
    assert_eq!(changes(&plain.path().join("missing")).await, None);
    assert_eq!(changes(&tree.path(".git")).await, None, "no working tree");
}

#[tokio::test]
async fn edits_staged_and_not_and_unknown_files_are_counted_together() {
    let tree = Tree::new().await;
    tree.write("kept", "one\n2\nthree\nfour\n");
    assert_eq!(tree.changes().await, Some((1, 2, 1)));
    tree.git("add kept").await;
    tree.write("staged", "a\nb\n");
    tree.git("add staged").await;
    fs::remove_file(tree.path("sub/deep")).unwrap();
    assert_eq!(tree.changes().await, Some((3, 4, 2)));
    tree.write("new/tab\tand\nline", "no end");
    tree.write("binary", b"a\0b\n\n\n");
    tree.write("empty", "");
    symlink("/nowhere", tree.path("link")).unwrap();
    assert_eq!(tree.changes().await, Some((7, 4, 2)), "lines of unknown files do not count");
    tree.write(".gitignore", "new/\nbinary\nempty\nlink\n.gitignore\n");
    assert_eq!(tree.changes().await, Some((3, 4, 2)));
    // The whole tree counts, from wherever one stands in it.
    let deeper = changes(&tree.path("new")).await;
    assert_eq!(deeper, Some(Changes { files: 3, added: 4, deleted: 2 }));
}

#[tokio::test]
async fn a_change_and_an_unknown_file_give_the_words_that_users_know() {
    let tree = Tree::empty().await;
    tree.write("a.txt", "one\n");
    tree.write("b.txt", "alpha\nbeta\ngamma\n");
    tree.commit().await;
    tree.write("a.txt", "one\ntwo\nthree\n");
    tree.write("b.txt", "alpha\ngamma\n");
    tree.write("c.txt", "untracked\n");
    assert_eq!(tree.changes().await, Some((3, 2, 1)), "3f +2 -1");
}

#[tokio::test]
async fn a_tree_without_a_commit_is_all_new() {
    let tree = Tree::empty().await;
    assert_eq!(tree.changes().await, None);
    tree.write("staged", "a\n");
    tree.git("add staged").await;
    tree.write("other", "b\nc\n");
    assert_eq!(tree.changes().await, Some((2, 1, 0)));
}

#[tokio::test]
async fn the_users_taste_in_diffs_does_not_matter() {
    let tree = Tree::new().await;
    let taste = ["diff.renames copies", "diff.relative true", "diff.orderFile nowhere"];
    for setting in taste.into_iter().chain(["color.ui always", "diff.mnemonicPrefix true"]) {
        tree.git(&format!("config {setting}")).await;
    }
    fs::rename(tree.path("kept"), tree.path("moved")).unwrap();
    tree.git("add --all").await;
    assert_eq!(tree.changes().await, Some((2, 3, 3)));
    let deeper = changes(&tree.path("sub")).await;
    assert_eq!(deeper.map(|changes| changes.files), Some(2));
}

#[tokio::test]
async fn nothing_that_a_tree_names_is_run_and_nothing_is_written() {
    let tree = Tree::new().await;
    tree.write("filtered.f", "x\n");
    tree.commit().await;
    let traces = tempfile::tempdir().unwrap();
    let trap = traces.path().join("trap");
    fs::write(&trap, format!("#!/bin/sh\necho $0 $@ >>{}/sprung\ncat\n", traces.path().display()))
        .unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = tree.path(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        fs::copy(&trap, hooks.join(hook)).unwrap();
    }
    tree.write(".gitattributes", "*.f filter=f.g diff=d\nkept diff=d filter=P\n");
    let trap = trap.display().to_string();
    let named = ["core.fsmonitor", "core.pager", "pager.diff", "diff.external", "diff.d.textconv"];
    let more = ["diff.d.command", "filter.f.g.clean", "filter.f.g.smudge", "filter.P.process"];
    for setting in named.into_iter().chain(more).chain(["core.sshCommand", "core.gitProxy"]) {
        // Straight into the file: git itself would begin to act on them.
        let (section, key) = setting.rsplit_once('.').unwrap();
        let section =
            section.split_once('.').map_or(section.to_owned(), |(a, b)| format!("{a} \"{b}\""));
        let config = tree.path(".git/config");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}[{section}]\n\t{key} = {trap}\n\trequired = true\n"))
            .unwrap();
    }
    tree.write("kept", "one\n");
    tree.write("filtered.f", "x\ny\n");
    let before = fs::read(tree.path(".git/index")).unwrap();
    assert_eq!(tree.changes().await, Some((3, 1, 2)));
    assert_eq!(fs::read_to_string(traces.path().join("sprung")).unwrap_or_default(), "");
    assert_eq!(fs::read(tree.path(".git/index")).unwrap(), before);
    assert!(!tree.path(".git/index.lock").exists());
}

#[tokio::test]
async fn a_tree_that_takes_too_long_has_no_changes() {
    let tree = Tree::new().await;
    tree.write("kept", "one\n");
    assert_eq!(changes_within(&tree.path(""), Duration::ZERO).await, None);
    let config = tree.path(".git/config");
    fs::remove_file(&config).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &config, Mode::RUSR | Mode::WUSR).unwrap();
    assert_eq!(super::changes(&tree.path("")).await, None, "git hangs on a pipe");
}

#[test]
fn broken_counts_are_no_counts() {
    let read = |numstat: &[u8]| tracked(numstat, &HashSet::new());
    assert_eq!(read(b""), Some(Changes::default()));
    let both = Changes { files: 2, added: 1, deleted: 2 };
    assert_eq!(read(b"1\t2\ta\tb\nc\0-\t-\td\0"), Some(both));
    assert_eq!(read(b"x\t2\ta\0"), None);
    assert_eq!(read(b"1\0"), None);
}
