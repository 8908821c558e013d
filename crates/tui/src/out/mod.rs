//! From cells to bytes for the outer terminal: the difference of two pictures, modes, colors, copies.

mod clip;
mod color;
mod encode;
mod modes;
mod notice;

pub use clip::{Route, copied_message, osc52};
pub use color::{Depth, nearest_16, nearest_256};
pub use encode::{Caret, Encoder};
pub use modes::{Modes, QUESTIONS};
pub use notice::notice;
