//! Arguments of the commands that supervise agents: inbox, reviews, checkpoints, handoffs and the
//! log of decisions.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Inbox {
    #[command(subcommand)]
    pub(crate) action: Option<InboxAction>,
    /// Keep watching: on a terminal as an interactive list, else as one line per change
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// Also show items that are for information only
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Print JSON; with --watch one line per change
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the inbox.
#[derive(Debug, Subcommand)]
pub(crate) enum InboxAction {
    /// Dismiss items; open requests behind them stay open
    Resolve(InboxResolve),
    /// Print a request in full, however long it is
    Show(InboxShow),
}

#[derive(Debug, Args)]
pub(crate) struct InboxShow {
    /// Request, by the id that the inbox shows, or the end of the id
    #[arg(value_name = "REQUEST")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InboxResolve {
    /// Items, by the ids that the inbox shows, or the ends of the ids
    #[arg(value_name = "ITEM", required_unless_present = "all")]
    pub(crate) ids: Vec<String>,
    /// Dismiss every item that needs no decision
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Print JSON, one line per item
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceChoice {
    /// Session, by its id or title [default: $IDX0_SESSION_ID, else the only session in this
    /// directory, else the git work tree that contains it]
    #[arg(long, short, value_name = "SESSION", conflicts_with = "tree")]
    pub(crate) session: Option<String>,
    /// Use the git work tree that contains this directory, whatever session works there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct IdArg {
    /// Id, or the end of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) action: ReviewAction,
}

/// What to do with reviews.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// List reviews, newest first
    #[command(visible_alias = "ls")]
    List(ReviewList),
    /// Show the changes with their comments
    Show(IdArg),
    /// Request a review of the changes of a session or a work tree
    Request(ReviewRequest),
    /// Comment on the changes, or on a line of them
    Comment(ReviewComment),
    /// Approve the changes
    Approve(IdArg),
    /// Request changes; the comments are sent to the agent
    Changes(ReviewChanges),
    /// Send the agent the comments that were not sent yet
    Deliver(ReviewDeliver),
    /// Defer the decision
    Defer(IdArg),
}

