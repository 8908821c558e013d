//! What a thread does right now.

use rookery_model::{Asked, ThreadId, TurnId};

use crate::world::World;

/// What a thread does right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The turn that runs.
    pub active_turn: Option<TurnId>,
    /// What it waits for.
    pub flags: Vec<Flag>,
}

impl Status {
    /// Whether the turn waits for something that a person or a client has to do.
    pub fn waits_for_answer(&self) -> bool {
        self.flags.iter().any(|flag| *flag != Flag::Interrupting)
    }

    /// Whether the turn waits for something that a person has to do.
    pub fn waits_for_person(&self) -> bool {
        let is_others =
            |flag: &Flag| matches!(flag, Flag::Interrupting | Flag::ExternalToolPending);
        self.flags.iter().any(|flag| !is_others(flag))
    }
}

/// What a turn waits for, in the order in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// Approval is needed.
    ApprovalRequired,
    /// Questions wait for answers.
    UserInputRequired,
    /// A plan waits for approval.
    PlanExitRequired,
    /// A client has to run a tool.
    ExternalToolPending,
    /// It is being stopped.
    Interrupting,
}

/// The status of a thread as the world has it.
pub(crate) fn of(world: &World, id: ThreadId) -> Status {
    let Some(state) = world.threads.get(&id) else { return Status::default() };
    let Some(active) = &state.active else { return Status::default() };
    let waits = world.requests.of_thread(id);
    let mut flags: Vec<Flag> = waits
        .map(|request| match request.asked {
            Asked::Approval { .. } | Asked::Permission { .. } | Asked::Dialog { .. } => {
                Flag::ApprovalRequired
            }
            Asked::Input { .. } => Flag::UserInputRequired,
            Asked::PlanExit(_) => Flag::PlanExitRequired,
            Asked::External(_) => Flag::ExternalToolPending,
        })
        .collect();
    if active.is_interrupting {
        flags.push(Flag::Interrupting);
    }
    flags.sort();
    flags.dedup();
    Status { active_turn: Some(active.turn), flags }
}
