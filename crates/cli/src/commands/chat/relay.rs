//! `chat --json`: Roder's notifications of a thread, printed as they come, and a last line of ours.
//!
//! Scripts parse that stream, so it is handed on instead of being made anew from our own; everything that
//! `chat` itself decides by comes from the native dialect.

use rookery_roder::wire::{
    initialize::{ClientCapabilities, ClientInfo, InitializeParams},
    notification::{name, twin},
};
use rookery_view::safe;
use rookery_wire::{Client, client::Notification};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::talk::Ended;
use crate::{
    failure::{Failure, Outcome},
    link::call,
    output,
};

/// Prints what happens to a thread.
pub(super) struct Relay {
    /// The turn whose end was printed last.
    ended: Option<String>,
}

impl Relay {
    /// Asks for the stream.
    pub(super) async fn begin(client: &Client) -> Outcome<Self> {
        let params = InitializeParams {
            client_info: Some(ClientInfo {
                name: "rookery-chat".to_owned(),
                title: None,
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            capabilities: Some(ClientCapabilities {
                opt_out_notification_methods: Some(older_names()),
                ..ClientCapabilities::default()
            }),
        };
        call(client, params).await?;
        Ok(Self { ended: None })
    }

    /// Prints a notification if it is about this thread.
    pub(super) fn print(&mut self, thread: &str, message: &Notification) -> Outcome<()> {
        let params = message.params.get();
        let Ok(about) = serde_json::from_str::<About>(params) else { return Ok(()) };
        let named = about.thread_id.as_ref().or(about.thread.as_ref().map(|named| &named.id));
        if named.is_none_or(|named| named != thread) {
            return Ok(());
        }
        let method = Value::String(message.method.clone());
        output::line(safe::json(&format!("{{\"method\":{method},\"params\":{params}}}")))?;
        if message.method == name::TURN_COMPLETED {
            self.ended = about.turn.map(|turn| turn.id);
        }
        Ok(())
    }

    /// Whether the end of a turn was printed.
    pub(super) fn has_ended(&self, turn: &str) -> bool {
        self.ended.as_deref() == Some(turn)
    }

    /// Prints the last line.
    pub(super) fn end(&self, thread: &str, turn: &str, ended: &Ended) -> Outcome<()> {
        let (status, error) = match ended {
            Ended::Completed => ("completed", None),
            Ended::Failed(error) => ("failed", Some(&**error)),
            Ended::Interrupted => ("interrupted", None),
            Ended::Left(_) => ("left", None),
        };
        let done = Done { r#type: "done", thread_id: thread, turn_id: turn, status, error };
        let text = serde_json::to_string(&done);
        let text = text.map_err(|error| Failure::new(format!("cannot write JSON: {error}")))?;
        output::line(safe::json(&text))
    }
}

/// Names of the notifications that come under a newer name as well.
fn older_names() -> Vec<String> {
    let twins = [
        twin::APPROVAL_REQUESTED,
        twin::APPROVAL_RESOLVED,
        twin::USER_INPUT_REQUESTED,
        twin::USER_INPUT_RESOLVED,
        twin::PLAN_EXIT_REQUESTED,
        twin::PLAN_EXIT_RESOLVED,
    ];
    twins.iter().map(|[older, _]| (*older).to_owned()).collect()
}

/// What most notifications say of themselves.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct About {
    thread_id: Option<String>,
    thread: Option<Named>,
    turn: Option<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: String,
}

/// How a turn ended, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done<'a> {
    r#type: &'static str,
    thread_id: &'a str,
    turn_id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_under_the_newer_names_only() {
        let unwanted = older_names();
        for newer in
            ["thread/approvalRequested", "thread/userInputRequested", "thread/planExitRequested"]
        {
            for name in [newer.to_owned(), newer.replace("Requested", "Resolved")] {
                assert!(!unwanted.contains(&name), "{name}");
                assert!(unwanted.contains(&name.replace("thread/", "session/")), "{name}");
            }
        }
    }

    #[test]
    fn the_end_of_a_turn_is_noticed_in_its_own_thread_only() {
        let message = |thread: &str| Notification {
            method: "turn/completed".to_owned(),
            params: serde_json::value::to_raw_value(&serde_json::json!({
                "threadId": thread, "turn": {"id": "u", "items": []},
            }))
            .unwrap(),
        };
        let mut relay = Relay { ended: None };
        relay.print("mine", &message("other")).unwrap();
        assert!(!relay.has_ended("u"));
        relay.print("mine", &message("mine")).unwrap();
        assert!(relay.has_ended("u") && !relay.has_ended("v"));
    }
}
