//! `cargo xtask compat`: the tests with published clients alone, which also run in the usual test command.

use std::path::Path;

use crate::process::Run;
use crate::test;

/// The test binary that has them.
const BINARY: &str = "compat";

/// Builds the workspace and runs them.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    for step in plan(root, test::has_nextest(root)) {
        println!("$ {step}");
        step.status()?;
    }
    Ok(())
}

fn plan(root: &Path, nextest: bool) -> Vec<Run> {
    let cargo = || Run::cargo(root);
    let run = match nextest {
        true => cargo()
            .args(["nextest", "run", "--workspace", "--no-fail-fast", "-E"])
            .arg(format!("binary({BINARY})")),
        false => cargo().args(["test", "--package", "rookery-e2e", "--test", BINARY]),
    };
    vec![cargo().args(["build", "--workspace"]), run]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_comes_first() {
        for (nextest, wanted) in [(true, "binary(compat)"), (false, "--test compat")] {
            let steps: Vec<String> =
                plan(Path::new("."), nextest).iter().map(Run::to_string).collect();
            assert_eq!(steps[0], "cargo build --workspace");
            assert!(steps[1].contains(wanted), "{steps:?}");
        }
    }
}
