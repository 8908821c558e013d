//! Judges what a tool wants to do: allowed, asked for or denied, and why. Parses and does not guess.
//!
//! A command is taken apart by a shell parser and looked up in tables, program by program. It is
//! understood completely, or it is not known to be harmless. Nothing here runs or opens anything.

mod approval;
mod classify;
mod git;
mod judge;
mod mode;
mod options;
mod programs;
mod rules;
mod scripts;
mod sed;
mod shell;
pub mod unasked;
mod word;

pub use approval::{Bound, Remembered};
pub use classify::{Class, Command, classify};
pub use judge::{ASKED, CONFIGURED, DENIED, Judgement, ToolRequest, UNATTENDED, Verdict, judge};
pub use mode::{FLAG_ONLY, mode_name, mode_names, parse_mode};
pub use rules::{Action, Rule, Rules};
pub use shell::MAX_COMMAND_BYTES;

#[cfg(test)]
mod tests;
