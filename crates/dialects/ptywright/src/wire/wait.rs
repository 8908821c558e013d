//! Params and result of `session.wait`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    matcher, matcher::Matcher, process::Process, redaction::Look, snapshot::ScreenSnapshot,
};

/// What `timeout_ms` is when absent.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// Params of `session.wait`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Wait {
    /// The session's id.
    pub session: String,
    /// What to wait for.
    pub matcher: Matcher,
    /// How long at most, 30000 if absent; 0 looks once.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// A name by which `adapter.cancel_wait` ends the wait; an addition of ours.
    #[serde(default)]
    pub wait_id: Option<String>,
    /// How to see it.
    #[serde(flatten)]
    pub look: Look,
}

impl Wait {
    /// How long to wait at most.
    pub(crate) fn timeout(&self) -> Duration {
        matcher::milliseconds(self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS))
    }
}

/// Result of `session.wait`: the evidence of the moment in which the matcher came true.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Waited {
    /// How long it took.
    pub elapsed_ms: u64,
    /// Always true.
    pub matched: bool,
    /// The screen's number.
    pub sequence: u64,
    /// The screen.
    pub snapshot: ScreenSnapshot,
    /// The last 16384 characters of the transcript.
    pub transcript_tail: String,
    /// The process; an addition of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::testing::refusal;

    const MATCHER: &str = r#""matcher":{"type":"process_exited"}"#;

    fn wait(more: &str) -> Wait {
        serde_json::from_str(&format!(r#"{{"session":"s1",{MATCHER}{more}}}"#)).unwrap()
    }

    #[test]
    fn the_timeout_has_a_default_and_may_be_zero() {
        assert_eq!(wait("").timeout(), Duration::from_secs(30));
        assert_eq!(wait(r#","timeout_ms":null"#).timeout(), Duration::from_secs(30));
        assert_eq!(wait(r#","timeout_ms":0"#).timeout(), Duration::ZERO);
        assert!(wait(r#","timeout_ms":18446744073709551615"#).timeout() > Duration::from_secs(1));
    }

    #[test]
    fn refusals_name_the_fault() {
        for value in ["-1", "1.5", "\"1\""] {
            let message =
                refusal::<Wait>(&format!(r#"{{"session":"s1",{MATCHER},"timeout_ms":{value}}}"#));
            assert!(message.contains("expected u64"), "{message}");
        }
        assert_eq!(refusal::<Wait>(r#"{"session":"s1"}"#), "missing field `matcher`");
        assert_eq!(refusal::<Wait>(&format!("{{{MATCHER}}}")), "missing field `session`");
    }
}
