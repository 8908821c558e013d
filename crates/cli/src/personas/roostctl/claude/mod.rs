//! Claude Code: its hooks, and the settings that call them.

mod command;
mod hook;
mod install;
mod report;

pub(super) use command::own_program;
pub(crate) use command::{Called, hook_command, quoted, read_hook_command};
pub(super) use hook::run as hook;
pub(super) use install::{install, settings_file};

/// The events that hooks are installed for, as Claude Code writes them.
pub(crate) const EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "Notification", "Stop", "StopFailure", "SessionEnd"];
