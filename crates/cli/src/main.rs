//! The `rookery` command. Only decides which part of the program this process is: a keeper, the
//! daemon or a client.

mod args;
mod asciicast;
mod attach;
mod commands;
mod complete;
mod daemon_process;
mod failure;
mod link;
mod output;
mod personas;
mod resolve;
mod stop;
mod talk;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let called = args.next().unwrap_or_default();
    let mut args = args.peekable();
    // Before anything else: the keeper forks, which needs a process with a single thread.
    if args.next_if(|first| first == "__keeper").is_some() {
        return rookery_keeper::run_main(args);
    }
    // As early, for the same reason: what is held to reading holds the process itself.
    if args.next_if(|first| first == rookery_host::sandbox::SANDBOX_ARGUMENT).is_some() {
        return failed(&rookery_host::sandbox::enter_and_exec(&args.collect::<Vec<_>>()));
    }
    if args.next_if(|first| first == rookery_host::sandbox::SEAL_ARGUMENT).is_some() {
        return failed(&rookery_host::sandbox::seal_and_exec(&args.collect::<Vec<_>>()));
    }
    if args.next_if(|first| first == rookery_host::sandbox::UNATTENDED_ARGUMENT).is_some() {
        return failed(&rookery_host::sandbox::leave_terminal_and_exec(&args.collect::<Vec<_>>()));
    }
    if args.next_if(|first| first == rookery_host::SUPERVISOR_ARGUMENT).is_some() {
        return rookery_host::supervise::run(&args.collect::<Vec<_>>());
    }
    if args.next_if(|first| first == complete::ARGUMENT).is_some() {
        return complete::main(args);
    }
    if let Some(persona) = personas::called_as(&called) {
        return (persona.run)(args.collect());
    }
    let is_server = args.peek().is_some_and(|first| first == "serve");
    let cli = match args::Cli::read() {
        Ok(cli) => cli,
        Err(error) if is_server => return personas::ptywright::explain(&error),
        Err(error) => error.exit(),
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// A command could not be put into its sandbox; it did not run.
#[expect(clippy::print_stderr, reason = "errors of the command line go to stderr")]
fn failed(error: &rookery_host::sandbox::SandboxError) -> ExitCode {
    eprintln!("rookery: {error}");
    ExitCode::from(error.exit_code())
}
