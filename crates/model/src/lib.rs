//! The nouns of Rookery: ids, entities, events and the one error type.
//!
//! Plain data that every other room may speak of. It knows no wire, no
//! runtime and no I/O; conversions live beside whoever needs them.

mod activity;
mod error;
mod event;
mod ids;
mod project;
mod size;
mod terminal;
mod time;

pub use activity::{Activity, Lifecycle, Owner, Pending, RunState, ShellState};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, NumberedEvent};
pub use ids::{EventSeq, ProjectId, TerminalId};
pub use project::Project;
pub use size::{Size, SizeError};
pub use terminal::{
    ExitStatus, LaunchSpec, NotificationText, OnExit, Terminal, TerminalState, TerminalUuid,
    title_of_dir,
};
pub use time::Timestamp;
