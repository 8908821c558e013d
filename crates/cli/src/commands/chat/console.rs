//! The conversation at a terminal: prompt, turn, prompt. Ctrl-C stops a turn, Ctrl-D leaves.

use rookery_view::safe;
use std::{path::PathBuf, process::ExitCode};

use rustyline::{Config, DefaultEditor, error::ReadlineError};

use super::{
    keyboard::Restore,
    local::{self, Conversation, Local},
    model,
    prompt::{Attached, Prompt},
    start,
    talk::{Ended, Idle, Talk},
};
use crate::{
    commands::done,
    failure::{Failure, Outcome},
    link,
    output::{self, Tone},
    talk::show,
};

/// Lines that are kept to be found again with the arrow keys.
const MOST_HISTORY: usize = 1000;

/// What was typed at the prompt.
enum Typed {
    Line(String),
    /// Ctrl-C.
    Nothing,
    End,
    /// A signal ends us, with this code.
    Stopped(u8),
}

/// Talks until the user leaves.
pub(super) async fn run(talk: &mut Talk, mut conversation: Conversation) -> Outcome {
    let _restore = Restore::later();
    let (mut editor, history) = editor()?;
    let id = show::short_id(&conversation.thread.id);
    let who = show::model(&conversation.thread.choice);
    let about = format!("thread {id} with {who}; /help lists the commands");
    talk.screen.note(Tone::Faint, &about)?;
    let mut is_leaving = false;
    loop {
        let (back, typed) = prompt(talk, editor, &conversation).await?;
        editor = back;
        let line = match typed {
            Typed::Line(line) => line,
            Typed::Nothing if is_leaving => return done(),
            Typed::Nothing => {
                talk.screen.note(Tone::Faint, "press Ctrl-C again to exit")?;
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
        // A line that begins with a blank is remembered nowhere.
        if editor.add_history_entry(&line).unwrap_or(false)
            && let Some(file) = &history
        {
            let _ = editor.append_history(file);
        }
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let prompt = Prompt::read(line);
        let own = match &prompt {
            Prompt::Command { name, arguments } => Local::find(name).map(|own| (own, arguments)),
            Prompt::Text(_) => None,
        };
        match own {
            Some((Local::Quit, _)) => return done(),
            Some((own, arguments)) => {
                let worked = local::run(talk, &mut conversation, own, arguments).await;
                print_failure(talk, worked.err())?;
            }
            None => {
                if let Some(code) = turn(talk, &prompt, &conversation).await? {
                    return Ok(ExitCode::from(code));
                }
            }
        }
    }
}

/// An editor with the lines of earlier conversations, and where they are kept.
fn editor() -> Outcome<(DefaultEditor, Option<PathBuf>)> {
    let failed = |error: ReadlineError| Failure::new(format!("cannot read the keyboard: {error}"));
    let config = Config::builder().history_ignore_space(true).max_history_size(MOST_HISTORY);
    let config = config.map_err(failed)?.build();
    let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
    let file = link::homes().ok().map(|homes| homes.state_dir().join("chat_history"));
    if let Some(file) = &file {
        // There is none before the first conversation.
        let _ = editor.load_history(file);
    }
    Ok((editor, file))
}

/// Reads a line with an editor, which blocks, so that a thread of its own does it.
async fn prompt(
    talk: &mut Talk,
    mut editor: DefaultEditor,
    conversation: &Conversation,
) -> Outcome<(DefaultEditor, Typed)> {
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
                    // What was lent went with the connection; a missing key is reported by the turn.
                    let _ = model::of_thread(&talk.client, conversation.provider()).await;
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
                    .map_err(|error| Failure::new(format!("cannot exit: {error}")))?;
                return Ok((editor, Typed::Stopped(code)));
            }
        }
    }
}

/// One turn; gives a code if we leave with it.
async fn turn(
    talk: &mut Talk,
    prompt: &Prompt,
    conversation: &Conversation,
) -> Outcome<Option<u8>> {
    let attached = match prompt {
        Prompt::Text(words) => {
            let workspace = conversation.thread.cwd.as_ref();
            Attached::default().named_in(words, workspace, workspace)
        }
        Prompt::Command { .. } => Ok(Attached::default()),
    };
    let started = match attached {
        Ok(attached) => {
            start(&talk.client, &talk.thread, prompt, &attached, &conversation.overrides).await
        }
        Err(failure) => Err(failure),
    };
    let turn = match started {
        Ok(turn) => turn,
        Err(failure) => {
            print_failure(talk, Some(failure))?;
            return Ok(None);
        }
    };
    match talk.turn(&turn).await {
        Ok(Ended::Completed) => talk.print_usage()?,
        Ok(Ended::Failed(message)) => talk.screen.note(Tone::Bad, &format!("failed: {message}"))?,
        Ok(Ended::Interrupted) => talk.screen.note(Tone::Warning, "interrupted")?,
        Ok(Ended::Left(code)) => return Ok(Some(code)),
        Err(failure) => return Err(failure),
    }
    Ok(None)
}

fn print_failure(talk: &mut Talk, failure: Option<Failure>) -> Outcome<()> {
    match failure {
        Some(failure) => {
            talk.screen.note(Tone::Bad, &safe::line(failure.message()))?;
            let advice = failure.advice().map(safe::line);
            advice.map_or(Ok(()), |advice| talk.screen.note(Tone::Faint, &format!("  {advice}")))
        }
        None => Ok(()),
    }
}
