//! Support for tests: real daemons in temporary homes, the whole stack in memory, PTYs to run
//! clients in, and the runner of vectors.
//!
//! Nothing of the product depends on this crate. A step that fails panics: that is how a test
//! fails. Every wait here is bounded and says what it waited for.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a step that fails fails the test")]

mod binary;
mod caller;
mod daemon;
mod git;
mod lines;
mod memory;
mod patience;
mod processes;
mod pty;
mod random;
pub mod vectors;

pub use binary::rookery_binary;
pub use caller::{Begun, Caller, PATIENCE};
pub use daemon::{Finished, Home, TestDaemon};
pub use git::{git, try_git};
pub use lines::Lines;
pub use memory::MemoryDaemon;
pub use patience::{eventually, wait_until};
pub use processes::{Process, children_of, is_alive, memory_of, processes_of};
pub use pty::{Outer, TestPty};
pub use random::Random;
