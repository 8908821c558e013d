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
    /// Take over queue, timeline, approvals, reviews, checkpoints and handoffs of idx0
    ///
    /// Nothing in its directory changes, and what is here already is left alone. Sessions are named,
    /// but not opened.
    Idx0(ImportIdx0),
}

#[derive(Debug, Args)]
pub(crate) struct ImportIdx0 {
    /// Directory with its files [default: `idx0` beside our own data]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
    /// Only tell what would be taken over
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
