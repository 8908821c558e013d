//! Recordings of terminals: asciicast files, version 3 as written and read, version 2 as read.
//! Knows nothing of the daemon; events and times come from outside.

mod drawing;
mod plain;
mod read;
mod record;
mod sequences;
mod write;

use std::{fmt, time::Duration};

pub(crate) use drawing::Drawing;
pub(crate) use plain::PlainText;
pub(crate) use read::{Broken, Reader};
pub(crate) use record::Recorder;
pub(crate) use write::About;

/// The most rows and columns that a recording may have, as everywhere.
const MOST_CELLS_A_SIDE: u16 = 2000;

/// Rows and columns of a recorded terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) cols: u16,
    pub(crate) rows: u16,
}

impl Size {
    /// A size that a screen can have.
    fn new(cols: u64, rows: u64) -> Option<Self> {
        let side =
            |cells| u16::try_from(cells).ok().filter(|n| (1..=MOST_CELLS_A_SIDE).contains(n));
        Some(Self { cols: side(cols)?, rows: side(rows)? })
    }
}

/// As the format writes it.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.cols, self.rows)
    }
}

/// What the first line of a recording says, as far as it matters for playing it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) size: Size,
    /// The longest pause, as the recording's author set it.
    pub(crate) idle_limit: Option<Duration>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// Since the event before.
    pub(crate) pause: Duration,
    pub(crate) what: EntryKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EntryKind {
    Output(String),
    Resized(Size),
    /// Typing, markers, the exit status and whatever later versions add: nothing to see.
    Other,
}
