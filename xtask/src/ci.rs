//! `cargo xtask ci`: everything a change must pass, one announced and timed step after the other.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;

use crate::process::Run;
use crate::{CiArgs, TestArgs, fuzz, test, tidy};

/// How a step that did not fail ended.
#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    Skipped(&'static str),
}

struct Step<'a> {
    name: &'static str,
    /// What to type to run this step alone.
    rerun: String,
    run: Box<dyn Fn() -> anyhow::Result<Outcome> + 'a>,
}

impl<'a> Step<'a> {
    fn command(name: &'static str, run: Run) -> Self {
        let rerun = run.to_string();
        Self { name, rerun, run: Box::new(move || run.status().map(|()| Outcome::Passed)) }
    }

    fn call(name: &'static str, rerun: String, f: impl Fn() -> anyhow::Result<()> + 'a) -> Self {
        Self { name, rerun, run: Box::new(move || f().map(|()| Outcome::Passed)) }
    }
}

/// Runs all steps; stops at the first that fails.
pub(crate) fn run(root: &Path, args: &CiArgs) -> anyhow::Result<()> {
    let start = Instant::now();
    run_steps(&steps(root, args))?;
    println!("ci passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn steps<'a>(root: &'a Path, args: &CiArgs) -> Vec<Step<'a>> {
    let cargo = || Run::cargo(root);
    let test_args = TestArgs { filter: None, fuzz: !args.no_fuzz, no_install: args.no_install };
    let packages = test::packages(!args.no_fuzz && fuzz::has_compiler());
    let clippy =
        cargo().arg("clippy").args(packages).args(["--all-targets", "--", "-D", "warnings"]);
    vec![
        Step::command("fmt", cargo().args(["fmt", "--all", "--check"])),
        Step::command("clippy", clippy),
        Step::call("tidy", "cargo xtask tidy --strict".into(), || tidy::run(root, true)),
        deny(root),
        Step::call("test", test_command(args), move || test::run(root, &test_args)),
    ]
}

fn deny(root: &Path) -> Step<'_> {
    let check = Run::cargo(root).args(["deny", "check"]);
    let rerun = check.to_string();
    let run = move || {
        if !Run::cargo(root).args(["deny", "--version"]).succeeds() {
            return Ok(Outcome::Skipped("cargo-deny is not installed"));
        }
        check.status().map(|()| Outcome::Passed)
    };
    Step { name: "deny", rerun, run: Box::new(run) }
}

fn test_command(args: &CiArgs) -> String {
    let mut command = String::from("cargo xtask test");
    if !args.no_fuzz {
        command.push_str(" --fuzz");
    }
    if args.no_install {
        command.push_str(" --no-install");
    }
    command
}

fn run_steps(steps: &[Step<'_>]) -> anyhow::Result<()> {
    for step in steps {
        println!("==> {}: {}", step.name, step.rerun);
        let start = Instant::now();
        let outcome = (step.run)();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed) => println!("==> {} passed in {seconds:.1} s", step.name),
            Ok(Outcome::Skipped(reason)) => println!("==> {} skipped: {reason}", step.name),
            Err(error) => {
                eprintln!("{error:#}");
                bail!("{} failed after {seconds:.1} s; to run it alone: {}", step.name, step.rerun);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_first_failure_stops_the_rest_and_says_how_to_rerun() {
        let ran = RefCell::new(Vec::new());
        let step = |name: &'static str, fails: bool| {
            let ran = &ran;
            Step::call(name, format!("make {name}"), move || {
                ran.borrow_mut().push(name);
                if fails { bail!("broken") } else { Ok(()) }
            })
        };
        let error = run_steps(&[step("a", false), step("b", true), step("c", false)]).unwrap_err();
        assert_eq!(*ran.borrow(), ["a", "b"]);
        let said = error.to_string();
        assert!(said.starts_with("b failed after"), "{said}");
        assert!(said.ends_with("to run it alone: make b"), "{said}");
    }

    #[test]
    fn a_skipped_step_does_not_stop_the_rest() {
        let ran = RefCell::new(false);
        let skipped = Step {
            name: "a",
            rerun: String::new(),
            run: Box::new(|| Ok(Outcome::Skipped("not today"))),
        };
        let next = Step::call("b", String::new(), || {
            *ran.borrow_mut() = true;
            Ok(())
        });
        run_steps(&[skipped, next]).unwrap();
        assert!(*ran.borrow());
    }

    #[test]
    fn the_test_step_is_the_test_command() {
        let args = CiArgs { no_fuzz: true, no_install: false };
        let names: Vec<_> =
            steps(Path::new("."), &args).into_iter().map(|step| (step.name, step.rerun)).collect();
        assert_eq!(names.last().unwrap(), &("test", "cargo xtask test".to_owned()));
    }
}
