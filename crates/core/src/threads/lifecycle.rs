//! Where a turn is in its life, for those who watch over it. Derived from the turn; nothing is kept.

use rookery_model::{Timestamp, Turn, TurnErrorKind, TurnId, TurnStatus};

/// Where a turn is in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLifecycle {
    pub turn: TurnId,
    /// Where it is.
    pub state: LifecycleState,
    /// What it failed with.
    pub error: Option<TurnErrorKind>,
    /// Since when.
    pub at: Timestamp,
}

/// The places in a turn's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleState {
    /// It runs, or waits.
    Running,
    /// It was asked to stop.
    InterruptRequested,
    /// It was stopped on request.
    Interrupted,
    /// It came to its end.
    Completed,
    Failed,
    /// The daemon ended in the middle of it.
    RecoveryNeeded,
}

impl TurnLifecycle {
    /// The life of a turn as it is now; `interrupted_at` says since when it is to stop.
    pub fn of(turn: &Turn, interrupted_at: Option<Timestamp>) -> Self {
        let error = turn.error.as_ref().map(|error| error.kind);
        let state = match (turn.status, error) {
            (TurnStatus::InProgress, _) if interrupted_at.is_some() => {
                LifecycleState::InterruptRequested
            }
            (TurnStatus::InProgress, _) => LifecycleState::Running,
            (TurnStatus::Completed, _) => LifecycleState::Completed,
            (TurnStatus::Interrupted, _) => LifecycleState::Interrupted,
            (TurnStatus::Failed, Some(TurnErrorKind::RuntimeRestart)) => {
                LifecycleState::RecoveryNeeded
            }
            (TurnStatus::Failed, _) => LifecycleState::Failed,
        };
        let at = turn.completed_at.or(interrupted_at).unwrap_or(turn.started_at);
        TurnLifecycle { turn: turn.id, state, error, at }
    }
}
