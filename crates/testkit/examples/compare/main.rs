//! Holds the conversations of `tests/vectors/ptywright` with Rookery and with the real ptywright 0.3.0, and tells where
//! one meets what a vector expects and the other does not. Started by `cargo xtask compare ptywright`.
//!
//! Owns the command line and the verdict. A difference that `tests/compare/ptywright.toml` does not explain fails the
//! run, and so does a row there that explains nothing any more.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to the person who started it"
)]

mod judge;
mod rules;
mod server;
mod table;
mod talk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rookery_testkit::vectors::Script;

use crate::rules::{Explained, Rules, Ruling};
use crate::server::Program;
use crate::talk::{Course, Outcome};

/// The endpoint on which requests of a connection are answered in order, as 0.3.0 does.
const ENDPOINT: &str = "ptywright";

/// What one vector brought to light.
struct Finding {
    /// The file's name without its ending.
    vector: String,
    line: usize,
    id: Option<String>,
    what: String,
}

/// Where everything is.
struct Paths {
    rookery: PathBuf,
    ptywright: PathBuf,
    vectors: PathBuf,
    rules: PathBuf,
    table: PathBuf,
    only: Option<String>,
}

fn main() -> ExitCode {
    match paths(std::env::args().skip(1)).and_then(|paths| compare(&paths)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `ROOKERY PTYWRIGHT REPOSITORY [VECTOR]`: only the build tool calls this, so arguments are positional.
fn paths(mut args: impl Iterator<Item = String>) -> Result<Paths, String> {
    let mut next = |name: &str| args.next().ok_or(format!("the argument {name} is missing"));
    let (rookery, ptywright) = (next("ROOKERY")?, next("PTYWRIGHT")?);
    let root = PathBuf::from(next("REPOSITORY")?);
    Ok(Paths {
        rookery: rookery.into(),
        ptywright: ptywright.into(),
        vectors: root.join("tests/vectors/ptywright"),
        rules: root.join("tests/compare/ptywright.toml"),
        table: root.join("docs/compare-ptywright.md"),
        only: args.next(),
    })
}

/// Whether everything is as it is said to be.
fn compare(paths: &Paths) -> Result<bool, String> {
    let rules = Rules::read(&paths.rules)?;
    let programs = [Program::rookery(&paths.rookery), Program::ptywright(&paths.ptywright)];
    let mut explained = Explained::of(&rules);
    let mut open = Vec::new();
    let mut steps = 0;
    for file in Script::files(&paths.vectors) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if paths.only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let script = Script::read(&file)?;
        if script.endpoint != ENDPOINT {
            println!(
                "{name}: left out, it is held on {}, which 0.3.0 does not have",
                script.endpoint
            );
            continue;
        }
        let [own, peer] = &programs;
        let own = talk::hold(own, &script, &rules)?;
        let peer = talk::hold_apart(peer, &script, &rules, &rules.apart(&name))?;
        steps += own.outcomes.len();
        println!("{name}: {} of ours, {} of 0.3.0 as expected", met(&own), met(&peer));
        open.extend(ours(&name, &own));
        open.extend(theirs(&name, &peer, &rules, &mut explained));
    }
    for Finding { vector, line, id, what } in &open {
        let id = id.as_ref().map(|id| format!(" (id {id})")).unwrap_or_default();
        println!("\n{vector}.jsonl:{line}{id}\n    {what}");
    }
    conclude(paths, &rules, &explained, (open.len(), steps))
}

/// Says what came out, and writes the table.
fn conclude(
    paths: &Paths,
    rules: &Rules,
    explained: &Explained,
    (open, steps): (usize, usize),
) -> Result<bool, String> {
    let unused = match &paths.only {
        // A part of the vectors cannot tell which rows are needed.
        Some(_) => Vec::new(),
        None => explained.unused(rules),
    };
    for row in &unused {
        println!("\nno difference any more: {row}");
    }
    println!(
        "\n{steps} steps: {} differ and have a row, {open} want a decision; {} rows of {} explain nothing",
        explained.count(),
        unused.len(),
        paths.rules.display(),
    );
    if paths.only.is_none() {
        write_table(&paths.table, &table::markdown(rules, explained, steps))?;
    }
    Ok(open == 0 && unused.is_empty())
}

fn write_table(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("written: {}", path.display());
    Ok(())
}

fn met(course: &Course) -> String {
    let met = course.outcomes.iter().filter(|outcome| outcome.is_met()).count();
    format!("{met}/{}", course.outcomes.len())
}

/// Rookery meets every expectation; no row excuses it.
fn ours(vector: &str, course: &Course) -> Vec<Finding> {
    let failed = course.outcomes.iter().filter(|outcome| outcome.failure.is_some());
    failed
        .map(|outcome| finding(vector, outcome, "Rookery itself does not meet the vector: "))
        .collect()
}

/// Differences from 0.3.0 without an explanation.
fn theirs(vector: &str, course: &Course, rules: &Rules, explained: &mut Explained) -> Vec<Finding> {
    let mut open = Vec::new();
    let mut is_rest = false;
    for outcome in &course.outcomes {
        outcome.members.iter().for_each(|rule| explained.note_member(*rule));
        if outcome.failure.is_none() {
            continue;
        }
        match rules.step(vector, outcome.line, outcome.id.as_deref()) {
            Some((row, covers_rest)) => {
                explained.note_step(row);
                is_rest |= covers_rest;
                if rules.steps[row.0].words.ruling == Ruling::Open {
                    open.push(finding(vector, outcome, "0.3.0, not decided yet: "));
                }
            }
            None if is_rest => {}
            None => open.push(finding(vector, outcome, "0.3.0: ")),
        }
    }
    if let (Some(left), false, Some(last)) = (course.cut, is_rest, open.last_mut()) {
        last.what += &format!("\n    (it went silent: {left} steps after this were not tried)");
    }
    open
}

fn finding(vector: &str, outcome: &Outcome, prefix: &str) -> Finding {
    let what = outcome.failure.as_deref().unwrap_or_default();
    let short: String = what.chars().take(700).collect();
    Finding {
        vector: vector.to_owned(),
        line: outcome.line,
        id: outcome.id.clone(),
        what: format!("{prefix}{short}"),
    }
}
