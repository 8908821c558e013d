//! Teams of agents: a lead and its teammates, the mailbox between them, and the tasks of the lead.
//!
//! [`Team`] is a pure machine: what happens to a member's thread goes in, what clients are to hear comes
//! out, and time and ids are arguments. [`file`] is the form of a team on disk. Neither knows where files
//! lie, how turns are run, or what a wire calls anything.

pub mod file;
mod mailbox;
mod member;
mod team;

pub use mailbox::{Letter, Message, MessageKind, WAITING_BYTES};
pub use member::{Member, MemberId, MemberStatus, Role};
pub use team::{Change, DisplayMode, Team, TeamTask, TeamTaskStatus, TurnEnd};

#[cfg(test)]
mod tests;
