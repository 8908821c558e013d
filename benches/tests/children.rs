//! The binary in its role as the child of a terminal: what it writes without backpressure.

use std::process::Output;

fn run(args: &[&str]) -> Output {
    #[expect(clippy::disallowed_methods, reason = "the binary under test")]
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rookery-bench"));
    command.args(args).output().expect("the binary starts")
}

#[test]
fn every_stream_is_as_long_as_asked_for_and_ends_with_the_marker() {
    for stream in ["ascii", "sgr", "unicode", "tui"] {
        let output = run(&["__write", stream, "100000"]);
        assert!(output.status.success(), "{stream}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.ends_with("@@ROOKERY-BENCH-END@@"), "{stream}");
        assert!((100_000..110_000).contains(&text.len()), "{stream}: {}", text.len());
    }
}

#[test]
fn a_flood_keeps_its_rate_and_ends() {
    let output = run(&["__flood", "--rate", "1000000", "--seconds", "1"]);
    assert!(output.status.success(), "{output:?}");
    assert!((1..1_100_000).contains(&output.stdout.len()), "{}", output.stdout.len());
}

#[test]
fn a_child_without_a_bench_fails() {
    let output = run(&["__stamp", "--gate", "/nonexistent/gate"]);
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot reach /nonexistent/gate"));
    assert!(!run(&["__write", "noise", "1"]).status.success());
}
