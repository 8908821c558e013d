//! Agents that take other roles, hand work on, and say that they are done.

use rookery_model::{Asked, Profile, Request, TurnErrorKind};

use super::*;
use crate::log::{RequestChange, Subscription};

async fn with_roles(core: &Core, home: &std::path::Path, unasked: Unasked) -> ThreadId {
    let id = thread_in(core, home).await;
    let set = Assignment { roles: vec![role("ask"), role("test")], unasked, ..assignment() };
    core.threads().assign(id, Some(set)).await.unwrap();
    id
}

fn all() -> Unasked {
    Unasked { is_on: true, roles: true, delegations: true, ..Unasked::default() }
}

/// A call that hands a script of the mock on.
fn hand_on(steps: serde_json::Value) -> serde_json::Value {
    let message = format!("MOCK_SCRIPT:{steps}");
    json!({"tool": "new_task", "args": {"mode": "test", "message": message}, "id": "hand"})
}

fn done(result: &str) -> serde_json::Value {
    json!({"tool": "attempt_completion", "args": {"result": result}})
}

/// The threads that wait for no one, and those that one leads.
fn children(core: &Core, lead: ThreadId) -> Vec<ThreadId> {
    let world = core.look();
    let is_led = |set: &Assignment| set.lead == Some(lead);
    let led = world.threads.iter();
    let led = led.filter(|(_, it)| it.thread.assignment.as_deref().is_some_and(is_led));
    led.map(|(id, _)| *id).collect()
}

async fn asked(core: &Core, reader: &mut Subscription) -> Request {
    until(reader, is_asked).await;
    core.requests().list().pop().unwrap()
}

#[tokio::test]
async fn a_completed_turn_has_its_result_and_asks_no_more() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let steps = json!([{"text": "let me see"}, done("all is well"), {"text": "too much"}]);
    let turn = run(&core, id, script(steps.clone())).await;
    assert_eq!((turn.status, turn.calls.len()), (TurnStatus::Completed, 1));
    let result = core.threads().result(id, turn.id).await.unwrap();
    assert_eq!(result.as_deref(), Some("all is well"));
    // The mock goes on in its script.
    let turn = run(&core, id, says("go on")).await;
    let result = core.threads().result(id, turn.id).await.unwrap();
    assert_eq!(result.as_deref(), Some("too much"), "else it is what was said last");
    // A message that came meanwhile is heard.
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!({"tool": "write_file", "args": {"path": "a", "content": "x"}});
    let tools = json!([{"tools": [done("first"), write]}, {"text": "and then"}]);
    let turn = start(&core, id, script(tools)).await;
    let request = asked(&core, &mut reader).await;
    let more = Message { text: "more".into(), ..Message::default() };
    core.threads().enqueue(id, more).await.unwrap();
    core.requests().resolve(request.id, Answer::Denied { message: None }, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert!(heard.ends_with(&["user more".into(), "agent and then".into()]), "{heard:?}");
    // Threads without an assignment have no such tool.
    let plain = thread_in(&core, home.path()).await;
    run(&core, plain, script(steps)).await;
    let heard = said(&core, plain).await;
    assert_eq!(heard[1..], ["attempt_completion tool not found", "agent too much"]);
}

#[tokio::test]
async fn tools_of_assignments_are_offered_to_no_other_thread() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let own = ["new_task", "switch_mode", "attempt_completion"];
    let offered = |id: ThreadId| {
        let thread = core.threads().get(id).unwrap().thread;
        let offered = core.offered_tools(&thread, None, Mode::Default);
        own.iter().filter(|name| offered.iter().any(|tool| tool.name == **name)).count()
    };
    let plain = thread_in(&core, home.path()).await;
    let with = with_roles(&core, home.path(), all()).await;
    assert_eq!((offered(plain), offered(with)), (0, 3));
}

