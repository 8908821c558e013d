//! The conversation at a terminal: prompt, turn, prompt. Ctrl-C stops a turn, Ctrl-D leaves.

use std::process::ExitCode;

use rookery_roder::wire::{
    command::{CommandsListParams, CommandsListResult},
    session::{SessionGetParams, SessionGetResult, SessionSetModeParams, SessionSetModeResult},
    thread::{Thread, ThreadListParams, ThreadListResult},
};
use rustyline::{DefaultEditor, error::ReadlineError};

use super::{
    Said, Wish,
    keyboard::Restore,
    start,
    talk::{Ended, Idle, Talk},
};
use crate::{
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    output::{self, Tone},
    talk::{safe, show},
};

/// Threads that `/threads` lists.
const LISTED: u32 = 10;

/// Columns of a command in the help.
const USAGE_WIDTH: usize = 28;

/// Words that are for us and not for the agent.
const LOCAL: &[(&str, &str)] = &[
    ("help", "shows this"),
    ("mode [MODE]", "shows or sets what may be done without asking"),
    ("threads", "lists threads"),
    ("quit", "leaves, as Ctrl-D does"),
];

/// What was typed at the prompt.
enum Typed {
    Line(String),
    /// Ctrl-C.
    Nothing,
    End,
    /// A signal ends us, with this code.
    Stopped(u8),
}

/// Talks until somebody leaves.
pub(super) async fn run(talk: &mut Talk, thread: &Thread, wish: &Wish) -> Outcome {
    let failed = |error: ReadlineError| Failure::new(format!("cannot read the keyboard: {error}"));
    let _restore = Restore::later();
    let mut editor = DefaultEditor::new().map_err(failed)?;
    let id = show::short_id(&thread.id);
    let about = format!("thread {id} with {}; /help shows what there is", show::model(thread));
    talk.screen.note(Tone::Faint, &about)?;
    let mut is_leaving = false;
    loop {
        let (back, typed) = prompt(talk, editor).await?;
        editor = back;
        let line = match typed {
            Typed::Line(line) => line,
            Typed::Nothing if is_leaving => return done(),
            Typed::Nothing => {
                talk.screen.note(Tone::Faint, "Ctrl-C again leaves")?;
                is_leaving = true;
                continue;
            }
            Typed::End => return done(),
            Typed::Stopped(code) => {
                // The editor asked for pastes in brackets, and did not come to its end.
                output::status("\x1b[?2004l\n");
                return Ok(ExitCode::from(code));
            }
        };
        is_leaving = false;
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        // Only to be found again with the arrow keys.
        let _ = editor.add_history_entry(line);
        match Said::read(line) {
            Said::Command { name, arguments } if is_local(&name) => {
                if name == "quit" {
                    return done();
                }
                let worked = local(talk, thread, &name, &arguments).await;
                tell_failure(talk, worked.err())?;
            }
            said => {
                if let Some(code) = turn(talk, &said, wish).await? {
                    return Ok(ExitCode::from(code));
                }
            }
        }
    }
}

fn is_local(name: &str) -> bool {
    let words = LOCAL.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or(usage));
    words.into_iter().any(|word| word == name)
}

/// Reads a line with an editor, which blocks, so that a thread of its own does it.
async fn prompt(talk: &mut Talk, mut editor: DefaultEditor) -> Outcome<(DefaultEditor, Typed)> {
    let reading = tokio::task::spawn_blocking(move || {
        let read = editor.readline("> ");
        (editor, read)
    });
    tokio::pin!(reading);
    let mut is_connected = true;
    loop {
        tokio::select! {
            read = &mut reading => {
                let (editor, read) = read
                    .map_err(|error| Failure::new(format!("cannot read the keyboard: {error}")))?;
                if !is_connected {
                    talk.reconnect(link::reconnect().await?).await?;
                }
                return Ok((editor, match read {
                    Ok(line) => Typed::Line(line),
                    Err(ReadlineError::Interrupted) => Typed::Nothing,
                    Err(ReadlineError::Eof) => Typed::End,
                    Err(error) => {
                        return Err(Failure::new(format!("cannot read the keyboard: {error}")));
                    }
                }));
            }
            end = talk.idle(is_connected) => {
                let Idle::Stopped(code) = end else {
                    is_connected = false;
                    continue;
                };
                // The editor is left where it is; the terminal is given back as it was.
                let editor = DefaultEditor::new()
                    .map_err(|error| Failure::new(format!("cannot leave: {error}")))?;
                return Ok((editor, Typed::Stopped(code)));
            }
        }
    }
}

