//! One file for each way to reach a model, and what they share.
//!
//! - [`Registry`] knows every provider: the table of built-in ones and those that settings add.
//! - A protocol is two pure halves, a request encoded to JSON and frames decoded to events; `call`
//!   brings them to a server, tries again and gives up.
//! - `acp` makes providers of programs that are agents themselves.
//! - [`mock`] answers from the conversation alone, without any network.
//!
//! The environment is looked up through a function, and only the host speaks HTTP.

mod acp;
mod anthropic;
mod builtin;
mod call;
mod catalog;
mod efforts;
mod images;
#[cfg(test)]
mod invariants;
mod listing;
mod loans;
pub mod mock;
mod names;
mod of_task;
mod openai_chat;
mod openai_responses;
mod registry;
mod settings;
mod transcript;

pub use builtin::{KnownProvider, known_providers, normalize};
pub use efforts::{EFFORTS, Fitted, UnsupportedEffort};
pub use loans::{KeyRing, Loan};
pub use of_task::{TaskProvider, TaskProviderError, kept_as_json, kept_from_json, of_task};
pub use registry::{KeyError, Registry, RegistryOptions};
pub(crate) use settings::mask;
pub use settings::{Environment, Kind, Retry, Settings};
