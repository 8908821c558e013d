//! The terminal engine: bytes to screen, keys to bytes, matchers, redaction.
//!
//! Pure: no I/O, no clock, nothing of Rookery's model. The same bytes give the
//! same screen, however they are split and however often they are replayed.
//!
//! ```
//! use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
//! let config =
//!     ScreenConfig { size: ScreenSize::new(24, 80), scrollback: 1000, palette: Palette::default() };
//! let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
//! screen.feed(b"\x1b[1mhello\x1b[0m", &NoTranscript, std::time::Duration::ZERO);
//! assert_eq!(screen.plain_text(), "hello");
//! ```

mod ansi;
mod bin;
mod cell;
mod checkpoint;
pub mod colors;
mod emulator;
pub mod escape;
mod evidence;
mod feed;
pub mod find;
mod history;
pub mod keys;
mod line;
pub mod links;
pub mod matcher;
pub mod mouse;
pub mod osc;
mod palette;
pub mod paste;
mod pointer;
pub mod redact;
mod row;
mod rows;
pub mod scanner;
mod screen;
mod selection;
mod snapshot;
pub mod tail;
mod tally;
#[cfg(test)]
mod tests;
pub mod text;
mod watch;

pub use bin::Damaged;
pub use cell::{CellRef, Color, Style, Underline, Width};
pub use colors::{Colors, Resolved, Rgb};
pub use evidence::Evidence;
pub use history::{BLOCK_BYTES, BlockStore, MAX_BLOCKS, MemoryBlocks};
pub use line::{Link, Span, WORD_CHARS};
pub use matcher::{Matcher, Pattern};
pub use palette::Palette;
pub use pointer::PointerShape;
pub use rows::{Mark, RowRef};
pub use screen::{
    FeedResult, NoTranscript, Screen, ScreenConfig, ScreenEvent, ScreenSize, SharedSnapshot,
    Transcript,
};
pub use selection::{Expand, Place, Selection, SelectionKind};
pub use snapshot::{Cursor, CursorShape, Detail, Modes, Snapshot};
pub use tail::Tail;
pub use watch::{Matched, WaitId};
