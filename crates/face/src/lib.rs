//! What every face has: the connection to the daemon, and the mirror of what it was sent.
//!
//! A face paints the [`Mirror`], sends what a person does through [`Face`], and says when a frame is
//! painted. The mirror never guesses: what it cannot be sure of it asks for again. Nothing here paints,
//! reads a keyboard, or starts a daemon.

pub mod client;
pub mod inputs;
pub mod mirror;
#[cfg(test)]
mod tests;

pub use client::{Face, Lost, News, NotSent};
pub use inputs::Inputs;
pub use mirror::{Changed, Mirror, MirrorTerm};
