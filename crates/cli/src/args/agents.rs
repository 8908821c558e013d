//! Arguments of the commands for agents: conversations, and what waits for an answer.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueHint};

use super::Variable;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("old").args(["thread", "last"]))]
pub(crate) struct Chat {
    /// Go on with this thread: its id, the end of it, or its name
    #[arg(long, short, value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Go on with the thread that was used last, of --cwd if that is given
    #[arg(long, short)]
    pub(crate) last: bool,
    /// Directory to work in [default: the current one]
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "thread")]
    pub(crate) cwd: Option<PathBuf>,
    /// Who answers
    #[arg(long, short, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Which model answers
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How hard it thinks, such as low or high
    #[arg(long, short, value_name = "EFFORT")]
    pub(crate) reasoning: Option<String>,
    /// What may be done without asking: default, accept-all, plan or bypass
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<String>,
    /// Name of the new thread
    #[arg(long, short, value_name = "NAME", conflicts_with = "old")]
    pub(crate) name: Option<String>,
    /// Keep the new thread in memory only
    #[arg(long, conflicts_with = "old")]
    pub(crate) ephemeral: bool,
    /// Approve whatever is asked
    #[arg(long, short, conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Deny whatever is asked
    #[arg(long)]
    pub(crate) no: bool,
    /// Show what the model thinks as well
    #[arg(long)]
    pub(crate) reasoning_text: bool,
    /// Print every notification of the thread as JSON, one per line, and how it ended
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the model an image; may be repeated
    #[arg(long = "image", short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) images: Vec<PathBuf>,
    /// What to say, joined by spaces; a single - reads it from stdin
    ///
    /// What is piped in is added to it. @FILE takes a file or an image along. A first word such as
    /// /review is a command of the workspace; /help lists those of the conversation itself. Without
    /// a prompt, stdin is read if it is no terminal; if it is one, a conversation begins.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
}

/// A policy mode, as the daemon spells it.
fn mode(text: &str) -> Result<String, String> {
    let mode = rookery_roder::modes::read_argument(text);
    let unknown = || format!("expected one of {}", rookery_roder::modes::accepted());
    mode.map(|mode| rookery_roder::modes::canonical(mode).to_owned()).ok_or_else(unknown)
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
    /// How many at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Those that were put away instead
    #[arg(long, short)]
    pub(crate) archived: bool,
    /// Only those of this directory
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// Only those with this in their name or first words
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
    /// Put threads away
    Archive(ThreadTargets),
    /// Take threads out again
    Unarchive(ThreadTargets),
    /// Delete threads for good
    Delete(ThreadTargets),
    /// Give a thread a name
    Rename(ThreadsRename),
    /// Copy a thread and print the id of the copy
    Fork(ThreadsFork),
    /// Stop what a thread is doing
    Interrupt(ThreadTargets),
}

#[derive(Debug, Args)]
pub(crate) struct ThreadTarget {
    /// The thread: its id, the end of it, or its name
    #[arg(value_name = "THREAD")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadTargets {
    /// The threads: ids, ends of them, or names
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
    /// Show what the model thought as well
    #[arg(long)]
    pub(crate) reasoning_text: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsRename {
    #[command(flatten)]
    pub(crate) target: ThreadTarget,
    /// Its new name, joined by spaces
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
    /// Id of the last turn to copy [default: the last one]
    #[arg(long, value_name = "TURN")]
    pub(crate) from: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RequestTarget {
    /// The request: its id, or the end of it
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
    /// Let the thread do exactly the same again without asking
    #[arg(long, short)]
    pub(crate) remember: bool,
    /// Approve although the preview leaves something out; `rookery inbox show` prints all of it
    #[arg(long)]
    pub(crate) unseen: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Deny {
    #[command(flatten)]
    pub(crate) target: RequestTarget,
    /// What to tell the agent
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    #[command(flatten)]
    pub(crate) target: RequestTarget,
    /// An answer for each question, by the question's id
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub(crate) answers: Vec<Variable>,
}