#[tokio::test]
async fn a_role_is_taken_if_that_is_allowed() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let switch = |slug: &str| {
        let args = json!({"mode_slug": slug, "reason": "it fits"});
        script(json!([{"tool": "switch_mode", "args": args}, {"text": "ok"}]))
    };
    let of =
        |id: ThreadId| core.threads().get(id).unwrap().thread.assignment.unwrap().role.unwrap();
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    run(&core, id, switch("ask")).await;
    let is_role = |body: &NoticeBody| {
        matches!(body, NoticeBody::Thread(ThreadChange::Role { previous, role })
            if previous.as_deref() == Some("code") && role == "ask")
    };
    until(&mut reader, is_role).await;
    assert_eq!(of(id), role("ask"));
    run(&core, id, switch("poet")).await;
    let heard = said(&core, id).await;
    assert!(heard[2].contains("unknown role: poet; expected one of architect, code"), "{heard:?}");
    assert!(heard[2].contains("test"), "{heard:?}");
    // Without that it is asked for, whatever the mode.
    let id = with_roles(&core, home.path(), Unasked { roles: true, ..Unasked::default() }).await;
    core.threads().set_mode(Some(id), Mode::AcceptAll, None, None).await.unwrap();
    for (answer, expected) in
        [(Answer::Denied { message: None }, "code"), (Answer::Approved { remember: false }, "test")]
    {
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        let turn = start(&core, id, switch("test")).await;
        let request = asked(&core, &mut reader).await;
        assert_eq!(request.tool, "switch_mode");
        assert!(
            matches!(&request.asked, Asked::Approval { input, .. } if input.contains("it fits"))
        );
        // Another mode does not decide it.
        core.threads().set_mode(Some(id), Mode::Bypass, None, None).await.unwrap();
        assert_eq!(core.requests().list().len(), 1);
        core.requests().resolve(request.id, answer, "test").await.unwrap();
        core.threads().turn_ended(id, turn.id).await;
        assert_eq!(of(id).slug, expected);
    }
}

#[tokio::test]
async fn roles_that_ship_and_those_of_the_workspace_are_known() {
    let home = tempfile::tempdir().unwrap();
    let own = "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: You write docs.\n    \
               groups: [read]\n";
    std::fs::write(home.path().join(".roomodes"), own).unwrap();
    let core = core_in(home.path()).await;
    let id = assigned(&core, home.path(), all()).await;
    let role_of = |id: ThreadId| {
        let thread = core.threads().get(id).unwrap().thread;
        thread.assignment.unwrap().role.unwrap().slug
    };
    for slug in ["architect", "docs"] {
        let args = json!({"mode_slug": slug});
        let steps = json!([{"tool": "switch_mode", "args": args}, {"text": "ok"}]);
        run(&core, id, script(steps)).await;
        assert_eq!(role_of(id), slug);
        let below = format!("MOCK_SCRIPT:{}", json!([done(slug)]));
        let args = json!({"mode": slug, "message": below});
        let steps = json!([{"tool": "new_task", "args": args}, {"text": "ok"}]);
        run(&core, id, script(steps)).await;
        assert_eq!(role_of(*children(&core, id).last().unwrap()), slug);
    }
}

#[tokio::test]
async fn work_is_handed_on_and_its_result_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    core.threads().set_mode(Some(id), Mode::AcceptAll, None, None).await.unwrap();
    let steps = json!([hand_on(json!([done("forty-two")])), {"text": "thanks"}]);
    let turn = run(&core, id, script(steps)).await;
    assert_eq!(turn.status, TurnStatus::Completed);
    assert_eq!(said(&core, id).await, ["new_task forty-two", "agent thanks"]);
    let led = children(&core, id);
    assert_eq!(led.len(), 1);
    let (child, lead) =
        (core.threads().get(led[0]).unwrap().thread, core.threads().get(id).unwrap().thread);
    let set = child.assignment.as_deref().unwrap();
    assert_eq!((&set.role, set.lead), (&Some(role("test")), Some(id)));
    let of_lead = lead.assignment.as_deref().unwrap();
    assert_eq!((&set.unasked, &set.roles), (&of_lead.unasked, &of_lead.roles));
    assert_eq!((&child.cwd, &child.root, &child.mode), (&lead.cwd, &lead.root, &lead.mode));
    assert_eq!((&child.choice, child.parent), (&lead.choice, None));
}

/// The last thread that one leads, once it waits for a person or for nothing.
fn last_child(core: &Core, lead: ThreadId) -> ThreadId {
    *children(core, lead).last().unwrap()
}

