//! The machine we run on: its processes, its name and its user.
//!
//! Everything here asks the operating system; nothing here knows the world.

mod name;
mod processes;
mod user;

pub use name::host_name;
pub use processes::{descendants, kill_session, kill_tree, session_members};
pub use user::{User, current_user};
