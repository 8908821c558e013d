//! What each method does, a file per noun. Decoding and spellings are dealt with around it.

pub(crate) mod commands;
pub(crate) mod discovery;
pub(crate) mod exec;
pub(crate) mod fs;
pub(crate) mod goals;
pub(crate) mod initialize;
pub(crate) mod input;
pub(crate) mod processes;
pub(crate) mod providers;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod threads;
pub(crate) mod tools;
pub(crate) mod turns;
pub(crate) mod upkeep;
pub(crate) mod workspaces;
