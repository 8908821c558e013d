//! How things are named here: sessions by id or title, everything else by id.

use std::collections::BTreeMap;

use rookery_core::{Core, Session, SessionError};

use crate::errors::Failure;
use crate::values::parse_uuid;

/// The payload of a request.
pub(crate) type Payload = BTreeMap<String, String>;

/// A value that is there and not blank.
pub(crate) fn filled<'a>(payload: &'a Payload, key: &str) -> Option<&'a str> {
    payload.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// A text, or the usual one if it is blank.
pub(crate) fn text_or(payload: &Payload, key: &str, usual: &str) -> String {
    match payload.get(key) {
        Some(text) if !text.trim().is_empty() => text.clone(),
        _ => usual.to_owned(),
    }
}

/// The id in a value, if it is one.
pub(crate) fn id(payload: &Payload, key: &str) -> Option<u128> {
    payload.get(key).and_then(|text| parse_uuid(text))
}

/// The session that a command is about.
///
/// # Errors
/// If none is named, or the name fits none or several.
pub(crate) fn session(core: &Core, payload: &Payload) -> Result<Session, Failure> {
    let query = match payload.get("session") {
        Some(query) if !query.is_empty() => query,
        _ => return Err(Failure::new("Missing --session value")),
    };
    resolve(core, query)
}

/// The session that a word means.
///
/// # Errors
/// If it fits none or several.
pub(crate) fn resolve(core: &Core, query: &str) -> Result<Session, Failure> {
    core.sessions().find(query).map_err(|error| match error {
        SessionError::Unknown | SessionError::Ambiguous => {
            Failure::new(format!("Unable to resolve session '{query}'"))
        }
    })
}
