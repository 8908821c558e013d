//! Every event, in both generations.

use proptest::prelude::*;
use rookery_roost::wire::Call as _;
use serde_json::json;

use super::*;

const TAB: i64 = 7;

fn report(event: Event, payload: &Value) -> AgentReport {
    let report = current(event, payload, TAB).unwrap();
    assert!(report.check().is_ok(), "{report:?}");
    assert_eq!((report.tab_id, report.source.as_str()), (Int64(TAB), "claude"));
    report
}

#[test]
fn names_are_read_whatever_their_case_and_punctuation() {
    for (name, event) in [
        ("SessionStart", Event::SessionStart),
        ("session-start", Event::SessionStart),
        ("SESSION_START", Event::SessionStart),
        ("UserPromptSubmit", Event::UserPromptSubmit),
        ("prompt-submit", Event::UserPromptSubmit),
        ("notification", Event::Notification),
        ("STOP", Event::Stop),
        ("stop-failure", Event::StopFailure),
        ("session.end", Event::SessionEnd),
    ] {
        assert_eq!(Event::read(name), Some(event), "{name}");
    }
    for name in ["", "SubagentStop", "Stopped", "PreToolUse", "é"] {
        assert_eq!(Event::read(name), None, "{name}");
    }
}

#[test]
fn a_session_claims_the_tab_and_lets_go_of_it() {
    let payload = json!({
        "session_id": "s", "source": "resume", "model": "m", "session_title": "t", "other": "x",
    });
    let start = report(Event::SessionStart, &payload);
    assert_eq!(start.ownership_action, OwnershipAction::Claim);
    assert_eq!((start.session_id.as_str(), start.lifecycle), ("s", Some(Lifecycle::Inactive)));
    assert_eq!(start.attention, Attention::Preserve);
    let facts = [("model", "m"), ("session_title", "t"), ("source", "resume")];
    assert_eq!(start.metadata, facts.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    let end = report(Event::SessionEnd, &payload);
    assert_eq!(end.ownership_action, OwnershipAction::Release);
    assert_eq!(end.attention, Attention::Clear);
}

#[test]
fn a_session_without_a_name_is_named_after_its_tab() {
    for payload in [json!({}), json!({"session_id": ""}), json!({"session_id": 7}), json!([])] {
        assert_eq!(report(Event::Stop, &payload).session_id, "manual:7");
    }
}

#[test]
fn a_prompt_begins_the_work() {
    let prompt = report(Event::UserPromptSubmit, &json!({"prompt": "hi"}));
    assert_eq!(prompt.ownership_action, OwnershipAction::Preserve);
    assert_eq!(prompt.lifecycle, Some(Lifecycle::Working));
    assert_eq!(prompt.attention, Attention::Clear);
    // Else what the turn before said would stay.
    assert!(!prompt.detail.is_empty());
}

#[test]
fn only_some_notifications_mean_waiting() {
    let told = |kind: &str| {
        let told = report(Event::Notification, &json!({"notification_type": kind, "message": "m"}));
        assert_eq!((told.attention, told.body.as_str()), (Attention::Set, "m"));
        (told.lifecycle, told.severity)
    };
    for kind in ["permission_prompt", "agent_needs_input", "elicitation_dialog"] {
        assert_eq!(told(kind), (Some(Lifecycle::Waiting), Severity::Warn), "{kind}");
    }
    for kind in ["idle_prompt", "auth_success", "of_tomorrow", ""] {
        assert_eq!(told(kind), (None, Severity::Info), "{kind}");
    }
    let bare = report(Event::Notification, &json!({}));
    assert_eq!((bare.title.as_str(), bare.body.as_str()), ("Claude Code", "Claude needs input"));
}

#[test]
fn a_turn_is_finished_unless_something_goes_on() {
    for payload in [json!({}), json!({"background_tasks": []}), json!({"background_tasks": null})] {
        let stop = report(Event::Stop, &payload);
        assert_eq!(stop.lifecycle, Some(Lifecycle::Finished));
        assert_eq!((stop.title.as_str(), stop.body.as_str()), ("Claude Code", "Turn complete"));
        assert_eq!(stop.metadata["background_tasks"], "0");
    }
    for (tasks, body) in [
        (json!([1]), "Waiting on 1 background task"),
        (json!([1, 2]), "Waiting on 2 background tasks"),
    ] {
        let stop = report(Event::Stop, &json!({"background_tasks": tasks}));
        assert_eq!((stop.lifecycle, stop.body.as_str()), (Some(Lifecycle::Working), body));
        assert!(stop.detail.starts_with("background_tasks:"));
    }
}

#[test]
fn a_failure_says_why() {
    let failure = report(Event::StopFailure, &json!({"error": "rate_limit"}));
    assert_eq!((failure.lifecycle, failure.severity), (Some(Lifecycle::Failed), Severity::Error));
    assert_eq!(failure.body, "Stopped: rate_limit");
    let failure = report(Event::StopFailure, &json!({"error": "x", "error_details": "boom"}));
    assert_eq!((failure.body.as_str(), failure.detail.as_str()), ("boom", "x"));
}

#[test]
fn a_subagent_only_notifies() {
    let payload = json!({"agent_id": "", "notification_type": "permission_prompt", "message": "m"});
    for event in [Event::SessionStart, Event::UserPromptSubmit, Event::SessionEnd] {
        assert_eq!(current(event, &payload, TAB), None);
        assert_eq!(old(event, &payload), []);
    }
    for event in [Event::Notification, Event::Stop, Event::StopFailure] {
        let told = report(event, &payload);
        assert_eq!((told.ownership_action, told.lifecycle), (OwnershipAction::Preserve, None));
        assert_eq!(told.attention, Attention::Set);
        assert!(told.detail.is_empty() && told.metadata.is_empty());
    }
    let [OldStep::Notify { body, .. }] = &old(Event::Notification, &payload)[..] else { panic!() };
    assert_eq!(body, "m");
    assert_eq!(report(Event::SessionEnd, &json!({"agent_id": null})).attention, Attention::Clear);
}

#[test]
fn the_older_steps_are_those_of_the_contract() {
    let notify =
        |body: &str| OldStep::Notify { title: "Claude Code".to_owned(), body: body.to_owned() };
    let none = json!({});
    for (event, steps) in [
        (Event::SessionStart, vec![OldStep::HookActive(true)]),
        (
            Event::UserPromptSubmit,
            vec![OldStep::ClearNotification, OldStep::State(TabState::Running)],
        ),
        (
            Event::Notification,
            vec![OldStep::State(TabState::NeedsInput), notify("Claude needs input")],
        ),
        (Event::Stop, vec![OldStep::State(TabState::Idle), notify("Turn complete")]),
        (Event::StopFailure, vec![]),
        (
            Event::SessionEnd,
            vec![
                OldStep::HookActive(false),
                OldStep::State(TabState::None),
                OldStep::ClearNotification,
            ],
        ),
    ] {
        assert_eq!(old(event, &none), steps, "{event:?}");
    }
    assert_eq!(old(Event::Notification, &json!({"message": "m"}))[1], notify("m"));
}

proptest! {
    #[test]
    fn any_payload_makes_a_report_that_servers_take(
        key in "(session_id|agent_id|message|title|background_tasks|error|error_details|model)",
        text in "\\PC{0,8}",
    ) {
        for payload in [json!({&key: text}), json!({&key: [text]}), json!({&key: null}), json!(text)] {
            for (_, event) in SPELLINGS {
                if let Some(report) = current(*event, &payload, TAB) {
                    prop_assert!(report.check().is_ok(), "{:?}", report);
                }
                old(*event, &payload);
            }
        }
    }
}
