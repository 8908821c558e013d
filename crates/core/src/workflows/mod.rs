//! Workflows: scripts that start child agents and combine their answers.
//!
//! A run is planned, approved, and then its script runs to its end; only its agents touch files, programs
//! or the network, each under the usual policy. Scripts are run by an engine that knows none of this; what
//! they ask is done here. A run outlives the daemon: its record and the answers of its agents are files,
//! and a script that is run again gets the same answers without asking twice.

mod approve;
mod author;
mod children;
mod control;
mod dispatch;
mod encode;
mod execute;
mod files;
mod host;
mod library;
mod live;
mod plan;
mod progress;
mod room;
mod scan;
mod task;
#[cfg(test)]
mod tests;
mod types;

pub use library::{ScriptProblem, ScriptQuery, Scripts};
pub use live::ClientGrant;
pub use plan::{NewRun, Planned};
pub use progress::{RunLine, RunProgress, RunWaiting};
pub(crate) use room::Room;
pub use task::{RunEnd, RunHandle, TaskInput};
pub use types::{
    AgentStatus, CostEstimate, Phase, PhaseStatus, Run, RunAgent, RunApproval, RunChange,
    RunDecision, RunNotice, RunStatus, RunSummary, ScriptInfo, ScriptKind,
};
