//! Child agents over the mock provider, through the real store and the real log.

mod bounds;
mod programs;
mod restarts;
mod traced;

use std::path::Path;

use rookery_agent::settings::Settings;
use rookery_model::{
    Answer, ChildExit, ItemBody, Lane, Mode, Request, ThreadId, TraceStatus, Turn, TurnErrorKind,
    TurnStatus,
};
use serde_json::{Value, json};

use super::{ChildDone, NewChild};
use crate::core::{Core, StopKind};
use crate::log::{Subscription, Topics};
use crate::threads::tests::{
    PATIENCE, core_in, core_with, is_asked, run, says, script, start, thread_in, until,
};

/// A child with a script of the mock as its prompt.
fn scripted(steps: &Value) -> NewChild {
    NewChild {
        description: "look at it".to_owned(),
        prompt: format!("MOCK_SCRIPT:{steps}"),
        ..NewChild::default()
    }
}

/// A call of `task` with a script for the child.
fn task(id: &str, steps: &Value, more: &Value) -> Value {
    let mut args = json!({"description": id, "prompt": format!("MOCK_SCRIPT:{steps}")});
    for (key, value) in more.as_object().into_iter().flatten() {
        args[key] = value.clone();
    }
    json!({"tool": "task", "args": args, "id": id})
}

async fn done(core: &Core, new: NewChild) -> ChildDone {
    let child = core.children().start(new).await.unwrap();
    tokio::time::timeout(PATIENCE, child.wait()).await.expect("the child ends")
}

async fn asked(core: &Core, reader: &mut Subscription) -> Request {
    until(reader, is_asked).await;
    core.requests().list().pop().unwrap()
}

async fn approve(core: &Core, request: &Request) {
    let approved = Answer::Approved { remember: false };
    core.requests().resolve(request.id, approved, "test").await.unwrap();
}

/// What tools and agents of a thread came to.
async fn heard(core: &Core, thread: ThreadId) -> Vec<String> {
    let turns = core.threads().read(thread).await.unwrap().turns.unwrap();
    let items = turns.into_iter().flat_map(|turn| turn.items);
    let said = items.filter_map(|item| match item.body {
        ItemBody::Agent { text, .. } => Some(text),
        ItemBody::Tool(tool) => {
            Some(format!("{}: {}", tool.name, tool.output.or(tool.error).unwrap_or_default()))
        }
        _ => None,
    });
    said.collect()
}

fn children_of(core: &Core, thread: ThreadId) -> Vec<ThreadId> {
    let world = core.look();
    let all = world.threads.iter().filter(|(_, state)| state.thread.lead() == Some(thread));
    all.map(|(id, _)| *id).collect()
}

#[tokio::test]
async fn a_child_answers_whoever_started_it() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let steps = json!([{"text": "found it", "usage": {"prompt": 7, "completion": 2}}]);
    let answer = done(&core, scripted(&steps)).await;
    assert_eq!((answer.exit, answer.message.as_str()), (ChildExit::Completed, "found it"));
    assert_eq!((answer.agent_type.as_str(), answer.model.as_deref()), ("general", Some("mock")));
    assert_eq!(answer.usage.unwrap().prompt, 7);
    let thread = core.threads().get(answer.thread).unwrap().thread;
    assert_eq!(thread.title(), "look at it");
    assert_eq!(core.queue().list().len(), 0, "it asks for no attention");
}

#[tokio::test]
async fn a_request_that_is_wrong_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let good = || scripted(&json!([]));
    let nowhere = (ThreadId::new(1), rookery_model::TurnId::new(2));
    for (wrong, field) in [
        (NewChild { description: " ".into(), ..good() }, "description"),
        (NewChild { prompt: String::new(), ..good() }, "prompt"),
        (NewChild { agent_type: Some("wizard".into()), ..good() }, "wizard"),
        (NewChild { schema: Some(json!({"type": 7})), ..good() }, "schema"),
        (NewChild { cwd: Some("/nowhere/at/all".into()), ..good() }, "cwd"),
        (NewChild { model: Some("elsewhere/x".into()), parent: Some(nowhere), ..good() }, "thread"),
    ] {
        let error = core.children().start(wrong).await.unwrap_err();
        assert!(error.to_string().contains(field), "{error} names {field}");
    }
    assert_eq!(core.look().threads.len(), 0);
}

#[tokio::test]
async fn a_turn_gets_the_answer_of_its_child() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let child = task("a", &json!([{"text": "42"}]), &json!({}));
    let turn = run(&core, thread, script(json!([child, {"text": "so it is"}]))).await;
    assert_eq!(turn.status, TurnStatus::Completed);
    assert_eq!(heard(&core, thread).await, ["task: 42", "so it is"]);
    let wrong = json!([{"tool": "task", "args": {"description": "d", "prompt": "p", "lane": "x"}},
        {"tool": "task", "args": {"description": "d", "prompt": "p", "subagent_type": "x"}}, {"text": "."}]);
    run(&core, thread, script(wrong)).await;
    let told = heard(&core, thread).await;
    assert!(told[2].contains("lane") && told[2].contains("scout"), "{told:?}");
    assert!(told[3].contains("unknown agent type: x; there are explore, general"), "{told:?}");
}

