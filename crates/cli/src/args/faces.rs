//! Arguments of the faces.

use clap::{Args, ValueEnum};

#[derive(Debug, Default, Args)]
pub(crate) struct Tui {
    /// Read-only: send no keys and decide nothing
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

#[cfg(feature = "window")]
#[derive(Debug, Default, Args)]
pub(crate) struct Window {
    /// Open another window even if one is open
    #[arg(long)]
    pub(crate) new: bool,
    /// Read-only: send no keys and decide nothing
    #[arg(long)]
    pub(crate) look: bool,
    /// Append a line of JSON for each picture that was shown
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) trace: Option<std::path::PathBuf>,
    /// Page to begin with
    #[arg(long, value_name = "PAGE", value_enum)]
    pub(crate) page: Option<TuiPage>,
    /// Write the menu entry, the icon and the metadata of the desktop, for this user
    #[arg(long, conflicts_with_all = ["new", "look", "trace", "page"])]
    pub(crate) install_desktop: bool,
    /// Remove what --install-desktop wrote
    #[arg(long, conflicts_with_all = ["new", "look", "trace", "page", "install_desktop"])]
    pub(crate) remove_desktop: bool,
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