#[tokio::test]
async fn work_that_failed_is_waited_for_until_its_user_has_it_done() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps = json!([hand_on(json!([{"error": "broken"}])), {"text": "oh"}]);
    let turn = start(&core, id, script(steps)).await;
    let is_failed = |body: &NoticeBody| matches!(body, NoticeBody::Turn(TurnChange::Ended(turn)) if turn.status == TurnStatus::Failed);
    until(&mut reader, is_failed).await;
    let child = last_child(&core, id);
    let again = run(&core, child, says("again")).await;
    assert_eq!(again.status, TurnStatus::Completed);
    core.threads().turn_ended(id, turn.id).await;
    assert_eq!(said(&core, id).await, ["new_task hello from roder", "agent oh"]);
    // Where no user is, it is reported at once.
    let steps = json!([hand_on(json!([{"error": "broken"}])), {"text": "well"}]);
    let alone = NewTurn { profile: Some(Profile::NonInteractive), ..script(steps) };
    run(&core, id, alone).await;
    let heard = said(&core, id).await;
    assert!(heard[2].starts_with("new_task the work that was handed on failed: "), "{heard:?}");
    assert!(heard[2].contains("broken"), "{heard:?}");
}

#[tokio::test]
async fn work_in_a_thread_that_is_closed_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    for is_deleted in [false, true] {
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        let steps = json!([hand_on(json!([{"text": "so"}, {"hang": true}])), {"text": "well"}]);
        let turn = start(&core, id, script(steps)).await;
        until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)))).await;
        let child = last_child(&core, id);
        match is_deleted {
            true => core.threads().delete(child).await.unwrap(),
            false => core.threads().archive(child, true).await.unwrap(),
        };
        core.threads().turn_ended(id, turn.id).await;
        let heard = said(&core, id).await;
        let last = &heard[heard.len() - 2..];
        let closed =
            "new_task the task that the work was handed on to was closed before it was done";
        assert_eq!(last, [closed, "agent well"]);
    }
}

#[tokio::test]
async fn those_who_work_for_a_thread_are_known_the_deepest_last() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let below = json!([hand_on(json!([done("deep")])), done("middle")]);
    run(&core, id, script(json!([hand_on(below), {"text": "up"}]))).await;
    run(&core, id, script(json!([hand_on(json!([done("other")])), {"text": "up"}]))).await;
    let [first, second] = children(&core, id)[..] else { panic!("two were started") };
    let [deep] = children(&core, first)[..] else { panic!("one was started below") };
    assert_eq!(core.threads().below(id), [first, second, deep]);
    assert_eq!(core.threads().below(first), [deep]);
    assert!(core.threads().below(deep).is_empty());
    // Closed ones are left out, and those below them are not.
    core.threads().archive(first, true).await.unwrap();
    assert_eq!(core.threads().below(id), [second, deep]);
}

#[tokio::test]
async fn a_tool_of_tasks_runs_once_it_is_allowed_and_before_what_it_does() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let switch = json!({"tool": "switch_mode", "args": {"mode_slug": "ask"}});
    let steps = json!([switch, hand_on(json!([done("x")])), {"text": "ok"}]);
    start(&core, id, script(steps)).await;
    let is_over = |body: &NoticeBody| matches!(body, NoticeBody::Turn(TurnChange::Ended(turn)) if turn.thread == id);
    let seen = until(&mut reader, is_over).await;
    let words = ["ToolRuns", "Role", "thread started"];
    let found = seen.iter().filter_map(|one| words.iter().find(|word| one.contains(**word)));
    assert_eq!(
        found.copied().collect::<Vec<_>>(),
        ["ToolRuns", "Role", "ToolRuns", "thread started"],
        "{seen:?}"
    );
}

#[tokio::test]
async fn handing_on_is_asked_for_unless_it_is_allowed() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), Unasked { is_on: true, ..Unasked::default() }).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps = json!([hand_on(json!([done("x")])), {"text": "ok"}]);
    let turn = start(&core, id, script(steps)).await;
    let request = asked(&core, &mut reader).await;
    assert_eq!(request.tool, "new_task");
    assert!(children(&core, id).is_empty());
    core.requests().resolve(request.id, Answer::Denied { message: None }, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    assert!(children(&core, id).is_empty());
}

