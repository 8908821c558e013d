//! The table of processes.

use rookery_core::{ExecRequest, ProcessState, Shows};
use rookery_model::ErrorKind;

use crate::world::{World, rest, sh, streamed, until};

crate::cases![
    names_are_unique_while_they_run,
    processes_are_listed,
    all_are_stopped,
    who_does_not_read_does_not_hold_up_a_stop,
];

fn named(id: &str, owner: u64) -> ExecRequest {
    ExecRequest {
        process_id: Some(id.into()),
        owner,
        ..streamed("trap 'echo bye; exit 7' TERM; echo begun; while :; do sleep 0.01; done")
    }
}

async fn names_are_unique_while_they_run() {
    let world = World::open().await;
    let mut first = world.start(named("a", 1)).await;
    until(&mut first, "begun").await;
    let error = world.refusal(named("a", 2)).await;
    assert_eq!(
        (error.kind(), error.field(), error.message()),
        (ErrorKind::Invalid, Some("process_id"), "process_id already running")
    );
    world.core.commands().terminate(1, "a").unwrap();
    assert!(rest(&mut first).await.0.ends_with(b"bye\n"), "it is asked before it is killed");
    assert_eq!(first.finish().await.unwrap().exit_code, 7);
    let again = world.run(ExecRequest { process_id: Some("a".into()), ..sh("exit 8") }).await;
    assert_eq!(again.exit_code, 8);
    assert_eq!(
        world.core.commands().list(true).len(),
        1,
        "the newer one takes the older one's place"
    );
    assert_eq!(world.core.commands().terminate(0, "a").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(world.core.commands().get("b", 1).unwrap_err().kind(), ErrorKind::NotFound);
}

async fn processes_are_listed() {
    let world = World::open().await;
    let mut changes = world.core.log().changes(&[Shows::Commands]);
    let unnamed = world.start(sh("echo hello; exec sleep 1000")).await;
    changes.next().await.unwrap();
    let id = unnamed.process_id().to_owned();
    assert!(id.starts_with("proc_") && id.len() == 31, "{id}");
    let listed = world.core.commands().list(false);
    assert_eq!(listed, [unnamed.view().clone()]);
    let view = &listed[0];
    assert_eq!((view.command[0].as_str(), view.cwd.as_path()), ("sh", world.home.path()));
    assert_eq!((view.state, view.ended_at, view.tty), (ProcessState::Running, None, false));
    while world.core.commands().get(&id, 0).unwrap().total < 6 {
        tokio::task::yield_now().await;
    }
    assert!(world.core.commands().stop(&id, None).await.unwrap());
    assert!(!world.core.commands().stop(&id, None).await.unwrap(), "it ended before");
    assert!(world.core.commands().list(false).is_empty());
    let ended = world.core.commands().get(&id, 3).unwrap();
    assert_eq!(ended.view.state, ProcessState::Signaled { signal: 15 });
    assert!(ended.view.ended_at >= Some(ended.view.started_at));
    assert_eq!((ended.output.as_slice(), ended.total), (&b"lo\n"[..], 6));
    assert_eq!(world.core.commands().list(true), [ended.view]);
    assert_eq!(
        world.core.commands().stop("unknown", None).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

async fn all_are_stopped() {
    let world = World::open().await;
    let mut all = Vec::new();
    for (id, owner) in [("a", 1), ("b", 2), ("c", 1)] {
        let mut execution = world.start(named(id, owner)).await;
        until(&mut execution, "begun").await;
        all.push(execution);
    }
    assert_eq!(world.core.commands().stop_of(1).await, ["a", "c"]);
    assert_eq!(world.core.commands().stop_all().await, ["b"]);
    assert!(world.core.commands().stop_all().await.is_empty());
    for execution in all {
        assert_eq!(execution.finish().await.unwrap().exit_code, 7);
    }
}

async fn who_does_not_read_does_not_hold_up_a_stop() {
    let world = World::open().await;
    for tty in [false, true] {
        let request = ExecRequest { tty, cap: None, ..streamed("while :; do seq 1 10000; done") };
        let execution = world.start(request).await;
        assert_eq!(world.core.commands().stop_all().await, ["p"]);
        assert!(world.core.commands().list(false).is_empty());
        assert!(execution.finish().await.unwrap().signal.is_some());
    }
    world.stop().await;
}
