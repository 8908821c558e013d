//! Shell integration: scripts that make bash, zsh and fish tell the terminal about prompts, commands,
//! directories and titles, and how such a shell is started so that it loads them.
//!
//! No startup file of the user is ever changed. Nothing here knows the config or starts a process.

mod install;
mod prepare;

pub use install::install;
pub use prepare::{Prepared, prepare};

/// The folder of the scripts inside the resources folder.
const FOLDER: &str = "shell-integration";