#[tokio::test]
async fn who_is_stopped_stops_the_work_that_it_handed_on() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps = json!([hand_on(json!([{"text": "so"}, {"hang": true}]))]);
    let turn = start(&core, id, script(steps)).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)))).await;
    let child = children(&core, id)[0];
    core.threads().interrupt(id, Some(turn.id)).unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let of_child = core.threads().read(child).await.unwrap().turns.unwrap().remove(0).turn;
    core.threads().turn_ended(child, of_child.id).await;
    let of_child = core.threads().turn(child, of_child.id).await.unwrap().unwrap();
    assert_eq!(of_child.status, TurnStatus::Interrupted);
    // The other way round it is waited for, until it is taken up again.
    let steps = json!([hand_on(json!([{"text": "so"}, {"hang": true}])), {"text": "well"}]);
    let turn = start(&core, id, script(steps)).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)))).await;
    let child = last_child(&core, id);
    core.threads().stop_turn(child).await.unwrap();
    assert_eq!(core.threads().get(id).unwrap().status.active_turn, Some(turn.id));
    run(&core, child, script(json!([done("taken up")]))).await;
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert_eq!(heard[heard.len() - 2..], ["new_task taken up", "agent well"]);
}

#[tokio::test]
async fn work_is_handed_on_only_so_often() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut steps = json!([done("bottom")]);
    for _ in 0..9 {
        steps = json!([hand_on(steps), {"text": "up"}]);
    }
    let turn = run(&core, id, script(steps)).await;
    assert_eq!(turn.status, TurnStatus::Completed);
    let (mut depth, mut at) = (0, id);
    while let [child] = children(&core, at)[..] {
        (depth, at) = (depth + 1, child);
    }
    assert_eq!(depth, 8);
    let heard = said(&core, at).await;
    assert!(heard[0].contains("handed on 8 times already"), "{heard:?}");
}

#[tokio::test]
async fn who_waits_for_work_that_waits_goes_on_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!({"tool": "write_file", "args": {"path": "a", "content": "x"}});
    let below = json!([hand_on(json!([write, done("written")])), {"text": "it is written"}]);
    let turn = start(&core, id, script(json!([hand_on(below), {"text": "fine"}]))).await;
    let request = asked(&core, &mut reader).await;
    assert_eq!(request.tool, "write_file");
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    let waiting = core.threads().get(id).unwrap().status.active_turn;
    assert_eq!(waiting, Some(turn.id), "it was not stopped");
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let approved = Answer::Approved { remember: false };
    core.requests().resolve(request.id, approved, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let is_settled =
        |body: &NoticeBody| matches!(body, NoticeBody::Request(RequestChange::Settled(..)));
    until(&mut reader, is_settled).await;
    assert_eq!(said(&core, id).await, ["new_task it is written", "agent fine"]);
    assert_eq!(std::fs::read_to_string(home.path().join("a")).unwrap(), "x");
    let ended = core.threads().turn(id, turn.id).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.error), (TurnStatus::Completed, None));
}

#[tokio::test]
async fn work_that_was_lost_with_the_daemon_is_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps = json!([hand_on(json!([{"text": "so"}, {"hang": true}])), {"text": "at last"}]);
    let turn = start(&core, id, script(steps)).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)))).await;
    let child = last_child(&core, id);
    let (_home, next) = killed(home.path()).await;
    let lost = next.threads().read(child).await.unwrap().turns.unwrap().remove(0).turn;
    let error = lost.error.unwrap();
    assert_eq!((lost.status, error.kind), (TurnStatus::Failed, TurnErrorKind::RuntimeRestart));
    assert_eq!(next.threads().get(id).unwrap().status.active_turn, Some(turn.id));
    run(&next, child, script(json!([done("done after all")]))).await;
    next.threads().turn_ended(id, turn.id).await;
    assert_eq!(said(&next, id).await, ["new_task done after all", "agent at last"]);
    core.threads().interrupt(id, Some(turn.id)).unwrap();
    core.threads().turn_ended(id, turn.id).await;
}

#[tokio::test]
async fn who_waits_for_work_is_not_stopped_with_the_daemon() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = with_roles(&core, home.path(), all()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps = json!([hand_on(json!([{"text": "so"}, {"hang": true}])), {"text": "at last"}]);
    let turn = start(&core, id, script(steps)).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)))).await;
    let child = last_child(&core, id);
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    let stopped = core.threads().read(child).await.unwrap().turns.unwrap().remove(0).turn;
    assert_eq!(stopped.status, TurnStatus::Interrupted);
    assert_eq!(core.threads().get(id).unwrap().status.active_turn, Some(turn.id));
    // One that was closed meanwhile is not waited for.
    core.threads().archive(child, true).await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let heard = said(&core, id).await;
    assert!(heard[0].ends_with("was closed before it was done"), "{heard:?}");
    assert_eq!(heard[1], "agent at last");
}
