//! Arguments of `rookery memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Manage memories: what agents should know in every thread
#[derive(Debug, Args)]
pub(crate) struct Memory {
    #[command(subcommand)]
    pub(crate) action: MemoryAction,
}

/// What to do with memories.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryAction {
    /// List memories, the last changed first
    #[command(visible_alias = "list")]
    Ls(MemoryLs),
    /// Show a memory
    Show(MemoryShow),
    /// Save a memory and print its id
    Save(MemorySave),
    /// Replace the text of a memory
    Update(MemoryUpdate),
    /// Delete memories
    Rm(MemoryRm),
    /// Search memories by words, the best match first
    Query(MemoryQuery),
    /// Show the memories that a turn with this prompt would get
    Recall(MemoryRecall),
    /// List the providers that search memories, or choose one
    Provider(MemoryProvider),
}

/// Arguments of `rookery memory recall`.
#[derive(Debug, Args)]
pub(crate) struct MemoryRecall {
    /// Prompt of the turn; - reads it from stdin
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// The thread of the turn
    #[arg(short, long)]
    pub(crate) thread: String,
    /// Print at most N memories [default: 5]
    #[arg(short, long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery memory provider`.
#[derive(Debug, Args)]
pub(crate) struct MemoryProvider {
    /// Choose this provider, such as `local`
    #[arg(value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Model of the provider [default: the provider's own choice]
    #[arg(short, long, value_name = "NAME", requires = "provider")]
    pub(crate) model: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose memories.
#[derive(Debug, Args)]
pub(crate) struct MemoryPlace {
    /// Use this scope: global, project, user, project:ID, user:ID or thread:ID
    #[arg(short, long)]
    pub(crate) scope: Option<String>,
    /// Take the project of this directory instead of the current one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Arguments of `rookery memory ls`.
#[derive(Debug, Args)]
pub(crate) struct MemoryLs {
    #[command(flatten)]
    pub(crate) place: MemoryPlace,
    /// List at most N memories [default: 50]
    #[arg(short, long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery memory show`.
#[derive(Debug, Args)]
pub(crate) struct MemoryShow {
    /// The memory's id
    pub(crate) memory: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery memory save`.
#[derive(Debug, Args)]
pub(crate) struct MemorySave {
    /// What to remember; - reads it from stdin
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) place: MemoryPlace,
    /// Metadata to store with it, as JSON
    #[arg(short, long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery memory update`.
#[derive(Debug, Args)]
pub(crate) struct MemoryUpdate {
    /// The memory's id
    pub(crate) memory: String,
    /// The new text; - reads it from stdin
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Replace its metadata with this JSON
    #[arg(short, long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery memory rm`.
#[derive(Debug, Args)]
pub(crate) struct MemoryRm {
    /// The ids of memories
    #[arg(required = true)]
    pub(crate) memories: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery memory query`.
#[derive(Debug, Args)]
pub(crate) struct MemoryQuery {
    /// The words to search for
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) place: MemoryPlace,
    /// Search global memories as well
    #[arg(short, long)]
    pub(crate) global: bool,
    /// Print at most N memories [default: 10]
    #[arg(short, long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
