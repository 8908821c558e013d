//! The machine we run on: its processes and its name.
//!
//! Everything here asks the operating system; nothing here knows the world.

mod name;
mod processes;

pub use name::host_name;
pub use processes::{descendants, kill_session, kill_tree, session_members};
