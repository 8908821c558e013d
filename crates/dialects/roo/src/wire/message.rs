//! Messages of a task, as clients key and show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{Ask, Say};

/// One message. Absent members are left out: clients drop messages that have a null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClineMessage {
    /// Milliseconds since the epoch; the message is known by it.
    pub ts: u64,
    /// What it asks or says.
    #[serde(flatten)]
    pub kind: Kind,
    /// Its text; what that holds depends on the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Images, as `data:` addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// Whether more comes; absent if it was never streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
    /// Whether it concerns settings of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_protected: Option<bool>,
    /// Whether it was answered with yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_answered: Option<bool>,
    /// What a conversation was shortened to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_condense: Option<Condensed>,
}

/// Whether a message asks or says, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Kind {
    /// It asks.
    Ask {
        /// What.
        ask: Ask,
    },
    /// It says.
    Say {
        /// What.
        say: Say,
    },
}

/// What shortening a conversation came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condensed {
    /// What it cost, in dollars.
    pub cost: f64,
    /// Tokens before, about.
    pub prev_context_tokens: u64,
    /// Tokens after, about.
    pub new_context_tokens: u64,
    /// Placeholder for the omitted part.
    pub summary: String,
}

impl ClineMessage {
    /// A message that says something.
    #[must_use]
    pub fn say(say: Say, text: impl Into<String>) -> Self {
        Self::new(Kind::Say { say }, Some(text.into()))
    }

    /// A message that asks something.
    #[must_use]
    pub fn ask(ask: Ask, text: Option<String>) -> Self {
        Self::new(Kind::Ask { ask }, text)
    }

    fn new(kind: Kind, text: Option<String>) -> Self {
        ClineMessage {
            ts: 0,
            kind,
            text,
            images: None,
            partial: None,
            is_protected: None,
            is_answered: None,
            context_condense: None,
        }
    }

    /// What it asks, if it does.
    #[must_use]
    pub fn asks(&self) -> Option<Ask> {
        match self.kind {
            Kind::Ask { ask } => Some(ask),
            Kind::Say { .. } => None,
        }
    }
}

/// Whether a message is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is.
    Created,
    /// It is there already, and this is all of it as it is now.
    Updated,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_null() {
        let message = ClineMessage { ts: 5, ..ClineMessage::ask(Ask::ResumeTask, None) };
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(text, r#"{"ts":5,"type":"ask","ask":"resume_task"}"#);
        assert_eq!(serde_json::from_str::<ClineMessage>(&text).unwrap(), message);
        let partial = Some(true);
        let message =
            ClineMessage { ts: 6, partial, ..ClineMessage::say(Say::ApiReqStarted, "{}") };
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(
            text,
            r#"{"ts":6,"type":"say","say":"api_req_started","text":"{}","partial":true}"#
        );
    }
}
