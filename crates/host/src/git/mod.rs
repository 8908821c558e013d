//! Repositories, through the `git` program: what changed, snapshots, worktrees, and checkouts of others.
//!
//! Only `run` and `stream` start git, and only with settings under which a repository that may be
//! a stranger's gets nothing run and nothing fetched. Nothing here knows sessions or threads.

pub mod changes;
pub mod checkout;
mod head;
pub mod metrics;
mod own_filters;
mod repo;
mod run;
pub mod snapshot;
mod stream;
mod untouched;
pub mod worktree;

pub use head::branch_around;
pub use repo::{Head, Oid, Repository};
pub use run::GitError;

#[cfg(test)]
mod testing;
