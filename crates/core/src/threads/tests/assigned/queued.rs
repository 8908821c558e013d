//! Messages that wait for the agent.

use super::*;
use crate::log::{ItemChange, News, RequestChange, Subscription};

fn message(text: &str) -> Message {
    Message { text: text.into(), ..Message::default() }
}

fn has_begun(body: &NoticeBody) -> bool {
    matches!(body, NoticeBody::Item(_, ItemChange::Started(_)))
}

fn is_called(body: &NoticeBody) -> bool {
    matches!(body, NoticeBody::Turn(TurnChange::CallStarted(..)))
}

/// The lists of waiting messages that were reported, up to the one that is empty.
async fn lists(reader: &mut Subscription) -> Vec<Vec<String>> {
    let mut lists = Vec::new();
    loop {
        for notice in reader.next().await.unwrap().iter().filter_map(News::notice) {
            if let NoticeBody::Thread(ThreadChange::Queued(list)) = &notice.body {
                lists.push(list.iter().map(|one| one.text.clone()).collect::<Vec<_>>());
                if list.is_empty() {
                    return lists;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_message_waits_until_the_model_is_asked_next_and_can_be_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let idle = core.threads().enqueue(id, message("early")).await.unwrap_err();
    assert_eq!(idle.kind(), ErrorKind::Conflict);
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!({"tool": "write_file", "args": {"path": "a", "content": "x"}});
    let turn = start(&core, id, script(json!([write, {"text": "read"}]))).await;
    until(&mut reader, is_asked).await;
    let blank = core.threads().enqueue(id, message(" ")).await.unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::Invalid);
    let mut sent = Vec::new();
    for text in ["one", "two", "three"] {
        sent.push(core.threads().enqueue(id, message(text)).await.unwrap());
    }
    assert!(core.threads().unqueue(id, sent[1].id).await.unwrap());
    assert!(!core.threads().unqueue(id, sent[1].id).await.unwrap());
    let waiting = core.threads().get(id).unwrap().queued;
    assert_eq!(waiting, [sent[0].clone(), sent[2].clone()]);
    let asked = core.requests().list();
    assert_eq!(asked.len(), 1, "it approves nothing");
    core.requests().resolve(asked[0].id, Answer::Denied { message: None }, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert_eq!(heard[1..3], ["user one", "user three"], "{heard:?}");
    assert!(heard[3].starts_with("agent"), "{heard:?}");
    let told = lists(&mut reader).await;
    assert_eq!(told.len(), 5);
    assert_eq!(told[3], ["one", "three"]);
}

#[tokio::test]
async fn a_message_that_comes_before_the_end_has_the_turn_go_on() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn =
        start(&core, id, script(json!([{"text": "slow answer", "chunks": 3, "delayMs": 200}])))
            .await;
    until(&mut reader, has_begun).await;
    core.threads().enqueue(id, message("more")).await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert_eq!(heard[..2], ["agent slow answer", "user more"], "{heard:?}");
    assert!(heard[2].starts_with("agent "), "{heard:?}");
    let turns = core.threads().read(id).await.unwrap().turns.unwrap();
    assert_eq!((turns.len(), turns[0].turn.status), (1, TurnStatus::Completed));
    assert!(core.threads().get(id).unwrap().queued.is_empty());
}

#[tokio::test]
async fn a_message_answers_the_next_question() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!({"tool": "write_file", "args": {"path": "a", "content": "x"}});
    let tools = json!({"tools": [write, questions(&["one"])]});
    let turn = start(&core, id, script(json!([tools, {"text": "ok"}]))).await;
    until(&mut reader, is_asked).await;
    core.threads().enqueue(id, message("neither")).await.unwrap();
    // The question comes once the write was asked for, whose answer is still to come.
    let is_answered = |body: &NoticeBody| {
        matches!(body, NoticeBody::Request(RequestChange::Settled(request, _))
            if request.tool == "request_user_input")
    };
    let asked = core.requests().list();
    let write = asked.iter().find(|request| request.tool == "write_file").unwrap().id;
    if asked.iter().all(|request| request.tool != "request_user_input") {
        until(&mut reader, is_answered).await;
        let heard = core.threads().get(id).unwrap();
        assert!(heard.queued.is_empty());
    } else {
        // It was asked before the message came, so that a person answers.
        let question = asked.iter().find(|request| request.id != write).unwrap().id;
        let given = Answer::Given(json!({"one": "neither"}).to_string());
        core.requests().resolve(question, given, "test").await.unwrap();
    }
    core.requests().resolve(write, Answer::Denied { message: None }, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert!(heard.iter().any(|one| one.contains(r#"{"one":"neither"}"#)), "{heard:?}");
}

#[tokio::test]
async fn what_waits_outlives_the_daemon_and_a_turn_that_was_stopped() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, script(json!([{"hang": true}]))).await;
    until(&mut reader, is_called).await;
    let image = "data:image/png;base64,AA==".to_owned();
    let with_image = Message { images: vec![image.clone()], ..message("later") };
    core.threads().enqueue(id, with_image).await.unwrap();
    core.threads().interrupt(id, Some(turn.id)).unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let waiting = core.threads().get(id).unwrap().queued;
    assert_eq!((waiting.len(), waiting[0].images.clone()), (1, vec![image]));
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    assert_eq!(core.threads().get(id).unwrap().queued, waiting);
    assert!(core.threads().unqueue(id, waiting[0].id).await.unwrap());
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, script(json!([{"hang": true}]))).await;
    until(&mut reader, is_called).await;
    core.threads().enqueue(id, message("second")).await.unwrap();
    core.threads().stop_turn(id).await.unwrap();
    let ended = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!(ended.status, TurnStatus::Interrupted);
    run(&core, id, says("first")).await;
    let heard = said(&core, id).await;
    assert_eq!(heard[..2], ["user first", "user second"], "{heard:?}");
    core.threads().delete(id).await.unwrap();
}

#[tokio::test]
async fn no_more_than_a_number_of_messages_wait() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let plain = thread_in(&core, home.path()).await;
    let id = assigned(&core, home.path(), Unasked::default()).await;
    for thread in [plain, id] {
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        start(&core, thread, script(json!([{"hang": true}]))).await;
        // A call that begins takes what waits.
        until(&mut reader, is_called).await;
    }
    let refused = core.threads().enqueue(plain, message("x")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    for _ in 0..64 {
        core.threads().enqueue(id, message("x")).await.unwrap();
    }
    let refused = core.threads().enqueue(id, message("x")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    core.threads().stop_turn(plain).await.unwrap();
    core.threads().stop_turn(id).await.unwrap();
}
