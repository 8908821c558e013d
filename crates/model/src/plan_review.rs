//! Plans of agents as reviews: what is planned, where it stands, and what was said about which part.

use crate::{PlanKey, ThreadId, Timestamp, TurnId};

/// Where a plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanStage {
    /// It is being written.
    Drafted,
    /// It waits for a decision.
    AwaitingReview,
    /// It was replaced by another, and waits for a decision.
    Rewritten,
    /// It may be carried out.
    Approved,
    /// It is carried out.
    Executing,
    /// The turn that carried it out is over.
    Completed,
    /// It may not be carried out.
    Rejected,
}

impl PlanStage {
    /// Whether it was decided on.
    pub fn is_decided(self) -> bool {
        match self {
            PlanStage::Drafted | PlanStage::AwaitingReview | PlanStage::Rewritten => false,
            PlanStage::Approved
            | PlanStage::Executing
            | PlanStage::Completed
            | PlanStage::Rejected => true,
        }
    }
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedStep {
    /// Its name in the review.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub detail: Option<String>,
    /// Whether it is done.
    pub is_done: bool,
}

/// A plan that took the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRewrite {
    /// The plan.
    pub markdown: String,
    /// When.
    pub at: Timestamp,
}

/// What of a plan a comment is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanAnchor {
    /// All of it.
    Whole,
    /// A step, by its name.
    Step(String),
    /// Lines of its text, from 1 on, both included.
    Lines(u32, u32),
    /// A file, or lines of it.
    File {
        path: String,
        /// The first line.
        first: Option<u32>,
        /// The last line.
        last: Option<u32>,
    },
    /// A hunk, by its name.
    Hunk(String),
}

/// The plan that a review is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedPlan {
    /// Which plan of its thread.
    pub key: PlanKey,
    pub thread: ThreadId,
    /// The turn that made it.
    pub turn: TurnId,
    /// Where it stands.
    pub stage: PlanStage,
    /// In a few words.
    pub title: String,
    /// The plan.
    pub markdown: String,
    pub steps: Vec<ReviewedStep>,
    /// Plans that took its place, the last of which is the one above.
    pub rewrites: Vec<PlanRewrite>,
    /// What the agent hears when its next turn begins.
    pub undelivered: Vec<String>,
    /// When anything of it last changed.
    pub updated_at: Timestamp,
}
