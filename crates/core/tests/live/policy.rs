//! Which commands run at all, and which are held to reading.

use rookery_core::{ExecRequest, ExecStart};
use rookery_model::Mode;

use crate::world::{World, command, sh, text};

crate::cases![modes_decide, commands_that_only_read_are_held_to_it];

async fn outcome(world: &World, argv: &[&str]) -> &'static str {
    match world.core.commands().run(command(argv)).await.unwrap() {
        ExecStart::Running(_) => "runs",
        ExecStart::Denied { reason, .. } => {
            assert_eq!(reason, "write-like tool calls are denied in the active policy mode");
            "denied"
        }
        ExecStart::NeedsApproval { reason, .. } => {
            assert_eq!(reason, "side-effecting tool call");
            "asks"
        }
    }
}

async fn modes_decide() {
    let cases: [(&[&str], [&str; 4]); 4] = [
        (&["ls"], ["runs"; 4]),
        (&["sh", "-c", "ls | wc -l"], ["runs"; 4]),
        (&["touch", "x"], ["asks", "runs", "denied", "runs"]),
        (&["sh", "-c", "exec sleep 0"], ["asks", "runs", "asks", "runs"]),
    ];
    for (at, mode) in
        [Mode::Default, Mode::AcceptAll, Mode::Plan, Mode::Bypass].into_iter().enumerate()
    {
        let world = World::in_mode(mode, false).await;
        for (argv, expected) in &cases {
            assert_eq!(outcome(&world, argv).await, expected[at], "{argv:?} in {mode:?}");
        }
    }
}

async fn commands_that_only_read_are_held_to_it() {
    let status = command(&["cat", "/proc/self/status"]);
    let is_held = |end: &rookery_core::ExecEnd| text(&end.stdout).contains("NoNewPrivs:\t1");
    let world = World::in_mode(Mode::Default, true).await;
    let held = world.run(status.clone()).await;
    assert_eq!(held.exit_code, 0);
    assert_eq!(is_held(&held), rookery_host::sandbox::support().is_complete());
    let quiet = world.run(command(&["env"])).await;
    assert!(text(&quiet.stdout).contains("GIT_OPTIONAL_LOCKS=0\n"));
    // What the user approves is not held.
    let world = World::in_mode(Mode::Bypass, true).await;
    assert!(!is_held(&world.run(status.clone()).await));
    assert_eq!(text(&world.run(sh("echo ${GIT_PAGER-none}")).await.stdout), "none\n");
    // Without a fence it runs as it is.
    let world = World::in_mode(Mode::Default, false).await;
    let plain = world.run(ExecRequest { process_id: Some("q".into()), ..status }).await;
    assert_eq!((plain.exit_code, is_held(&plain)), (0, false));
}
