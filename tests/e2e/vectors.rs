//! Runs every file of `tests/vectors` as a test of its own, and asks that no method is left out.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use rookery_testkit::vectors::{Coverage, Script, Verdict, run};
use rookery_wire::rpc::Method;
use schemars::SchemaGenerator;

fn main() -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let dir = dir.canonicalize().unwrap_or(dir);
    let files = Script::files(&dir);
    let name = |path: &PathBuf| {
        let short = path.strip_prefix(&dir).unwrap_or(path).with_extension("");
        short.display().to_string()
    };
    let mut trials: Vec<Trial> = files
        .iter()
        .map(|path| {
            let path = path.clone();
            Trial::test(name(&path), move || Ok(run(&Script::read(&path)?)?))
        })
        .collect();
    trials.push(Trial::test("every_method_has_a_good_and_a_bad_vector", move || check(&files)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn check(files: &[PathBuf]) -> Result<(), Failed> {
    let mut coverage = Coverage::default();
    for path in files {
        coverage.add(&Script::read(path)?);
    }
    let mut missing = missing(&coverage, rookery_native::METHODS);
    missing.extend(self::missing(&coverage, rookery_ptywright::METHODS));
    missing.extend(self::missing(&coverage, rookery_roder::METHODS));
    missing.extend(missing_roost(&coverage));
    missing.extend(missing_idx0(&coverage));
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
}

fn missing<C>(coverage: &Coverage, methods: &[Method<C>]) -> Vec<String> {
    let mut missing = Vec::new();
    for method in methods {
        if !coverage.has(method.name, Verdict::Good) {
            missing.push(format!("{} has no good vector", method.name));
        }
        if takes_params(method) && !coverage.has(method.name, Verdict::Bad) {
            missing.push(format!("{} has no bad vector", method.name));
        }
    }
    missing
}

/// Every operation of Roost knows its keys, so that each can be called badly; those that exist
/// elsewhere only cannot be called well.
fn missing_roost(coverage: &Coverage) -> Vec<String> {
    let mut missing = Vec::new();
    for op in rookery_roost::OPS {
        if op.schemas.is_some() && !coverage.has(op.name, Verdict::Good) {
            missing.push(format!("{} has no good vector", op.name));
        }
        if !coverage.has(op.name, Verdict::Bad) {
            missing.push(format!("{} has no bad vector", op.name));
        }
    }
    missing
}

/// Any payload with a value that is no string is bad, so that every command can be called badly.
fn missing_idx0(coverage: &Coverage) -> Vec<String> {
    let wanted = [(Verdict::Good, "good"), (Verdict::Bad, "bad")];
    // A vector has no repository; the end-to-end tests have.
    let is_elsewhere = |name: &str, verdict| name == "removeWorktree" && verdict == Verdict::Good;
    let rows = rookery_idx0::COMMANDS.iter().flat_map(|command| wanted.map(|one| (command, one)));
    rows.filter(|(command, (verdict, _))| !coverage.has(command.name, *verdict))
        .filter(|(command, (verdict, _))| !is_elsewhere(command.name, *verdict))
        .map(|(command, (_, word))| format!("{} has no {word} vector", command.name))
        .collect()
}

/// Takes params, and yet nothing that is sent is wrong.
const NEVER_REFUSED: [&str; 1] = ["session.list"];

/// A method that ignores its params cannot be called badly.
fn takes_params<C>(method: &Method<C>) -> bool {
    if NEVER_REFUSED.contains(&method.name) {
        return false;
    }
    let schema = (method.params_schema)(&mut SchemaGenerator::default());
    let is_empty = |properties: &serde_json::Value| *properties == serde_json::json!({});
    !schema.get("properties").is_some_and(is_empty)
}
