//! The console examples of the README, of the command line's page and of those of single areas, run as they stand there.

use std::os::unix::fs::symlink;
use std::path::Path;

use rookery_issuer::{Issuer, Person};
use rookery_testkit::{Finished, Home, rookery_binary};

/// Runs the examples of a page, below these headings if any are given.
fn run(page: &str, headings: &[&str]) {
    run_with(page, headings, &[]);
}

/// The same with these variables.
fn run_with(page: &str, headings: &[&str], variables: &[(&str, &str)]) {
    let home = Home::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::create_dir(home.join("bin")).unwrap();
    symlink(rookery_binary(), home.join("bin/rookery")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut python = home.command("python3");
    python.arg("-B").arg(root.join("tests/docs/console.py")).arg(root.join(page)).args(headings);
    python.env("PATH", format!("{}:{path}", home.join("bin").display()));
    python.env("TMPDIR", home.path());
    python.envs(variables.iter().copied());
    let done = Finished::of(python);
    assert!(done.status.success(), "{}{}", done.stdout, done.stderr);
    // What was left out, and why.
    eprint!("{}", done.stdout);
    home.assert_no_processes_left();
}

#[test]
fn the_tour_prints_what_the_readme_shows() {
    run("README.md", &["Sixty seconds"]);
}

#[test]
fn marketplaces_print_what_their_page_shows() {
    run("docs/marketplaces.md", &[]);
}

#[test]
fn commands_print_what_their_page_shows() {
    run("docs/cli.md", &[]);
}

#[test]
fn imports_print_what_their_page_shows() {
    run("docs/imports.md", &[]);
}

#[test]
fn memories_print_what_their_page_shows() {
    run("docs/memory.md", &[]);
}

#[test]
fn media_print_what_their_page_shows() {
    run("docs/media.md", &[]);
}

#[test]
fn changes_print_what_their_page_shows() {
    run("docs/changes.md", &[]);
}

#[test]
fn signing_in_prints_what_its_page_shows() {
    let issuer = Issuer::start();
    issuer.state().person = Person::Allows;
    run_with("docs/signin.md", &[], &[("DOCS_ISSUER", issuer.url())]);
    assert!(!issuer.secrets().is_empty(), "the example is run");
}
