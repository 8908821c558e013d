//! Live terminals: the tasks that read them, and the handles that drive them.
//!
//! A few shard threads own all PTY reading. Each terminal's engine (ring, screen,
//! waits) sits behind a small lock of its own, so that a snapshot or a write from
//! a connection needs no hop to the shard. PTY bytes never enter the world.

mod attach;
mod blocks;
mod capture;
mod closing;
mod composition;
mod display;
mod drawn;
mod effects;
mod engine;
mod handle;
mod input;
mod keys;
mod limits;
mod live;
mod look;
mod meta;
mod notes;
mod notices;
mod open;
mod past;
mod plan;
mod raw_log;
mod recognise;
mod request;
mod restore;
mod room;
mod roster;
mod settings;
mod shard;
mod sweep;
mod task;
mod usage;
mod views;

pub use attach::{Attachment, Output, OutputStream};
pub use composition::Preedit;
pub use display::{Expansion, MouseOutcome, Selected, ViewCell};
pub use drawn::drawn;
pub use engine::{Scene, TranscriptChunk};
pub use handle::{StrayAction, TerminalHandle, Waited};
pub(crate) use keys::KeyMark;
pub use limits::TerminalLimits;
pub(crate) use live::Live;
pub use live::Progress;
pub use look::{InputMark, PendingInput, ScreenView, ScrollTo};
pub use raw_log::RawLog;
pub use recognise::AgentSeen;
pub use request::OpenTerminal;
pub(crate) use room::Room;
use shard::Shards;
use sweep::PendingScans;
pub use views::View;
use views::Views;
