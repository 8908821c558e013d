//! What goes over the wire, a file per noun. Params are read in camelCase here; the other spelling
//! is folded into it before (see [`casing`](crate::casing)). Results have the casing of their
//! method and the order of members of the contract's samples. Clients use the same types.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

pub mod auth;
mod calls;
pub mod command;
pub mod discovery;
pub mod dual;
pub mod exec;
pub mod fs;
pub mod git;
pub mod hunk;
pub mod import;
pub mod initialize;
pub mod input;
pub mod item;
pub mod marketplace;
pub mod media;
pub mod memory;
pub mod notification;
pub mod plan;
pub mod process;
pub mod provider;
pub mod runner;
pub mod session;
pub mod settings;
pub mod skill;
pub mod task;
pub mod team;
pub mod thread;
pub mod tool;
pub mod trace;
pub mod turn;
pub mod upkeep;
pub mod workflow;
pub mod workspace;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The result of a method that has nothing to say but that it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// A moment as a list of numbers: year, day of the year, hour, minute, second, nanosecond, and the
/// offset from UTC in hours, minutes and seconds.
pub type Moment = [i32; 9];

/// Reads `null` as the default, as clients send it for what they leave out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests;
