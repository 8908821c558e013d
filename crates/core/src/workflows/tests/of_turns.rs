//! Runs of threads and their turns: whom their agents work for, and in which mode.

use std::collections::BTreeMap;

use rookery_model::{Mode, Request, ThreadId, TraceStatus};

use super::*;
use crate::threads::tests::{run as run_turn, script as prompt, start, thread_in};

/// A prompt that has an agent ask before it writes a file, and say so.
fn writes(path: &str) -> Value {
    let write = json!({ "tool": "write_file", "args": { "path": path, "content": "x" } });
    json!([write, { "text": path }])
}

/// A script with one agent that does this.
fn one(steps: &Value) -> String {
    format!("return await agent({})", json!(format!("MOCK_SCRIPT:{steps}")))
}

impl World {
    /// Plans and approves a run.
    async fn begin(&self, new: NewRun) -> String {
        let id = self.core.workflows().plan(new).await.unwrap().run.id;
        self.core.workflows().approve(&id, RunDecision::RunOnce, None, "test").await.unwrap();
        id
    }

    /// What turns ask.
    fn asks(&self) -> Vec<Request> {
        let all = self.core.requests().list().into_iter();
        all.filter(|request| request.turn().is_some()).collect()
    }

    async fn asked(&self, count: usize) {
        let mut news = self.core.log().subscribe(Topics::NOTICES, None);
        while self.asks().len() != count {
            tokio::time::timeout(PATIENCE, news.next()).await.expect("they ask").unwrap();
        }
    }

    async fn approve_all(&self) {
        for request in self.asks() {
            let approved = Answer::Approved { remember: false };
            self.core.requests().resolve(request.id, approved, "test").await.unwrap();
        }
    }

    fn threads(&self) -> BTreeMap<ThreadId, Option<ThreadId>> {
        let world = self.core.look();
        world.threads.iter().map(|(id, state)| (*id, state.thread.lead())).collect()
    }
}

#[tokio::test]
async fn the_end_of_a_turn_stops_no_agent_of_its_run() {
    let world = World::real().await;
    let thread = thread_in(&world.core, world.dir.path()).await;
    let turn = start(&world.core, thread, prompt(writes("own"))).await;
    world.asked(1).await;
    let new = NewRun { thread: Some(thread), turn: Some(turn.id), ..script(&one(&writes("made"))) };
    let id = world.begin(new).await;
    world.asked(2).await;
    world.core.threads().interrupt(thread, None).unwrap();
    world.core.threads().turn_ended(thread, turn.id).await;
    world.asked(1).await;
    let request = world.asks().remove(0);
    let agent = request.thread().unwrap();
    assert_ne!(agent, thread);
    let traces = world.core.children().traces(thread, turn.id).await;
    assert_eq!((traces[0].trace.child, traces[0].trace.status), (agent, TraceStatus::Waiting));
    world.approve_all().await;
    let run = world.ended(&id).await;
    assert_eq!((run.report.as_deref(), run.agents[0].attempt), (Some("made"), 1));
    assert_eq!(run.agents[0].thread, Some(agent));
    // It was asked once, and is the only child of the thread.
    assert_eq!(world.threads(), [(thread, None), (agent, Some(thread))].into());
    let traces = world.core.children().traces(thread, turn.id).await;
    assert_eq!((traces.len(), traces[0].trace.status), (1, TraceStatus::Completed));
}

#[tokio::test]
async fn agents_of_a_run_whose_turn_is_over_are_traced_and_say_whom_they_work_for() {
    let world = World::real().await;
    let thread = thread_in(&world.core, world.dir.path()).await;
    world.core.threads().rename(thread, Some("The parent".into())).await.unwrap();
    let turn = run_turn(&world.core, thread, prompt(json!([{ "text": "planned" }]))).await;
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    let new = NewRun { thread: Some(thread), turn: Some(turn.id), ..script(&one(&writes("made"))) };
    let id = world.begin(new).await;
    world.asked(1).await;
    let request = world.asks().remove(0);
    let rookery_model::Asked::Approval { reason, .. } = &request.asked else { panic!("approval") };
    assert!(reason.ends_with("working for \"The parent\""), "{reason}");
    world.approve_all().await;
    let run = world.ended(&id).await;
    let trace = world.core.children().traces(thread, turn.id).await.remove(0).trace;
    assert_eq!((Some(trace.child), trace.status), (run.agents[0].thread, TraceStatus::Completed));
    let mut told = Vec::new();
    while told.len() < 2 {
        let batch = tokio::time::timeout(PATIENCE, news.next()).await.expect("news").unwrap();
        for notice in batch.iter().filter_map(News::notice) {
            match &notice.body {
                NoticeBody::Trace(crate::TraceChange::Created(_)) => told.push("created"),
                NoticeBody::Trace(crate::TraceChange::Ended(_)) => told.push("ended"),
                _ => {}
            }
        }
    }
    assert_eq!(told, ["created", "ended"]);
}

#[tokio::test]
async fn attack_agents_of_a_run_whose_turn_is_over_have_the_mode_of_the_client_that_planned_it() {
    let world = World::real().await;
    let thread = thread_in(&world.core, world.dir.path()).await;
    let turn = run_turn(&world.core, thread, prompt(json!([{ "text": "planned" }]))).await;
    let of = |client| NewRun {
        thread: Some(thread),
        turn: Some(turn.id),
        client: Some(client),
        ..script(&one(&writes("made")))
    };
    world.core.threads().set_mode(None, Mode::AcceptAll, None, None).await.unwrap();
    world.core.threads().set_client_mode(7, Mode::Plan).unwrap();
    let id = world.begin(of(7)).await;
    let run = world.ended(&id).await;
    assert_eq!(run.agents[0].status, AgentStatus::Completed);
    assert!(!world.dir.path().join("made").exists());
    // A client that brought none has that of the thread.
    world.core.threads().set_mode(Some(thread), Mode::Plan, None, None).await.unwrap();
    let id = world.begin(of(8)).await;
    world.ended(&id).await;
    assert!(!world.dir.path().join("made").exists());
    world.core.threads().set_mode(Some(thread), Mode::AcceptAll, None, None).await.unwrap();
    let id = world.begin(of(8)).await;
    world.ended(&id).await;
    assert!(world.dir.path().join("made").exists());
}

#[tokio::test]
async fn agents_of_a_run_that_the_last_daemon_left_ask_no_more_until_it_is_resumed() {
    let world = World::real().await;
    let thread = thread_in(&world.core, world.dir.path()).await;
    let turn = run_turn(&world.core, thread, prompt(json!([{ "text": "planned" }]))).await;
    let new = NewRun { thread: Some(thread), turn: Some(turn.id), ..script(&one(&writes("made"))) };
    let id = world.begin(new).await;
    world.asked(1).await;
    let world = world.restarted().await;
    *world.core.inner.workflows.dispatch.lock() = None;
    world.asked(0).await;
    let trace = world.core.children().traces(thread, turn.id).await.remove(0).trace;
    assert!(trace.status.is_final(), "{trace:?}");
    let run = world.core.workflows().get(&id, false, true).await.unwrap();
    assert_eq!(run.status, RunStatus::Paused);
    world.core.workflows().resume(&id, ClientGrant::default()).await.unwrap();
    world.asked(1).await;
    world.approve_all().await;
    let run = world.ended(&id).await;
    assert_eq!((run.report.as_deref(), run.agents[0].attempt), (Some("made"), 2));
    assert_eq!(world.core.children().traces(thread, turn.id).await.len(), 2);
}
