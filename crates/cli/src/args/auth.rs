//! Arguments of `rookery login` and `rookery logout`.

use std::time::Duration;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// Account [default: the only one that is set up]
    #[arg(value_enum)]
    pub(crate) account: Option<Account>,
    /// Sign in with a code on any device, or in a browser on this machine [default: as configured]
    #[arg(long, value_enum)]
    pub(crate) flow: Option<LoginFlow>,
    /// Stop waiting after SECS seconds, at most 900
    #[arg(long, short = 'T', value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Show which accounts are signed in
    #[arg(long, conflicts_with_all = ["flow", "timeout"])]
    pub(crate) status: bool,
    /// Sign out instead
    #[arg(long, conflicts_with_all = ["flow", "timeout", "status"])]
    pub(crate) logout: bool,
    /// Print JSON: one line when your input is needed, one at the end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// Account [default: the only one that is signed in]
    #[arg(value_enum)]
    pub(crate) account: Option<Account>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// An account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Account {
    /// ChatGPT, as Codex uses it
    Codex,
    /// SuperGrok
    Supergrok,
}

/// How a person allows a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoginFlow {
    /// Type a code on a page, on any device
    Device,
    /// Use a browser on this machine
    Browser,
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds @ 1..=900) => Ok(Duration::from_secs(seconds)),
        _ => Err("expected a whole number from 1 to 900".to_owned()),
    }
}
