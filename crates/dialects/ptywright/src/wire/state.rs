//! Adapter states on their way out: secrets hidden, and failing plugins as a state of their own.

use rookery_plugins::State;
use serde_json::Value;

use crate::errors::default_policy;

/// The state of a plugin that failed, with the words of the error.
pub(crate) fn plugin_error(message: &str, sequence: u64) -> State {
    let reason = message.strip_prefix("lua plugin error: ").unwrap_or(message);
    State {
        state: "plugin_error".to_owned(),
        confidence: 0.0,
        evidence: format!("plugin failed: {reason}"),
        sequence,
        ..State::default()
    }
}

/// A state without secrets, unless they were asked for.
pub(crate) fn redacted(mut state: State, redact: Option<bool>) -> State {
    if redact == Some(false) {
        return state;
    }
    state.state = hide(state.state, redact);
    state.evidence = hide(state.evidence, redact);
    for candidate in &mut state.candidates {
        candidate.state = hide(std::mem::take(&mut candidate.state), redact);
    }
    for mark in &mut state.host_marks {
        mark.label = hide(std::mem::take(&mut mark.label), redact);
    }
    if let Some(metadata) = &mut state.metadata {
        hide_in(metadata);
    }
    state.events.iter_mut().for_each(hide_in);
    state
}

/// A text without secrets, unless they were asked for.
pub(crate) fn hide(text: String, redact: Option<bool>) -> String {
    if redact == Some(false) { text } else { default_policy().redact(&text).into_owned() }
}

/// Hides secrets in every text of a value. Its depth is bounded where it is made.
fn hide_in(value: &mut Value) {
    match value {
        Value::String(text) => *text = hide(std::mem::take(text), None),
        Value::Array(values) => values.iter_mut().for_each(hide_in),
        Value::Object(members) => {
            for (name, mut value) in std::mem::take(members) {
                hide_in(&mut value);
                members.insert(hide(name, None), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use rookery_plugins::{Candidate, HostMark};
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let state = State {
            state: "error".into(),
            evidence: "saw token=abc".into(),
            candidates: vec![Candidate { state: "token=abc".into(), confidence: 0.5 }],
            host_marks: vec![HostMark { label: "token=abc".into() }],
            metadata: Some(json!({"error": {"message": "bearer abcdefghij", "codes": [1, "x"]}})),
            events: vec![json!({"kind": "text_delta", "seq": 1, "text": "password: hunter2"})],
            ..State::default()
        };
        let hidden = redacted(state.clone(), None);
        assert_eq!(hidden.evidence, "saw token=[REDACTED]");
        assert_eq!(hidden.candidates[0].state, "token=[REDACTED]");
        assert_eq!(hidden.host_marks[0].label, "token=[REDACTED]");
        let metadata = json!({"error": {"message": "bearer [REDACTED]", "codes": [1, "x"]}});
        assert_eq!(hidden.metadata, Some(metadata));
        assert_eq!(hidden.events[0]["text"], "password: [REDACTED]");
        let shown = redacted(state, Some(false));
        assert_eq!(shown.evidence, "saw token=abc");
    }
}
