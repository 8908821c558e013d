//! Servers that refuse, stall, say nothing or nonsense.

use std::time::Duration;

use rookery_agent::provider::{FailureKind, ModelEvent};
use rookery_agent::providers::Retry;

use crate::fixtures::{ALL, ANTHROPIC, CHAT, Fixture, RESPONSES};
use crate::server::{Reply, serve};
use crate::{KEY, Setup, quick, told};

fn good(fixture: &Fixture) -> Reply {
    Reply::stream([fixture.stream.as_bytes()])
}

/// Plays answers and compares what is told, and how often the server was asked.
async fn check(
    fixture: &Fixture,
    attempts: u32,
    replies: Vec<Reply>,
    asked: usize,
    expected: &[&str],
) {
    let server = serve(replies).await;
    let events = Setup::new(&server.address, quick(attempts)).answer(fixture.id).await;
    let name = fixture.name;
    let expected: Vec<String> = expected.iter().map(|line| line.replace("{name}", name)).collect();
    assert_eq!(told(&events), expected);
    assert_eq!(server.seen.lock().len(), asked, "{name}");
}

#[tokio::test]
async fn statuses_that_pass_are_tried_again() {
    for fixture in ALL {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            let reply =
                Reply::status(status, "retry-after: 0\r\n", r#"{"error":{"message":"busy"}}"#);
            let server = serve(vec![reply.clone(), reply, good(&fixture)]).await;
            let events = Setup::new(&server.address, quick(3)).answer(fixture.id).await;
            let reason = format!("{} error {status}: busy", fixture.name);
            assert_eq!(
                told(&events)[..2],
                [format!("retry 2: {reason}"), format!("retry 3: {reason}")]
            );
            assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{events:?}");
        }
    }
}

#[tokio::test]
async fn attempts_end() {
    for fixture in ALL {
        let reply = Reply::status(500, "", "boom");
        let lines = [
            "retry 2: {name} error 500: boom",
            "retry 3: {name} error 500: boom",
            "failed Unavailable: {name} error 500: boom",
        ];
        check(&fixture, 3, vec![reply], 3, &lines).await;
    }
}

#[tokio::test]
async fn the_server_says_how_long_to_wait() {
    let table = [
        ("7", 7),
        ("3600", 60),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 60),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
    ];
    for (value, seconds) in table {
        let server =
            serve(vec![Reply::status(429, &format!("Retry-After: {value}\r\n"), "")]).await;
        let mut stream = Setup::new(&server.address, quick(3)).call(RESPONSES.id);
        let event = stream.events.recv().await;
        let Some(ModelEvent::Retrying { attempt: 2, delay, reason }) = event else {
            panic!("{event:?}")
        };
        assert_eq!(delay, Duration::from_secs(seconds), "{value}");
        assert_eq!(reason, "OpenAI error 429: Too Many Requests");
    }
}

