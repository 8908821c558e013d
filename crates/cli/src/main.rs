//! The `rookery` command. Only decides which part of the program this process is: a keeper, the
//! daemon or a client.

mod args;
mod asciicast;
mod attach;
mod commands;
mod daemon_process;
mod failure;
mod link;
mod output;
mod resolve;
mod stop;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // Before anything else: the keeper forks, which needs a process with a single thread.
    if args.next().is_some_and(|first| first == "__keeper") {
        return rookery_keeper::run_main(args);
    }
    let cli = args::Cli::parse();
    match commands::run(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