/// One turn; gives a code if we leave with it.
async fn turn(talk: &mut Talk, said: &Said, wish: &Wish) -> Outcome<Option<u8>> {
    let started = start(&talk.client, &talk.thread, said, wish).await;
    let turn = match started {
        Ok(turn) => turn,
        Err(failure) => {
            tell_failure(talk, Some(failure))?;
            return Ok(None);
        }
    };
    match talk.turn(&turn).await {
        Ok(Ended::Completed) => {}
        Ok(Ended::Failed(message)) => talk.screen.note(Tone::Bad, &format!("failed: {message}"))?,
        Ok(Ended::Interrupted) => talk.screen.note(Tone::Warning, "interrupted")?,
        Ok(Ended::Left(code)) => return Ok(Some(code)),
        Err(failure) => return Err(failure),
    }
    Ok(None)
}

fn tell_failure(talk: &mut Talk, failure: Option<Failure>) -> Outcome<()> {
    match failure {
        Some(failure) => talk.screen.note(Tone::Bad, &safe::line(failure.message())),
        None => Ok(()),
    }
}

async fn local(talk: &mut Talk, thread: &Thread, name: &str, arguments: &str) -> Outcome<()> {
    match name {
        "help" => help(talk, thread).await,
        "mode" => mode(talk, arguments).await,
        _ => threads(talk).await,
    }
}

async fn help(talk: &mut Talk, thread: &Thread) -> Outcome<()> {
    for (usage, meaning) in LOCAL {
        talk.screen.note(Tone::Plain, &format!("/{usage:<USAGE_WIDTH$} {meaning}"))?;
    }
    let params = CommandsListParams { workspace: Some(thread.cwd.clone()) };
    let list: CommandsListResult = call(&talk.client, "commands/list", params).await?;
    for command in list.commands.iter().filter(|command| !is_local(&command.name)) {
        let hint = command.argument_hint.as_deref().unwrap_or_default();
        let usage = safe::line(&format!("{} {hint}", command.name));
        let meaning = safe::line(command.description.as_deref().unwrap_or_default());
        talk.screen.note(Tone::Plain, &format!("/{usage:<USAGE_WIDTH$} {meaning}"))?;
    }
    Ok(())
}

async fn mode(talk: &mut Talk, wanted: &str) -> Outcome<()> {
    let thread_id = Some(talk.thread.clone());
    let mode = if wanted.is_empty() {
        let params = SessionGetParams { thread_id };
        call::<SessionGetResult>(&talk.client, "session/get", params).await?.mode
    } else {
        let params = SessionSetModeParams { mode: wanted.to_owned(), reason: None, thread_id };
        call::<SessionSetModeResult>(&talk.client, "session/set_mode", params).await?.mode
    };
    talk.screen.note(Tone::Plain, &format!("the mode is {}", safe::line(&mode)))
}

async fn threads(talk: &mut Talk) -> Outcome<()> {
    let params = ThreadListParams { limit: Some(LISTED), ..ThreadListParams::default() };
    let list: ThreadListResult = call(&talk.client, "thread/list", params).await?;
    for thread in &list.data {
        let mark = if thread.id == talk.thread { '*' } else { ' ' };
        let (_, state) = show::status(&thread.status);
        let id = safe::line(show::short_id(&thread.id));
        let line = format!("{mark} {id}  {state}  {}", show::title(thread));
        talk.screen.note(Tone::Plain, &line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_words_are_ours() {
        for name in ["help", "mode", "threads", "quit"] {
            assert!(is_local(name), "{name}");
        }
        for name in ["", "mode [MODE]", "review", "helper"] {
            assert!(!is_local(name), "{name}");
        }
    }
}
