//! What failures are called, and which sort they are.

use rookery_host::http::reason;
use serde_json::Value;

use crate::provider::{Failure, FailureKind};

/// How much of a server's own words is shown.
const MESSAGE_LIMIT: usize = 4096;

/// What servers say when a conversation is longer than the model takes.
const TOO_LONG: [&str; 12] = [
    "context_length_exceeded",
    "prompt is too long",
    "input is too long",
    "maximum context length",
    "context length exceeded",
    "exceeds the context",
    "exceed context",
    "exceed_context_size",
    "exceeds the available context",
    "context window",
    "model_context_window_exceeded",
    "too many input tokens",
];

/// Codes of errors that no other attempt would change.
const PERMANENT: [&str; 10] = [
    "invalid_request_error",
    "invalid_prompt",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "model_not_found",
    "invalid_api_key",
    "insufficient_quota",
    "billing_error",
    "request_too_large",
];

/// Why a stream is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamError {
    /// What went wrong, in the server's words or ours.
    pub(crate) message: String,
    /// What sort of failure it is.
    pub(crate) kind: FailureKind,
    /// Whether another attempt may help.
    pub(crate) is_retryable: bool,
    /// The status that the server named, if it did.
    pub(crate) status: Option<u16>,
}

impl StreamError {
    /// The stream ended too early.
    pub(crate) fn cut_off() -> Self {
        Self::transient("the answer was cut off")
    }

    /// The stream makes no sense.
    pub(crate) fn nonsense(detail: &str) -> Self {
        Self::transient(&format!("the answer cannot be read: {detail}"))
    }

    /// Something that another attempt may not meet.
    pub(crate) fn transient(message: &str) -> Self {
        let message = message.to_owned();
        Self { message, kind: FailureKind::Unavailable, is_retryable: true, status: None }
    }

    /// What a server reports within a stream, from its error object.
    pub(crate) fn reported(error: &Value, retry_codes: Option<&[&str]>) -> Self {
        let message = message_of(error).unwrap_or_else(|| "unknown error".to_owned());
        let codes: Vec<&str> =
            ["code", "type"].iter().filter_map(|key| error.get(key)?.as_str()).collect();
        let status =
            error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let kind = classify(status, &codes, &message);
        let is_permanent = match retry_codes {
            Some(listed) => !codes.iter().any(|code| listed.contains(code)),
            None => codes.iter().any(|code| PERMANENT.contains(code)),
        };
        let is_retryable = kind != FailureKind::ContextTooLong && !is_permanent;
        Self { message, kind, is_retryable, status }
    }
}

/// What sort of failure a server means.
pub(crate) fn classify(status: Option<u16>, codes: &[&str], message: &str) -> FailureKind {
    let lower = message.to_lowercase();
    let is_too_long = TOO_LONG.iter().any(|words| lower.contains(words) || codes.contains(words));
    match status {
        Some(413) => FailureKind::ContextTooLong,
        None | Some(400 | 422) if is_too_long => FailureKind::ContextTooLong,
        Some(401 | 403) => FailureKind::Auth,
        None if codes
            .iter()
            .any(|code| ["authentication_error", "invalid_api_key"].contains(code)) =>
        {
            FailureKind::Auth
        }
        None if codes.iter().any(|code| PERMANENT.contains(code)) => FailureKind::Rejected,
        Some(408 | 409 | 429) | None => FailureKind::Unavailable,
        Some(status) if status >= 500 => FailureKind::Unavailable,
        Some(_) => FailureKind::Rejected,
    }
}

/// The failure of an answer that is not a good one.
pub(crate) fn status_failure(provider: &str, status: u16, body: &[u8]) -> Failure {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let error = parsed.as_ref().map(error_of);
    let codes: Vec<&str> = error
        .into_iter()
        .flat_map(|error| ["code", "type"].iter().filter_map(|key| error.get(key)?.as_str()))
        .collect();
    let text = String::from_utf8_lossy(body);
    let message = error.and_then(message_of).unwrap_or_else(|| text.trim().to_owned());
    let message = if message.is_empty() {
        reason(status).unwrap_or("no reason given").to_owned()
    } else {
        message
    };
    let kind = classify(Some(status), &codes, &message);
    Failure { message: format!("{provider} error {status}: {}", cut(&message)), kind }
}

/// The object that tells of the error: APIs wrap it, or wrap it in a list.
fn error_of(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    body.get("error").filter(|error| !error.is_null()).unwrap_or(body)
}

/// The words of an error object.
pub(crate) fn message_of(error: &Value) -> Option<String> {
    let error = error_of(error);
    let found = error
        .as_str()
        .or_else(|| ["message", "detail"].iter().find_map(|key| error.get(key)?.as_str()))?;
    Some(found.trim().to_owned()).filter(|message| !message.is_empty())
}

/// A text of bearable length, cut between characters.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MESSAGE_LIMIT)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(status: u16, body: &str, message: &str, kind: FailureKind) {
        let failure = status_failure("OpenAI", status, body.as_bytes());
        assert_eq!((failure.message.as_str(), failure.kind), (message, kind), "{body}");
    }

    #[test]
    fn the_message_comes_from_the_body() {
        check(
            500,
            r#"{"error":{"message":"boom"}}"#,
            "OpenAI error 500: boom",
            FailureKind::Unavailable,
        );
        check(
            404,
            r#"{"error":"no such model"}"#,
            "OpenAI error 404: no such model",
            FailureKind::Rejected,
        );
        check(422, r#"{"detail":"bad"}"#, "OpenAI error 422: bad", FailureKind::Rejected);
        check(
            400,
            r#"[{"error":{"message":"listed"}}]"#,
            "OpenAI error 400: listed",
            FailureKind::Rejected,
        );
        check(401, "go away\n", "OpenAI error 401: go away", FailureKind::Auth);
        check(503, "", "OpenAI error 503: Service Unavailable", FailureKind::Unavailable);
    }

    #[test]
    fn a_conversation_that_is_too_long_is_recognized() {
        let kind = FailureKind::ContextTooLong;
        check(
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"no"}}"#,
            "OpenAI error 400: no",
            kind,
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
            "OpenAI error 400: prompt is too long: 9 > 8",
            kind,
        );
        check(413, "", "OpenAI error 413: Payload Too Large", kind);
        let error = StreamError::reported(
            &json!({"code": "context_length_exceeded", "message": "x"}),
            None,
        );
        assert_eq!((error.kind, error.is_retryable), (kind, false));
    }

    #[test]
    fn words_are_cut_between_characters() {
        let failure = status_failure("X", 500, "ä".repeat(3000).as_bytes());
        assert_eq!(failure.message.len(), "X error 500: ".len() + 4096);
    }

    #[test]
    fn some_reported_errors_are_worth_another_attempt() {
        let retryable = |error: Value, codes: Option<&[&str]>| {
            StreamError::reported(&error, codes).is_retryable
        };
        assert!(retryable(json!({"code": "server_error", "message": "x"}), None));
        assert!(!retryable(json!({"code": "invalid_prompt", "message": "x"}), None));
        assert!(retryable(json!({"type": "overloaded_error"}), Some(&["overloaded_error"])));
        assert!(!retryable(json!({"type": "other"}), Some(&["overloaded_error"])));
    }
}
