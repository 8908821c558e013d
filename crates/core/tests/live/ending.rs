//! How commands end, and what goes with them.

use std::time::{Duration, Instant};

use rookery_core::{ExecRequest, ProcessState, Shows};
use rookery_model::{ErrorKind, Mode};

use crate::world::{World, command, gone, rest, sh, streamed, text, until};

crate::cases![
    time_runs_out_for_grandchildren_too,
    time_runs_out_for_those_who_left,
    a_late_stream_is_reported_as_well,
    orphans_do_not_hold_up_the_end,
    dropping_it_kills_it,
    a_detached_one_runs_on,
    what_cannot_be_started_says_why,
    draining_ends_all_that_runs,
];

/// Says its children's numbers: one in its group, one that left it and is deaf to being asked.
const FAMILY: &str = "sleep 1000 & echo $!; \
                      setsid sh -c 'trap \"\" TERM HUP; echo $$; sleep 1000; :' & wait";

async fn time_runs_out_for_grandchildren_too() {
    let world = World::open().await;
    let request = ExecRequest { timeout: Some(Duration::from_millis(1500)), ..sh(FAMILY) };
    let begun = Instant::now();
    let end = world.run(request).await;
    assert!(end.timed_out && begun.elapsed() >= Duration::from_millis(1500));
    assert_eq!((end.exit_code, end.signal), (-1, Some(9)));
    let pids = text(&end.stdout);
    assert_eq!(pids.lines().count(), 2, "{pids}");
    for pid in pids.lines() {
        gone(pid).await;
    }
    let known = world.core.commands().list(true);
    assert_eq!(known[0].state, ProcessState::TimedOut);
}

async fn time_runs_out_for_those_who_left() {
    let world = World::open().await;
    // Its parent ends at once, so that nothing but its environment tells where it comes from.
    let family =
        "(setsid sh -c 'trap \"\" TERM HUP; echo $$; exec >&- 2>&-; sleep 1000; :' &); sleep 1000";
    let request = ExecRequest { timeout: Some(Duration::from_millis(1500)), ..sh(family) };
    let end = world.run(request.clone()).await;
    assert!(end.timed_out);
    gone(text(&end.stdout).trim()).await;
    let mut execution =
        world.start(ExecRequest { tty: true, process_id: Some("t".into()), ..request }).await;
    let pid = until(&mut execution, "\n").await;
    assert!(execution.finish().await.unwrap().timed_out);
    gone(pid.trim()).await;
}

async fn a_late_stream_is_reported_as_well() {
    let world = World::open().await;
    let late = ExecRequest {
        timeout: Some(Duration::from_millis(300)),
        ..streamed("echo begun; while :; do echo; done")
    };
    // It is not read meanwhile: the time runs out all the same.
    let mut execution = world.start(late).await;
    let pid = execution.view().pid.to_string();
    gone(&pid).await;
    assert!(rest(&mut execution).await.0.starts_with(b"begun\n"));
    assert!(execution.finish().await.unwrap().timed_out);
}

async fn orphans_do_not_hold_up_the_end() {
    let world = World::open().await;
    let begun = Instant::now();
    let end = world.run(sh("sleep 1000 & echo $!")).await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!((end.exit_code, end.timed_out), (0, false));
    let pid: i32 = text(&end.stdout).trim().parse().unwrap();
    // Left alone by a regular end.
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

async fn dropping_it_kills_it() {
    let world = World::open().await;
    let mut execution = world.start(streamed(FAMILY)).await;
    let mut pids = until(&mut execution, "\n").await;
    while pids.lines().count() < 2 || !pids.ends_with('\n') {
        pids += &until(&mut execution, "\n").await;
    }
    drop(execution);
    for pid in pids.lines() {
        gone(pid).await;
    }
    let mut changes = world.core.log().changes(&[Shows::Commands]);
    while !world.core.commands().list(false).is_empty() {
        changes.next().await.unwrap();
    }
}

async fn a_detached_one_runs_on() {
    let world = World::open().await;
    let execution = world.start(streamed("head -c 1000000 /dev/zero; exit 6")).await;
    let mut changes = world.core.log().changes(&[Shows::Commands]);
    execution.detach();
    while world.core.commands().get("p", 0).unwrap().view.state == ProcessState::Running {
        changes.next().await.unwrap();
    }
    let ended = world.core.commands().get("p", 0).unwrap();
    assert_eq!((ended.view.state, ended.total), (ProcessState::Exited { code: 6 }, 1_000_000));
}

async fn what_cannot_be_started_says_why() {
    let world = World::open().await;
    let error = world.refusal(command(&["/nowhere/at/all"])).await;
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(error.message().starts_with("cannot start /nowhere/at/all: "), "{error}");
    assert!(world.core.commands().list(true).is_empty(), "its name is free again");
    // Also behind the fence.
    let world = World::in_mode(Mode::Default, true).await;
    let missing = ExecRequest { cwd: Some("/nowhere".into()), ..command(&["ls"]) };
    assert_eq!(world.refusal(missing).await.kind(), ErrorKind::Failed);
}

async fn draining_ends_all_that_runs() {
    let world = World::open().await;
    let mut execution = world.start(streamed(FAMILY)).await;
    until(&mut execution, "\n").await;
    let drained = world.core.threads().drain(Duration::from_secs(30)).await;
    assert_eq!(drained.stopped_processes, ["p"]);
    assert!(execution.finish().await.unwrap().signal.is_some());
    assert_eq!(world.run(sh("true")).await.exit_code, 0);
    assert!(world.core.threads().drain(Duration::from_secs(30)).await.stopped_processes.is_empty());
}
