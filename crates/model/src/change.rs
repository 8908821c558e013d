//! What happened to files: edits of tools, hunk by hunk, and what commands were seen to change.
//!
//! Both belong to a thread and are kept with it, in the order of their numbers.

use crate::{CheckpointId, ItemId, RequestId, ThreadId, Timestamp, TurnId};

/// What an edit does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileOperation {
    /// It gets another content.
    Modify,
    /// It is made.
    Create,
    /// It is removed.
    Delete,
    /// It gets another name, and maybe another content.
    Rename,
}

/// What a line of a hunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// On both sides.
    Context,
    /// Only on the new side.
    Added,
    /// Only on the old side.
    Removed,
}

/// A line of a hunk, with its line end if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// On which sides it is.
    pub kind: LineKind,
    /// What it says.
    pub text: String,
}

/// One contiguous change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, from the thread's directory on.
    pub path: String,
    /// Its name before, if that was another.
    pub old_path: Option<String>,
    /// What happened to it.
    pub operation: FileOperation,
    /// The first line of the old side, from 1 on; the one before it if that side has none.
    pub old_start: u64,
    /// Lines of the old side, with context.
    pub old_lines: u64,
    /// The first line of the new side.
    pub new_start: u64,
    /// Lines of the new side, with context.
    pub new_lines: u64,
    /// The lines, the first of them if not all are kept.
    pub lines: Vec<HunkLine>,
    /// The permissions of a file that was removed, where they are known.
    pub mode: Option<u32>,
    /// Why it cannot be undone, if that is known already.
    pub obstacle: Option<String>,
}

impl Edit {
    /// The lines of the old side.
    pub fn old_side(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter().filter(|line| line.kind != LineKind::Added);
        lines.map(|line| line.text.as_str())
    }

    /// The lines of the new side.
    pub fn new_side(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter().filter(|line| line.kind != LineKind::Removed);
        lines.map(|line| line.text.as_str())
    }

    /// How many bytes its lines have.
    pub fn len(&self) -> usize {
        self.lines.iter().map(|line| line.text.len()).sum()
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Whether a hunk can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollback {
    /// It can, as far as is known.
    Available,
    /// It was.
    Applied,
    /// It cannot, for this reason.
    Unavailable(String),
    /// The file is another by now, as was found when it was tried.
    Conflict(String),
}

/// Where and when a hunk was undone, so that what is known of other hunks can be moved along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Its number among all changes of the thread.
    pub number: u64,
    /// The first line that was replaced, from 0 on.
    pub at: u64,
    /// How many lines were there.
    pub removed: u64,
    /// How many lines are there now.
    pub added: u64,
}

/// Which plan something belongs to, within a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlanKey {
    /// A plan that an agent asked to carry out.
    Request(RequestId),
    /// A change that an agent wanted to make while it planned: the item of its tool.
    Call(ItemId),
}

/// What an edit tool did to a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its number among all changes of the thread.
    pub number: u64,
    /// Its name, which no other hunk of the thread has.
    pub id: String,
    pub thread: ThreadId,
    /// The turn; none if a client called the tool.
    pub turn: Option<TurnId>,
    /// The call of the tool.
    pub call: String,
    pub tool: String,
    /// What it did.
    pub edit: Edit,
    /// The plan that was carried out with it.
    pub plan: Option<PlanKey>,
    /// The step of that plan, if the plan has only one.
    pub step: Option<String>,
    /// The newest checkpoint of the thread when it was made.
    pub checkpoint: Option<CheckpointId>,
    /// Whether it can be undone.
    pub rollback: Rollback,
    /// Whether undoing it was begun; a daemon that died meanwhile may have done it.
    pub is_begun: bool,
    pub undone: Option<Undone>,
    /// When it was made.
    pub at: Timestamp,
}

/// What stands between the item of a call and the number of a hunk in the name of that hunk.
const HUNK: &str = "-hunk-";

impl Hunk {
    /// The name of a hunk of a call, which is known by its item or else by its own name.
    pub fn name(call: &str, number: usize) -> String {
        format!("{call}{HUNK}{number}")
    }

    /// The item of the call that made it; none if a client called the tool.
    pub fn item(&self) -> Option<&str> {
        self.turn?;
        self.id.rsplit_once(HUNK).map(|(item, _)| item)
    }
}

/// What version control says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It is new, and version control does not know it.
    Untracked,
}

/// A file that was seen to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedFile {
    /// Its path from the top of the work tree on.
    pub path: String,
    /// Its path before, if that was another.
    pub old_path: Option<String>,
    /// What version control says of it now.
    pub status: FileStatus,
    /// Lines that it has and its base has not.
    pub additions: u64,
    /// Lines that its base has and it has not.
    pub deletions: u64,
    /// Whether it is not text.
    pub is_binary: bool,
}

/// Files that changed while a command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Its number among all changes of the thread.
    pub number: u64,
    /// Its name, which no other observation of the thread has.
    pub id: String,
    pub thread: ThreadId,
    /// The turn; none if a client ran the command.
    pub turn: Option<TurnId>,
    /// The call of the tool, or the command's own name.
    pub call: String,
    pub tool: String,
    /// Whether another tool worked in the same work tree meanwhile, and may have changed them as well.
    pub is_shared: bool,
    /// The files, by path.
    pub files: Vec<ObservedFile>,
    /// When it was made.
    pub at: Timestamp,
}

/// Something that happened to files, as it is kept.
#[allow(
    clippy::large_enum_variant,
    reason = "most records are hunks, and each is moved a few times"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeRecord {
    /// An edit of a tool.
    Hunk(Hunk),
    /// What a command was seen to change.
    Observation(Observation),
}

/// Which sort of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// An edit of a tool.
    Hunk,
    /// What a command was seen to change.
    Observation,
}

impl ChangeRecord {
    /// Its sort.
    pub fn kind(&self) -> ChangeKind {
        match self {
            ChangeRecord::Hunk(_) => ChangeKind::Hunk,
            ChangeRecord::Observation(_) => ChangeKind::Observation,
        }
    }

    /// Its number among all changes of its thread.
    pub fn number(&self) -> u64 {
        match self {
            ChangeRecord::Hunk(hunk) => hunk.number,
            ChangeRecord::Observation(observation) => observation.number,
        }
    }

    /// The thread it belongs to.
    pub fn thread(&self) -> ThreadId {
        match self {
            ChangeRecord::Hunk(hunk) => hunk.thread,
            ChangeRecord::Observation(observation) => observation.thread,
        }
    }

    /// The turn it belongs to.
    pub fn turn(&self) -> Option<TurnId> {
        match self {
            ChangeRecord::Hunk(hunk) => hunk.turn,
            ChangeRecord::Observation(observation) => observation.turn,
        }
    }

    /// Its name.
    pub fn id(&self) -> &str {
        match self {
            ChangeRecord::Hunk(hunk) => &hunk.id,
            ChangeRecord::Observation(observation) => &observation.id,
        }
    }
}
