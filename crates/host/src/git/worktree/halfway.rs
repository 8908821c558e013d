//! Worktrees that another git is just making or removing.
//!
//! What git does with worktrees it does with a look at all of them, and it gives up at one of which only a part
//! is there. That passes within moments, so what met one is done again.

use std::time::Duration;

use crate::git::GitError;

/// How long is waited before each further attempt.
pub(super) const WAITS: [Duration; 5] = [
    Duration::from_millis(10),
    Duration::from_millis(30),
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
];

/// Whether git gave up because of another worktree that is only half there. Its words are those of `LC_ALL=C`.
pub(super) fn is_halfway(message: &str) -> bool {
    let is_of_git = message.starts_with("failed to read ") || message.starts_with("Invalid path ");
    is_of_git && message.contains("/worktrees/")
}

/// Runs a call that can be repeated, again if it met such a worktree.
///
/// # Errors
/// What the last attempt fails with.
pub(super) async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, GitError>
where
    F: Future<Output = Result<T, GitError>>,
{
    for wait in WAITS {
        match call().await {
            Err(GitError::Failed { message, .. }) if is_halfway(&message) => {
                tokio::time::sleep(wait).await;
            }
            other => return other,
        }
    }
    call().await
}
