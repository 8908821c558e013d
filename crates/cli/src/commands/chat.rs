//! `rookery chat`: a thread from the shell, for one turn or as a conversation.

mod asking;
mod console;
mod keyboard;
mod local;
mod model;
mod prompt;
mod prompts;
mod render;
mod screen;
mod talk;

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use rookery_roder::wire::{
    command::CommandsRunParams,
    session::SessionSetModeParams,
    thread::{
        Thread, ThreadListParams, ThreadListResult, ThreadReadParams, ThreadReadResult,
        ThreadStartParams,
    },
    turn::TurnStartParams,
};
use rookery_wire::Client;

use crate::{
    args,
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::call,
    output::Tone,
    talk::{show, threads},
};
use local::{Conversation, Local};
use prompt::{Attached, Prompt, read_prompt};
use screen::Screen;
use talk::{Ended, Manners, Talk, follow};

/// The code of an interrupted turn.
const INTERRUPTED: u8 = 130;

pub(super) async fn run(args: args::Chat) -> Outcome {
    let prompt = read_prompt(&args.prompt)?;
    if prompt.is_none() && args.json {
        return Err(Failure::new("--json needs a prompt").code(2));
    }
    let own = own_command(&args, prompt.as_ref())?;
    let images = Attached::images(&args.images)?;
    let client = daemon_process::connect_or_start().await?;
    // Before anything is started, so that nothing of it is missed.
    let notifications = follow(&client).await?;
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    let manners = Manners {
        always: args.yes.then_some(true).or(args.no.then_some(false)),
        can_ask: is_attended && !args.json,
        json: args.json,
    };
    let screen = Screen::new(args.reasoning_text);
    if let Some((own, _)) = own
        && own.needs_no_thread()
    {
        let mut talk = Talk::new(client, notifications, String::new(), screen, manners)?;
        return without_thread(&mut talk, own).await;
    }
    let (thread, is_new) = open_thread(&client, &args).await?;
    let mut talk = Talk::new(client, notifications, thread.id.clone(), screen, manners)?;
    // A new thread has been told; an old one answers otherwise only this time.
    let overrides = if is_new { Overrides::default() } else { Overrides::from_args(&args) };
    let is_kept = is_new && !thread.ephemeral;
    let mut conversation = Conversation { thread, overrides, mode: args.mode.clone() };
    match (prompt, own) {
        (_, Some((own, arguments))) => {
            local::run(&mut talk, &mut conversation, own, &arguments).await?;
            done()
        }
        (Some(prompt), None) => {
            once(&mut talk, &prompt, images, &conversation, &args, is_kept).await
        }
        (None, None) => console::run(&mut talk, conversation).await,
    }
}

/// The command of ours that is to be carried out alone, if one is named.
fn own_command(args: &args::Chat, prompt: Option<&Prompt>) -> Outcome<Option<(Local, String)>> {
    let Some(Prompt::Command { name, arguments }) = prompt else { return Ok(None) };
    let Some(own) = Local::find(name) else { return Ok(None) };
    let has_thread = args.thread.is_some() || args.last;
    if args.json {
        return Err(Failure::new(format!("/{name} cannot print JSON")).code(2));
    }
    if own.is_for_conversations_only() || !(has_thread || own.needs_no_thread()) {
        return Err(local::only_in_conversation(name));
    }
    Ok(Some((own, arguments.clone())))
}

async fn without_thread(talk: &mut Talk, own: Local) -> Outcome {
    match own {
        Local::Threads => local::list_threads(talk).await?,
        _ => local::help(talk, "").await?,
    }
    done()
}

/// One turn.
async fn once(
    talk: &mut Talk,
    prompt: &Prompt,
    images: Attached,
    conversation: &Conversation,
    args: &args::Chat,
    is_kept: bool,
) -> Outcome {
    let attached = match prompt {
        // Names are meant where the command was typed, wherever the agent works.
        Prompt::Text(words) => {
            let here = directory_path(Path::new("."))?;
            images.named_in(words, &here, conversation.thread.cwd.as_ref())?
        }
        Prompt::Command { .. } => images,
    };
    let turn =
        start(&talk.client, &talk.thread, prompt, &attached, &conversation.overrides).await?;
    let ended = talk.turn(&turn).await?;
    if args.json {
        talk.tell_end(&turn, &ended)?;
    } else if io::stderr().is_terminal() {
        talk.tell_usage()?;
        if is_kept {
            let id = show::short_id(&talk.thread);
            talk.screen
                .note(Tone::Faint, &format!("continue with `rookery chat --thread {id}`"))?;
        }
    }
    match ended {
        Ended::Completed => Ok(ExitCode::SUCCESS),
        Ended::Failed(message) => Err(Failure::new(message)),
        Ended::Interrupted => Err(Failure::new("the turn was interrupted").code(INTERRUPTED)),
        Ended::Left(code) => Ok(ExitCode::from(code)),
    }
}

