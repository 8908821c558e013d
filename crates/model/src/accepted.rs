//! Accepted work: what a caller was promised before it was done. Kept until it is done or undone,
//! so that the death of the process does not lose it.

use std::path::PathBuf;

use crate::{Answer, CheckpointId, Origin, RequestId, ReviewId, SessionId, Timestamp, WorkPlace};

/// Work that was accepted and is not done yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// When.
    pub at: Timestamp,
    /// What.
    pub work: AcceptedWork,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptedWork {
    /// An answer to a request.
    Answer {
        request: RequestId,
        answer: Answer,
        /// Who gave it.
        by: String,
    },
    Checkpoint {
        /// Its id.
        checkpoint: CheckpointId,
        /// What is captured.
        place: WorkPlace,
        /// In a few words.
        title: String,
        /// In a few more.
        summary: String,
        /// Whether a review of it is asked for.
        review: bool,
    },
    Session(Box<AcceptedSession>),
    /// A worktree that belongs to no session.
    Worktree(PlannedTree),
    /// A worktree that an agent works in, made and not given back yet.
    LentWorktree(PlannedTree),
    /// Comments of a review that go to the agent.
    Delivery(ReviewId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedSession {
    /// Its id.
    pub session: SessionId,
    /// Its title, if one was given.
    pub title: Option<String>,
    /// The repository or directory to work in.
    pub repo: Option<PathBuf>,
    /// The branch of a new worktree, or a label.
    pub branch: Option<String>,
    /// Whether it gets a worktree of its own.
    pub create_worktree: bool,
    /// A worktree that exists and is used.
    pub existing_worktree: Option<PathBuf>,
    /// Which agent is started in it.
    pub tool: AcceptedTool,
    /// The worktree that is being made for it.
    pub tree: Option<PlannedTree>,
    /// Whether the agent's command may have been typed.
    pub is_launching: bool,
    /// Who asked for it, and so whose its terminal is.
    pub origin: Origin,
}

/// Which agent is started in a session that was accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AcceptedTool {
    #[default]
    None,
    /// The one that the settings name.
    Usual,
    /// This one.
    Named(String),
}

/// A worktree about to be made. Neither its place nor its branch was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTree {
    /// The checkout it is made from.
    pub top: PathBuf,
    /// Where it is made.
    pub path: PathBuf,
    pub branch: String,
    /// The commit that the branch starts from, if there is one.
    pub base: Option<String>,
}

impl AcceptedWork {
    /// The number under which it is kept: that of what it is about.
    pub fn id(&self) -> u128 {
        match self {
            AcceptedWork::Answer { request, .. } => request.get(),
            AcceptedWork::Checkpoint { checkpoint, .. } => checkpoint.get(),
            AcceptedWork::Session(session) => session.session.get(),
            AcceptedWork::Worktree(tree) | AcceptedWork::LentWorktree(tree) => tree.id(),
            AcceptedWork::Delivery(review) => review.get(),
        }
    }
}

impl PlannedTree {
    /// A number made of its place: no other worktree is made there at the same time.
    fn id(&self) -> u128 {
        let bytes = self.path.as_os_str().as_encoded_bytes();
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u128, |hash, byte| {
            (hash ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
        })
    }
}
