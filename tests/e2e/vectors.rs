//! Runs every file of `tests/vectors` as a test of its own, and asks that no method is left out.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use rookery_dialects::DIALECTS;
use rookery_testkit::vectors::{Coverage, Script, Verdict, run, run_before_viewers};

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
    trials.extend(files.iter().filter(|path| has_other_clients(path, &dir)).map(|path| {
        let label = format!("before_viewers/{}", name(path));
        let path = path.clone();
        Trial::test(label, move || Ok(run_before_viewers(&Script::read(&path)?)?))
    }));
    trials.push(Trial::test("every_method_has_a_good_and_a_bad_vector", move || check(&files)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Whether the clients of a file know nothing of viewers, and must not notice them.
fn has_other_clients(path: &Path, dir: &Path) -> bool {
    let dialects = ["idx0", "ptywright", "roder", "roost"];
    dialects.iter().any(|dialect| path.starts_with(dir.join(dialect)))
}

fn check(files: &[PathBuf]) -> Result<(), Failed> {
    let mut coverage = Coverage::default();
    for path in files {
        coverage.add(&Script::read(path)?);
    }
    let mut missing = Vec::new();
    for op in DIALECTS.iter().flat_map(|dialect| dialect.ops().0) {
        if op.can_succeed && !coverage.has(op.name, Verdict::Good) {
            missing.push(format!("{} has no good vector", op.name));
        }
        if op.can_fail && !coverage.has(op.name, Verdict::Bad) {
            missing.push(format!("{} has no bad vector", op.name));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
}