/// Who shall answer, where a thread does not say so itself.
#[derive(Debug, Clone, Default)]
struct Overrides {
    provider: Option<String>,
    model: Option<String>,
    reasoning: Option<String>,
}

impl Overrides {
    fn from_args(args: &args::Chat) -> Self {
        Self {
            provider: args.provider.clone(),
            model: args.model.clone(),
            reasoning: args.reasoning.clone(),
        }
    }
}

/// Starts a turn and gives its id.
async fn start(
    client: &Client,
    thread: &str,
    prompt: &Prompt,
    attached: &Attached,
    overrides: &Overrides,
) -> Outcome<String> {
    match prompt {
        Prompt::Text(text) => {
            let params = TurnStartParams {
                thread_id: thread.to_owned(),
                prompt: Some(attached.prompt(text)),
                input: attached.input.clone(),
                task_ledger_required: false,
                model_provider: overrides.provider.clone(),
                model: overrides.model.clone(),
                reasoning: overrides.reasoning.clone(),
                developer_context: None,
                policy_mode: None,
                deadline_seconds: None,
            };
            Ok(call(client, params).await?.turn_id)
        }
        Prompt::Command { name, arguments } => {
            let params = CommandsRunParams {
                thread_id: thread.to_owned(),
                name: name.clone(),
                arguments: arguments.clone(),
                workspace: None,
            };
            Ok(call(client, params).await?.turn_id)
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
    if !is_new {
        let provider = args.provider.as_deref().unwrap_or(&thread.model_provider);
        model::of_thread(client, provider).await?;
    }
    if let Some(mode) = &args.mode {
        let params = SessionSetModeParams {
            mode: mode.clone(),
            reason: None,
            thread_id: Some(thread.id.clone()),
        };
        call(client, params).await?;
    }
    Ok((thread, is_new))
}

async fn read_thread(client: &Client, id: &str) -> Outcome<Thread> {
    let params = ThreadReadParams { thread_id: id.to_owned(), include_turns: false };
    let read: ThreadReadResult = call(client, params).await?;
    read.thread.ok_or_else(|| threads::unreadable(id))
}

async fn last_thread(client: &Client, cwd: Option<&Path>) -> Outcome<Thread> {
    let cwd = cwd.map(directory).transpose()?;
    let params = ThreadListParams { limit: Some(1), cwd, ..ThreadListParams::default() };
    let list: ThreadListResult = call(client, params).await?;
    let none = || Failure::new("there are no threads yet").hint("omit --last to start one");
    list.data.into_iter().next().ok_or_else(none)
}

async fn new_thread(client: &Client, args: &args::Chat) -> Outcome<Thread> {
    let cwd = directory(args.cwd.as_deref().unwrap_or(Path::new(".")))?;
    let provider = model::of_new_thread(client, args.provider.as_deref()).await?;
    let params = ThreadStartParams {
        cwd: Some(cwd),
        model_provider: provider,
        model: args.model.clone(),
        reasoning: args.reasoning.clone(),
        ephemeral: args.ephemeral,
        name: args.name.clone(),
        ..ThreadStartParams::default()
    };
    Ok(call(client, params).await?.thread)
}

/// A directory as the daemon wants it: absolute.
fn directory(path: &Path) -> Outcome<String> {
    let found = directory_path(path)?;
    let name = found.display().to_string();
    found.into_os_string().into_string().map_err(|_| Failure::new(format!("{name} is not UTF-8")))
}

fn directory_path(path: &Path) -> Outcome<PathBuf> {
    std::fs::canonicalize(path)
        .map_err(|error| Failure::new(format!("cannot work in {}: {error}", path.display())))
}
