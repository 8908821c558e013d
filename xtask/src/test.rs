//! `cargo xtask test`: provides what the tests need, then runs every ring of them.

use std::path::Path;

use crate::process::Run;
use crate::{TestArgs, fuzz, needs};

/// Runs the tests that `args` select; fails at the first ring that fails.
pub(crate) fn run(root: &Path, args: &TestArgs) -> anyhow::Result<()> {
    let wants_fuzz = !args.no_fuzz && args.filter.is_none();
    needs::provide(root, wants_fuzz, !args.no_install);
    for step in plan(root, args.filter.as_deref(), has_nextest(root)) {
        println!("$ {step}");
        step.status()?;
    }
    if let Some(reason) = reason_to_skip_fuzz(args) {
        println!("fuzz smoke run skipped: {reason}");
        return Ok(());
    }
    fuzz::smoke(root)
}

pub(crate) fn has_nextest(root: &Path) -> bool {
    let found = Run::cargo(root).args(["nextest", "--version"]).succeeds();
    if !found {
        println!("cargo-nextest is not installed: using cargo test");
    }
    found
}

/// The commands to run, in order. The binaries come first because end-to-end tests start them.
fn plan(root: &Path, filter: Option<&str>, nextest: bool) -> Vec<Run> {
    let cargo = || Run::cargo(root);
    let tests = if nextest {
        cargo().args(["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        // Without doc tests, which have a step of their own.
        cargo().args(["test", "--workspace", "--all-targets", "--no-fail-fast"])
    };
    let docs = cargo().args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    vec![cargo().args(["build", "--workspace"]), tests.args(filter), docs.args(filter)]
}

fn reason_to_skip_fuzz(args: &TestArgs) -> Option<&'static str> {
    if args.no_fuzz {
        Some("--no-fuzz")
    } else if args.filter.is_some() {
        Some("a filter was given")
    } else if !fuzz::has_compiler() {
        Some("no C++ compiler to build libFuzzer with")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(filter: Option<&str>, nextest: bool) -> Vec<String> {
        plan(Path::new("."), filter, nextest).iter().map(Run::to_string).collect()
    }

    #[test]
    fn nextest_is_used_where_it_is() {
        assert_eq!(
            planned(None, true),
            [
                "cargo build --workspace",
                "cargo nextest run --workspace --no-fail-fast",
                "cargo test --workspace --doc --no-fail-fast",
            ]
        );
    }

    #[test]
    fn a_filter_reaches_every_ring() {
        assert_eq!(
            planned(Some("ring"), false)[1..],
            [
                "cargo test --workspace --all-targets --no-fail-fast ring",
                "cargo test --workspace --doc --no-fail-fast ring",
            ]
        );
    }

    #[test]
    fn a_skipped_fuzz_run_has_a_reason() {
        let args = TestArgs { no_fuzz: true, ..TestArgs::default() };
        assert_eq!(reason_to_skip_fuzz(&args), Some("--no-fuzz"));
        let args = TestArgs { filter: Some("x".into()), ..TestArgs::default() };
        assert_eq!(reason_to_skip_fuzz(&args), Some("a filter was given"));
    }
}
