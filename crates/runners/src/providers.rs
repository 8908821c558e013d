//! One file for each provider.

pub(crate) mod docker;
pub(crate) mod git_worktree;
pub(crate) mod hosted_http;
pub(crate) mod ssh;
pub(crate) mod unix_local;
