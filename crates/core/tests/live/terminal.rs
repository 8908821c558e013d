//! Commands in terminals.

use std::time::Duration;

use rookery_core::ExecRequest;
use rookery_model::{ErrorKind, Size};

use crate::world::{World, command, gone, rest, sh, text, until};

crate::cases![
    a_terminal_is_written_resized_and_seen,
    a_terminal_is_terminated_with_all_in_it,
    a_terminal_loses_nothing,
    time_runs_out_in_a_terminal,
    a_terminal_cannot_run_what_is_not_there,
];

fn tty(request: ExecRequest) -> ExecRequest {
    ExecRequest { tty: true, process_id: Some("t".into()), ..request }
}

async fn a_terminal_is_written_resized_and_seen() {
    let world = World::open().await;
    let request = ExecRequest {
        env: vec![("HERE".into(), None), ("SET".into(), Some("x".into()))],
        size: Some(Size::new(30, 90).unwrap()),
        ..tty(sh("stty size; echo ${HERE-gone} $SET; read a; stty size; cat; echo end; exit 9"))
    };
    let mut execution = world.start(request).await;
    assert_eq!(until(&mut execution, "x\r\n").await, "30 90\r\ngone x\r\n");
    let terminal = execution.view().terminal.unwrap();
    assert!(world.core.terminals().list().iter().any(|known| known.id == terminal));
    world.core.commands().resize(0, "t", Size::new(40, 100).unwrap()).await.unwrap();
    world.core.commands().write(0, "t", b"go\n", false).await.unwrap();
    assert_eq!(until(&mut execution, "100\r\n").await, "go\r\n40 100\r\n");
    world.core.commands().write(0, "t", b"line\n", true).await.unwrap();
    let (out, err, _) = rest(&mut execution).await;
    assert_eq!((text(&out), err.len()), ("line\r\nline\r\nend\r\n", 0));
    let end = execution.finish().await.unwrap();
    assert_eq!((end.exit_code, end.signal, end.stdout.len()), (9, None, 0));
    assert!(world.core.terminals().list().is_empty(), "it is closed when it is done");
    world.stop().await;
}

async fn a_terminal_is_terminated_with_all_in_it() {
    let world = World::open().await;
    let text = "setsid sh -c 'trap \"\" TERM HUP; echo $$; sleep 1000; :' & wait";
    let mut execution = world.start(tty(sh(text))).await;
    let pid = until(&mut execution, "\n").await;
    world.core.commands().terminate(0, "t").unwrap();
    rest(&mut execution).await;
    let end = execution.finish().await.unwrap();
    assert!(end.signal.is_some() && end.exit_code == -1, "{end:?}");
    gone(&pid).await;
    assert_eq!(world.core.commands().terminate(0, "t").unwrap_err().kind(), ErrorKind::NotFound);
    world.stop().await;
}

/// More than any buffer holds, with a reader that only begins when they are full.
async fn a_terminal_loses_nothing() {
    let world = World::open().await;
    let request = ExecRequest { cap: None, ..tty(sh("stty -onlcr; seq 1 400000")) };
    let mut execution = world.start(request).await;
    let mut seen = 0;
    while seen == 0 {
        seen = world.core.commands().get("t", 0).unwrap().total;
        tokio::task::yield_now().await;
    }
    let (out, _, _) = rest(&mut execution).await;
    let mut lines = text(&out).lines();
    assert!((1..=400_000).all(|number| lines.next() == Some(number.to_string().as_str())));
    assert_eq!(execution.finish().await.unwrap().exit_code, 0);
    world.stop().await;
}

async fn time_runs_out_in_a_terminal() {
    let world = World::open().await;
    let request = ExecRequest {
        timeout: Some(Duration::from_millis(500)),
        ..tty(sh("echo begun; exec sleep 1000"))
    };
    let mut execution = world.start(request).await;
    assert_eq!(text(&rest(&mut execution).await.0), "begun\r\n");
    assert!(execution.finish().await.unwrap().timed_out);
    world.stop().await;
}

async fn a_terminal_cannot_run_what_is_not_there() {
    let world = World::open().await;
    let error = world.refusal(tty(command(&["/nowhere/at/all"]))).await;
    assert_eq!(error.kind(), ErrorKind::Failed, "{error}");
    assert!(world.core.commands().list(true).is_empty());
    world.stop().await;
}
