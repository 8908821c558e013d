//! The examples on the page of the Roost dialect, run as they stand there.

use std::fs;

use rookery_testkit::{Finished, Home, TestDaemon, rookery_binary};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dialects/roost.md");

/// The program of the first block of this language, and the text that follows it.
fn example(language: &str) -> (String, String) {
    let page = fs::read_to_string(PAGE).unwrap();
    let fence = format!("```{language}\n");
    let (_, rest) = page.split_once(&fence).unwrap_or_else(|| panic!("no block {language}"));
    let (program, after) = rest.split_once("```\n").unwrap();
    (program.to_owned(), after.to_owned())
}

/// Runs a program in an empty folder, where our binary is called as people call it.
fn run(home: &Home, interpreter: &str, program: &str) -> Finished {
    let (bin, work) = (home.join("bin"), home.join("work"));
    [&bin, &work].into_iter().for_each(|dir| fs::create_dir_all(dir).unwrap());
    std::os::unix::fs::symlink(rookery_binary(), bin.join("rookery")).unwrap();
    let file = home.join("example");
    fs::write(&file, program).unwrap();
    let mut command = home.command(interpreter);
    if interpreter == "sh" {
        command.arg("-e");
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    command.arg(&file).env("PATH", path).env("PYTHONUNBUFFERED", "1").current_dir(&work);
    Finished::of(command)
}

#[test]
fn the_shell_example_opens_types_renames_draws_and_closes() {
    let daemon = TestDaemon::start();
    let (program, _) = example("sh");
    let finished = run(daemon.home(), "sh", &program);
    let printed = finished.success();
    let lines: Vec<&str> = printed.lines().collect();
    let [project, tab] = lines[..] else { panic!("{printed}") };
    assert!(project.starts_with("project ") && project.ends_with(" — demo"), "{printed}");
    assert!(tab.starts_with("  tab ") && tab.ends_with("] build cwd=/tmp"), "{printed}");
    let picture = fs::read(daemon.home().join("work/picture.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(daemon.rookery(&["roostctl", "tab", "list"]).success(), "");
}

#[test]
fn the_python_example_prints_what_the_page_says() {
    let daemon = TestDaemon::start();
    let (program, after) = example("python");
    let sentence = after.lines().find(|line| line.starts_with("It prints ")).unwrap();
    // What is printed is between backticks, and an event is printed after its kind.
    let words: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    let (version, events) = words.split_first().unwrap();
    let wanted: String = events.iter().map(|event| format!("event {event}\n")).collect();
    assert_eq!(events.len(), 8, "{sentence}");
    let printed = run(daemon.home(), "python3", &program).success();
    assert_eq!(printed, format!("{version}\n{wanted}"));
}
