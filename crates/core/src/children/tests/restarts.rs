//! Children and their parents when a daemon ends and another begins.

use super::*;

async fn again(core: Core, reader: Subscription, home: &Path) -> Core {
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    core_in(home).await
}

async fn the_turn(core: &Core, thread: ThreadId) -> Turn {
    core.threads().read(thread).await.unwrap().turns.unwrap().remove(0).turn
}

/// A script that asks before it writes a file, and then says so.
fn writes(path: &str) -> Value {
    let write = json!({"tool": "write_file", "args": {"path": path, "content": "x"}});
    json!([write, {"text": "written"}])
}

/// Waits until at least `count` requests wait for an answer.
async fn asked_by(core: &Core, reader: &mut Subscription, count: usize) {
    while core.requests().list().len() < count {
        tokio::time::timeout(PATIENCE, reader.next()).await.expect("they ask").unwrap();
    }
}

#[tokio::test]
async fn a_child_that_waits_for_an_approval_still_waits_and_so_does_its_parent() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps =
        json!([{"tool": "write_file", "args": {"path": "a", "content": "x"}}, {"text": "written"}]);
    let parent = json!([task("a", &steps, &json!({})), {"text": "fine"}]);
    let turn = start(&core, thread, script(parent)).await;
    let request = asked(&core, &mut reader).await;
    let core = again(core, reader, home.path()).await;
    assert_eq!(core.threads().get(thread).unwrap().status.active_turn, Some(turn.id));
    let traces = core.children().traces(thread, turn.id).await;
    assert_eq!(traces[0].trace.status, TraceStatus::Waiting);
    approve(&core, &request).await;
    core.threads().turn_ended(thread, turn.id).await;
    assert_eq!(heard(&core, thread).await, ["task: written", "fine"]);
    let traces = core.children().traces(thread, turn.id).await;
    assert_eq!(traces[0].trace.status, TraceStatus::Completed);
    assert_eq!(traces[0].trace.exit, Some(ChildExit::Completed));
}

#[tokio::test]
async fn a_child_that_works_is_stopped_with_its_parent() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let child = task("a", &json!([{"text": "so"}, {"hang": true}]), &json!({}));
    let turn = start(&core, thread, script(json!([child, {"text": "no"}]))).await;
    until(&mut reader, |body| {
        matches!(body, crate::NoticeBody::Item(_, crate::ItemChange::Delta(..)))
    })
    .await;
    let core = again(core, reader, home.path()).await;
    assert_eq!(the_turn(&core, thread).await.status, TurnStatus::Interrupted);
    let child = children_of(&core, thread)[0];
    assert_eq!(the_turn(&core, child).await.status, TurnStatus::Interrupted);
    let traces = core.children().traces(thread, turn.id).await;
    assert!(traces[0].trace.status.is_final(), "{traces:?}");
    assert!(core.look().threads.values().all(|state| state.active.is_none()));
}

#[tokio::test]
async fn a_child_that_no_turn_waits_for_ends_with_the_daemon_and_asks_no_more() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    // Kept to the end: the last daemon is killed, and lets go of nothing.
    let left = core.children().start(scripted(&writes("made"))).await.unwrap();
    let (child, request) = (left.thread(), asked(&core, &mut reader).await);
    let core = again(core, reader, home.path()).await;
    assert_eq!(core.requests().list().len(), 0);
    let answer = Answer::Approved { remember: false };
    assert!(!core.requests().resolve(request.id, answer, "test").await.unwrap().is_now());
    let turn = the_turn(&core, child).await;
    let error = turn.error.map(|error| error.kind);
    assert_eq!((turn.status, error), (TurnStatus::Failed, Some(TurnErrorKind::RuntimeRestart)));
    assert_eq!(heard(&core, child).await, ["write_file: the daemon ended while this ran"]);
    assert!(!home.path().join("made").exists());
    assert_eq!(core.inner.children.len(), 0);
    drop(left);
}

#[tokio::test]
async fn a_child_that_no_call_of_its_turn_waits_for_ends_though_the_turn_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, thread, script(writes("own"))).await;
    asked_by(&core, &mut reader, 1).await;
    let new = NewChild { parent: Some((thread, turn.id)), ..scripted(&writes("made")) };
    let left = core.children().start(new).await.unwrap();
    asked_by(&core, &mut reader, 2).await;
    let core = again(core, reader, home.path()).await;
    let asks = core.requests().list();
    assert_eq!(asks.iter().map(Request::thread).collect::<Vec<_>>(), [Some(thread)]);
    let trace = core.children().traces(thread, turn.id).await.remove(0).trace;
    assert_eq!(
        (trace.status, trace.error.as_deref()),
        (TraceStatus::Failed, Some("runtime_restart"))
    );
    assert_eq!(core.inner.children.len(), 0);
    approve(&core, &asks[0]).await;
    core.threads().turn_ended(thread, turn.id).await;
    assert!(home.path().join("own").exists() && !home.path().join("made").exists());
    drop(left);
}

#[tokio::test]
async fn what_a_person_began_in_the_thread_of_a_child_waits_on() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let child = task("a", &json!([{"text": "42"}]), &json!({}));
    run(&core, thread, script(json!([child, {"text": "so it is"}]))).await;
    let traced = children_of(&core, thread)[0];
    let untraced = done(&core, scripted(&json!([{"text": "43"}]))).await.thread;
    for (child, path) in [(traced, "first"), (untraced, "second")] {
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        let before = core.requests().list().len();
        start(&core, child, script(writes(path))).await;
        asked_by(&core, &mut reader, before + 1).await;
    }
    let reader = core.log().subscribe(Topics::NOTICES, None);
    let core = again(core, reader, home.path()).await;
    for request in core.requests().list() {
        let asker = request.thread().unwrap();
        let turn = core.threads().get(asker).unwrap().status.active_turn.unwrap();
        assert_eq!(request.turn(), Some(turn));
        approve(&core, &request).await;
        core.threads().turn_ended(asker, turn).await;
    }
    assert!(home.path().join("first").exists() && home.path().join("second").exists());
    assert_eq!(core.inner.children.len(), 0);
}

#[tokio::test]
async fn a_child_that_is_taken_up_again_has_the_bounds_that_it_began_with() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".roder/agents");
    std::fs::create_dir_all(&dir).unwrap();
    let text = "---\nname: terse\ndescription: d\nmax_result_chars: 3\n---\nbe terse";
    std::fs::write(dir.join("terse.md"), text).unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let child = task("a", &writes("a"), &json!({"subagent_type": "terse"}));
    let turn = start(&core, thread, script(json!([child, {"text": "fine"}]))).await;
    let request = asked(&core, &mut reader).await;
    let core = again(core, reader, home.path()).await;
    approve(&core, &request).await;
    core.threads().turn_ended(thread, turn.id).await;
    let told = heard(&core, thread).await;
    assert_eq!(told, ["task: wri\n[4 more characters were left out]", "fine"]);
}
