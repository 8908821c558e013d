//! Answers that come whole, in any pieces, and not to their end.

use rookery_agent::provider::{FailureKind, ModelEvent, Stop};
use rookery_agent::tool::ToolOutput;
use rookery_model::Usage;

use crate::fixtures::{ALL, ANTHROPIC, CHAT, Fixture};
use crate::server::{Reply, serve};
use crate::{KEY, Setup, quick, told};

fn text_of(events: &[ModelEvent]) -> String {
    let text = |event: &ModelEvent| match event {
        ModelEvent::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn last_usage(events: &[ModelEvent]) -> Option<Usage> {
    let usage = |event: &ModelEvent| match event {
        ModelEvent::Usage(usage) => Some(*usage),
        _ => None,
    };
    events.iter().rev().find_map(usage)
}

async fn whole(fixture: &Fixture) -> Vec<ModelEvent> {
    let server = serve(vec![Reply::stream([fixture.stream.as_bytes()])]).await;
    Setup::new(&server.address, quick(1)).answer(fixture.id).await
}

#[tokio::test]
async fn a_whole_answer_is_understood() {
    for fixture in ALL {
        let server = serve(vec![Reply::stream([fixture.stream.as_bytes()])]).await;
        let events = Setup::new(&server.address, quick(1)).answer(fixture.id).await;
        assert_eq!(text_of(&events), "grüß dich 🪺", "{events:?}");
        assert_eq!(events.last(), Some(&ModelEvent::Done { stop: Stop::ToolUse }));
        let usage = Usage { prompt: 3, completion: 4, cached: 0, cache_creation: 0 };
        assert_eq!(last_usage(&events), Some(usage), "{}", fixture.id);
        let call = ModelEvent::ToolCall {
            id: "c".into(),
            name: "files.read".into(),
            arguments: "{}".into(),
            opaque: None,
        };
        assert!(events.contains(&call), "{events:?}");
        assert!(
            events.contains(&ModelEvent::Reasoning { text: "hm".into(), summary: None }),
            "{events:?}"
        );
        let seen = server.seen.lock();
        let (head, body) = &seen[0];
        assert!(head.starts_with(&format!("post {} http/1.1", fixture.path)), "{head}");
        assert!(head.contains(fixture.auth), "{head}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["stream"], &body["model"]), (&true.into(), &"some-model".into()));
    }
}

#[tokio::test]
async fn each_protocol_has_its_headers() {
    let server = serve(vec![Reply::stream([CHAT.stream.as_bytes()])]).await;
    Setup::new(&server.address, quick(1)).answer(CHAT.id).await;
    let head = server.seen.lock()[0].0.clone();
    assert!(head.contains("http-referer: ") && head.contains("x-title: "), "{head}");
    let server = serve(vec![Reply::stream([ANTHROPIC.stream.as_bytes()])]).await;
    Setup::new(&server.address, quick(1)).answer(ANTHROPIC.id).await;
    let head = server.seen.lock()[0].0.clone();
    assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
}

#[tokio::test]
async fn every_split_is_the_same_answer() {
    for fixture in ALL {
        let expected = whole(&fixture).await;
        let bytes = fixture.stream.as_bytes();
        let mut replies: Vec<Reply> =
            (0..=bytes.len()).map(|cut| Reply::stream([&bytes[..cut], &bytes[cut..]])).collect();
        replies.push(Reply::stream(bytes.chunks(1)));
        let count = replies.len();
        let server = serve(replies).await;
        let setup = Setup::new(&server.address, quick(1));
        for number in 0..count {
            assert_eq!(setup.answer(fixture.id).await, expected, "{} split {number}", fixture.id);
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_a_failure() {
    for fixture in ALL {
        let bytes = fixture.stream.as_bytes();
        let end = fixture.stream.find(fixture.terminal).unwrap() + fixture.terminal.len();
        let cuts: Vec<usize> = (1..end).step_by(7).chain([end]).collect();
        let replies = cuts
            .iter()
            .flat_map(|cut| [Reply::stream([&bytes[..*cut]]), Reply::broken(&bytes[..*cut])])
            .collect();
        let server = serve(replies).await;
        let setup = Setup::new(&server.address, quick(1));
        for cut in cuts.iter().flat_map(|cut| [cut, cut]) {
            let events = setup.answer(fixture.id).await;
            let Some(ModelEvent::Failed(failure)) = events.last() else {
                panic!("{} cut at {cut} is no failure: {events:?}", fixture.id);
            };
            assert_eq!(failure.kind, FailureKind::Unavailable);
            assert!(failure.message.starts_with(fixture.name), "{}", failure.message);
        }
    }
}

#[tokio::test]
async fn a_last_frame_may_lack_its_empty_line() {
    for fixture in ALL {
        let expected = whole(&fixture).await;
        let server = serve(vec![Reply::stream([fixture.stream.trim_end().as_bytes()])]).await;
        assert_eq!(
            Setup::new(&server.address, quick(1)).answer(fixture.id).await,
            expected,
            "{}",
            fixture.id
        );
    }
}

#[tokio::test]
async fn a_chat_may_end_without_its_last_word() {
    let stream = CHAT.stream.replace("data: [DONE]\n\n", "");
    let server = serve(vec![Reply::stream([stream.as_bytes()])]).await;
    assert_eq!(Setup::new(&server.address, quick(1)).answer(CHAT.id).await, whole(&CHAT).await);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    for fixture in ALL {
        let mut server = serve(vec![Reply::held(fixture.content.as_bytes())]).await;
        let mut stream = Setup::new(&server.address, quick(1)).call(fixture.id);
        let first = stream.events.recv().await.into_iter().collect::<Vec<_>>();
        assert_eq!(told(&first), ["text begun"]);
        drop(stream);
        assert_eq!(server.gone.recv().await, Some(()), "{}", fixture.id);
    }
}

#[tokio::test]
async fn models_are_asked_for() {
    let body = r#"{"data":[{"id":"a/b","name":"Bee","context_length":9}]}"#;
    let server = serve(vec![Reply::status(200, "", body)]).await;
    let setup = Setup::new(&server.address, quick(1));
    let models = setup.registry.models(CHAT.id).await;
    assert_eq!((models[0].id.as_str(), models[0].context_window), ("a/b", Some(9)));
    let head = server.seen.lock()[0].0.clone();
    assert!(head.starts_with("get /base/models http/1.1") && head.contains(KEY), "{head}");
    let server = serve(vec![Reply::status(500, "", "")]).await;
    assert_eq!(Setup::new(&server.address, quick(1)).registry.models(CHAT.id).await, []);
}

#[tokio::test]
async fn a_lent_key_is_used_by_those_it_was_lent_for_and_shown_to_none() {
    const LENT: &str = "sk-lent-by-a-caller";
    let list = || Reply::status(200, "", r#"{"data":[{"id":"a"}]}"#);
    let server = serve(vec![list(), list()]).await;
    let setup = Setup::new(&server.address, quick(1));
    let registry = &setup.registry;
    let loan = registry.lend(CHAT.id, None, LENT).unwrap();
    assert_eq!(registry.models_with(CHAT.id, std::slice::from_ref(&loan)).await[0].id, "a");
    assert_eq!(registry.models(CHAT.id).await[0].id, "a", "others ask with our own");
    let heads: Vec<String> = server.seen.lock().iter().map(|(head, _)| head.clone()).collect();
    assert!(heads[0].contains(LENT) && !heads[0].contains(KEY), "{}", heads[0]);
    assert!(heads[1].contains(KEY) && !heads[1].contains(LENT), "{}", heads[1]);
    let found = || ToolOutput::new(format!("found {LENT}"), serde_json::json!({ "key": LENT }));
    let masked = registry.mask(found());
    assert!(!masked.text.contains(LENT) && !masked.data.to_string().contains(LENT));
    assert!(registry.has_key(LENT));
    drop(loan);
    assert!(!registry.has_key(LENT), "it is forgotten");
    assert!(
        registry.lend("unknown", None, LENT).is_err() && registry.lend(CHAT.id, None, " ").is_err()
    );
}
