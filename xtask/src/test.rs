//! `cargo xtask test`: provides what the tests need, then runs every ring of them.

use std::path::Path;

use crate::process::Run;
use crate::{TestArgs, fuzz, needs, node, python};

/// Runs the tests that `args` select; fails at the first ring that fails.
pub(crate) fn run(root: &Path, args: &TestArgs) -> anyhow::Result<()> {
    // Before the build, so that nothing is found to be missing after it.
    needs::provide(root, args.fuzz, !args.no_install);
    node::provide(root, !args.no_install);
    let has_python = python::provide(root, !args.no_install);
    let fuzz = args.fuzz && fuzz::has_compiler();
    for step in plan(root, args.filter.as_deref(), has_nextest(root), fuzz) {
        println!("$ {step}");
        let step = if has_python { step } else { step.env(python::SKIP, "1") };
        step.status()?;
    }
    match args.fuzz {
        true if fuzz => fuzz::smoke(root),
        true => {
            println!("fuzz smoke run skipped: no C++ compiler to build libFuzzer with");
            Ok(())
        }
        false => Ok(()),
    }
}

/// Builds all that tests run. The binaries come with the tests: apart from them they would have other features,
/// and all would be built twice.
pub(crate) fn build(root: &Path, fuzz: bool) -> Run {
    Run::cargo(root).arg("build").args(packages(fuzz)).args(["--bins", "--tests"])
}

/// What is built and tested: everything, but for the fuzz targets where they are not wanted or cannot be linked.
pub(crate) fn packages(fuzz: bool) -> &'static [&'static str] {
    if fuzz { &["--workspace"] } else { &["--workspace", "--exclude", fuzz::PACKAGE] }
}

pub(crate) fn has_nextest(root: &Path) -> bool {
    let found = Run::cargo(root).args(["nextest", "--version"]).succeeds();
    if !found {
        println!("cargo-nextest is not installed: using cargo test");
    }
    found
}

/// The commands to run, in order. The build comes first because end-to-end tests start the binaries.
fn plan(root: &Path, filter: Option<&str>, nextest: bool, fuzz: bool) -> Vec<Run> {
    let cargo = || Run::cargo(root);
    let tests = if nextest {
        cargo().args(["nextest", "run"]).args(packages(fuzz)).arg("--no-fail-fast")
    } else {
        // Without doc tests, which have a step of their own.
        cargo().arg("test").args(packages(fuzz)).args(["--all-targets", "--no-fail-fast"])
    };
    let docs = cargo().arg("test").args(packages(fuzz)).args(["--doc", "--no-fail-fast"]);
    vec![build(root, fuzz), tests.args(filter), docs.args(filter)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(filter: Option<&str>, nextest: bool) -> Vec<String> {
        plan(Path::new("."), filter, nextest, true).iter().map(Run::to_string).collect()
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
    fn fuzz_targets_are_left_out_of_every_step() {
        for step in plan(Path::new("."), None, true, false) {
            assert!(step.to_string().contains("--workspace --exclude rookery-fuzz"), "{step}");
        }
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
