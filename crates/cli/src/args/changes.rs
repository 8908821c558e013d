//! Arguments of `rookery changes` and `rookery hunk`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

/// Show what changed in a work tree
#[derive(Debug, Args)]
pub(crate) struct Changes {
    #[command(subcommand)]
    pub(crate) action: ChangesAction,
}

/// What to show of changes.
#[derive(Debug, Subcommand)]
pub(crate) enum ChangesAction {
    /// List the files that changed since the branch left its base, and what commands changed
    #[command(visible_alias = "list")]
    Ls(ChangesLs),
    /// Show the changes of one file
    Show(ChangesShow),
}

/// Which work tree.
#[derive(Debug, Args)]
pub(crate) struct ChangesPlace {
    /// The directory of this thread
    #[arg(long, short, value_name = "THREAD", conflicts_with = "workspace")]
    pub(crate) thread: Option<String>,
    /// The work tree around this directory [default: the current one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,
}

/// Arguments of `rookery changes ls`.
#[derive(Debug, Args)]
pub(crate) struct ChangesLs {
    #[command(flatten)]
    pub(crate) place: ChangesPlace,
    /// List at most N files
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery changes show`.
#[derive(Debug, Args)]
pub(crate) struct ChangesShow {
    /// File, relative to the top of the work tree
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) place: ChangesPlace,
    /// Show only what is committed, staged, unstaged or untracked
    #[arg(long, value_enum)]
    pub(crate) area: Option<Area>,
    /// Ignore changes of white space
    #[arg(long, short = 'w')]
    pub(crate) ignore_whitespace: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a change lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Area {
    /// In commits of the branch
    Committed,
    /// In the index
    Staged,
    /// Only in the work tree
    Unstaged,
    /// In untracked files
    Untracked,
}

/// Show what agents edited, and roll it back
#[derive(Debug, Args)]
pub(crate) struct Hunk {
    #[command(subcommand)]
    pub(crate) action: HunkAction,
}

/// What to do with hunks.
#[derive(Debug, Subcommand)]
pub(crate) enum HunkAction {
    /// List the hunks of a thread, oldest first
    #[command(visible_alias = "list")]
    Ls(HunkLs),
    /// Show one hunk
    Show(HunkShow),
    /// Put the old lines of a hunk back
    ///
    /// Exits with 0 when it was rolled back. A file whose lines have changed since is left unchanged.
    Rollback(HunkRollback),
}

/// Arguments of `rookery hunk ls`.
#[derive(Debug, Args)]
pub(crate) struct HunkLs {
    /// Thread, by its id, the end of its id or its name
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// List only those of this turn
    #[arg(long, value_name = "TURN")]
    pub(crate) turn: Option<String>,
    /// List only those of this file
    #[arg(long, value_name = "FILE")]
    pub(crate) path: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery hunk show`.
#[derive(Debug, Args)]
pub(crate) struct HunkShow {
    /// Thread, by its id, the end of its id or its name
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// Hunk, by its id
    #[arg(value_name = "HUNK")]
    pub(crate) hunk: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery hunk rollback`.
#[derive(Debug, Args)]
pub(crate) struct HunkRollback {
    /// Thread, by its id, the end of its id or its name
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// Hunk, by its id
    #[arg(value_name = "HUNK")]
    pub(crate) hunk: String,
    /// Roll back without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
