//! The examples in the documentation, run as they stand there.

use std::fs;
use std::process::Command;

use rookery_testkit::{Finished, Home, TestDaemon, rookery_binary};

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dialects");

/// The program of the block that begins with this fence, and the output shown after it.
fn example(page: &str, fence: &str) -> (String, String) {
    let mut blocks = page.split("```").skip(1).step_by(2);
    let is_it = |block: &&str| block.lines().next() == Some(fence);
    let program = blocks.by_ref().find(is_it).unwrap_or_else(|| panic!("no block {fence}"));
    let output = blocks.next().unwrap_or_else(|| panic!("no output after {fence}"));
    let body = |block: &str| block.split_once('\n').unwrap().1.to_owned();
    (body(program), body(output))
}

/// A folder in which our binary is called as people call it.
fn on_path(home: &Home) -> String {
    let bin = home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(rookery_binary(), bin.join("rookery")).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

fn run(home: &Home, page: &str, interpreter: &str, fence: &str) {
    let text = fs::read_to_string(format!("{PAGES}/{page}")).unwrap();
    let (program, shown) = example(&text, fence);
    let file = home.join("example");
    fs::write(&file, program).unwrap();
    let mut command: Command = home.command(interpreter);
    command.arg(&file).env("PATH", on_path(home)).env("PYTHONUNBUFFERED", "1");
    // As a login has it; the home's own directory plays its part.
    command.env("XDG_RUNTIME_DIR", home.join("run"));
    let printed = Finished::of(command).success();
    assert_eq!(printed.trim_end(), shown.trim_end(), "{page}: {fence}");
}

/// Whether a program is there; says so if it is not.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !is_there {
        eprintln!("skipped: {program} is not installed");
    }
    is_there
}

#[test]
fn the_shell_example_prints_what_the_page_shows() {
    let home = Home::new();
    run(&home, "ptywright.md", "sh", "sh run");
    home.assert_no_processes_left();
}

#[test]
fn the_python_example_prints_what_the_page_shows() {
    let home = Home::new();
    run(&home, "ptywright.md", "python3", "python run");
    home.assert_no_processes_left();
}

#[test]
fn the_node_example_prints_what_the_page_shows() {
    let daemon = TestDaemon::start();
    run(daemon.home(), "ptywright.md", "node", "js run");
}

#[test]
fn the_python_example_of_the_roo_page_prints_what_it_shows() {
    let daemon = TestDaemon::start();
    run(daemon.home(), "roo.md", "python3", "python run");
}

#[test]
fn the_node_example_of_the_roo_page_prints_what_it_shows() {
    if !has("node") {
        return;
    }
    let daemon = TestDaemon::start();
    run(daemon.home(), "roo.md", "node", "js run");
}
