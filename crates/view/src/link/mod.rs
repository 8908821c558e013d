//! The link between the daemon and faces: what is sent in both directions, as serde types.
//!
//! This is the one room below the dialects that knows a wire, because the daemon, every face and
//! the tests of both must agree on each member. Nothing here reads a socket, a clock or the world.
//! Unknown members are ignored on both sides; adding one does not raise [`VERSION`].
#![allow(missing_docs, reason = "where a member's name is its meaning, there is nothing to add")]

mod calls;
mod content;
pub mod differ;
mod frame;
mod input;
pub mod method;
mod open;
mod overlay;
mod reads;
mod scene;
mod term;
#[cfg(test)]
mod tests;
mod text;
mod thread;

use serde::Deserialize;

pub use calls::*;
pub use content::*;
pub use frame::*;
pub use input::*;
pub use open::*;
pub use overlay::*;
pub use reads::reread;
pub use scene::*;
pub use term::*;
pub use text::{Row, RowPart, RowText, sum};
pub use thread::*;

/// The version of the link that is spoken here.
pub const VERSION: u32 = 1;

/// The one notification that the daemon sends.
pub const FRAME: &str = "rookery/view/frame";

/// The WebSocket subprotocol.
pub const SUBPROTOCOL: &str = "rookery.link.v1";

/// Bounds that both sides hold to.
pub mod bound {
    /// Frames that may be unacknowledged.
    pub const FRAMES_IN_FLIGHT: u64 = 2;
    /// Bytes of rows in one frame; the rest comes with the next.
    pub const FRAME_ROW_BYTES: usize = 256 * 1024;
    /// Bytes of scene parts in one frame.
    pub const SCENE_BYTES: usize = 1024 * 1024;
    /// Bytes of news of the open thread in one frame; the rest comes with the next.
    pub const FRAME_THREAD_BYTES: usize = 1024 * 1024;
    /// Styles of one viewer; when they are used up the table begins anew.
    pub const STYLES: usize = 4096;
    /// Links of one viewer.
    pub const LINKS: usize = 1024;
    /// Bytes of a link's target.
    pub const LINK_BYTES: usize = 2048;
    /// Rows of one `view/rows`.
    pub const ROWS: u64 = 1000;
    pub const MATCHES_COUNTED: usize = 10_000;
    pub const MATCHES_RETURNED: usize = 1000;
    /// Bytes of a pattern to find.
    pub const PATTERN_BYTES: usize = 1024;
    /// Rows of the inbox that are sent at once.
    pub const INBOX_ROWS: u32 = 200;
    /// Items of a thread that are sent at once.
    pub const THREAD_ITEMS: u32 = 200;
    /// Bytes of one item of a thread.
    pub const ITEM_BYTES: usize = 256 * 1024;
    /// Bytes of the items that are sent at once.
    pub const THREAD_BYTES: usize = 8 * 1024 * 1024;
    /// Lines of one page of an item.
    pub const ITEM_PAGE_LINES: usize = 2000;
    /// Bytes of one page of an item.
    pub const ITEM_PAGE_BYTES: usize = 1024 * 1024;
    /// Lines of one page of a diff.
    pub const DIFF_PAGE_LINES: usize = 2000;
    pub const DIFF_LINES: usize = 20_000;
    pub const DIFF_BYTES: usize = 4 * 1024 * 1024;
    pub const PASTE_BYTES: usize = 16 * 1024 * 1024;
    /// Bytes of a message to an agent.
    pub const COMPOSER_BYTES: usize = 1024 * 1024;
    /// Bytes of the images of a message, as they are sent.
    pub const IMAGE_BYTES: usize = 12 * 1024 * 1024;
    /// Bytes of a picture of what a viewer shows, as they are sent.
    pub const PICTURE_BYTES: usize = 15 * 1024 * 1024;
    /// Characters of a viewer's name.
    pub const NAME_CHARS: usize = 64;
    pub const PALETTE_ROWS: usize = 200;
    /// Frames per second, and the most that can be asked for.
    pub const FPS: (u16, u16) = (60, 120);
}

/// Whether a member that is false can be left off.
fn is_false(value: &bool) -> bool {
    !value
}

/// Reads a member that may be absent (nothing changed) or null (it is gone).
fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}
