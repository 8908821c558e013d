//! Judgements of plugins without secrets: a plugin may copy what a screen shows into a state.

use rookery_plugins::State;
use rookery_term::redact::Policy;
use serde_json::Value;

/// What is known to be secret in a session. A plugin that copies a part of a screen or a transcript may
/// copy a part of a secret, which alone no longer looks like one.
#[derive(Debug, Default)]
pub struct Secrets(Vec<String>);

/// Secrets that are looked for in a state.
const MAX_SECRETS: usize = 64;
/// Shorter parts of secrets are words like any other.
const MIN_CHARS: usize = 6;

impl Secrets {
    /// The secrets in these texts, each with what stands right before it.
    pub fn of(texts: &[(&str, &str)]) -> Self {
        let mut found = Vec::new();
        for (context, text) in texts {
            let (cut, whole) = (context.len(), [*context, *text].concat());
            let spans = Policy::usual().redact_spans(&whole);
            let parts = spans.into_iter().filter(|span| span.end > cut);
            let parts = parts.flat_map(|span| whole[span.start.max(cut)..span.end].lines());
            found.extend(
                parts
                    .map(str::trim)
                    .filter(|part| part.chars().count() >= MIN_CHARS)
                    .map(str::to_owned),
            );
        }
        found.sort_unstable();
        found.dedup();
        // The longest first, so that what a shorter one leaves over is nothing.
        found.sort_by_key(|part| std::cmp::Reverse(part.len()));
        found.truncate(MAX_SECRETS);
        Self(found)
    }

    fn hide(&self, text: String) -> String {
        let mut text = Policy::usual().redact(&text).into_owned();
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), Policy::usual().replacement());
            }
        }
        text
    }

    /// Hides secrets in every text of a value. Its depth is bounded where it is made.
    fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(std::mem::take(text)),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(members) => {
                for (name, mut value) in std::mem::take(members) {
                    self.hide_in(&mut value);
                    members.insert(self.hide(name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// A state without secrets.
pub fn redacted(mut state: State, secrets: &Secrets) -> State {
    state.state = secrets.hide(state.state);
    state.evidence = secrets.hide(state.evidence);
    for candidate in &mut state.candidates {
        candidate.state = secrets.hide(std::mem::take(&mut candidate.state));
    }
    for mark in &mut state.host_marks {
        mark.label = secrets.hide(std::mem::take(&mut mark.label));
    }
    if let Some(metadata) = &mut state.metadata {
        secrets.hide_in(metadata);
    }
    state.events.iter_mut().for_each(|event| secrets.hide_in(event));
    state
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
        let hidden = redacted(state, &Secrets::default());
        assert_eq!(hidden.evidence, "saw token=[REDACTED]");
        assert_eq!(hidden.candidates[0].state, "token=[REDACTED]");
        assert_eq!(hidden.host_marks[0].label, "token=[REDACTED]");
        let metadata = json!({"error": {"message": "bearer [REDACTED]", "codes": [1, "x"]}});
        assert_eq!(hidden.metadata, Some(metadata));
        assert_eq!(hidden.events[0]["text"], "password: [REDACTED]");
    }
    #[test]
    fn a_part_of_a_secret_is_known_by_where_it_came_from() {
        let above = "export DB_PASSWORD=abcdef";
        let secrets = Secrets::of(&[(above, "ghijklmnop rest"), ("", "token=short0 x")]);
        let state = State { evidence: "ghijklmnop rest, short0".into(), ..State::default() };
        assert_eq!(redacted(state, &secrets).evidence, "[REDACTED] rest, [REDACTED]");
    }
}
