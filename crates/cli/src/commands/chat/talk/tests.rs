//! Notifications are read as they are sent.

use serde_json::json;

use super::*;

#[test]
fn requests_are_told_under_the_newer_names_only() {
    let unwanted = older_names();
    for wanted in
        ["thread/approvalRequested", "thread/userInputRequested", "thread/planExitRequested"]
    {
        assert!(asks(wanted) && !settles(wanted), "{wanted}");
        let settled = wanted.replace("Requested", "Resolved");
        assert!(settles(&settled) && !asks(&settled), "{settled}");
        for name in [wanted.to_owned(), settled] {
            assert!(!unwanted.contains(&name), "{name}");
            assert!(unwanted.contains(&name.replace("thread/", "session/")), "{name}");
        }
    }
    assert!(asks("thread/toolExecutionRequested"));
}

#[test]
fn whatever_is_asked_has_one_id() {
    let about = |params: serde_json::Value| read::<About>(&params.to_string()).unwrap();
    let approval =
        about(json!({"threadId": "T", "approvalId": "appr_01A", "toolId": "x", "approved": true}));
    assert_eq!((approval.request(), approval.approved), (Some("01A"), Some(true)));
    assert_eq!(about(json!({"requestId": "input_01B", "answers": null})).request(), Some("01B"));
    assert_eq!(about(json!({"thread": {"id": "T", "name": "n"}})).thread.unwrap().id, "T");
    assert!(about(json!({})).request().is_none());
}

#[test]
fn a_turn_that_runs_has_no_end() {
    let turn = |status: &str| -> Turn {
        serde_json::from_value(json!({
            "id": "t", "items": [], "itemsView": "default", "status": status,
            "error": {"message": "no\u{1b}[2J key\nat all"},
        }))
        .unwrap()
    };
    assert!(end(&turn("inProgress")).is_none());
    assert!(matches!(end(&turn("completed")), Some(Ended::Completed)));
    assert!(matches!(end(&turn("interrupted")), Some(Ended::Interrupted)));
    let Some(Ended::Failed(message)) = end(&turn("failed")) else { panic!() };
    assert_eq!(message, "no[2J key at all");
}
