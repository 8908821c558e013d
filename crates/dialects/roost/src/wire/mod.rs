//! What goes over the wire, a file per noun. Both directions: the server decodes params strictly
//! and a client decodes results leniently with the same types.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

pub mod agent;
pub mod app;
pub mod clipboard;
pub mod envelope;
pub mod events;
pub mod notification;
pub mod palette;
pub mod project;
pub mod scalar;
pub mod selection;
pub mod tab;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use scalar::{Base64, Color, Int64};

use crate::errors::Error;

/// The params of one operation, which know its name and its result.
pub trait Call:
    rookery_wire::Call<Reply: Serialize + JsonSchema + Send + 'static>
    + DeserializeOwned
    + JsonSchema
    + Send
    + 'static
{
    /// Checks what types cannot say, before anything is looked up.
    ///
    /// # Errors
    /// `invalid-param`, naming the field.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The result of an operation that has nothing to say but that it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// Declares the params of operations: `"op" Name -> Reply [check] { fields }`, the check being optional.
///
/// Fields are public and documented; one without `#[serde(default)]` that is no `Option` is required.
macro_rules! calls {
    ($(
        $(#[$doc:meta])*
        $op:literal $name:ident -> $reply:ty $([$check:expr])? {
            $( $(#[$attr:meta])* $field:ident: $ty:ty, )*
        }
    )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $( $(#[$attr])* pub $field: $ty, )* }

        ::rookery_wire::call!($op $name -> $reply);

        impl $crate::wire::Call for $name {
            $(fn check(&self) -> Result<(), $crate::errors::Error> {
                ($check)(self)
            })?
        }
    )*
        /// All of them, for tests of every one.
        #[cfg(test)]
        pub(super) const CALLS: &[(&str, super::tests::Decode)] = &[$(
            (<$name as ::rookery_wire::Call>::METHOD, super::tests::decode::<$name>)
        ),*];
    };
}
/// Declares a plain result or a part of one: public documented fields, unknown keys ignored.
macro_rules! shapes {
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$attr:meta])* $field:ident: $ty:ty, )* } )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub struct $name { $( $(#[$attr])* pub $field: $ty, )* }
    )* };
}
/// Declares a closed set of words.
macro_rules! words {
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$attr:meta])* $word:ident, )* } )*) => { $(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $( $(#[$attr])* $word, )* }
    )* };
}
pub(crate) use {calls, shapes, words};

#[cfg(test)]
mod tests;
