//! Repositories that tests set up.

use std::path::Path;
use std::process::{Command, Output};

/// Runs git in a directory as a user with a name and a default branch, and gives what it prints.
#[track_caller]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = output(dir, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The same; none if git fails, as it may beside another that makes or removes a worktree.
pub fn try_git(dir: &Path, args: &[&str]) -> Option<String> {
    let output = output(dir, args);
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn output(dir: &Path, args: &[&str]) -> Output {
    #[expect(clippy::disallowed_methods, reason = "a test sets a repository up")]
    let mut git = Command::new("git");
    let who =
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"];
    git.current_dir(dir).args(who).args(args).output().unwrap()
}
