//! What children may do, for how long, how many at once, and who stops them.

use std::time::Duration;

use super::super::drive::Allowance;
use super::*;

/// Calls that change something, and one that reads.
fn changes() -> Value {
    json!([
        {"tool": "write_file", "args": {"path": "made", "content": "x"}},
        {"tool": "shell", "args": {"command": "touch made"}},
        {"tool": "read_file", "args": {"path": "there"}},
        {"text": "done"},
    ])
}

#[tokio::test]
async fn attack_a_child_that_reads_is_held_to_it_in_every_mode() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("there"), "seen").unwrap();
    let core = core_in(home.path()).await;
    let dir = home.path().join(".roder/agents");
    std::fs::create_dir_all(&dir).unwrap();
    let text = "---\nname: reader\ndescription: d\npermission_mode: read_only\n---\n";
    std::fs::write(dir.join("reader.md"), text).unwrap();
    for mode in [Mode::Default, Mode::AcceptAll, Mode::Plan, Mode::Bypass] {
        core.threads().set_mode(None, mode, None, None).await.unwrap();
        for (agent, lane) in [
            ("explore", None),
            ("reader", None),
            ("general", Some(Lane::Scout)),
            ("general", Some(Lane::Reviewer)),
        ] {
            let new = NewChild { agent_type: Some(agent.into()), lane, ..scripted(&changes()) };
            let answer = done(&core, new).await;
            let told = heard(&core, answer.thread).await;
            assert_eq!(answer.exit, ChildExit::Completed, "{told:?}");
            assert!(!home.path().join("made").exists(), "{mode:?} {agent} {lane:?}");
            assert!(told[2].contains("seen"), "{mode:?} {agent}: {told:?}");
        }
    }
}

#[tokio::test]
async fn lanes_have_the_tools_of_their_kind_alone() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("there"), "seen").unwrap();
    let core = core_in(home.path()).await;
    core.threads().set_mode(None, Mode::AcceptAll, None, None).await.unwrap();
    let editor = NewChild { lane: Some(Lane::Editor), ..scripted(&changes()) };
    let told = heard(&core, done(&core, editor).await.thread).await;
    assert!(home.path().join("made").exists(), "{told:?}");
    assert_eq!(told[1], "shell: tool not found");
    let runner = NewChild { lane: Some(Lane::Runner), ..scripted(&changes()) };
    let told = heard(&core, done(&core, runner).await.thread).await;
    assert_eq!(
        (told[0].as_str(), told[2].as_str()),
        ("write_file: tool not found", "read_file: tool not found")
    );
    assert!(!told[1].contains("not found"), "{told:?}");
}

#[tokio::test]
async fn attack_plan_mode_of_the_parent_holds_for_its_child() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    core.threads().set_mode(Some(thread), Mode::Plan, None, None).await.unwrap();
    let child = task("a", &changes(), &json!({}));
    run(&core, thread, script(json!([child, {"text": "."}]))).await;
    assert!(!home.path().join("made").exists());
    let child = children_of(&core, thread)[0];
    assert_eq!(core.threads().mode(Some(child)), Mode::Plan);
    // A looser mode of its own loosens nothing.
    core.threads().set_mode(Some(child), Mode::Bypass, None, None).await.unwrap();
    assert_eq!(core.threads().mode(Some(child)), Mode::Plan);
    core.threads().set_mode(Some(thread), Mode::Bypass, None, None).await.unwrap();
    core.threads().set_mode(Some(child), Mode::Default, None, None).await.unwrap();
    assert_eq!(core.threads().mode(Some(child)), Mode::Default);
}

#[tokio::test]
async fn a_mode_of_the_parent_settles_what_its_child_waits_for() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!([{"tool": "write_file", "args": {"path": "made", "content": "x"}}]);
    let turn = start(&core, thread, script(json!([task("a", &write, &json!({}))]))).await;
    asked(&core, &mut reader).await;
    core.threads().set_mode(Some(thread), Mode::AcceptAll, None, None).await.unwrap();
    core.threads().turn_ended(thread, turn.id).await;
    assert!(home.path().join("made").exists());
}

