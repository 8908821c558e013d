//! Arguments of the commands for agents: conversations, and what waits for an answer.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueHint};
use rookery_native::wire::Mode;

use super::Variable;
use crate::talk::mode;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("old").args(["thread", "last"]))]
pub(crate) struct Chat {
    /// Continue this thread, by its id, the end of the id, or its name
    #[arg(long, short, value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Continue the thread that was used last, in --cwd if that is given
    #[arg(long, short)]
    pub(crate) last: bool,
    /// Directory to work in [default: the current one]
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "thread")]
    pub(crate) cwd: Option<PathBuf>,
    /// Provider
    #[arg(long, short, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Model
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Reasoning effort, such as low or high
    #[arg(long, short, value_name = "EFFORT")]
    pub(crate) reasoning: Option<String>,
    /// Policy mode, which says what runs without approval: default, accept-all, plan or bypass
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Name of the new thread
    #[arg(long, short, value_name = "NAME", conflicts_with = "old")]
    pub(crate) name: Option<String>,
    /// Keep the new thread in memory only
    #[arg(long, conflicts_with = "old")]
    pub(crate) ephemeral: bool,
    /// Approve every request
    #[arg(long, short, conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Deny every request
    #[arg(long)]
    pub(crate) no: bool,
    /// Also show the model's reasoning
    #[arg(long)]
    pub(crate) reasoning_text: bool,
    /// Print every notification of the thread as JSON, one per line, then the result
    #[arg(long)]
    pub(crate) json: bool,
    /// Attach an image; may be repeated
    #[arg(long = "image", short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) images: Vec<PathBuf>,
    /// Prompt; several words are joined by spaces, a single - reads stdin
    ///
    /// Piped input is appended. @FILE attaches a file or an image. A first word such as /review runs a
    /// command of the workspace; /help lists the built-in ones. Without a prompt, stdin is read; if
    /// stdin is a terminal, a conversation starts.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
}

fn mode(text: &str) -> Result<Mode, String> {
    mode::read(text).ok_or_else(|| format!("expected one of {}", mode::accepted()))
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Threads {
    #[command(subcommand)]
    pub(crate) action: Option<ThreadsAction>,
    #[command(flatten)]
    pub(crate) list: ThreadsList,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsList {
    /// List at most N threads
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// List archived threads instead
    #[arg(long, short)]
    pub(crate) archived: bool,
    /// Only those of this directory
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Only those whose name or first message contains this text
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with a thread.
#[derive(Debug, Subcommand)]
pub(crate) enum ThreadsAction {
    /// Print the conversation
    Show(ThreadsShow),
    /// Archive threads
    Archive(ThreadTargets),
    /// Restore archived threads
    Unarchive(ThreadTargets),
    /// Delete threads permanently
    Delete(ThreadTargets),
    /// Rename a thread
    Rename(ThreadsRename),
    /// Copy a thread and print the id of the copy
    Fork(ThreadsFork),
    /// Interrupt the running turn of threads
    Interrupt(ThreadTargets),
}

#[derive(Debug, Args)]
pub(crate) struct ThreadTarget {
    /// Thread, by its id, the end of the id, or its name
    #[arg(value_name = "THREAD")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadTargets {
    /// Threads, by their ids, the ends of the ids, or their names
    #[arg(value_name = "THREAD", required = true)]
    pub(crate) ids: Vec<String>,
    /// Print JSON, one line per thread
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsShow {
    #[command(flatten)]
    pub(crate) target: ThreadTarget,
    /// Also show the model's reasoning
    #[arg(long)]
    pub(crate) reasoning_text: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsRename {
    #[command(flatten)]
    pub(crate) target: ThreadTarget,
    /// New name; several words are joined by spaces
    #[arg(value_name = "NAME", required = true)]
    pub(crate) name: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsFork {
    #[command(flatten)]
    pub(crate) target: ThreadTarget,
    /// Name of the copy
    #[arg(long, short, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Last turn to copy, by its id [default: the newest turn]
    #[arg(long, value_name = "TURN")]
    pub(crate) from: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RequestTarget {
    /// Request, by its id or the end of the id
    #[arg(value_name = "REQUEST")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    pub(crate) target: RequestTarget,
    /// Also approve identical requests of this thread from now on
    #[arg(long, short)]
    pub(crate) remember: bool,
    /// Approve although the preview is shortened; `rookery inbox show` prints it in full
    #[arg(long)]
    pub(crate) unseen: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Deny {
    #[command(flatten)]
    pub(crate) target: RequestTarget,
    /// Message to the agent
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    #[command(flatten)]
    pub(crate) target: RequestTarget,
    /// Answer to each question, by the question's id
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub(crate) answers: Vec<Variable>,
}
