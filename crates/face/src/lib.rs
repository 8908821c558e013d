//! What every face has: the connection to the daemon, the mirror of what it was sent, and what a
//! person's keys and clicks mean.
//!
//! A face paints the [`Mirror`] and the state of [`app::App`], sends what a person does through
//! [`Face`], and says when a frame is painted. The mirror never guesses: what it cannot be sure of it
//! asks for again. The state is pure: input in, effects out. Nothing here paints, reads a keyboard, or
//! starts a daemon.

pub mod app;
pub mod calls;
pub mod cells;
pub mod client;
pub mod daemon;
pub mod driver;
pub mod inputs;
pub mod keymap;
pub mod mirror;
pub mod pages;
pub mod picture;
#[cfg(test)]
mod tests;
pub mod words;

pub use client::{Face, Lost, News, NotSent};
pub use driver::{Driver, Start, Step};
pub use inputs::Inputs;
pub use mirror::{Changed, Mirror, MirrorTerm};
