//! Slash commands that are for `chat` itself and not for the agent.

use rookery_native::wire::{
    CommandList, Commands, ListProviders, Mode, ModelList, Providers, Thread, ThreadCompact,
    ThreadGet, ThreadList, ThreadSetMode, ThreadSetModel, ThreadStart, Threads,
};
use rookery_view::safe;

use super::{Overrides, model, read_thread, talk::Talk};
use crate::{
    failure::{Failure, Outcome},
    link::call,
    output::{self, Tone},
    talk::{mode as modes, show, threads},
};

/// Threads that `/threads` lists, and models that `/model` does.
const LISTED: usize = 10;
const LISTED_MODELS: usize = 40;
/// Columns of a command in the help.
const USAGE_WIDTH: usize = 28;

/// A command of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    Help,
    Clear,
    Compact,
    Model,
    Provider,
    Mode,
    Threads,
    Quit,
}

/// One row: the names of a command, its arguments, and what it does.
struct Row {
    names: &'static [&'static str],
    arguments: &'static str,
    meaning: &'static str,
    command: Local,
}

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    meaning: &'static str,
    command: Local,
) -> Row {
    Row { names, arguments, meaning, command }
}

/// All of them, in the order of the help.
const ROWS: &[Row] = &[
    row(&["help"], "", "show this", Local::Help),
    row(&["clear", "new"], "", "start a new thread, without the history", Local::Clear),
    row(&["compact"], "[WHAT TO KEEP]", "summarize the conversation", Local::Compact),
    row(&["model"], "[MODEL]", "list models, or choose one for this thread", Local::Model),
    row(&["provider"], "[PROVIDER]", "list providers, or choose one", Local::Provider),
    row(&["mode"], "[MODE]", "show or set the policy mode", Local::Mode),
    row(&["threads"], "[THREAD]", "list threads, or continue another", Local::Threads),
    row(&["quit", "exit"], "", "exit, as Ctrl-D does", Local::Quit),
];

impl Local {
    /// The command of this name.
    pub(super) fn find(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.names.contains(&name)).map(|row| row.command)
    }

    /// Whether it makes sense outside of a conversation, without a thread.
    pub(super) fn needs_no_thread(self) -> bool {
        matches!(self, Self::Help | Self::Threads)
    }

    /// Whether it makes sense for one turn of a thread that is there.
    pub(super) fn is_for_conversations_only(self) -> bool {
        matches!(self, Self::Clear | Self::Quit)
    }
}

/// A conversation that can move from thread to thread.
pub(super) struct Conversation {
    pub(super) thread: Thread,
    /// Who answers instead of the thread's own choice.
    pub(super) overrides: Overrides,
    /// The mode that was chosen here, for the next thread.
    pub(super) mode: Option<Mode>,
}

impl Conversation {
    /// Who answers next.
    pub(super) fn provider(&self) -> &str {
        self.overrides.provider.as_deref().unwrap_or(&self.thread.choice.provider)
    }
}

/// Carries a command out.
pub(super) async fn run(
    talk: &mut Talk,
    conversation: &mut Conversation,
    command: Local,
    arguments: &str,
) -> Outcome<()> {
    match (command, arguments) {
        (Local::Help, _) => help(talk, &conversation.thread.cwd).await,
        (Local::Clear, _) => clear(talk, conversation).await,
        (Local::Compact, hint) => compact(talk, hint).await,
        (Local::Model, "") => models(talk, conversation).await,
        (Local::Model, name) => choose_model(talk, conversation, name).await,
        (Local::Provider, "") => providers(talk, conversation).await,
        (Local::Provider, id) => select(talk, conversation, id, None).await,
        (Local::Mode, word) => mode(talk, conversation, word).await,
        (Local::Threads, "") => list_threads(talk).await,
        (Local::Threads, text) => switch(talk, conversation, text).await,
        (Local::Quit, _) => Ok(()),
    }
}

