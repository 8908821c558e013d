//! Scripts and triggers of the mock, played as a turn would.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::Mock;
use crate::provider::{Entry, EntryBody, ModelEvent, ModelRequest, Provider};
use crate::providers::settings::Retry;
use crate::providers::transcript::tests::{agent, call, result, thought, user};

fn line(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Text { text, .. } => format!("text {text:?}"),
        ModelEvent::Reasoning { text, .. } => format!("thought {text:?}"),
        ModelEvent::ToolCall { id, name, arguments, .. } => format!("call {id} {name} {arguments}"),
        ModelEvent::Retrying { attempt, delay, reason } => {
            format!("retry {attempt} in {delay:?}: {reason}")
        }
        ModelEvent::Done { stop } => format!("done {stop:?}"),
        ModelEvent::Failed(failure) => format!("failed {:?}: {}", failure.kind, failure.message),
        other => format!("{other:?}"),
    }
}

async fn answer(entries: Vec<Entry>) -> Vec<ModelEvent> {
    answer_by(&Mock::new("mock", "Mock", Retry::default()), entries).await
}

async fn answer_by(mock: &Mock, entries: Vec<Entry>) -> Vec<ModelEvent> {
    let mut stream = mock.call(ModelRequest { entries, ..ModelRequest::default() });
    let mut events = Vec::new();
    while let Some(event) = stream.events.recv().await {
        events.push(event);
    }
    events
}

async fn lines(entries: Vec<Entry>) -> String {
    shown(&answer(entries).await)
}

fn shown(events: &[ModelEvent]) -> String {
    let is_shown = |event: &&ModelEvent| {
        !matches!(event, ModelEvent::TextDone { .. } | ModelEvent::ReasoningDone { .. })
    };
    events.iter().filter(is_shown).map(line).collect::<Vec<_>>().join("\n")
}

async fn check(entries: Vec<Entry>, expected: Expect) {
    expected.assert_eq(&lines(entries).await);
}

/// Runs a script to its end as a turn would, with one line of bars between model calls.
async fn play(script: &str, turns: usize) -> String {
    let mut entries = vec![user(&format!("please MOCK_SCRIPT:{script} and thanks"))];
    let mut told: Vec<String> = Vec::new();
    let mut step = 0;
    for turn in 0..turns {
        if turn > 0 {
            told.push("-- user".into());
            entries.push(user("go on"));
        }
        loop {
            step += 1;
            let events = answer(entries.clone()).await;
            told.extend(
                events
                    .iter()
                    .filter(|event| {
                        !matches!(
                            event,
                            ModelEvent::TextDone { .. } | ModelEvent::ReasoningDone { .. }
                        )
                    })
                    .map(line),
            );
            let mut said = String::new();
            let mut results = Vec::new();
            for event in &events {
                match event {
                    ModelEvent::Text { text, .. } => said.push_str(text),
                    ModelEvent::Reasoning { text, .. } => entries.push(thought(step, text, None)),
                    ModelEvent::ToolCall { id, name, arguments, .. } => {
                        results.push(call(step, id, name, arguments));
                        results.push(result(step, id, "ok"));
                    }
                    _ => {}
                }
            }
            if !said.is_empty() && matches!(events.last(), Some(ModelEvent::Done { .. })) {
                entries.push(agent(step, &said));
            }
            if results.is_empty() {
                break;
            }
            entries.extend(results);
            told.push("--".into());
        }
    }
    told.join("\n")
}

#[tokio::test]
async fn it_says_hello() {
    let events = answer(vec![user("hi")]).await;
    let all: Vec<String> = events.iter().map(line).collect();
    assert_eq!(all, ["text \"hello\"", "text \" from\"", "text \" roder\"", "done Stop"]);
}