#[tokio::test]
async fn refusals_are_final_and_hide_the_key() {
    let table = [
        (400, FailureKind::Rejected),
        (401, FailureKind::Auth),
        (403, FailureKind::Auth),
        (404, FailureKind::Rejected),
        (413, FailureKind::ContextTooLong),
        (422, FailureKind::Rejected),
        (307, FailureKind::Rejected),
    ];
    for fixture in ALL {
        for (status, kind) in table {
            let body = format!(r#"{{"error":{{"message":"no, {KEY}"}}}}"#);
            let lines = [format!("failed {kind:?}: {{name}} error {status}: no, ***")];
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check(&fixture, 3, vec![Reply::status(status, "", &body)], 1, &lines).await;
        }
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_known_as_such() {
    for fixture in ALL {
        let body =
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#;
        let line = "failed ContextTooLong: {name} error 400: prompt is too long: 9 > 8";
        check(&fixture, 3, vec![Reply::status(400, "", body)], 1, &[line]).await;
    }
}

#[tokio::test]
async fn an_answer_without_anything_is_tried_again() {
    for fixture in ALL {
        let lines = [
            "retry 2: {name} error 200: empty response body",
            "failed Unavailable: {name} error 200: empty response body",
        ];
        check(&fixture, 2, vec![Reply::status(200, "", "")], 2, &lines).await;
        check(&fixture, 2, vec![Reply::stream([])], 2, &lines).await;
    }
}

#[tokio::test]
async fn nonsense_is_tried_again_and_told() {
    for fixture in ALL {
        let lines = [
            "retry 2: {name} stream error: the answer cannot be read: EOF while parsing an object at line 1 column 1",
            "failed Unavailable: {name} stream error: the answer cannot be read: EOF while parsing an object at line 1 column 1",
        ];
        check(&fixture, 2, vec![Reply::stream([&b"data: {\n\n"[..]])], 2, &lines).await;
        let page = Reply::status(200, "", "<html>nothing here</html>");
        let line = "failed Unavailable: {name} error 200: the answer is no event stream";
        check(&fixture, 1, vec![page], 1, &[line]).await;
        let said = Reply::status(200, "", r#"{"error":{"message":"not today"}}"#);
        check(&fixture, 1, vec![said], 1, &["failed Unavailable: {name} error 200: not today"])
            .await;
    }
}

#[tokio::test]
async fn a_thought_that_shows_nothing_does_not_keep_a_stream_from_being_asked_for_again() {
    let thoughts = [
        (
            RESPONSES,
            r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"}}"#,
        ),
        (
            ANTHROPIC,
            concat!(
                r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}"#,
                "\n\n",
                r#"data: {"type":"content_block_stop","index":0}"#,
            ),
        ),
    ];
    for (fixture, thought) in thoughts {
        let thought = format!("{thought}\n\n");
        let server = serve(vec![Reply::broken(thought.as_bytes()), good(&fixture)]).await;
        let events = Setup::new(&server.address, quick(3)).answer(fixture.id).await;
        assert!(matches!(events[0], ModelEvent::Retrying { attempt: 2, .. }), "{events:?}");
        assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{events:?}");
        assert_eq!(server.seen.lock().len(), 2, "{}", fixture.name);
        // One that goes on has its thought, in its place.
        let whole = format!("{thought}{}", fixture.content);
        let server = serve(vec![Reply::broken(whole.as_bytes())]).await;
        let events = Setup::new(&server.address, quick(3)).answer(fixture.id).await;
        assert!(matches!(events[0], ModelEvent::ReasoningDone { .. }), "{events:?}");
        assert!(matches!(events.last(), Some(ModelEvent::Failed(_))), "{events:?}");
        assert_eq!(server.seen.lock().len(), 1, "{}", fixture.name);
    }
}

#[tokio::test]
async fn a_reported_error_is_tried_again_before_anything_was_said() {
    for fixture in ALL {
        let error = Reply::stream([fixture.error.as_bytes()]);
        let lines = [
            "retry 2: {name} stream error: sorry",
            "failed Unavailable: {name} stream error: sorry",
        ];
        check(&fixture, 2, vec![error], 2, &lines).await;
        let late = Reply::stream([fixture.content.as_bytes(), fixture.error.as_bytes()]);
        let lines = ["text begun", "failed Unavailable: {name} stream error: sorry"];
        check(&fixture, 3, vec![late], 1, &lines).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_after_a_word_is_not_tried_again() {
    for fixture in ALL {
        let server = serve(vec![Reply::broken(fixture.content.as_bytes()), good(&fixture)]).await;
        let told = told(&Setup::new(&server.address, quick(3)).answer(fixture.id).await);
        assert_eq!(told[0], "text begun");
        assert!(
            told[1].starts_with(&format!(
                "failed Unavailable: {} stream error: connection lost",
                fixture.name
            )),
            "{told:?}"
        );
        assert_eq!(server.seen.lock().len(), 1);
    }
}

#[tokio::test]
async fn silence_has_an_end() {
    for fixture in ALL {
        for reply in [Reply::held(b": hello\n\n"), Reply::silence()] {
            let server = serve(vec![reply]).await;
            let setup = Setup::new(&server.address, quick(2));
            setup.set(&format!("RODER_{}_STREAM_IDLE_TIMEOUT_MS", fixture.id.to_uppercase()), "40");
            let told = told(&setup.answer(fixture.id).await);
            assert_eq!(told.len(), 2, "{told:?}");
            assert!(told[0].starts_with(&format!("retry 2: {} ", fixture.name)), "{told:?}");
            assert!(
                told[1].starts_with(&format!("failed Unavailable: {} ", fixture.name)),
                "{told:?}"
            );
            assert!(told.iter().all(|line| line.ends_with(": nothing came for 40 ms")), "{told:?}");
        }
    }
}

#[tokio::test]
async fn silence_after_a_word_is_not_tried_again() {
    let server = serve(vec![Reply::held(RESPONSES.content.as_bytes())]).await;
    let setup = Setup::new(&server.address, quick(3));
    setup.set("RODER_OPENAI_STREAM_IDLE_TIMEOUT_MS", "1000");
    let told = told(&setup.answer(RESPONSES.id).await);
    let reason = "OpenAI stream error: nothing came for 1000 ms";
    assert_eq!(told, ["text begun".to_owned(), format!("failed Unavailable: {reason}")]);
    assert_eq!(server.seen.lock().len(), 1);
}

#[tokio::test]
async fn an_empty_answer_is_final_if_settings_say_so() {
    let server = serve(vec![Reply::status(200, "", "")]).await;
    let retry = Retry { retry_empty_body: false, ..quick(3) };
    let told = told(&Setup::new(&server.address, retry).answer(CHAT.id).await);
    assert_eq!(told, ["failed Unavailable: OpenRouter error 200: empty response body"]);
    assert_eq!(server.seen.lock().len(), 1);
}

#[tokio::test]
async fn a_refused_connection_is_retried() {
    let server = serve(vec![Reply::silence()]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop((listener, server));
    let told = told(&Setup::new(&address, quick(2)).answer(RESPONSES.id).await);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("retry 2: OpenAI cannot be reached: cannot connect"), "{told:?}");
    assert!(told[1].starts_with("failed Unavailable: OpenAI cannot be reached"), "{told:?}");
}

#[tokio::test]
async fn stream_options_are_left_out_if_they_are_refused() {
    let refusal = Reply::status(400, "", r#"{"error":{"message":"unknown field stream_options"}}"#);
    let server = serve(vec![refusal.clone(), good(&CHAT)]).await;
    let events = Setup::new(&server.address, quick(1)).answer(CHAT.id).await;
    assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{events:?}");
    let bodies: Vec<bool> =
        server.seen.lock().iter().map(|(_, body)| body.contains("stream_options")).collect();
    assert_eq!(bodies, [true, false]);
    let line = "failed Rejected: {name} error 400: unknown field stream_options";
    check(&CHAT, 3, vec![refusal], 2, &[line]).await;
}

#[tokio::test]
async fn keys_are_read_anew_for_each_call() {
    let server = serve(vec![good(&RESPONSES)]).await;
    let setup = Setup::new(&server.address, quick(1));
    setup.answer(RESPONSES.id).await;
    setup.set("OPENAI_API_KEY", "second");
    setup.answer(RESPONSES.id).await;
    setup.registry.set_key("openai", "third").unwrap();
    setup.answer(RESPONSES.id).await;
    setup.registry.clear_key("openai").unwrap();
    setup.set("OPENAI_API_KEY", "");
    let told = told(&setup.answer(RESPONSES.id).await);
    let text =
        "OpenAI API key is missing; set OPENAI_API_KEY or configure it from the provider menu";
    assert_eq!(told, [format!("failed Auth: {text}")]);
    let seen = server.seen.lock();
    for (number, key) in [KEY, "second", "third"].iter().enumerate() {
        assert!(
            seen[number].0.contains(&format!("authorization: bearer {key}")),
            "{}",
            seen[number].0
        );
    }
    assert_eq!(seen.len(), 3);
}