pub(super) async fn help(talk: &mut Talk, cwd: &str) -> Outcome<()> {
    for row in ROWS {
        let names = row.names.join(", /");
        let usage = format!("/{names} {}", row.arguments);
        talk.screen.note(Tone::Plain, &format!("{usage:<USAGE_WIDTH$} {}", row.meaning))?;
    }
    let cwd = (!cwd.is_empty()).then(|| cwd.into());
    let list: Commands = call(&talk.client, CommandList { cwd }).await?;
    for command in list.commands.iter().filter(|command| Local::find(&command.name).is_none()) {
        let hint = command.argument_hint.as_deref().unwrap_or_default();
        let usage = safe::line(&format!("/{} {hint}", command.name));
        let meaning = safe::line(command.description.as_deref().unwrap_or_default());
        talk.screen.note(Tone::Plain, &format!("{usage:<USAGE_WIDTH$} {meaning}"))?;
    }
    talk.screen.note(Tone::Faint, "@FILE attaches a file or an image")
}

async fn clear(talk: &mut Talk, conversation: &mut Conversation) -> Outcome<()> {
    let old = &conversation.thread;
    let params = ThreadStart {
        cwd: old.cwd.clone().into(),
        provider: Some(old.choice.provider.clone()),
        model: Some(old.choice.model.clone()),
        ephemeral: old.ephemeral,
        ..ThreadStart::default()
    };
    let started: Thread = call(&talk.client, params).await?;
    if let Some(mode) = conversation.mode {
        set_mode(talk, mode, &started.id).await?;
    }
    let before = show::short_id(&old.id).to_owned();
    talk.follow(&started.id).await?;
    conversation.thread = started;
    let id = show::short_id(&talk.thread).to_owned();
    let text = format!("thread {id}; return to the previous one with /threads {before}");
    talk.screen.note(Tone::Faint, &text)
}

async fn compact(talk: &mut Talk, hint: &str) -> Outcome<()> {
    let params = ThreadCompact {
        thread: talk.thread.clone(),
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
    };
    let work = call(&talk.client, params);
    let done = output::working("summing up", work).await?;
    let (before, after) = (done.before, done.after);
    let text = match (done.compacted, done.reason) {
        (true, _) => format!("about {before} tokens became {after}"),
        (false, Some(reason)) => format!("nothing was summarized: {}", safe::line(&reason)),
        (false, None) => "nothing was summarized".to_owned(),
    };
    talk.screen.note(Tone::Plain, &text)
}

async fn models(talk: &mut Talk, conversation: &Conversation) -> Outcome<()> {
    let choice = &conversation.thread.choice;
    let params = ModelList { provider: Some(choice.provider.clone()) };
    let models = output::working("asking for models", call(&talk.client, params)).await?.models;
    let text = format!("current model: {}", show::model(choice));
    talk.screen.note(Tone::Plain, &text)?;
    for model in models.iter().take(LISTED_MODELS) {
        let mark = if model.id == choice.model { '*' } else { ' ' };
        talk.screen.note(Tone::Plain, &format!("{mark} {}", safe::line(&model.id)))?;
    }
    let more = models.len().saturating_sub(LISTED_MODELS);
    let text = match (models.is_empty(), more) {
        (true, _) => "it lists no models; /model NAME selects one anyway".to_owned(),
        (_, 0) => "/model NAME selects one, /provider lists other providers".to_owned(),
        (_, more) => format!("and {more} more; /model NAME selects one"),
    };
    talk.screen.note(Tone::Faint, &text)
}

/// Chooses by the name of a model, or by `provider/model` if a provider has that name.
async fn choose_model(talk: &mut Talk, conversation: &mut Conversation, name: &str) -> Outcome<()> {
    let known: Providers = call(&talk.client, ListProviders).await?;
    let own = conversation.thread.choice.provider.clone();
    // Names of models may have slashes as well.
    let split = name.split_once('/').filter(|(provider, _)| {
        known.providers.iter().any(|one| one.id == provider.to_lowercase())
    });
    match split {
        Some((provider, model)) => select(talk, conversation, provider, Some(model)).await,
        None => select(talk, conversation, &own, Some(name)).await,
    }
}

async fn providers(talk: &mut Talk, conversation: &Conversation) -> Outcome<()> {
    let known: Providers = call(&talk.client, ListProviders).await?;
    for one in known.providers {
        let mark = if one.id == conversation.thread.choice.provider { '*' } else { ' ' };
        let needs = match (one.usable, one.key_variable) {
            (false, Some(variable)) if model::has_variable(&variable) => String::new(),
            (false, Some(variable)) => format!("  needs {}", safe::line(&variable)),
            _ => String::new(),
        };
        let line = format!("{mark} {:<12} {}{needs}", safe::line(&one.id), safe::line(&one.name));
        talk.screen.note(Tone::Plain, &line)?;
    }
    talk.screen.note(Tone::Faint, "/provider ID selects one; `rookery setup` adds more")
}

