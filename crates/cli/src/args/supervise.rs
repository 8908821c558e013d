//! Arguments of the commands for those who look after agents: the inbox, reviews, checkpoints,
//! handoffs and the record of decisions.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Inbox {
    #[command(subcommand)]
    pub(crate) action: Option<InboxAction>,
    /// Go on with what changes: on a terminal as a list to decide in, else one line per change
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// Show what is only good to know as well
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Print JSON; with --watch one line per change
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the inbox.
#[derive(Debug, Subcommand)]
pub(crate) enum InboxAction {
    /// Put items away; what they are about keeps waiting for its answer
    Resolve(InboxResolve),
    /// Print all that a request would do, however long it is
    Show(InboxShow),
}

#[derive(Debug, Args)]
pub(crate) struct InboxShow {
    /// The request: the id that the inbox shows, or the end of it
    #[arg(value_name = "REQUEST")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InboxResolve {
    /// The items: the ids that the inbox shows, or the ends of them
    #[arg(value_name = "ITEM", required_unless_present = "all")]
    pub(crate) ids: Vec<String>,
    /// Put away everything that does not wait for a decision
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Print JSON, one line per item
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceChoice {
    /// The session, by its id or title [default: $IDX0_SESSION_ID, else the only one of this
    /// directory, else the git work tree around it]
    #[arg(long, short, value_name = "SESSION", conflicts_with = "tree")]
    pub(crate) session: Option<String>,
    /// The git work tree around this directory, whoever works there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Thing {
    /// Its id, or the end of it
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
    /// Show the changes, with what was said about them
    Show(Thing),
    /// Ask for a review of the changes of a session or a work tree
    Request(ReviewRequest),
    /// Say something about the changes, or about a line of them
    Comment(ReviewComment),
    /// The changes are good as they are
    Approve(Thing),
    /// Something should be different; the agent is told what was said
    Changes(ReviewChanges),
    /// Tell the agent what was said and was not told yet
    Deliver(ReviewDeliver),
    /// Decide later
    Defer(Thing),
}

#[derive(Debug, Args)]
pub(crate) struct ReviewList {
    /// Only those of this session, by its id or title
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only those of the work tree around this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
    /// Those that are approved as well
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
    /// The checkpoint with the changes [default: one is made]
    #[arg(long, short, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// What it is about, joined by spaces
    #[arg(value_name = "SUMMARY")]
    pub(crate) summary: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewComment {
    #[command(flatten)]
    pub(crate) target: Thing,
    /// The file, as the changes name it
    #[arg(long, short, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<String>,
    /// The line of the new side
    #[arg(long, short, value_name = "N", requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) line: Option<u32>,
    /// What to say, joined by spaces; a single - reads it from stdin
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewDeliver {
    #[command(flatten)]
    pub(crate) target: Thing,
    /// The session that is told, by its id or title [default: the one whose changes they are, else
    /// the only agent in the work tree]
    #[arg(long, value_name = "SESSION")]
    pub(crate) to: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewChanges {
    #[command(flatten)]
    pub(crate) target: Thing,
    /// What should be different, joined by spaces; a single - reads it from stdin
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
    /// Keep the state of a work tree, and print the id of the checkpoint
    Create(CheckpointCreate),
    /// List checkpoints, newest first
    #[command(visible_alias = "ls")]
    List(CheckpointList),
    /// Say what is in a checkpoint
    Show(Thing),
    /// Print what differs as a patch
    Diff(CheckpointDiff),
    /// Put the work tree back; what is there now is kept as a checkpoint first
    Restore(CheckpointRestore),
    /// Forget checkpoints
    Delete(CheckpointDelete),
    /// Forget all but some checkpoints of a repository
    Prune(CheckpointPrune),
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointCreate {
    #[command(flatten)]
    pub(crate) place: PlaceChoice,
    /// In a few words
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// In a few more
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// Ask for a review of it
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
    /// Only those of the work tree around this directory
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
    pub(crate) target: Thing,
    /// From what it stood on to it [default: from it to the work tree as it is]
    #[arg(long)]
    pub(crate) head: bool,
    /// From another checkpoint to it
    #[arg(long, short, value_name = "ID")]
    pub(crate) with: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointRestore {
    #[command(flatten)]
    pub(crate) target: Thing,
    /// Put head and branch back too
    #[arg(long)]
    pub(crate) head: bool,
    /// Only these files and directories, from the top of the work tree
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointDelete {
    /// Their ids, or the ends of them
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["keep", "older_than"]))]
pub(crate) struct CheckpointPrune {
    /// Keep so many, the newest
    #[arg(long, short, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Forget those older than this, such as 90m, 12h or 30d
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<u64>,
    /// A directory of the repository [default: the current one]
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
    /// Hand the work of a session or in a work tree over, and print the id of the handoff
    Create(HandoffCreate),
    /// List handoffs, newest first
    #[command(visible_alias = "ls")]
    List(HandoffList),
    /// Take a handoff
    Accept(Thing),
    /// A handoff is done
    Resolve(Thing),
}

#[derive(Debug, Args)]
pub(crate) struct HandoffCreate {
    #[command(flatten)]
    pub(crate) place: PlaceChoice,
    /// The session that takes over, by its id or title
    #[arg(long, value_name = "SESSION")]
    pub(crate) to: Option<String>,
    /// The checkpoint to go on from
    #[arg(long, short, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// In a few words
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What may go wrong; may be repeated
    #[arg(long = "risk", value_name = "TEXT")]
    pub(crate) risks: Vec<String>,
    /// What comes next; may be repeated
    #[arg(long = "next", value_name = "TEXT")]
    pub(crate) next_actions: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// What it is about, joined by spaces
    #[arg(value_name = "SUMMARY")]
    pub(crate) summary: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffList {
    /// Only those from or to this session, by its id or title
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only those of the work tree around this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tree: Option<PathBuf>,
    /// Those that are done as well
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
    /// Somebody has to be asked
    RequiresApproval,
    /// The mode, a list or an earlier answer approves it
    AutoApproved,
    /// It must not be done
    Denied,
    /// Whoever was asked said yes
    Approved,
    /// Whoever was asked will decide later
    Deferred,
    /// Whoever looked at changes wants others
    ChangesRequested,
    /// Answered at its terminal; what was chosen there is not known
    AnsweredAtTerminal,
    /// It needs no answer any more; none was given
    Withdrawn,
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only decisions made since: a time such as 2026-03-01T12:00:00Z, a day, or an age such as 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only those of this thread: its id, the end of it, or its name
    #[arg(long, short, value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Only those made by this one: policy, or a dialect such as roder
    #[arg(long, value_name = "WHO")]
    pub(crate) by: Option<String>,
    /// Only those that came out so
    #[arg(long, value_enum)]
    pub(crate) verdict: Option<Verdict>,
    /// How many at most, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print JSON, one line per decision
    #[arg(long)]
    pub(crate) json: bool,
}
