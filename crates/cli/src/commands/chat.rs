//! `rookery chat`: a thread from the shell, for one turn or as a conversation.

mod asking;
mod console;
mod desk;
mod keyboard;
mod screen;
mod talk;

use std::{
    io::{self, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use rookery_roder::wire::{
    command::{CommandsRunParams, CommandsRunResult},
    session::{SessionSetModeParams, SessionSetModeResult},
    thread::{
        Thread, ThreadListParams, ThreadListResult, ThreadReadParams, ThreadReadResult,
        ThreadStartParams, ThreadStartResult,
    },
    turn::{TurnStartParams, TurnStartResult},
};
use rookery_wire::Client;

use crate::{
    args, daemon_process,
    failure::{Failure, Outcome},
    link::{self, call},
    output::Tone,
    talk::{show, threads},
};
use screen::Screen;
use talk::{Ended, Manners, Talk, follow};

/// The longest prompt that is read from stdin.
const LONGEST_PROMPT: u64 = 4 << 20;
/// The code of an interrupted turn.
const INTERRUPTED: u8 = 130;

pub(super) async fn run(args: args::Chat) -> Outcome {
    let said = said(&args.prompt)?;
    if said.is_none() && args.json {
        return Err(Failure::new("--json needs a prompt").code(2));
    }
    let homes = link::homes()?;
    let client = match link::try_connect(&homes).await? {
        Some(client) => client,
        None => daemon_process::ensure(&homes).await?.0,
    };
    // Before anything is started, so that nothing of it is missed.
    let notifications = follow(&client).await?;
    let (thread, is_new) = open_thread(&client, &args).await?;
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    let manners = Manners {
        always: args.yes.then_some(true).or(args.no.then_some(false)),
        can_ask: is_attended && !args.json,
        json: args.json,
    };
    let screen = Screen::new(args.reasoning_text);
    let mut talk = Talk::new(client, notifications, thread.id.clone(), screen, manners)?;
    // A new thread has been told; an old one answers otherwise only this time.
    let wish = if is_new { Wish::default() } else { Wish::of(&args) };
    match said {
        Some(said) => once(&mut talk, &said, &wish, &args, is_new && !thread.ephemeral).await,
        None => console::run(&mut talk, &thread, &wish).await,
    }
}

/// One turn.
async fn once(
    talk: &mut Talk,
    said: &Said,
    wish: &Wish,
    args: &args::Chat,
    is_kept: bool,
) -> Outcome {
    let turn = start(&talk.client, &talk.thread, said, wish).await?;
    let ended = talk.turn(&turn).await?;
    if args.json {
        talk.tell_end(&turn, &ended)?;
    } else if is_kept && io::stderr().is_terminal() {
        let id = show::short_id(&talk.thread);
        talk.screen.note(Tone::Faint, &format!("go on with `rookery chat --thread {id}`"))?;
    }
    match ended {
        Ended::Completed => Ok(ExitCode::SUCCESS),
        Ended::Failed(message) => Err(Failure::new(message)),
        Ended::Interrupted => Err(Failure::new("the turn was interrupted").code(INTERRUPTED)),
        Ended::Left(code) => Ok(ExitCode::from(code)),
    }
}

/// What is said in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Words(String),
    /// A slash command of the workspace.
    Command {
        name: String,
        arguments: String,
    },
}

impl Said {
    /// Words that begin with a slash and a name are a command; a path is none.
    fn read(text: &str) -> Self {
        let is_name = |name: &&str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|c| c.is_ascii_alphanumeric())
                && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
        };
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.strip_prefix('/').filter(is_name) {
            Some(name) => {
                Self::Command { name: name.to_owned(), arguments: rest.trim().to_owned() }
            }
            None => Self::Words(text.to_owned()),
        }
    }
}

/// What to say; none means to ask for it.
fn said(words: &[String]) -> Outcome<Option<Said>> {
    let is_piped = !io::stdin().is_terminal();
    if words == ["-"] || (words.is_empty() && is_piped) {
        let mut text = String::new();
        let read = io::stdin().lock().take(LONGEST_PROMPT + 1).read_to_string(&mut text);
        read.map_err(Failure::doing("cannot read stdin"))?;
        if text.len() as u64 > LONGEST_PROMPT {
            return Err(Failure::new(format!("stdin is longer than {LONGEST_PROMPT} bytes")));
        }
        return some_words(&text).map(|text| Some(Said::Words(text)));
    }
    if words.is_empty() {
        return Ok(None);
    }
    some_words(&words.join(" ")).map(|text| Some(Said::read(&text)))
}

fn some_words(text: &str) -> Outcome<String> {
    match text.trim() {
        "" => Err(Failure::new("there is nothing to say").hint("give a prompt")),
        text => Ok(text.to_owned()),
    }
}

