//! The examples in the documentation, run as they stand there.

use std::fs;
use std::process::Command;

use rookery_testkit::{Finished, Home, TestDaemon, rookery_binary};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dialects/ptywright.md");

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

fn run(home: &Home, interpreter: &str, fence: &str) {
    let page = fs::read_to_string(PAGE).unwrap();
    let (program, shown) = example(&page, fence);
    let file = home.join("example");
    fs::write(&file, program).unwrap();
    let mut command: Command = home.command(interpreter);
    command.arg(&file).env("PATH", on_path(home)).env("PYTHONUNBUFFERED", "1");
    let printed = Finished::of(command).success();
    assert_eq!(printed.trim_end(), shown.trim_end(), "{fence}");
}

#[test]
fn the_shell_example_prints_what_the_page_shows() {
    let home = Home::new();
    run(&home, "sh", "sh run");
    home.assert_no_processes_left();
}

#[test]
fn the_python_example_prints_what_the_page_shows() {
    let home = Home::new();
    run(&home, "python3", "python run");
    home.assert_no_processes_left();
}

#[test]
fn the_node_example_prints_what_the_page_shows() {
    let daemon = TestDaemon::start();
    run(daemon.home(), "node", "js run");
}
