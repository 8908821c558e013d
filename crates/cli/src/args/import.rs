//! The command line of `rookery import`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) from: ImportFrom,
}

/// Whose files are read.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// Import queue, timeline, approvals, reviews, checkpoints and handoffs of idx0
    ///
    /// Nothing in its directory changes, and records that exist here already are skipped. Sessions
    /// are listed, but not opened.
    Idx0(ImportIdx0),
}

#[derive(Debug, Args)]
pub(crate) struct ImportIdx0 {
    /// Data directory of idx0 [default: `idx0` next to Rookery's data directory]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
    /// Only show what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
