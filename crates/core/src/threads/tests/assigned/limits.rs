//! How much an agent may do before a person is asked.

use rookery_model::{Asked, Bounds, Choice, Prices, Reach, Request, TurnErrorKind};

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

#[tokio::test]
async fn a_limit_of_cost_without_a_price_is_asked_about_at_once() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    // Whether or not anything may be done without asking.
    for is_on in [true, false] {
        let unasked = Unasked { max_cost: Some(2_500_000), is_on, ..Unasked::default() };
        let id = assigned(&core, home.path(), unasked).await;
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        let turn = start(&core, id, says("hello")).await;
        let request = asked(&core, &mut reader).await;
        let Asked::Permission { summary, action, .. } = &request.asked else { panic!() };
        assert_eq!(request.call_id, "limit-cost");
        assert!(summary.contains("is not known") && summary.contains("$2.50"), "{summary}");
        assert!(action.contains("2.50"), "{action}");
        let now = core.threads().turn(id, turn.id).await.unwrap().unwrap();
        assert!(now.calls.is_empty(), "nothing was spent");
        let yes = Answer::Approved { remember: false };
        core.requests().resolve(request.id, yes, "test").await.unwrap();
        core.threads().turn_ended(id, turn.id).await;
        // What was allowed is not asked again, for the same model.
        assert_eq!(run(&core, id, says("and now")).await.status, TurnStatus::Completed);
        let choice = Choice { model: "another".into(), ..Choice::default() };
        let turn = start(&core, id, NewTurn { choice, ..says("and then") }).await;
        let request = asked(&core, &mut reader).await;
        assert_eq!(request.turn(), Some(turn.id));
        core.threads().interrupt(id, None).unwrap();
        core.threads().turn_ended(id, turn.id).await;
    }
}

#[tokio::test]
async fn what_is_off_is_neither_offered_nor_run() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let bounds = Bounds {
        disabled_tools: vec!["echo".into(), "new_task".into()],
        no_mcp: true,
        ..Bounds::default()
    };
    let set = Assignment { bounds, unasked: reads(), ..assignment() };
    core.threads().assign(id, Some(set)).await.unwrap();
    let thread = core.threads().get(id).unwrap().thread;
    let offered = core.offered_tools(&thread, None, Mode::Default);
    let is_offered = |name: &str| offered.iter().any(|tool| tool.name == name);
    assert!(!is_offered("echo") && !is_offered("new_task") && is_offered("read_file"));
    run(&core, id, echoes(1)).await;
    assert_eq!(said(&core, id).await[0], "echo tool not found");
    // Names of tools of servers are refused whether or not the server is there.
    let agents = &core.inner.agents;
    assert!(!agents.may_use("mcp__files__read", &thread, None));
    let with = Assignment { unasked: reads(), ..assignment() };
    core.threads().assign(id, Some(with)).await.unwrap();
    let thread = core.threads().get(id).unwrap().thread;
    assert!(agents.may_use("mcp__files__read", &thread, None));
}

#[tokio::test]
async fn a_turn_ends_after_some_mistakes_in_a_row_and_goes_on_if_it_is_told_to() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let bounds = Bounds { failures_in_a_row: Some(2), ..Bounds::default() };
    let set = Assignment { bounds, unasked: reads(), ..assignment() };
    core.threads().assign(id, Some(set)).await.unwrap();
    let wrong = json!({"tool": "read_file", "args": {"path": "nothing"}});
    let steps = json!([wrong, wrong, wrong, {"text": "I see"}]);
    let turn = run(&core, id, script(steps)).await;
    let error = turn.error.unwrap();
    assert_eq!((turn.status, error.kind), (TurnStatus::Failed, TurnErrorKind::ReliabilityLimit));
    assert_eq!(turn.calls.len(), 2);
    let again = run(&core, id, NewTurn { is_continued: true, ..NewTurn::default() }).await;
    assert_eq!((again.status, again.calls.len()), (TurnStatus::Completed, 2));
    // None is no limit.
    let free = Assignment {
        bounds: Bounds { failures_in_a_row: Some(0), ..Bounds::default() },
        unasked: reads(),
        ..assignment()
    };
    core.threads().assign(id, Some(free)).await.unwrap();
    let steps = json!([wrong, wrong, wrong, {"text": "I see"}]);
    assert_eq!(run(&core, id, script(steps)).await.status, TurnStatus::Completed);
}

#[tokio::test]
async fn calls_of_the_model_keep_their_distance() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let paced = |millis: u64| {
        let bounds = Bounds { between_calls: Some(millis), ..Bounds::default() };
        Assignment { bounds, unasked: reads(), ..assignment() }
    };
    core.threads().assign(id, Some(paced(40))).await.unwrap();
    let first = run(&core, id, echoes(2)).await;
    let second = run(&core, id, says("more")).await;
    let times: Vec<i64> =
        first.calls.iter().chain(&second.calls).map(|call| call.at.as_micros()).collect();
    assert_eq!(times.len(), 4);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 40_000), "{times:?}");
    // One that waits can be stopped.
    core.threads().assign(id, Some(paced(3_600_000))).await.unwrap();
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, says("and more")).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Turn(TurnChange::Started(_)))).await;
    core.threads().interrupt(id, None).unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let ended = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.calls.len()), (TurnStatus::Interrupted, 0));
}

#[tokio::test]
async fn commands_of_a_task_have_its_limit() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    core.threads().set_mode(Some(id), Mode::Bypass, None, None).await.unwrap();
    let bounds = Bounds {
        command_seconds: Some(1),
        long_commands: vec!["true long".into()],
        ..Bounds::default()
    };
    let unasked = Unasked { commands: true, allowed_commands: vec!["*".into()], ..reads() };
    let set = Assignment { bounds, unasked, ..assignment() };
    core.threads().assign(id, Some(set)).await.unwrap();
    let run_it = |command: &str| json!({"tool": "exec_command", "args": {"cmd": command, "yield_time_ms": 20_000}});
    let steps = json!([run_it("sleep 1000"), run_it("true long"), {"text": "ok"}]);
    let turn = run(&core, id, script(steps)).await;
    assert_eq!(turn.status, TurnStatus::Completed);
    let items = core.threads().read(id).await.unwrap().turns.unwrap().remove(0).items;
    let data = items.into_iter().filter_map(|item| match item.body {
        ItemBody::Tool(tool) => serde_json::from_str::<serde_json::Value>(&tool.data?).ok(),
        _ => None,
    });
    let data: Vec<_> = data.collect();
    assert_eq!(
        (&data[0]["status"], &data[0]["effective_timeout_ms"]),
        (&json!("timed_out"), &json!(1000))
    );
    assert_eq!(
        (&data[1]["status"], &data[1]["effective_timeout_ms"]),
        (&json!("completed"), &json!(null))
    );
}
