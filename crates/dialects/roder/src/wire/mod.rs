//! What goes over the wire, a file per noun. Params are read in camelCase here; the other spelling
//! is folded into it before (see [`casing`](crate::casing)). Results have the casing of their
//! method and the order of members of the contract's samples. Clients use the same types.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

mod calls;
pub mod command;
pub mod discovery;
pub mod exec;
pub mod fs;
pub mod initialize;
pub mod input;
pub mod item;
pub mod notification;
pub mod process;
pub mod provider;
pub mod session;
pub mod settings;
pub mod thread;
pub mod tool;
pub mod turn;
pub mod upkeep;
pub mod workspace;

pub use calls::{ModelList, ProvidersList};

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The result of a method that has nothing to say but that it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// A moment as a list of numbers: year, day of the year, hour, minute, second, nanosecond, and the
/// offset from UTC in hours, minutes and seconds.
pub type Moment = [i32; 9];

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Reads `null` as the default, as clients send it for what they leave out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests;
