//! What the commands for agents share: how threads, sessions, items and requests are found and shown. Which of
//! it a command prints is the command's business.

pub(crate) mod age;
pub(crate) mod mode;
pub(crate) mod patch;
pub(crate) mod queue;
pub(crate) mod requests;
pub(crate) mod sessions;
pub(crate) mod settle;
pub(crate) mod show;
pub(crate) mod threads;
