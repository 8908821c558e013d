//! Modes of the world, of threads and of clients, and what they settle.

use rookery_model::{Event, EventSeq};

use super::*;

/// A turn that writes a file, which the default mode asks about.
fn writes() -> NewTurn {
    let args = json!({"path": "new.txt", "content": "x"});
    script(json!([{"tool": "write_file", "args": args}, {"text": "ok"}]))
}

#[tokio::test]
async fn attack_the_mode_of_a_client_holds_for_its_own_turns_and_no_others() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let (shared, waiting) =
        (thread_in(&core, home.path()).await, thread_in(&core, home.path()).await);
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    // Something waits before the client comes.
    start(&core, waiting, writes()).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Request(RequestChange::Asked(_)))).await;
    core.threads().set_client_mode(7, Mode::Bypass).unwrap();
    assert_eq!((core.threads().mode(None), core.requests().list().len()), (Mode::Default, 1));
    // Its own turn does not ask; the next one in the same thread is another client's and asks.
    let own = run(&core, shared, NewTurn { client: Some(7), ..writes() }).await;
    assert_eq!(own.status, TurnStatus::Completed);
    assert_eq!(core.requests().list().len(), 1);
    start(&core, shared, NewTurn { client: Some(8), ..writes() }).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Request(RequestChange::Asked(_)))).await;
    assert_eq!(core.requests().list().len(), 2);
    assert_eq!(
        (core.threads().mode_for(7, Some(shared)), core.threads().mode_for(8, None)),
        (Mode::Bypass, Mode::Default)
    );
    // It ends without settling anything.
    core.threads().end_client_mode(7);
    assert_eq!(
        (core.threads().mode_for(7, Some(shared)), core.requests().list().len()),
        (Mode::Default, 2)
    );
    core.stop(StopKind::KeepTerminals).await.unwrap();
}

#[tokio::test]
async fn attack_a_turn_that_outlives_its_client_asks_again() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    core.threads().set_client_mode(7, Mode::Bypass).unwrap();
    let args = json!({"path": "new.txt", "content": "x"});
    let ask = json!({"questions": [{"header": "h", "id": "q", "question": "?", "options": [
        {"label": "a", "description": "a"}, {"label": "b", "description": "b"}]}]});
    let steps = json!([{"tool": "request_user_input", "args": ask},
        {"tool": "write_file", "args": args}, {"text": "ok"}]);
    start(&core, thread, NewTurn { client: Some(7), ..script(steps) }).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Request(RequestChange::Asked(_)))).await;
    core.threads().end_client_mode(7);
    until(&mut reader, |body| {
        matches!(body, NoticeBody::Thread(ThreadChange::Mode { mode: Mode::Default, .. }))
    })
    .await;
    let question = core.requests().list().remove(0).id;
    core.requests().resolve(question, Answer::Given("{}".into()), "test").await.unwrap();
    until(&mut reader, |body| matches!(body, NoticeBody::Request(RequestChange::Asked(_)))).await;
    assert!(!home.path().join("new.txt").exists());
    core.stop(StopKind::KeepTerminals).await.unwrap();
}

#[tokio::test]
async fn a_mode_that_is_set_for_a_thread_counts_more_than_what_a_client_brought() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    core.threads().set_client_mode(7, Mode::Bypass).unwrap();
    core.threads().set_mode(Some(thread), Mode::Plan, None, None).await.unwrap();
    assert_eq!(
        (core.threads().mode_for(7, Some(thread)), core.threads().mode_for(7, None)),
        (Mode::Plan, Mode::Bypass)
    );
    run(&core, thread, NewTurn { client: Some(7), ..writes() }).await;
    assert!(!home.path().join("new.txt").exists());
}

#[tokio::test]
async fn a_mode_of_all_says_how_many_requests_it_settled() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let threads = [thread_in(&core, home.path()).await, thread_in(&core, home.path()).await];
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    for thread in threads {
        start(&core, thread, writes()).await;
        until(&mut reader, |body| matches!(body, NoticeBody::Request(RequestChange::Asked(_))))
            .await;
    }
    // Of one thread only what waits there.
    core.threads().set_mode(Some(threads[0]), Mode::Plan, None, None).await.unwrap();
    assert_eq!(core.requests().list().len(), 1);
    core.threads().set_mode(None, Mode::Bypass, None, Some("test".into())).await.unwrap();
    assert_eq!(core.requests().list().len(), 0);
    let mut settled = Vec::new();
    let mut log = core.log().subscribe(Topics::EVENTS, Some(EventSeq::new(0)));
    while settled.len() < 2 {
        let batch = tokio::time::timeout(PATIENCE, log.next()).await.expect("events").unwrap();
        settled.extend(batch.iter().filter_map(News::event).filter_map(|stamped| {
            match &stamped.event {
                Event::ModeChanged { settled, .. } => Some(*settled),
                _ => None,
            }
        }));
    }
    assert_eq!(settled, [1, 1]);
}
