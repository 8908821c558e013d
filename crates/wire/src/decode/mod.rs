//! From JSON to values, with the path of what is wrong. Owns the one decoder that all params and replies go
//! through; knows neither methods nor connections.
//!
//! Every type that is decoded gets a copy of whatever is generic here, and there are more than a thousand of
//! them. So a document is cut into its members by functions that know no type, and what is generic only hands
//! those members to the type's own code.

mod access;
mod fault;
mod node;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use fault::Fault;
use fault::Place;
use node::Node;

/// Decodes a whole document.
///
/// # Errors
/// If it is no JSON, or does not fit the type.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Fault> {
    from_raw(document(text)?)
}

/// Decodes a document that is known to be JSON.
///
/// # Errors
/// If it does not fit the type.
pub fn from_raw<'de, T: Deserialize<'de>>(raw: &'de RawValue) -> Result<T, Fault> {
    T::deserialize(Node { text: raw.get(), place: &Place::Root, depth: 0 })
}

fn document(text: &str) -> Result<&RawValue, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::of(&error))
}

#[cfg(test)]
mod tests;
