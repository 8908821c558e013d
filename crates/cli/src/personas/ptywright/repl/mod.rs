//! `ptywright repl`: a Lua console whose functions are a server's methods.

mod console;
mod server;
mod words;

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Args, ValueHint};
use rookery_daemon::serve::PtywrightHome;
use rustyline::{DefaultEditor, error::ReadlineError};

use super::Framing;
use crate::{
    failure::{Failure, Outcome},
    output,
};
use console::{Console, InputOutcome};
use server::Server;
use words::{HELP, Word};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Repl {
    /// Socket to connect to [default: the socket of `serve`, which is started if needed]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with = "stdio")]
    socket: Option<PathBuf>,
    /// Start a command and connect to its stdin and stdout
    #[arg(long, requires = "command")]
    stdio: bool,
    /// Message framing
    #[arg(long, value_enum, default_value_t = Framing::Ndjson)]
    framing: Framing,
    /// Command for --stdio
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, requires = "stdio")]
    command: Vec<String>,
}

pub(super) fn run(args: Repl) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(Failure::doing("cannot start a runtime"))?;
    let home = PtywrightHome::from_env();
    let framing = args.framing.into();
    let server = runtime.block_on(async {
        match args.socket {
            Some(path) => Server::at(&path, framing).await,
            None if args.stdio => Server::start(&args.command, framing),
            None => Server::usual(&home, framing).await,
        }
    })?;
    let console = Console::new(server.client.clone(), runtime.handle().clone())
        .map_err(|error| Failure::new(format!("lua error: {error}")))?;
    let done =
        if io::stdin().is_terminal() { interactive(&console, &home) } else { from_input(&console) };
    drop(console);
    runtime.block_on(server.end());
    runtime.shutdown_background();
    done
}

/// What comes after an input.
enum Next {
    /// The rest of it.
    More,
    /// Another one; tells whether this one worked.
    Another(bool),
    /// Nothing.
    End,
}

/// Runs an input, which is Lua or one of our own words.
fn take(console: &Console, input: &str) -> Outcome<Next> {
    match Word::of(input) {
        None => {
            return Ok(match console.take(input)? {
                InputOutcome::Incomplete => Next::More,
                InputOutcome::Worked => Next::Another(true),
                InputOutcome::Failed => Next::Another(false),
            });
        }
        Some(Word::Quit) => return Ok(Next::End),
        Some(Word::Help) => output::line(HELP)?,
        Some(Word::Unknown(word)) => {
            output::note(format!("error: unknown command {word}; :help lists the commands"));
            return Ok(Next::Another(false));
        }
    }
    Ok(Next::Another(true))
}

/// Runs what stdin says, and says whether all of it worked.
fn from_input(console: &Console) -> Outcome {
    let mut all_worked = true;
    let mut chunk = String::new();
    for line in io::stdin().lock().lines() {
        let line = line.map_err(Failure::doing("io error"))?;
        chunk.push_str(&line);
        chunk.push('\n');
        match take(console, &chunk)? {
            Next::More => continue,
            Next::Another(worked) => all_worked &= worked,
            Next::End => return Ok(code(all_worked)),
        }
        chunk.clear();
    }
    if !chunk.trim().is_empty() {
        output::note("error: the input ends inside an incomplete expression");
        all_worked = false;
    }
    Ok(code(all_worked))
}

fn code(all_worked: bool) -> ExitCode {
    if all_worked { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn interactive(console: &Console, home: &PtywrightHome) -> Outcome {
    let failed = |error: ReadlineError| Failure::new(format!("io error: {error}"));
    let mut editor = DefaultEditor::new().map_err(failed)?;
    let history = home.repl_history();
    let _ = editor.load_history(&history);
    output::note("Lua 5.4; :help lists the commands, :quit exits");
    let mut chunk = String::new();
    loop {
        match editor.readline(if chunk.is_empty() { "> " } else { ">> " }) {
            Ok(line) => chunk.push_str(&format!("{line}\n")),
            Err(ReadlineError::Interrupted) => {
                chunk.clear();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(error)),
        }
        match take(console, &chunk)? {
            Next::More => continue,
            Next::Another(_) => {}
            Next::End => break,
        }
        let _ = editor.add_history_entry(chunk.trim_end());
        chunk.clear();
    }
    // What was typed may hold secrets; the directory is for this user alone.
    if rookery_daemon::homes::create_private_dir(home.path()).is_ok() {
        let _ = editor.save_history(&history);
    }
    Ok(ExitCode::SUCCESS)
}
