//! Real repositories for tests, and all that can be seen of one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Repository;
use crate::Script;

/// A repository in a place of its own.
pub(super) struct Place {
    _dir: tempfile::TempDir,
    pub(super) top: PathBuf,
}

/// What can be seen of a repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sight {
    /// Files by path: permissions and content; links with where they lead.
    pub(super) files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    pub(super) index: Vec<u8>,
    pub(super) status: Vec<u8>,
    /// Stash, reflogs, references other than ours, and head.
    pub(super) rest: Vec<u8>,
}

impl Place {
    /// Without a commit.
    pub(super) async fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap().join("repo");
        fs::create_dir(&top).unwrap();
        let place = Self { _dir: dir, top };
        place.git(["init", "--quiet", "--initial-branch", "main"]).await;
        for setting in [["user.name", "n"], ["user.email", "e@x"], ["core.autocrlf", "false"]] {
            place.git(["config", setting[0], setting[1]]).await;
        }
        place
    }

    /// With one commit of two files.
    pub(super) async fn new() -> Self {
        let place = Self::empty().await;
        place.write("kept", "one\ntwo\nthree\n");
        place.write("sub/deep", "x\n");
        place.commit("first").await;
        place
    }

    pub(super) async fn repo(&self) -> Repository {
        Repository::discover(&self.top).await.unwrap()
    }

    pub(super) async fn commit(&self, message: &str) {
        self.git(["add", "--all"]).await;
        self.git(["commit", "--quiet", "--no-verify", "--message", message]).await;
    }

    /// A clean repository with a filter that stores other bytes than lie there.
    pub(super) async fn filtered() -> Self {
        let place = Self::empty().await;
        place.git(["config", "filter.up.clean", "tr a-z A-Z"]).await;
        place.write(".gitattributes", "*.up filter=up\n");
        place.write("a.up", "text\n");
        place.write("plain", "text\n");
        place.commit("base").await;
        place
    }

    /// Runs git as the user would, and gives what it prints.
    pub(super) async fn git<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Vec<u8> {
        git_in(&self.top, arguments).await
    }

    pub(super) async fn says<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> String {
        String::from_utf8(self.git(arguments).await).unwrap().trim_end().to_owned()
    }

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.top.join(name)
    }

    pub(super) fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(&name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn remove(&self, name: impl AsRef<Path>) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub(super) fn link(&self, name: &str, target: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    pub(super) fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Looks at everything.
    pub(super) async fn sight(&self) -> Sight {
        // Raw listing first: a status may refresh the index.
        let index = self.git(["ls-files", "--stage", "-z"]).await;
        let status =
            ["--no-optional-locks", "status", "--porcelain=v2", "-z", "--untracked-files=all"];
        let status = self.git(status).await;
        let mut rest = self.git(["stash", "list"]).await;
        rest.extend(self.git(["for-each-ref", "--exclude=refs/rookery"]).await);
        rest.extend(fs::read(self.path(".git/HEAD")).unwrap_or_default());
        rest.extend(fs::read(self.path(".git/logs/HEAD")).unwrap_or_default());
        let mut files = BTreeMap::new();
        walk(&self.top, &self.top, &mut files);
        Sight { files, index, status, rest }
    }
}

pub(super) async fn git_in<A: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Vec<u8> {
    let arguments: Vec<_> = arguments.into_iter().map(|a| a.as_ref().to_owned()).collect();
    let shown = format!("{arguments:?}");
    let argv = std::iter::once("git".into()).chain(arguments);
    let script = Script {
        cwd: Some(directory.to_owned()),
        timeout: Duration::from_secs(60),
        stdout_limit: 64 << 20,
        env: vec![("GIT_CONFIG_GLOBAL".into(), "/dev/null".into())],
        ..Script::new(argv)
    };
    let outcome = script.run().await;
    assert_eq!(outcome.failure(), None, "git {shown}");
    outcome.stdout
}

fn walk(top: &Path, directory: &Path, files: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = path.strip_prefix(top).unwrap().to_owned();
        if entry.file_name() == ".git" {
        } else if kind.is_dir() {
            walk(top, &path, files);
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            files.insert(name, (0o120_000, target.as_os_str().as_bytes().to_vec()));
        } else if kind.is_file() {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
            files.insert(name, (mode, fs::read(&path).unwrap()));
        }
    }
}

/// Hooks, filters and drivers that leave a trace when they run.
pub(super) struct Traps {
    dir: tempfile::TempDir,
}

impl Traps {
    /// Sets them in a repository whose attributes name filter `f` and merge driver `m`.
    pub(super) fn set(place: &Place) -> Self {
        let traps = Self { dir: tempfile::tempdir().unwrap() };
        let trap = traps.dir.path().join("trap");
        let text = format!("#!/bin/sh\necho $0 $@ >>{}/sprung\ncat\n", traps.dir.path().display());
        fs::write(&trap, text).unwrap();
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        let hooks = place.path(".git/hooks");
        fs::create_dir_all(&hooks).unwrap();
        for hook in [
            "post-index-change",
            "reference-transaction",
            "post-checkout",
            "pre-commit",
            "post-commit",
            "post-merge",
            "pre-auto-gc",
        ] {
            fs::copy(&trap, hooks.join(hook)).unwrap();
        }
        let config = place.path(".git/config");
        let text = fs::read_to_string(&config).unwrap();
        let trap = trap.display();
        let more = format!(
            "[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n[filter \"f\"]\n\tclean = {trap}\n\
             \tsmudge = {trap}\n\trequired = true\n[filter \"p\"]\n\tprocess = {trap}\n\
             [merge \"m\"]\n\tdriver = {trap}\n[diff \"d\"]\n\tcommand = {trap}\n\ttextconv = {trap}\n\
             [diff]\n\texternal = {trap}\n[gpg]\n\tprogram = {trap}\n[commit]\n\tgpgSign = true\n"
        );
        fs::write(&config, text + &more).unwrap();
        traps
    }

    /// What ran.
    pub(super) fn sprung(&self) -> String {
        fs::read_to_string(self.dir.path().join("sprung")).unwrap_or_default()
    }
}
