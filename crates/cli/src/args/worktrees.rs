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
    /// Make a worktree and print where it is
    Create(WorktreeCreate),
    /// List the worktrees of a repository
    #[command(visible_alias = "ls")]
    List(WorktreeList),
    /// Open a terminal in a worktree and print its id
    Attach(WorktreeAttach),
    /// Copy what .worktreeinclude lists, and run a command that prepares it
    Bootstrap(WorktreeBootstrap),
    /// Bring the commits of a worktree onto a branch
    ///
    /// Exits with 5 when files are in conflict; then nothing was changed.
    Land(WorktreeLand),
    /// Remove a worktree, unless work would be lost
    #[command(visible_alias = "rm")]
    Remove(WorktreeRemove),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("from").args(["base", "remote"]))]
pub(crate) struct WorktreeCreate {
    /// What the work is about; gives the branch its name
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Name of the new branch [default: made of the title and the time]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// Revision to start from [default: the head of the checkout]
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,
    /// Start from the main branch of the remote
    #[arg(long)]
    pub(crate) remote: bool,
    /// Ask the remote for news first
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Run the repository's hooks and filters at the checkout
    #[arg(long)]
    pub(crate) trust: bool,
    /// Command for a shell that prepares it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
    /// Open a terminal in it as well
    #[arg(long, short)]
    pub(crate) attach: bool,
    /// A directory of the repository [default: the current one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) repo: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Where to make it [default: below .idx0/worktrees in the repository]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeList {
    /// A directory of the repository [default: the current one]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) repo: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeTarget {
    /// The worktree, by its directory or its branch [default: the current directory]
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
    /// Title of the session [default: made of repository and branch]
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
    /// Checkout to copy from [default: the repository's own]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) source: Option<PathBuf>,
    /// Command for a shell that prepares it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
}

/// How commits get onto a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LandHow {
    /// As they are
    Merge,
    /// As one commit
    Squash,
    /// One by one on top of it
    Rebase,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("manner").args(["how", "squash", "rebase"]))]
pub(crate) struct WorktreeLand {
    #[command(flatten)]
    pub(crate) target: WorktreeTarget,
    /// Branch that gets the commits [default: the one of the repository's own checkout]
    #[arg(long, short, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// How
    #[arg(long, value_enum, default_value = "merge")]
    pub(crate) how: LandHow,
    /// The same as --how squash
    #[arg(long)]
    pub(crate) squash: bool,
    /// The same as --how rebase
    #[arg(long)]
    pub(crate) rebase: bool,
    /// Message of the merge or of the one commit
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
    /// Lose changes, and commits that nothing else holds
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Delete its branch as well
    #[arg(long)]
    pub(crate) delete_branch: bool,
}
