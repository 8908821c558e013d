//! `cargo xtask test`: provides what the tests need, then runs every ring of them.

use std::path::Path;

use crate::process::Run;
use crate::{TestArgs, fuzz, needs, node, python};

/// Runs the tests that `args` select; fails at the first ring that fails.
pub(crate) fn run(root: &Path, args: &TestArgs) -> anyhow::Result<()> {
    // Before the build, so that nothing is found to be missing after it.
    needs::provide(root, args.fuzz, !args.no_install);
    node::provide(root, !args.no_install);
    python::provide(root, !args.no_install);
    for step in plan(root, args.filter.as_deref(), has_nextest(root)) {
        println!("$ {step}");
        step.status()?;
    }
    match args.fuzz {
        true if !fuzz::has_compiler() => {
            println!("fuzz smoke run skipped: no C++ compiler to build libFuzzer with");
            Ok(())
        }
        true => fuzz::smoke(root),
        false => Ok(()),
    }
}

pub(crate) fn has_nextest(root: &Path) -> bool {
    let found = Run::cargo(root).args(["nextest", "--version"]).succeeds();
    if !found {
        println!("cargo-nextest is not installed: using cargo test");
    }
    found
}

/// The commands to run, in order. The binaries come first because end-to-end tests start them, and
/// together with the tests: apart from them they would have other features, and all would be built twice.
fn plan(root: &Path, filter: Option<&str>, nextest: bool) -> Vec<Run> {
    let cargo = || Run::cargo(root);
    let tests = if nextest {
        cargo().args(["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        // Without doc tests, which have a step of their own.
        cargo().args(["test", "--workspace", "--all-targets", "--no-fail-fast"])
    };
    let docs = cargo().args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    let build = cargo().args(["build", "--workspace", "--bins", "--tests"]);
    vec![build, tests.args(filter), docs.args(filter)]
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
                "cargo build --workspace --bins --tests",
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
}
