//! A repository to try commands in, with a place beside it that links lead to.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::sandboxed::{Found, found};

/// Files of the repository.
const FILES: &[(&str, &str)] = &[
    ("a.txt", "a:1\nb:2\na:3\n"),
    ("README.md", "# Scratch\n"),
    ("data.json", "{\"name\": \"scratch\", \"items\": [{\"n\": 1}, {\"n\": 2}]}\n"),
    (
        "Cargo.toml",
        "[package]\nname = \"scratch\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
    ),
    ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"scratch\"\nversion = \"0.1.0\"\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n"),
    ("evil.sh", "touch new\n"),
    ("evil.sed", "w new\n"),
    ("evil.awk", "BEGIN { system(\"touch new\") }\n"),
    ("ls", "#!/bin/sh\ntouch new\n"),
    ("evil", "#!/bin/sh\ntouch new\n"),
];

/// A repository with a change in it, and a directory outside of it.
pub(crate) struct Scratch {
    dir: TempDir,
    work: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let work = dir.path().join("work");
        fs::create_dir_all(work.join("src")).expect("a directory");
        fs::create_dir_all(work.join("empty")).expect("a directory");
        fs::create_dir_all(dir.path().join("outside")).expect("a directory");
        fs::write(dir.path().join("outside/kept"), "kept\n").expect("a file");
        for (name, text) in FILES {
            fs::write(work.join(name), text).expect("a file");
        }
        for name in ["ls", "evil", "evil.sh"] {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(work.join(name), mode).expect("a mode");
        }
        symlink("../outside/kept", work.join("link")).expect("a link");
        symlink("../outside", work.join("dirlink")).expect("a link");
        let scratch = Self { dir, work };
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.git(&["add", "."]);
        scratch.git(&["commit", "-q", "-m", "one"]);
        scratch.git(&["tag", "v1"]);
        // What a repository's own configuration and hooks would run.
        for key in ["core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program"] {
            scratch.git(&["config", key, "touch new; false"]);
        }
        fs::write(scratch.work.join("a.txt"), "a:1\nb:2\na:3\nc:4\n").expect("a change");
        scratch
    }

    /// The directory that commands run in.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    /// All that is there, with content, mode and time of change; links are not followed.
    pub(crate) fn state(&self) -> Vec<Found> {
        found(self.dir.path())
    }

    #[expect(clippy::disallowed_methods, reason = "the repository is made by git itself")]
    fn git(&self, args: &[&str]) {
        let status = std::process::Command::new("git")
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.org",
                "-c",
                "core.fsmonitor=false",
            ])
            .args(args)
            .current_dir(&self.work)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(status.expect("git starts").success(), "git {args:?}");
    }
}