#[tokio::test]
async fn a_script_is_played_call_by_call() {
    let script = r#"[
        {"reasoning":"hm"},
        {"text":"look","chunks":2},
        {"tool":"grep","args":{"query":"x"}},
        {"usage":{"prompt":9,"completion":2,"cached":1}},
        {"tools":[{"tool":"a","id":"my-a"},{"tool":"b","args":"{broken"}]},
        {"text":"done"},{"stop":"length"}
    ]"#;
    expect![[r#"
        thought "hm"
        text "lo"
        text "ok"
        call mock-call-1-1 grep {"query":"x"}
        Usage(Usage { prompt: 9, completion: 2, cached: 1, cache_creation: 0 })
        done ToolUse
        --
        call my-a a {}
        call mock-call-2-2 b {broken
        done ToolUse
        --
        text "done"
        done Length
        -- user
        text "hello"
        text " from"
        text " roder"
        done Stop"#]]
    .assert_eq(&play(script, 2).await);
}

#[tokio::test]
async fn each_text_is_a_call_of_its_own() {
    expect![[r#"
        text "one"
        done Stop
        -- user
        thought "hm"
        text "two"
        done Stop"#]]
    .assert_eq(&play(r#"[{"text":"one"},{"reasoning":"hm","text":"two"}]"#, 2).await);
}

#[tokio::test(start_paused = true)]
async fn statuses_are_tried_again_as_the_table_says() {
    expect![[r#"
        retry 2 in 1s: Mock error 429: Too Many Requests
        text "ok"
        done Stop
        -- user
        retry 2 in 1s: Mock error 503: Service Unavailable
        retry 3 in 2s: Mock error 503: Service Unavailable
        failed Unavailable: Mock error 503: Service Unavailable
        -- user
        text "after"
        done Stop"#]]
    .assert_eq(
        &play(
            r#"[{"status":429},{"text":"ok"},{"status":503},{"status":503},{"status":503},{"text":"after"}]"#,
            3,
        )
        .await,
    );
}

#[tokio::test]
async fn a_step_is_played_once_even_if_the_conversation_becomes_shorter() {
    let text = r#"MOCK_SCRIPT:[{"error":"prompt is too long"},{"text":"so far"},{"reasoning":"hm"},{"tool":"echo"},{"text":"end"}]"#;
    for is_kept in [false, true] {
        let mock = Mock::new("mock", "Mock", Retry::default());
        let said = async |entries: Vec<Entry>| shown(&answer_by(&mock, entries).await);
        let begun = vec![user("before"), user(text)];
        let is_failed = said(begun.clone()).await.starts_with("failed ContextTooLong");
        assert!(is_failed);
        // Either the script is summed up as well, by its own next step, or it is kept.
        let summed_up = if is_kept { &begun[..1] } else { &begun[..] };
        let asked = [summed_up, &[user(crate::turn::SUMMARY_INSTRUCTION)]].concat();
        let summary = said(asked).await;
        assert_eq!(summary.starts_with("text \"so far\""), !is_kept, "{summary}");
        let mut entries = vec![user("in short: so far")];
        entries.extend(is_kept.then(|| user(text)));
        if is_kept {
            assert_eq!(said(entries.clone()).await, "text \"so far\"\ndone Stop");
            entries.extend([agent(1, "so far"), user("go on")]);
        }
        let called = said(entries.clone()).await;
        assert!(called.contains(" echo {}"), "{called}");
        entries.extend([call(2, "a", "echo", "{}"), result(2, "a", "")]);
        assert_eq!(said(entries).await, "text \"end\"\ndone Stop");
    }
}

#[tokio::test]
async fn failures_that_no_attempt_changes() {
    expect![[r#"
        failed Unavailable: boom
        -- user
        failed Auth: Mock error 401: Unauthorized
        -- user
        failed ContextTooLong: prompt is too long
        -- user
        text "partial"
        failed Unavailable: late
        -- user
        text "ok"
        done Stop"#]]
    .assert_eq(
        &play(
            r#"[{"error":"boom"},{"status":401},{"error":"prompt is too long"},{"text":"partial"},{"error":"late"},{"text":"ok"}]"#,
            5,
        )
        .await,
    );
}

#[tokio::test(start_paused = true)]
async fn a_hang_lasts_until_it_is_dropped() {
    let mock = Mock::new("mock", "Mock", Retry::default());
    let entries = vec![user(r#"MOCK_SCRIPT:[{"text":"a"},{"hang":true}]"#)];
    let mut stream = mock.call(ModelRequest { entries, ..ModelRequest::default() });
    assert_eq!(stream.events.recv().await.map(|event| line(&event)), Some("text \"a\"".into()));
    let waited = tokio::time::timeout(Duration::from_secs(86_400), stream.events.recv()).await;
    assert!(waited.is_err(), "{waited:?}");
    let crate::provider::ModelStream { mut events, guard, .. } = stream;
    drop(guard);
    assert_eq!(events.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn pieces_take_their_time() {
    let begin = tokio::time::Instant::now();
    let text = lines(vec![user(r#"MOCK_SCRIPT:[{"text":"äbcd","chunks":9,"delayMs":250}]"#)]).await;
    assert_eq!(text, "text \"ä\"\ntext \"b\"\ntext \"c\"\ntext \"d\"\ndone Stop");
    assert_eq!(begin.elapsed(), Duration::from_secs(1));
}

#[tokio::test]
async fn scripts_that_cannot_be_read_are_reported() {
    for script in ["", "{", "[{\"text\":1}]", "{\"text\":\"x\"}", "[1]"] {
        let text = lines(vec![user(&format!("MOCK_SCRIPT:{script}"))]).await;
        assert!(text.starts_with("failed Rejected: mock script "), "{script}: {text}");
    }
}

#[tokio::test]
async fn the_newest_script_counts() {
    let entries = vec![
        user(r#"MOCK_SCRIPT:[{"text":"old"},{"text":"older"}]"#),
        agent(1, "old"),
        user(r#"MOCK_SCRIPT:[{"text":"new"}]"#),
    ];
    check(
        entries,
        expect![[r#"
        text "new"
        done Stop"#]],
    )
    .await;
}

#[tokio::test]
async fn words_call_tools_until_they_were_answered() {
    let table = [
        ("FAKE_REQUEST_USER_INPUT", "fake-user-input", "request_user_input"),
        ("FAKE_EXTERNAL_TOOL", "fake-external-tool", "acme_lookup {\"query\":\"thread status\"}"),
        ("FAKE_TASK_LEDGER_UPDATE", "fake-task-ledger-update", "task_ledger.update"),
        ("FAKE_TASK_LEDGER_COMPLETE", "fake-task-ledger-complete", "task_ledger.update"),
        ("FAKE_WRITE_FILE", "fake-write-file", "write_file"),
        ("FAKE_GREP_INDEXED", "fake-grep-indexed", "grep {\"query\":\"BUG_ROOT_CAUSE_TOKEN\"}"),
    ];
    for (word, id, begin) in table {
        let mut entries = vec![user(&format!("please {word} now"))];
        let text = lines(entries.clone()).await;
        assert!(
            text.starts_with(&format!("call {id} {begin}")) && text.ends_with("done ToolUse"),
            "{text}"
        );
        entries.extend([call(1, id, "x", "{}"), result(1, id, "ok"), user("and now?")]);
        let text = lines(entries).await;
        assert!(text.starts_with("text \"hello\""), "{word}: {text}");
    }
}

#[tokio::test]
async fn a_review_is_one_json_object() {
    let events = answer(vec![user("FAKE_REVIEW_FINDINGS")]).await;
    let Some(ModelEvent::Text { text, .. }) = events.first() else { panic!("{events:?}") };
    let review: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(review["findings"].as_array().map(Vec::len), Some(1));
    let again = lines(vec![user("FAKE_REVIEW_FINDINGS"), agent(1, text), user("more")]).await;
    assert!(again.starts_with("text \"hello\""), "{again}");
}

#[tokio::test]
async fn images_are_taken_only_by_scripts() {
    let seen = |text: &str| {
        let images = vec!["data:image/png;base64,AA==".to_owned()];
        vec![Entry { step: 0, body: EntryBody::User { text: text.into(), images }, opaque: None }]
    };
    check(seen("look"), expect!["failed NoImages: provider mock does not support image input"])
        .await;
    check(
        seen(r#"MOCK_SCRIPT:[{"text":"nice"}]"#),
        expect![[r#"
        text "nice"
        done Stop"#]],
    )
    .await;
}

proptest::proptest! {
    #[test]
    fn no_script_is_too_strange(text in "\\PC{0,40}|\\[(\\{\"(text|stop|tool|error)\":\"x\"\\},?){0,4}\\]?") {
        if let Ok(steps) = super::script::parse(&text) {
            let calls = super::plan::calls(steps, &Retry::default());
            let entries = [agent(1, "a"), user("b"), agent(2, "c")];
            let position = super::plan::position(&entries, &calls);
            proptest::prop_assert!(position >= 2);
        }
    }
}
