//! What each command does.

pub(crate) mod profiles;
pub(crate) mod queries;
pub(crate) mod talk;
pub(crate) mod tasks;

use serde::Serialize;
use serde_json::Value;

use crate::errors::{Code, Failure};
use crate::wire::{Done, Event};

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Events for its client, sent in any case.
    pub(crate) events: Vec<Event>,
    /// The payload of the reply, if there is one.
    pub(crate) payload: Value,
}

impl Outcome {
    pub(crate) fn done() -> Result<Outcome, Failure> {
        Self::of(&Done::YES)
    }

    /// A value.
    pub(crate) fn of(value: &impl Serialize) -> Result<Outcome, Failure> {
        let payload = serde_json::to_value(value);
        let payload =
            payload.map_err(|error| Failure::new(Code::InternalError, error.to_string()))?;
        Ok(Outcome { events: Vec::new(), payload })
    }

    /// A value that is an event as well.
    pub(crate) fn with_event(value: &impl Serialize, event: Event) -> Result<Outcome, Failure> {
        Ok(Outcome { events: vec![event], ..Self::of(value)? })
    }
}
