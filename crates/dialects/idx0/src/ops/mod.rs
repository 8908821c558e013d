//! What each command does, a file per noun.

pub(crate) mod approvals;
pub(crate) mod checkpoints;
pub(crate) mod create;
pub(crate) mod events;
pub(crate) mod handoffs;
pub(crate) mod import;
pub(crate) mod notify;
pub(crate) mod queue;
pub(crate) mod reviews;
pub(crate) mod sessions;
pub(crate) mod tools;

use serde::Serialize;

use crate::envelope::Reply;

/// What most commands say when there is nothing more to say.
const OK: &str = "OK";
/// Who decides, as records have it.
const BY: &str = "idx0";

/// A list as a string of JSON.
fn listed<T: Serialize>(items: &[T]) -> Reply {
    match serde_json::to_string(items) {
        Ok(json) => Reply::ok(OK).with("json", json),
        Err(_) => Reply::failure("Failed to encode IPC response"),
    }
}
