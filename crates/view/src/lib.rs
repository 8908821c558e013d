//! What a user sees and arranges, as plain data: no pixels, no sockets, no clocks.
//!
//! Core derives a scene from the world, painters draw it. Settings, themes, key bindings and the
//! palette are here as well, because every painter and every dialect must agree on them.

pub mod diff;
pub mod inbox;
pub mod keys;
pub mod link;
pub mod palette;
pub mod prose;
pub mod safe;
pub mod scene;
pub mod settings;
pub mod theme;
pub mod tile;
