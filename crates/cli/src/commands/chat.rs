//! `rookery chat`: a thread from the shell, for one turn or as a conversation.

mod asking;
mod console;
mod keyboard;
mod local;
mod model;
mod prompt;
mod prompts;
mod relay;
mod render;
mod screen;
mod talk;

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use rookery_native::wire::{
    CommandRun, Thread, ThreadGet, ThreadList, ThreadSetMode, ThreadStart, Threads, TurnStart,
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
use relay::Relay;
use screen::Screen;
use talk::{DecisionMode, Ended, Talk};

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
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    let decisions = DecisionMode {
        always: args.yes.then_some(true).or(args.no.then_some(false)),
        can_ask: is_attended && !args.json,
    };
    let mut talk = Talk::new(client, Screen::new(args.reasoning_text), decisions)?;
    if args.json {
        // Before anything is started, so that nothing of it is missed.
        talk.relay = Some(Relay::begin(&talk.client).await?);
    }
    if let Some((own, _)) = own
        && own.needs_no_thread()
    {
        return without_thread(&mut talk, own).await;
    }
    let (thread, is_new) = open_thread(&talk.client, &args).await?;
    talk.follow(&thread.id).await?;
    // A new thread has been told; an old one answers otherwise only this time.
    let overrides = if is_new { Overrides::default() } else { Overrides::from_args(&args) };
    let is_kept = is_new && !thread.ephemeral;
    let mut conversation = Conversation { thread, overrides, mode: args.mode };
    match (prompt, own) {
        (_, Some((own, arguments))) => {
            local::run(&mut talk, &mut conversation, own, &arguments).await?;
            done()
        }
        (Some(prompt), None) => once(&mut talk, &prompt, images, &conversation, is_kept).await,
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
    if let Some(relay) = &talk.relay {
        relay.end(&talk.thread, &turn, &ended)?;
    } else if io::stderr().is_terminal() {
        talk.print_usage()?;
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
            let params = TurnStart {
                thread: thread.to_owned(),
                text: attached.prompt(text),
                image_files: attached.images.clone(),
                files: attached.files.clone(),
                provider: overrides.provider.clone(),
                model: overrides.model.clone(),
                reasoning: overrides.reasoning.clone(),
                ..TurnStart::default()
            };
            Ok(call(client, params).await?.turn)
        }
        Prompt::Command { name, arguments } => {
            let (name, arguments) = (name.clone(), arguments.clone());
            let params = CommandRun { thread: thread.to_owned(), name, arguments };
            Ok(call(client, params).await?.turn)
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
        let provider = args.provider.as_deref().unwrap_or(&thread.choice.provider);
        model::of_thread(client, provider).await?;
    }
    if let Some(mode) = args.mode {
        let params = ThreadSetMode { thread: Some(thread.id.clone()), mode, reason: None };
        call(client, params).await?;
    }
    Ok((thread, is_new))
}

async fn read_thread(client: &Client, id: &str) -> Outcome<Thread> {
    let thread = threads::known(client, id, ThreadGet { thread: id.to_owned() }).await?;
    if thread.archived { Err(threads::unreadable(id)) } else { Ok(thread) }
}

async fn last_thread(client: &Client, cwd: Option<&Path>) -> Outcome<Thread> {
    let cwd = cwd.map(directory).transpose()?;
    let params = ThreadList { limit: Some(1), cwd, ..ThreadList::default() };
    let list: Threads = call(client, params).await?;
    let none = || Failure::new("there are no threads yet").hint("omit --last to start one");
    list.threads.into_iter().next().ok_or_else(none)
}

async fn new_thread(client: &Client, args: &args::Chat) -> Outcome<Thread> {
    let cwd = directory(args.cwd.as_deref().unwrap_or(Path::new(".")))?;
    let provider = model::of_new_thread(client, args.provider.as_deref()).await?;
    let params = ThreadStart {
        cwd,
        provider,
        model: args.model.clone(),
        reasoning: args.reasoning.clone(),
        ephemeral: args.ephemeral,
        name: args.name.clone(),
    };
    call(client, params).await
}

/// A directory as the daemon wants it: absolute, and one that can be written as JSON.
fn directory(path: &Path) -> Outcome<PathBuf> {
    let found = directory_path(path)?;
    match found.to_str() {
        Some(_) => Ok(found),
        None => Err(Failure::new(format!("{} is not UTF-8", found.display()))),
    }
}

fn directory_path(path: &Path) -> Outcome<PathBuf> {
    std::fs::canonicalize(path)
        .map_err(|error| Failure::new(format!("cannot work in {}: {error}", path.display())))
}
