//! What commands write and read.

use std::fmt::Write as _;

use rookery_core::{ExecRequest, ExecStream};
use rookery_model::ErrorKind;

use crate::world::{World, command, rest, sh, streamed, text, until};

crate::cases![
    output_and_code_are_reported,
    environment_and_directory_are_as_asked,
    what_is_over_the_cap_is_an_artifact,
    ten_megabytes_come_whole_and_in_order,
    a_capped_stream_says_so_once,
    nothing_is_read_ahead_of_the_reader,
    input_is_written_and_closed,
    input_is_null_otherwise,
];

async fn output_and_code_are_reported() {
    let world = World::open().await;
    let end = world.run(sh("echo out; echo err >&2; exit 3")).await;
    assert_eq!((end.exit_code, end.signal, end.timed_out), (3, None, false));
    assert_eq!((text(&end.stdout), text(&end.stderr)), ("out\n", "err\n"));
    assert_eq!((end.stdout_artifact, end.stderr_artifact), (None, None));
    let end = world.run(sh("kill -7 $$")).await;
    assert_eq!((end.exit_code, end.signal), (-1, Some(7)));
}

async fn environment_and_directory_are_as_asked() {
    let world = World::open().await;
    let request = ExecRequest {
        env: vec![("HERE".into(), None), ("SET".into(), Some("a b".into()))],
        cwd: Some("/usr".into()),
        ..sh("echo ${HERE-gone} \"$SET\" $PWD")
    };
    assert_eq!(text(&world.run(request).await.stdout), "gone a b /usr\n");
    let usual = world.run(sh("echo $HERE; pwd")).await;
    let expected = format!("yes\n{}\n", world.home.path().canonicalize().unwrap().display());
    assert_eq!(text(&usual.stdout), expected);
    let relative = ExecRequest { cwd: Some("usr".into()), ..sh("pwd") };
    let error = world.refusal(relative).await;
    assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, "cwd must be absolute"));
    let missing = ExecRequest { cwd: Some("/nowhere".into()), ..sh("pwd") };
    let error = world.refusal(missing).await;
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert_eq!(error.message(), "cannot start sh: /nowhere is not a directory");
}

async fn what_is_over_the_cap_is_an_artifact() {
    let world = World::open().await;
    let request = ExecRequest { cap: Some(1000), ..sh("seq 1 10000; echo short >&2") };
    let end = world.run(request).await;
    let all: String = (1..=10_000).fold(String::new(), |mut all, number| {
        writeln!(all, "{number}").unwrap();
        all
    });
    assert_eq!(text(&end.stdout), &all[..1000]);
    assert_eq!((text(&end.stderr), end.stderr_artifact), ("short\n", None));
    let artifact = end.stdout_artifact.unwrap();
    assert_eq!((artifact.byte_count, artifact.line_count), (all.len() as u64, 10_000));
    let file = world.home.path().join("artifacts/app-server").join(format!("{}.txt", artifact.id));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), all);
    // A character is not cut in two.
    let request = ExecRequest { cap: Some(3), ..command(&["printf", "%s", "aéé"]) };
    assert_eq!(text(&world.run(request).await.stdout), "aé");
    let request = ExecRequest { cap: Some(4), ..command(&["printf", "%s", "aéé"]) };
    assert_eq!(text(&world.run(request).await.stdout), "aé");
}

async fn ten_megabytes_come_whole_and_in_order() {
    let world = World::open().await;
    let request = ExecRequest { cap: None, ..streamed("seq 1 1400000; echo done >&2") };
    let mut execution = world.start(request).await;
    let (out, err, capped) = rest(&mut execution).await;
    let mut lines = text(&out).lines();
    assert!((1..=1_400_000).all(|number| lines.next() == Some(number.to_string().as_str())));
    assert_eq!((lines.next(), text(&err), capped.len()), (None, "done\n", 0));
    let end = execution.finish().await.unwrap();
    assert_eq!((end.exit_code, end.stdout.len(), end.stderr.len()), (0, 0, 0));
}

async fn a_capped_stream_says_so_once() {
    let world = World::open().await;
    let request = ExecRequest {
        cap: Some(100_000),
        ..streamed("head -c 300000 /dev/zero; printf short >&2; exit 4")
    };
    let mut execution = world.start(request).await;
    let (out, err, capped) = rest(&mut execution).await;
    assert_eq!((out.len(), text(&err)), (100_000, "short"));
    assert_eq!(capped, [ExecStream::Stdout]);
    let end = execution.finish().await.unwrap();
    assert_eq!((end.exit_code, end.stdout_artifact), (4, None));
}

/// Fifty megabytes never lie in memory: the program is held up instead.
async fn nothing_is_read_ahead_of_the_reader() {
    const ALL: u64 = 50_000_000;
    let world = World::open().await;
    let request = ExecRequest { cap: None, ..streamed(&format!("head -c {ALL} /dev/zero")) };
    let mut execution = world.start(request).await;
    let mut seen = 0;
    while let Some(chunk) = execution.next().await {
        seen += chunk.bytes.len() as u64;
        let taken = world.core.commands().get("p", 0).unwrap().total;
        assert!(taken - seen <= 1 << 20, "{taken} bytes were taken when {seen} were read");
    }
    assert_eq!(seen, ALL);
    assert_eq!(execution.finish().await.unwrap().exit_code, 0);
}

async fn input_is_written_and_closed() {
    let world = World::open().await;
    let request = ExecRequest { stdin: true, ..streamed("read a; echo got $a; cat; echo end") };
    let mut execution = world.start(request).await;
    world.core.commands().write(0, "p", b"one\n", false).await.unwrap();
    assert_eq!(until(&mut execution, "\n").await, "got one\n");
    world.core.commands().write(0, "p", b"two\n", true).await.unwrap();
    assert_eq!(text(&rest(&mut execution).await.0), "two\nend\n");
    assert_eq!(execution.finish().await.unwrap().exit_code, 0);
    let gone = world.core.commands().write(0, "p", b"x", false).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

async fn input_is_null_otherwise() {
    let world = World::open().await;
    let mut execution = world.start(streamed("cat; echo end; exec sleep 1000")).await;
    assert_eq!(until(&mut execution, "\n").await, "end\n");
    let error = world.core.commands().write(0, "p", b"x", false).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, "the process takes no input"));
    let size = rookery_model::Size::DEFAULT;
    assert!(world.core.commands().resize(0, "p", size).await.is_err());
}