#[derive(Debug, Args)]
pub(crate) struct ReviewList {
    /// Only those of this session, by its id or title
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only those of the work tree that contains this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
    /// Include approved reviews
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewRequest {
    #[command(flatten)]
    pub(crate) place: PlaceChoice,
    /// Checkpoint that holds the changes [default: a new one]
    #[arg(long, short, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Summary; several words are joined by spaces
    #[arg(value_name = "SUMMARY")]
    pub(crate) summary: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewComment {
    #[command(flatten)]
    pub(crate) target: IdArg,
    /// File, by its path in the changes
    #[arg(long, short, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<String>,
    /// Line number in the new version of the file
    #[arg(long, short, value_name = "N", requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) line: Option<u32>,
    /// Comment; several words are joined by spaces, a single - reads stdin
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewDeliver {
    #[command(flatten)]
    pub(crate) target: IdArg,
    /// Session that receives the comments, by its id or title [default: the session that made the
    /// changes, else the only agent in the work tree]
    #[arg(long, value_name = "SESSION")]
    pub(crate) to: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewChanges {
    #[command(flatten)]
    pub(crate) target: IdArg,
    /// Changes to request; several words are joined by spaces, a single - reads stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Checkpoint {
    #[command(subcommand)]
    pub(crate) action: CheckpointAction,
}

/// What to do with checkpoints.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointAction {
    /// Save the state of a work tree and print the checkpoint's id
    Create(CheckpointCreate),
    /// List checkpoints, newest first
    #[command(visible_alias = "ls")]
    List(CheckpointList),
    /// Show a checkpoint
    Show(IdArg),
    /// Print the differences as a patch
    Diff(CheckpointDiff),
    /// Restore the work tree; its current state is saved as a checkpoint first
    Restore(CheckpointRestore),
    /// Delete checkpoints
    Delete(CheckpointDelete),
    /// Delete old checkpoints of a repository
    Prune(CheckpointPrune),
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointCreate {
    #[command(flatten)]
    pub(crate) place: PlaceChoice,
    /// Title
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Summary
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// Also request a review of it
    #[arg(long)]
    pub(crate) review: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointList {
    /// Only those of this session, by its id or title
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only those of the work tree that contains this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("other").args(["head", "with"]))]
pub(crate) struct CheckpointDiff {
    #[command(flatten)]
    pub(crate) target: IdArg,
    /// Compare its base commit with it [default: compare it with the work tree]
    #[arg(long)]
    pub(crate) head: bool,
    /// Compare another checkpoint with it
    #[arg(long, short, value_name = "ID")]
    pub(crate) with: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointRestore {
    #[command(flatten)]
    pub(crate) target: IdArg,
    /// Also restore HEAD and the branch
    #[arg(long)]
    pub(crate) head: bool,
    /// Restore only these files and directories, relative to the top of the work tree
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointDelete {
    /// Ids, or the ends of them
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["keep", "older_than"]))]
pub(crate) struct CheckpointPrune {
    /// Keep the newest N
    #[arg(long, short, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Delete those older than this, such as 90m, 12h or 30d
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<u64>,
    /// Directory in the repository [default: the current one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) repo: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Seconds of an age such as `90m`.
pub(crate) fn age(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a number and s, m, h, d or w, not {text:?}");
    let at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..at].parse().map_err(|_| wrong())?;
    let unit = match &text[at..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct Handoff {
    #[command(subcommand)]
    pub(crate) action: HandoffAction,
}

/// What to do with handoffs.
#[derive(Debug, Subcommand)]
pub(crate) enum HandoffAction {
    /// Hand over the work of a session or a work tree and print the handoff's id
    Create(HandoffCreate),
    /// List handoffs, newest first
    #[command(visible_alias = "ls")]
    List(HandoffList),
    /// Accept a handoff
    Accept(IdArg),
    /// Mark a handoff as done
    Resolve(IdArg),
}

#[derive(Debug, Args)]
pub(crate) struct HandoffCreate {
    #[command(flatten)]
    pub(crate) place: PlaceChoice,
    /// Session that takes over, by its id or title
    #[arg(long, value_name = "SESSION")]
    pub(crate) to: Option<String>,
    /// Checkpoint to continue from
    #[arg(long, short, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Title
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Known risk; may be repeated
    #[arg(long = "risk", value_name = "TEXT")]
    pub(crate) risks: Vec<String>,
    /// Next step; may be repeated
    #[arg(long = "next", value_name = "TEXT")]
    pub(crate) next_actions: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Summary; several words are joined by spaces
    #[arg(value_name = "SUMMARY")]
    pub(crate) summary: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffList {
    /// Only those from or to this session, by its id or title
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only those of the work tree that contains this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
    /// Include handoffs that are done
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Verdict {
    /// Harmless, or a rule allows it
    Allowed,
    /// Needs a person's approval
    RequiresApproval,
    /// Approved by the mode, a list or an earlier answer
    AutoApproved,
    /// Forbidden by policy or denied by a person
    Denied,
    /// Approved by a person
    Approved,
    /// Deferred by a person
    Deferred,
    /// A review requested changes
    ChangesRequested,
    /// Answered in the agent's terminal; the answer is not known
    AnsweredAtTerminal,
    /// Withdrawn before it was answered
    Withdrawn,
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only decisions since TIME: a time such as 2026-03-01T12:00:00Z, a date, or an age such as 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only decisions about this thread, by its id, the end of the id, or its name
    #[arg(long, short, value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Only decisions by WHO: policy, or a dialect such as roder
    #[arg(long, value_name = "WHO")]
    pub(crate) by: Option<String>,
    /// Only decisions with this verdict
    #[arg(long, value_enum)]
    pub(crate) verdict: Option<Verdict>,
    /// Print at most the newest N
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print JSON, one line per decision
    #[arg(long)]
    pub(crate) json: bool,
}
