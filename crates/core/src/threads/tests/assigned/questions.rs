//! Questions, answered by persons one by one, by messages that wait, or by themselves.

use rookery_model::{Caller, Home, Request, Standing, Turn};

use super::*;
use crate::log::{RequestChange, Subscription};

/// A turn that asks questions, and its request.
async fn ask(
    core: &Core,
    id: ThreadId,
    reader: &mut Subscription,
    names: &[&str],
) -> (Turn, Request) {
    let turn = start(core, id, script(json!([questions(names), {"text": "ok"}]))).await;
    until(reader, is_asked).await;
    (turn, core.requests().list().pop().unwrap())
}

#[tokio::test]
async fn answers_to_some_questions_are_kept_until_the_rest_comes() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let (turn, request) = ask(&core, id, &mut reader, &["one", "three", "two"]).await;
    let answer = async |core: &Core, question: &str, text: &str| {
        core.requests().answer_part(request.id, question, text, "test").await
    };
    assert_eq!(answer(&core, "two", "zwei").await.unwrap(), 2);
    until(&mut reader, |body| matches!(body, NoticeBody::Request(RequestChange::Part(_)))).await;
    let late = answer(&core, "two", "deux").await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
    let wrong = answer(&core, "four", "x").await.unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Invalid);
    // As if the daemon was killed.
    let (_home, next) = killed(home.path()).await;
    let kept = next.requests().get(request.id).unwrap();
    assert_eq!((kept.given[0].question.as_str(), kept.given[0].text.as_str()), ("two", "zwei"));
    assert_eq!(answer(&next, "two", "dos").await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(answer(&next, "one", "eins").await.unwrap(), 1);
    assert_eq!(answer(&next, "three", "drei").await.unwrap(), 0);
    next.threads().turn_ended(id, turn.id).await;
    let heard = said(&next, id).await;
    assert!(heard[0].contains(r#"{"one":"eins","three":"drei","two":"zwei"}"#), "{heard:?}");
    assert_eq!(answer(&next, "one", "x").await.unwrap_err().kind(), ErrorKind::Conflict);
    let unknown = rookery_model::RequestId::new(7);
    let unknown = next.requests().answer_part(unknown, "one", "x", "test").await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    core.threads().interrupt(id, None).unwrap();
    core.threads().turn_ended(id, turn.id).await;
    assert_eq!(answer(&core, "one", "x").await.unwrap_err().kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn an_answer_to_all_questions_leaves_those_that_were_given() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    for (all, expected) in [
        (json!({"one": "x", "two": "b"}), r#"{"one":"a","two":"b"}"#),
        (json!({"answers": {"one": "x", "two": "b"}}), r#"{"answers":{"one":"a","two":"b"}}"#),
        (json!("b"), r#"{"one":"a","two":"b"}"#),
    ] {
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        let (turn, request) = ask(&core, id, &mut reader, &["one", "two"]).await;
        core.requests().answer_part(request.id, "one", "a", "test").await.unwrap();
        let given = Answer::Given(all.to_string());
        assert!(core.requests().resolve(request.id, given, "test").await.unwrap().is_now());
        core.threads().turn_ended(id, turn.id).await;
        let heard = said(&core, id).await;
        assert!(heard[heard.len() - 2].contains(expected), "{heard:?}");
    }
}

#[tokio::test]
async fn attack_agents_answer_no_part_of_what_agents_ask() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let (turn, request) = ask(&core, id, &mut reader, &["one", "two"]).await;
    let standing = Standing::Agent(Home::Thread(id));
    let agent = core.on_behalf_of(Caller { standing, ..Caller::daemon() });
    let refused = agent.requests().answer_part(request.id, "one", "x", "test").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert!(core.requests().get(request.id).unwrap().given.is_empty());
    core.threads().interrupt(id, None).unwrap();
    core.threads().turn_ended(id, turn.id).await;
}

#[tokio::test]
async fn a_message_that_waits_answers_one_question_and_not_several() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!({"tool": "write_file", "args": {"path": "a", "content": "x"}});
    let steps = json!([{"tools": [write, questions(&["one", "two"])]}, {"text": "ok"}]);
    let turn = start(&core, id, script(steps)).await;
    until(&mut reader, is_asked).await;
    let message = Message { text: "both?".into(), ..Message::default() };
    core.threads().enqueue(id, message).await.unwrap();
    let asked = loop {
        let asked = core.requests().list();
        if asked.len() == 2 {
            break asked;
        }
        until(&mut reader, is_asked).await;
    };
    let [write, several] = ["write_file", "request_user_input"]
        .map(|tool| asked.iter().find(|request| request.tool == tool).unwrap().id);
    core.requests().resolve(write, Answer::Denied { message: None }, "test").await.unwrap();
    assert_eq!(core.requests().answer_part(several, "one", "a", "test").await.unwrap(), 1);
    assert_eq!(core.threads().get(id).unwrap().queued.len(), 1, "it waits for the model");
    assert_eq!(core.requests().answer_part(several, "two", "b", "test").await.unwrap(), 0);
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert!(heard[1].contains(r#"{"one":"a","two":"b"}"#), "{heard:?}");
    assert_eq!(heard[2], "user both?");
}

#[tokio::test]
async fn what_answers_itself_leaves_what_was_answered() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let slowly = Unasked { is_on: true, answers_after: Some(3_600_000), ..Unasked::default() };
    let id = assigned(&core, home.path(), slowly.clone()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let (turn, request) = ask(&core, id, &mut reader, &["one", "two"]).await;
    core.requests().answer_part(request.id, "one", "B", "test").await.unwrap();
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    assert_eq!(core.requests().get(request.id).unwrap().given.len(), 1);
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    // What is not answered is chosen now: the call goes by what was set when it began to wait.
    let soon = Unasked { answers_after: Some(1), ..slowly };
    let core = core_in(home.path()).await;
    while !core.inner.threads.resumed.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    core.threads().assign(id, Some(Assignment { unasked: soon, ..assignment() })).await.unwrap();
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    let core = core_in(home.path()).await;
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert!(heard[0].contains(r#"{"one":"B","two":"A"}"#), "{heard:?}");
}

#[tokio::test]
async fn a_question_answers_itself_if_the_assignment_says_so() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let unasked = Unasked { is_on: true, answers_after: Some(1), ..Unasked::default() };
    let id = assigned(&core, home.path(), unasked).await;
    let ask = || script(json!([questions(&["one", "two"]), {"text": "ok"}]));
    run(&core, id, ask()).await;
    let heard = said(&core, id).await;
    assert!(heard[0].contains(r#"{"one":"A","two":"A"}"#), "{heard:?}");
    let settled: Vec<_> = core.look().settled.values().cloned().collect();
    let rookery_model::RequestState::Settled(settled) = &settled[0].state else { panic!() };
    assert_eq!(settled.by, "auto-approval");
    // Not if nothing may be done without asking.
    let off = Unasked { is_on: false, answers_after: Some(1), ..Unasked::default() };
    let id = assigned(&core, home.path(), off).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, ask()).await;
    until(&mut reader, is_asked).await;
    let request = core.requests().list().pop().unwrap();
    core.requests().resolve(request.id, Answer::Given("{}".into()), "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
}

#[tokio::test]
async fn an_answer_counts_even_if_the_daemon_is_killed_before_the_call_hears_it() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let (turn, request) = ask(&core, id, &mut reader, &["one", "two"]).await;
    let given = Answer::Given(json!({"one": "B", "two": "B"}).to_string());
    let settle = |tx: &mut crate::world::Tx<'_>| Ok(tx.resolve_request(request.id, given, "test"));
    let (_, _ticket) = core.transact(settle).unwrap();
    // Nothing else runs on this thread meanwhile, so that the call hears nothing.
    let is_settled = || {
        let stored = core.inner.store.request(request.id).unwrap();
        stored.is_some_and(|it| matches!(it.state, rookery_model::RequestState::Settled(_)))
    };
    while !is_settled() {
        std::thread::yield_now();
    }
    let (_home, next) = killed(home.path()).await;
    next.threads().turn_ended(id, turn.id).await;
    let heard = said(&next, id).await;
    assert!(heard[0].contains(r#"{"one":"B","two":"B"}"#), "{heard:?}");
    assert_eq!(heard[1], "agent ok");
}
