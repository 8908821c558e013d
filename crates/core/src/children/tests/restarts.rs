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
