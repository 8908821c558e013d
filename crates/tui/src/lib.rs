//! The face in a terminal: draws what a viewer sees and sends what a person does.
//!
//! State, keys and pages are `rookery-face`'s. Drawing is pure: state and picture in, cells out.
//! Bytes and signals are at the rim ([`out`], `run`). Knows neither the world nor any dialect but the link.

pub mod canvas;
pub mod draw;
pub mod look;
pub mod out;
mod run;
#[cfg(test)]
mod tests;

pub use run::{Ended, KeyProtocol, Options, Outer, run, typed};