/// Who shall answer, where a thread does not say so itself.
#[derive(Debug, Clone, Default)]
struct Wish {
    provider: Option<String>,
    model: Option<String>,
    reasoning: Option<String>,
}

impl Wish {
    fn of(args: &args::Chat) -> Self {
        Self {
            provider: args.provider.clone(),
            model: args.model.clone(),
            reasoning: args.reasoning.clone(),
        }
    }
}

/// Starts a turn and gives its id.
async fn start(client: &Client, thread: &str, said: &Said, wish: &Wish) -> Outcome<String> {
    match said {
        Said::Words(text) => {
            let params = TurnStartParams {
                thread_id: thread.to_owned(),
                prompt: Some(text.clone()),
                input: Vec::new(),
                task_ledger_required: false,
                model_provider: wish.provider.clone(),
                model: wish.model.clone(),
                reasoning: wish.reasoning.clone(),
                developer_context: None,
                policy_mode: None,
                deadline_seconds: None,
            };
            Ok(call::<TurnStartResult>(client, "turn/start", params).await?.turn_id)
        }
        Said::Command { name, arguments } => {
            let params = CommandsRunParams {
                thread_id: thread.to_owned(),
                name: name.clone(),
                arguments: arguments.clone(),
                workspace: None,
            };
            Ok(call::<CommandsRunResult>(client, "commands/run", params).await?.turn_id)
        }
    }
}

/// The thread to talk in, and whether it is new.
async fn open_thread(client: &Client, args: &args::Chat) -> Outcome<(Thread, bool)> {
    let (thread, is_new) = match (&args.thread, args.last) {
        (Some(text), _) => (read_thread(client, &threads::find(client, text).await?).await?, false),
        (None, true) => (last_thread(client, args.cwd.as_deref()).await?, false),
        (None, false) => (new_thread(client, args).await?, true),
    };
    if let Some(mode) = &args.mode {
        let params = SessionSetModeParams {
            mode: mode.clone(),
            reason: None,
            thread_id: Some(thread.id.clone()),
        };
        call::<SessionSetModeResult>(client, "session/set_mode", params).await?;
    }
    Ok((thread, is_new))
}

async fn read_thread(client: &Client, id: &str) -> Outcome<Thread> {
    let params = ThreadReadParams { thread_id: id.to_owned(), include_turns: false };
    let read: ThreadReadResult = call(client, "thread/read", params).await?;
    read.thread.ok_or_else(|| threads::unreadable(id))
}

async fn last_thread(client: &Client, cwd: Option<&Path>) -> Outcome<Thread> {
    let cwd = cwd.map(directory).transpose()?;
    let params = ThreadListParams { limit: Some(1), cwd, ..ThreadListParams::default() };
    let list: ThreadListResult = call(client, "thread/list", params).await?;
    let none = || Failure::new("there is no thread yet").hint("leave out --last to begin one");
    list.data.into_iter().next().ok_or_else(none)
}

async fn new_thread(client: &Client, args: &args::Chat) -> Outcome<Thread> {
    let params = ThreadStartParams {
        cwd: Some(directory(args.cwd.as_deref().unwrap_or(Path::new(".")))?),
        model_provider: args.provider.clone(),
        model: args.model.clone(),
        reasoning: args.reasoning.clone(),
        ephemeral: args.ephemeral,
        name: args.name.clone(),
        ..ThreadStartParams::default()
    };
    Ok(call::<ThreadStartResult>(client, "thread/start", params).await?.thread)
}

/// A directory as the daemon wants it: absolute.
fn directory(path: &Path) -> Outcome<String> {
    let found: PathBuf = std::fs::canonicalize(path)
        .map_err(|error| Failure::new(format!("cannot work in {}: {error}", path.display())))?;
    let name = found.display().to_string();
    found.into_os_string().into_string().map_err(|_| Failure::new(format!("{name} is no UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_and_a_name_is_a_command() {
        let command = |name: &str, arguments: &str| Said::Command {
            name: name.into(),
            arguments: arguments.into(),
        };
        assert_eq!(Said::read("/review"), command("review", ""));
        assert_eq!(Said::read("/git:fix-it  a  b "), command("git:fix-it", "a  b"));
        assert_eq!(Said::read("/review\nline"), command("review", "line"));
        for words in ["/", "/etc/passwd is odd", "// x", "say /review", "/-x", "/a.b", "/é"] {
            assert_eq!(Said::read(words), Said::Words(words.to_owned()), "{words}");
        }
    }

    #[test]
    fn nothing_is_not_said() {
        assert!(some_words(" \n").is_err());
        assert_eq!(some_words(" a b\n").unwrap(), "a b");
    }
}