#[tokio::test]
async fn a_child_ends_at_its_bounds() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let hangs = json!([{"text": "so far"}, {"hang": true}]);
    let echo = json!({"tool": "echo", "args": {"text": "x"}});
    let busy = Value::Array(vec![echo; 20]);
    let timeout = Some(Duration::from_millis(50));
    let late = done(&core, NewChild { timeout, ..scripted(&json!([{"hang": true}])) }).await;
    assert_eq!(
        (late.exit, late.error.as_deref().unwrap().split(':').next()),
        (ChildExit::Timeout, Some("timeout"))
    );
    let spent = done(&core, scripted(&busy)).await;
    assert_eq!(
        (spent.exit, spent.error.as_deref().unwrap().split(':').next()),
        (ChildExit::MaxTurns, Some("max_turns"))
    );
    let turn = core.threads().turn(spent.thread, spent.turn.unwrap()).await.unwrap().unwrap();
    assert_eq!(turn.calls.len(), 8);
    let broken = done(&core, scripted(&json!([{"error": "a secret of the provider"}]))).await;
    assert_eq!(broken.exit, ChildExit::Failed);
    assert_eq!(broken.error.as_deref(), Some("provider_error: the provider of the model failed"));
    let child = core.children().start(scripted(&hangs)).await.unwrap();
    child.cancel();
    assert_eq!(child.wait().await.exit, ChildExit::Cancelled);
}

#[test]
fn time_that_a_child_waits_for_a_person_does_not_count() {
    let mut left = Allowance(Duration::from_secs(5));
    left.spend(Duration::from_secs(60), true);
    assert_eq!(left, Allowance(Duration::from_secs(5)));
    left.spend(Duration::from_secs(2), false);
    left.spend(Duration::from_secs(60), false);
    assert!(left.is_spent());
}

#[tokio::test]
async fn dropping_the_handle_stops_the_child() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let mut child = core.children().start(scripted(&json!([{"hang": true}]))).await.unwrap();
    child.started().await;
    let (thread, turn) = (child.thread(), child.turn().unwrap());
    drop(child);
    core.threads().turn_ended(thread, turn).await;
    let turn = core.threads().turn(thread, turn).await.unwrap().unwrap();
    assert_eq!(turn.status, TurnStatus::Interrupted);
}

#[tokio::test]
async fn an_interrupted_parent_stops_its_children() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let child = task("a", &json!([{"text": "so"}, {"hang": true}]), &json!({}));
    let turn = start(&core, thread, script(json!([child]))).await;
    until(&mut reader, |body| {
        matches!(body, crate::NoticeBody::Trace(crate::TraceChange::Status { status, .. })
            if *status == TraceStatus::Running)
    })
    .await;
    // One that was started beside the tool works for the turn as well.
    let beside = NewChild { parent: Some((thread, turn.id)), ..scripted(&json!([{"hang": true}])) };
    let mut beside = core.children().start(beside).await.unwrap();
    beside.started().await;
    core.threads().interrupt(thread, None).unwrap();
    core.threads().turn_ended(thread, turn.id).await;
    assert_eq!(beside.wait().await.exit, ChildExit::Cancelled);
    for child in children_of(&core, thread) {
        let turns = core.threads().read(child).await.unwrap().turns.unwrap();
        assert_eq!(turns[0].turn.status, TurnStatus::Interrupted);
    }
    let traces = core.children().traces(thread, turn.id).await;
    assert!(traces.iter().all(|one| one.trace.status == TraceStatus::Cancelled), "{traces:?}");
}

#[tokio::test]
async fn children_wait_for_a_place_of_their_lane() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let runner = |steps: &Value| NewChild { lane: Some(Lane::Runner), ..scripted(steps) };
    let mut first = core.children().start(runner(&json!([{"hang": true}]))).await.unwrap();
    first.started().await;
    let second = core.children().start(runner(&json!([{"text": "mine"}]))).await.unwrap();
    let third = core.children().start(runner(&json!([]))).await.unwrap();
    // Another lane has places of its own.
    let scout = NewChild { lane: Some(Lane::Scout), ..scripted(&json!([{"text": "fast"}])) };
    assert_eq!(done(&core, scout).await.message, "fast");
    assert_eq!((second.turn(), third.turn()), (None, None));
    // One that is stopped in the queue never begins, and leaves no thread.
    let (queued, gone) = (third.thread(), third);
    gone.cancel();
    let never = gone.wait().await;
    assert_eq!((never.exit, never.turn), (ChildExit::Cancelled, None));
    assert!(core.threads().get(queued).is_none());
    first.cancel();
    assert_eq!(second.wait().await.message, "mine");
}

#[tokio::test]
async fn a_thousand_children_are_cheap() {
    let home = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.subagents.max_concurrent = 64;
    let core = core_with(home.path(), settings).await;
    let mut children = Vec::new();
    for number in 0..1_000 {
        let new = scripted(&json!([{"text": number.to_string()}]));
        children.push(core.children().start(new).await.unwrap());
    }
    for (number, child) in children.into_iter().enumerate() {
        let answer = child.wait().await;
        assert_eq!((answer.exit, answer.message), (ChildExit::Completed, number.to_string()));
    }
    assert_eq!(core.queue().list().len(), 0);
}