#[tokio::test]
async fn children_of_one_step_work_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = |path: &str| {
        let call = json!({"tool": "write_file", "args": {"path": path, "content": "x"}});
        json!([call, {"text": path}])
    };
    let both = json!([
        {"tools": [task("a", &write("a"), &json!({})), task("b", &write("b"), &json!({}))]},
        {"text": "both"},
    ]);
    let turn = start(&core, thread, script(both)).await;
    while core.requests().list().len() < 2 {
        tokio::time::timeout(PATIENCE, reader.next()).await.expect("news").unwrap();
    }
    let traces = core.children().traces(thread, turn.id).await;
    assert!(traces.iter().all(|one| one.trace.status == TraceStatus::Waiting), "{traces:?}");
    for request in core.requests().list() {
        approve(&core, &request).await;
    }
    core.threads().turn_ended(thread, turn.id).await;
    assert_eq!(heard(&core, thread).await, ["task: a", "task: b", "both"]);
}

#[tokio::test]
async fn an_approval_says_whom_the_child_works_for() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    core.threads().rename(thread, Some("The parent".into())).await.unwrap();
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!([{"tool": "write_file", "args": {"path": "a", "content": "x"}}]);
    start(&core, thread, script(json!([task("fix it", &write, &json!({}))]))).await;
    let request = asked(&core, &mut reader).await;
    let rookery_model::Asked::Approval { reason, .. } = &request.asked else { panic!("approval") };
    assert_eq!(
        reason,
        "side-effecting tool call; asked by child agent general \"fix it\", working for \"The parent\""
    );
    let parents = core.children().parents(request.thread().unwrap());
    assert_eq!(parents.iter().map(|one| one.id).collect::<Vec<_>>(), [thread]);
}

#[tokio::test]
async fn attack_a_child_starts_no_child() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let inner = task("inner", &json!([{"text": "deep"}]), &json!({}));
    let write = json!({"tool": "write_file", "args": {"path": "a", "content": "x"}});
    let outer = task("outer", &json!([inner, write, {"text": "no"}]), &json!({}));
    start(&core, thread, script(json!([outer, {"text": "."}]))).await;
    let request = asked(&core, &mut reader).await;
    let (child, turn) = (request.thread().unwrap(), request.turn().unwrap());
    assert_eq!(heard(&core, child).await[0], "task: tool not found");
    let new = NewChild { parent: Some((child, turn)), ..scripted(&json!([])) };
    let error = core.children().start(new).await.unwrap_err();
    assert_eq!(error.to_string(), "a child agent cannot start child agents");
    let thread = core.threads().get(child).unwrap().thread;
    let offered = core.offered_tools(&thread, None, Mode::Plan);
    for name in ["task", "exit_plan_mode", "new_task", "switch_mode"] {
        assert!(offered.iter().all(|tool| tool.name != name), "{name}");
    }
}

#[tokio::test]
async fn an_answer_has_to_fit_its_schema() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let with = |steps: &Value| NewChild { schema: Some(schema.clone()), ..scripted(steps) };
    let fits = done(&core, with(&json!([{"text": "{\"n\": 1}"}]))).await;
    assert_eq!((fits.exit, fits.structured), (ChildExit::Completed, Some(json!({"n": 1}))));
    // Once it may mend what it said.
    let mended = done(&core, with(&json!([{"text": "one"}, {"text": "{\"n\": 2}"}]))).await;
    assert_eq!(mended.structured, Some(json!({"n": 2})));
    let wrong = json!([{"text": "one"}, {"text": "{\"n\": \"two\"}"}, {"text": "{\"n\": 3}"}]);
    let misfit = done(&core, with(&wrong)).await;
    assert_eq!((misfit.exit, misfit.structured), (ChildExit::Failed, None));
    assert_eq!(
        misfit.error.as_deref(),
        Some("schema_mismatch: the answer does not fit its schema")
    );
}

#[tokio::test]
async fn a_definition_of_the_workspace_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".roder/agents");
    std::fs::create_dir_all(&dir).unwrap();
    let text = "---\nname: terse\ndescription: d\ntools: [Read]\nmodel: unheard-of\nmax_result_chars: 3\n---\nbe terse";
    std::fs::write(dir.join("terse.md"), text).unwrap();
    let core = core_in(home.path()).await;
    let (found, diagnostics) = core.children().definitions(home.path().into()).await;
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, diagnostics.len()), (vec!["explore", "general", "terse"], 0));
    let steps =
        json!([{"tool": "write_file", "args": {"path": "a", "content": "x"}}, {"text": "abcdef"}]);
    let new = NewChild { agent_type: Some("terse".into()), ..scripted(&steps) };
    let answer = done(&core, new).await;
    assert_eq!(answer.message, "abc\n[3 more characters were left out]");
    assert_eq!(answer.model.as_deref(), Some("mock"), "its provider has no such model");
    assert_eq!(heard(&core, answer.thread).await[0], "write_file: tool not found");
}
