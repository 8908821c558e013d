//! How much an agent may do before a person is asked.

use rookery_model::{Asked, Prices, Reach, Request};

use super::*;

/// Tools that need no approval, each a call of the model, and a text at the end.
fn echoes(count: usize) -> NewTurn {
    let usage = json!({"prompt": 1000, "completion": 100});
    let step = |number: usize| json!({"tool": "echo", "args": {"text": number.to_string()}, "usage": usage});
    let mut steps: Vec<_> = (0..count).map(step).collect();
    steps.push(json!({"text": "done"}));
    script(json!(steps))
}

/// Reading needs no approval.
fn reads() -> Unasked {
    Unasked { is_on: true, reads: Reach::Anywhere, ..Unasked::default() }
}

async fn asked(core: &Core, reader: &mut crate::log::Subscription) -> Request {
    until(reader, is_asked).await;
    core.requests().list().pop().unwrap()
}

#[tokio::test]
async fn calls_are_counted_since_a_person_spoke() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let unasked = Unasked { max_calls: Some(2), ..reads() };
    let id = assigned(&core, home.path(), unasked.clone()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, echoes(4)).await;
    let request = asked(&core, &mut reader).await;
    assert_eq!((request.call_id.as_str(), request.tool.as_str()), ("limit-calls", ""));
    assert_eq!(request.turn(), Some(turn.id));
    assert!(
        matches!(&request.asked, Asked::Permission { summary, .. } if summary.starts_with("2 "))
    );
    let made = |turn: &rookery_model::Turn| turn.calls.len();
    let now = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!(made(&now), 2);
    let yes = Answer::Approved { remember: false };
    core.requests().resolve(request.id, yes, "test").await.unwrap();
    let request = asked(&core, &mut reader).await;
    let now = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!(made(&now), 4);
    core.requests().resolve(request.id, Answer::Denied { message: None }, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let ended = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!((ended.status, made(&ended)), (TurnStatus::Interrupted, 4));
    // A message is a word of a person, too; and what is off limits nothing.
    let spoken = run(&core, id, says("hello")).await;
    assert_eq!(spoken.status, TurnStatus::Completed);
    let off = Unasked { is_on: false, max_calls: Some(0), ..unasked };
    core.threads().assign(id, Some(Assignment { unasked: off, ..assignment() })).await.unwrap();
    assert_eq!(run(&core, id, says("hello again")).await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn what_was_spent_is_asked_about_and_goes_on_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let prices = Prices { input: 1_000_000, output: 10_000_000, ..Prices::default() };
    let set = Assignment {
        unasked: Unasked { max_cost: Some(3_000), ..reads() },
        prices: Some(prices),
        ..assignment()
    };
    core.threads().assign(id, Some(set)).await.unwrap();
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    // Each call costs 2,000 millionths.
    let turn = start(&core, id, echoes(3)).await;
    let request = asked(&core, &mut reader).await;
    assert_eq!(request.call_id, "limit-cost");
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    assert_eq!(core.requests().list(), std::slice::from_ref(&request), "it is asked once");
    let yes = Answer::Approved { remember: false };
    core.requests().resolve(request.id, yes, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let ended = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.calls.len()), (TurnStatus::Completed, 4));
    assert_eq!(ended.usage.prompt, 3_000);
}

#[tokio::test]
async fn a_turn_that_asks_to_go_on_can_be_stopped() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let unasked = Unasked { is_on: true, max_calls: Some(0), ..Unasked::default() };
    let id = assigned(&core, home.path(), unasked).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, says("hello")).await;
    asked(&core, &mut reader).await;
    core.threads().interrupt(id, None).unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let ended = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.calls.len()), (TurnStatus::Interrupted, 0));
    assert!(core.requests().list().is_empty());
}
