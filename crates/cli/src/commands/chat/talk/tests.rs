//! News are read as they are sent.

use serde_json::json;

use super::*;

#[test]
fn a_turn_that_runs_has_no_end() {
    let turn = |status: &str| -> Turn {
        serde_json::from_value(json!({
            "id": "t", "status": status, "choice": {"provider": "mock", "model": "mock"},
            "startedAt": "", "error": "no\u{1b}[2J key\nat all",
            "usage": {"prompt": 0, "completion": 0, "cached": 0, "cacheCreation": 0},
        }))
        .unwrap()
    };
    assert!(end(&turn("in_progress")).is_none());
    assert!(matches!(end(&turn("completed")), Some(Ended::Completed)));
    assert!(matches!(end(&turn("interrupted")), Some(Ended::Interrupted)));
    let Some(Ended::Failed(message)) = end(&turn("failed")) else { panic!() };
    assert_eq!(message, "no[2J key at all");
}
