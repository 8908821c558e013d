//! The face in a terminal: draws what a viewer sees and sends what a person does.
//!
//! Pure inside: state and picture in, cells out; input in, effects out. Bytes, signals and the
//! connection are at the rim ([`out`], `run`). Knows neither the world nor any dialect but the link.

pub mod app;
pub mod canvas;
pub mod draw;
pub mod keymap;
pub mod look;
pub mod out;
pub mod pages;
pub mod picture;
mod run;

pub use run::calls::{Calls, wire_key};
pub use run::{Ended, Job, KeyProtocol, Options, refusal, run};
