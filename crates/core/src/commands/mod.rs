//! Commands that clients run themselves, on pipes or in a terminal, and the table of them.
//!
//! It decides whether a command may run, how it is held, what is kept of its output and when it
//! ends. How programs are run is the machine's business, and how clients say all this is theirs.

mod approval;
mod capture;
mod execution;
mod process;
mod processes;
mod request;
mod run;
mod source;
mod start;

pub use execution::{Artifact, ExecChunk, ExecEnd, ExecStream, Execution};
pub use process::{ProcessOutput, ProcessState, ProcessView};
pub(crate) use processes::Room;
pub use request::{ExecRequest, ExecRunner, ExecWords, Shows};
pub(crate) use start::ExecPermit;
pub use start::ExecStart;
