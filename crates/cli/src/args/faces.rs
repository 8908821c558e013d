//! Arguments of the faces.

use clap::{Args, ValueEnum};

#[derive(Debug, Default, Args)]
pub(crate) struct Tui {
    /// Only look: no key reaches a program and nothing is decided
    #[arg(long)]
    pub(crate) look: bool,
    /// One column of text without lines, for screen readers
    #[arg(long)]
    pub(crate) plain: bool,
    /// Run inside a terminal of the same daemon
    #[arg(long)]
    pub(crate) nested: bool,
    /// Compare checksums of everything that is shown
    #[arg(long)]
    pub(crate) check: bool,
    /// Page to begin with
    #[arg(long, value_name = "PAGE", value_enum)]
    pub(crate) page: Option<TuiPage>,
}

/// A page of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TuiPage {
    Workspace,
    Inbox,
    Threads,
    Reviews,
    Checkpoints,
    Worktrees,
    Audit,
    Settings,
    Help,
}
