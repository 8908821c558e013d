//! `cargo xtask attack`: the corpus of attacks alone, as part of which every one of them also runs in the
//! usual test command.

use std::path::Path;

use crate::process::Run;
use crate::{AttackArgs, needs, test};

/// What belongs to the corpus: tests with this word in their path, those of hostile input, and the
/// commands that policy must not let through.
const CORPUS: &str = "test(/attack|hostile/) + binary(policy)";

/// Builds the workspace and runs the corpus, or what `args` select of it.
pub(crate) fn run(root: &Path, args: &AttackArgs) -> anyhow::Result<()> {
    needs::provide(root, false, !args.no_install);
    for step in plan(root, args.filter.as_deref(), test::has_nextest(root)) {
        println!("$ {step}");
        step.status()?;
    }
    Ok(())
}

fn plan(root: &Path, filter: Option<&str>, nextest: bool) -> Vec<Run> {
    let cargo = || Run::cargo(root);
    let mut steps = vec![cargo().args(["build", "--workspace"])];
    if nextest {
        let run = cargo().args(["nextest", "run", "--workspace", "--no-fail-fast", "-E", CORPUS]);
        steps.push(run.args(filter));
        return steps;
    }
    for word in ["attack", "hostile"] {
        let all = ["test", "--workspace", "--all-targets", "--no-fail-fast", word];
        steps.push(cargo().args(all));
    }
    steps.push(cargo().args(["test", "-p", "rookery-agent", "--test", "policy"]).args(filter));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_comes_first_and_a_filter_narrows() {
        let planned = |filter, nextest| -> Vec<String> {
            plan(Path::new("."), filter, nextest).iter().map(Run::to_string).collect()
        };
        let steps = planned(Some("callers"), true);
        assert_eq!(steps[0], "cargo build --workspace");
        assert!(steps[1].contains("attack") && steps[1].ends_with("callers"), "{steps:?}");
        assert_eq!(planned(None, false).len(), 4);
    }
}
