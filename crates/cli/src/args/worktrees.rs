//! Arguments of `rookery worktree`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Worktree {
    #[command(subcommand)]
    pub(crate) action: WorktreeAction,
}

/// What to do with worktrees.
#[derive(Debug, Subcommand)]
pub(crate) enum WorktreeAction {
    /// Create a worktree and print its path
    Create(WorktreeCreate),
    /// List the worktrees of a repository
    #[command(visible_alias = "ls")]
    List(WorktreeList),
    /// Open a terminal in a worktree and print its id
    Attach(WorktreeAttach),
    /// Copy the files that .worktreeinclude lists, and run a setup command
    Bootstrap(WorktreeBootstrap),
    /// Land the commits of a worktree on a branch
    ///
    /// Exits with 5 when there are merge conflicts; nothing is changed then.
    Land(WorktreeLand),
    /// Remove a worktree, unless work would be lost
    #[command(visible_alias = "rm")]
    Remove(WorktreeRemove),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("from").args(["base", "remote"]))]
pub(crate) struct WorktreeCreate {
    /// Title of the work, from which the branch name is made
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Name of the new branch [default: made from the title and the time]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// Revision to start from [default: HEAD of the checkout]
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,
    /// Start from the remote's default branch
    #[arg(long)]
    pub(crate) remote: bool,
    /// Fetch from the remote first
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Run the repository's hooks and filters during the checkout
    #[arg(long)]
    pub(crate) trust: bool,
    /// Shell command that prepares the worktree
    #[arg(long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
    /// Also open a terminal in it
    #[arg(long, short)]
    pub(crate) attach: bool,
    /// Directory in the repository [default: the current one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) repo: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Path of the worktree [default: below .idx0/worktrees in the repository]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeList {
    /// Directory in the repository [default: the current one]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) repo: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeTarget {
    /// Worktree, by its directory or its branch [default: the current directory]
    #[arg(value_name = "WORKTREE", value_hint = ValueHint::DirPath)]
    pub(crate) worktree: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeAttach {
    #[command(flatten)]
    pub(crate) target: WorktreeTarget,
    /// Title of the session [default: made from repository and branch]
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Agent to start in it
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeBootstrap {
    #[command(flatten)]
    pub(crate) target: WorktreeTarget,
    /// Checkout to copy from [default: the repository's main checkout]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) source: Option<PathBuf>,
    /// Shell command that prepares the worktree
    #[arg(long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
}

/// How commits get onto a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LandHow {
    /// Merge commit, or fast-forward where possible
    Merge,
    /// One squashed commit
    Squash,
    /// Rebased commits
    Rebase,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("manner").args(["how", "squash", "rebase"]))]
pub(crate) struct WorktreeLand {
    #[command(flatten)]
    pub(crate) target: WorktreeTarget,
    /// Branch that receives the commits [default: the branch of the repository's main checkout]
    #[arg(long, short, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// How to land the commits
    #[arg(long, value_enum, default_value = "merge")]
    pub(crate) how: LandHow,
    /// Same as --how squash
    #[arg(long)]
    pub(crate) squash: bool,
    /// Same as --how rebase
    #[arg(long)]
    pub(crate) rebase: bool,
    /// Message of the merge commit or the squashed commit
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Remove the worktree and its branch afterwards
    #[arg(long)]
    pub(crate) remove: bool,
    /// Run the repository's hooks and filters where the branch is checked out
    #[arg(long)]
    pub(crate) trust: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeRemove {
    #[command(flatten)]
    pub(crate) target: WorktreeTarget,
    /// Discard uncommitted changes, and commits that are on no other branch
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Also delete its branch
    #[arg(long)]
    pub(crate) delete_branch: bool,
}