/// Changes who answers in this thread from now on.
async fn select(
    talk: &mut Talk,
    conversation: &mut Conversation,
    provider: &str,
    model: Option<&str>,
) -> Outcome<()> {
    model::of_thread(&talk.client, provider).await?;
    let params = ThreadSetModel {
        thread: talk.thread.clone(),
        provider: Some(provider.to_owned()),
        model: model.map(str::to_owned),
        reasoning: None,
    };
    let chosen: Thread = call(&talk.client, params).await?;
    conversation.overrides = Overrides::default();
    conversation.thread.choice = chosen.choice;
    let text = format!("this thread now uses {}", show::model(&conversation.thread.choice));
    talk.screen.note(Tone::Plain, &text)
}

async fn mode(talk: &mut Talk, conversation: &mut Conversation, wanted: &str) -> Outcome<()> {
    let thread = talk.thread.clone();
    let mode = if wanted.is_empty() {
        call(&talk.client, ThreadGet { thread }).await?.mode
    } else {
        let accepted = modes::accepted();
        let unknown = || Failure::new(format!("unknown mode; expected one of {accepted}"));
        let wanted = modes::read(wanted).ok_or_else(unknown)?;
        let mode = set_mode(talk, wanted, &thread).await?;
        conversation.mode = Some(mode);
        mode
    };
    talk.screen.note(Tone::Plain, &format!("the mode is {}", modes::word(mode)))
}

async fn set_mode(talk: &Talk, mode: Mode, thread: &str) -> Outcome<Mode> {
    let params = ThreadSetMode { thread: Some(thread.to_owned()), mode, reason: None };
    Ok(call(&talk.client, params).await?.mode)
}

pub(super) async fn list_threads(talk: &mut Talk) -> Outcome<()> {
    let params = ThreadList { limit: Some(LISTED), ..ThreadList::default() };
    let list: Threads = call(&talk.client, params).await?;
    for thread in &list.threads {
        let mark = if thread.id == talk.thread { '*' } else { ' ' };
        let (_, state) = show::status(&thread.status);
        let id = safe::line(show::short_id(&thread.id));
        let line = format!("{mark} {id}  {state}  {}", show::title(thread));
        talk.screen.note(Tone::Plain, &line)?;
    }
    match list.threads.is_empty() {
        true => talk.screen.note(Tone::Faint, "there are no threads yet"),
        false => talk.screen.note(Tone::Faint, "/threads ID continues another"),
    }
}

async fn switch(talk: &mut Talk, conversation: &mut Conversation, text: &str) -> Outcome<()> {
    let id = threads::find(&talk.client, text).await?;
    let thread = read_thread(&talk.client, &id).await?;
    // Its provider may need a key that only this environment has; a missing key is reported by the turn.
    let lent: Outcome<()> = model::of_thread(&talk.client, &thread.choice.provider).await;
    talk.follow(&thread.id).await?;
    let short = show::short_id(&thread.id);
    let about =
        format!("thread {short} with {}: {}", show::model(&thread.choice), show::title(&thread));
    conversation.overrides = Overrides::default();
    conversation.thread = thread;
    talk.screen.note(Tone::Faint, &about)?;
    match lent {
        Ok(()) => Ok(()),
        Err(failure) => talk.screen.note(Tone::Warning, &safe::line(failure.message())),
    }
}

/// The failure of a command of ours that makes no sense for one turn.
pub(super) fn only_in_conversation(name: &str) -> Failure {
    Failure::new(format!("/{name} works only inside a conversation"))
        .hint("run `rookery chat` without a prompt, or choose a thread with --thread or --last")
        .code(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_words_are_ours() {
        for name in ["help", "clear", "compact", "model", "provider", "mode", "threads", "quit"] {
            assert!(Local::find(name).is_some(), "{name}");
        }
        assert_eq!(Local::find("exit"), Some(Local::Quit));
        for name in ["", "mode [MODE]", "review", "helper", "Help"] {
            assert_eq!(Local::find(name), None, "{name}");
        }
    }
}
