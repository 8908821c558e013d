//! Failing plugins as a state of their own.

use rookery_plugins::State;

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
