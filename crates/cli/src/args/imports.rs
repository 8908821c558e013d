//! Arguments of `rookery imports` and `rookery skills`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Use files that a project has for other agents
#[derive(Debug, Args)]
pub(crate) struct Imports {
    #[command(subcommand)]
    pub(crate) action: ImportsAction,
}

/// What to do with imports.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportsAction {
    /// List items that can be imported, and those that are
    #[command(visible_aliases = ["scan", "list"])]
    Ls(ImportsLs),
    /// Show an item: what it holds, and what it would start
    #[command(visible_alias = "preview")]
    Show(ImportsShow),
    /// Let an item take effect in this workspace
    ///
    /// An item that starts programs or contacts servers is shown first and has to be approved: by an answer
    /// on the terminal, or by --yes, with --hash for exactly what was shown. It has to be approved again when
    /// its file changes. Exits with 3 when it was not approved.
    Enable(ImportsEnable),
    /// Disable an item
    Ignore(ImportsItem),
    /// Look again for items whose files changed or are gone
    Refresh(ImportsPlace),
    /// Reset the decision about an item; its file stays
    #[command(visible_alias = "rm")]
    Remove(ImportsItem),
}

/// Arguments of `rookery imports refresh`.
#[derive(Debug, Args)]
pub(crate) struct ImportsPlace {
    /// Use the workspace in this directory instead of the current one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery imports ls`.
#[derive(Debug, Args)]
pub(crate) struct ImportsLs {
    #[command(flatten)]
    pub(crate) place: ImportsPlace,
    /// List files of your home and installed plugins as well
    #[arg(short, long)]
    pub(crate) user: bool,
    /// List only items in this state
    #[arg(short, long, value_name = "STATE", value_parser = STATES)]
    pub(crate) state: Option<String>,
}

/// States as the list shows them.
const STATES: [&str; 7] = ["detected", "live", "enabled", "ignored", "disabled", "stale", "failed"];

/// Arguments of `rookery imports show`.
#[derive(Debug, Args)]
pub(crate) struct ImportsShow {
    /// The item's id, the end of it, or its file
    pub(crate) item: String,
    #[command(flatten)]
    pub(crate) place: ImportsPlace,
}

/// Arguments of `rookery imports enable`.
#[derive(Debug, Args)]
pub(crate) struct ImportsEnable {
    /// The item's id, the end of it, or its file
    pub(crate) item: String,
    /// Approve that it starts programs or contacts servers
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Enable it only if its file still has the hash that `show` printed, or one that begins so
    #[arg(long, value_name = "SHA", value_parser = hash)]
    pub(crate) hash: Option<String>,
    #[command(flatten)]
    pub(crate) place: ImportsPlace,
}

/// The least number of first digits that stand for a hash: no other content can be made to have the same.
pub(crate) const HASH_DIGITS: usize = 32;

/// A hash or its beginning, in lower case.
fn hash(text: &str) -> Result<String, String> {
    let is_hash = (HASH_DIGITS..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => Ok(text.to_lowercase()),
        false => {
            Err(format!("a hash has 64 hexadecimal digits; give {HASH_DIGITS} of them or more"))
        }
    }
}

/// Arguments of `rookery imports ignore` and `rookery imports remove`.
#[derive(Debug, Args)]
pub(crate) struct ImportsItem {
    /// The item's id, the end of it, or its file
    pub(crate) item: String,
    #[command(flatten)]
    pub(crate) place: ImportsPlace,
}

/// Manage the skills that agents can read
#[derive(Debug, Args)]
pub(crate) struct Skills {
    #[command(subcommand)]
    pub(crate) action: SkillsAction,
}

/// What to do with skills.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsAction {
    /// List skills of this workspace and of yours
    #[command(visible_alias = "list")]
    Ls(ImportsPlace),
    /// Show a skill
    Show(SkillsItem),
    /// Offer a skill to agents in this workspace
    Enable(SkillsItem),
    /// Stop offering a skill to agents in this workspace
    Disable(SkillsItem),
}

/// Arguments of `rookery skills show`, `enable` and `disable`.
#[derive(Debug, Args)]
pub(crate) struct SkillsItem {
    /// The skill's name, or the path of its file
    pub(crate) skill: String,
    #[command(flatten)]
    pub(crate) place: ImportsPlace,
}
