//! From cells to bytes for the outer terminal: the difference of two pictures, modes, colors, copies.

mod clip;
mod color;
mod encode;
mod modes;

pub use clip::{LARGE, Route, osc52};
pub use color::{Depth, nearest_16, nearest_256};
pub use encode::{Caret, Encoder};
pub use modes::{Modes, QUESTIONS};
