//! The keeper as a process of its own, seen through its socket. The binary runs itself again as the keeper,
//! so it has its own `main`, which understands as much of the test runners' options as they use.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "all of this binary is a test")]

mod cases;
mod client;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|first| first == "__keeper").is_some() {
        return rookery_keeper::run_main(args);
    }
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let has = |option: &str| args.iter().any(|arg| arg == option);
    // The value of an option that takes one is no filter.
    let takes_value =
        |arg: &String| matches!(arg.as_str(), "--format" | "--test-threads" | "--color" | "--skip");
    let filters: Vec<&String> = args
        .iter()
        .enumerate()
        .filter(|(at, arg)| !(arg.starts_with('-') || *at > 0 && takes_value(&args[at - 1])))
        .map(|(_, arg)| arg)
        .collect();
    let wanted = |name: &str| {
        !has("--ignored")
            && (filters.is_empty()
                || filters
                    .iter()
                    .any(|f| if has("--exact") { *f == name } else { name.contains(f.as_str()) }))
    };
    for (name, test) in cases::CASES.iter().filter(|(name, _)| wanted(name)) {
        if has("--list") {
            println!("{name}: test");
        } else {
            println!("test {name} ...");
            test();
        }
    }
    ExitCode::SUCCESS
}
