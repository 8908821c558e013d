//! A connection that follows one thread, and a turn of it from its start to its end.

mod about;

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use rookery_native::wire::{AnswerRequest, Answered, RequestKind};
use rookery_roder::wire::{
    initialize::{ClientCapabilities, ClientInfo, InitializeParams},
    item::ItemNotification,
    notification::{TurnNotification, Warning, name},
    session::ModeChanged,
    thread::{ThreadReadParams, ThreadReadResult, Usage},
    turn::{Turn, TurnInterruptParams, TurnStatus},
};
use rookery_wire::{Client, client::Notification};
use rustix::{io::Errno, termios::tcgetattr};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{sync::mpsc, time::timeout};

use self::about::{About, asks, older_names, settles};
use super::{
    asking::{Next, decided},
    prompts::Prompts,
    screen::Screen,
};
use crate::{
    failure::{Failure, Outcome},
    link::call,
    output::{self, Tone},
    stop::Stop,
    talk::{
        age,
        requests::{self, Ask},
        safe, show,
    },
};

/// How long to wait for the interrupt to be acknowledged when its turn is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The code of a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;
/// The code of a process whose terminal went away.
const HUNG_UP: u8 = 129;

/// How a turn ended for us.
#[derive(Debug)]
pub(super) enum Ended {
    Completed,
    Failed(String),
    Interrupted,
    /// We left before its end, with this code.
    Left(u8),
}

/// Why the wait for input ended.
pub(super) enum Idle {
    Disconnected,
    /// With this code.
    Stopped(u8),
}

/// How requests are decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manners {
    /// The answer to everything, if there is one.
    pub(super) always: Option<bool>,
    /// Whether questions can be asked at the terminal.
    pub(super) can_ask: bool,
    /// Whether notifications are printed as they are.
    pub(super) json: bool,
}

/// A thread that is followed.
pub(super) struct Talk {
    pub(super) client: Client,
    pub(super) thread: String,
    pub(super) screen: Screen,
    pub(super) stop: Stop,
    notifications: mpsc::Receiver<Notification>,
    manners: Manners,
    /// Notifications that were lost, as far as it was reported.
    missed: u64,
    /// What the turn that ended last has cost.
    spent: Option<Spent>,
}

/// What a turn has cost.
struct Spent {
    usage: Usage,
    millis: Option<u64>,
}

/// Subscribes to notifications of threads.
pub(super) async fn follow(client: &Client) -> Outcome<mpsc::Receiver<Notification>> {
    let notifications = client.notifications().ok_or_else(|| Failure::new("no notifications"))?;
    let params = InitializeParams {
        client_info: Some(ClientInfo {
            name: "rookery-chat".to_owned(),
            title: None,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        capabilities: Some(ClientCapabilities {
            opt_out_notification_methods: Some(older_names()),
            ..ClientCapabilities::default()
        }),
    };
    call(client, params).await?;
    Ok(notifications)
}

impl Talk {
    pub(super) fn new(
        client: Client,
        notifications: mpsc::Receiver<Notification>,
        thread: String,
        screen: Screen,
        manners: Manners,
    ) -> Outcome<Self> {
        let stop = Stop::new()?;
        Ok(Self { client, thread, screen, stop, notifications, manners, missed: 0, spent: None })
    }

    /// Takes another connection, after the daemon was replaced.
    pub(super) async fn reconnect(&mut self, client: Client) -> Outcome<()> {
        self.notifications = follow(&client).await?;
        (self.client, self.missed) = (client, 0);
        Ok(())
    }

    /// Discards notifications until the connection is over, which may be known
    /// already, or a signal asks us to end.
    pub(super) async fn idle(&mut self, is_connected: bool) -> Idle {
        loop {
            tokio::select! {
                message = self.notifications.recv(), if is_connected => {
                    if message.is_none() {
                        return Idle::Disconnected;
                    }
                }
                code = self.stop.requested() => return Idle::Stopped(code),
            }
        }
    }

    /// Shows a turn until it ends, and decides what it asks for.
    pub(super) async fn turn(&mut self, turn: &str) -> Outcome<Ended> {
        self.spent = None;
        let ended = self.run_turn(turn).await;
        if ended.is_err() && !self.is_hung_up() {
            // What it does is seen by no reader any more.
            self.interrupt(turn).await;
        }
        let shown = self.screen.end();
        match ended? {
            // The terminal may be gone.
            Ended::Left(code) => Ok(Ended::Left(code)),
            ended => shown.map(|()| ended),
        }
    }

    /// Whether writing failed because the terminal went away, which says nothing about the turn. A
    /// reader of a pipe that went away wants no more of it.
    fn is_hung_up(&self) -> bool {
        let is_gone = |fd| matches!(tcgetattr(fd), Err(Errno::IO));
        is_gone(rustix::stdio::stdout())
            || is_gone(rustix::stdio::stderr())
            || self.stop.is_hung_up()
    }

    async fn run_turn(&mut self, turn: &str) -> Outcome<Ended> {
        let mut prompts = Prompts::new(self.manners.can_ask)?;
        let mut is_interrupting = false;
        if let Some(ended) = self.begin(turn, &mut prompts).await? {
            return Ok(ended);
        }
        loop {
            tokio::select! {
                message = self.notifications.recv() => {
                    let Some(message) = message else { return Err(self.lost()) };
                    if let Some(ended) = self.take(turn, &message, &mut prompts).await? {
                        return Ok(ended);
                    }
                }
                line = prompts.line() => self.typed(line?, &mut prompts).await?,
                code = self.stop.requested() => {
                    // The turn goes on without the terminal; `--thread` finds it again.
                    if code == HUNG_UP {
                        return Ok(Ended::Left(code));
                    }
                    if code != INTERRUPTED || is_interrupting {
                        self.interrupt(turn).await;
                        return Ok(Ended::Left(code));
                    }
                    is_interrupting = true;
                    self.interrupt(turn).await;
                    self.screen.note(Tone::Warning, "interrupting; press Ctrl-C again to exit")?;
                }
            }
            if self.client.missed() > self.missed
                && let Some(ended) = self.catch_up(turn).await?
            {
                return Ok(ended);
            }
        }
    }

    fn lost(&self) -> Failure {
        let short = show::short_id(&self.thread);
        Failure::new("lost the daemon")
            .hint(format!("continue with `rookery chat --thread {short}` when it is back"))
    }

    /// Interrupts a turn; the result is reported by its end.
    async fn interrupt(&self, turn: &str) {
        let params =
            TurnInterruptParams { thread_id: self.thread.clone(), turn_id: Some(turn.to_owned()) };
        let _ = timeout(PATIENCE, self.client.send(params)).await;
    }

    /// Shows a notification; gives the end of the turn if it tells of that.
    async fn take(
        &mut self,
        turn: &str,
        message: &Notification,
        prompts: &mut Prompts,
    ) -> Outcome<Option<Ended>> {
        let params = message.params.get();
        let Some(about) = self.about_us(params) else { return Ok(None) };
        if self.manners.json {
            let method = Value::String(message.method.clone());
            let line = format!("{{\"method\":{method},\"params\":{params}}}");
            output::line(safe::json(&line))?;
        }
        match &*message.method {
            name::TURN_COMPLETED => {
                let notification = read::<TurnNotification>(params)
                    .filter(|notification| notification.turn.id == turn);
                let Some(notification) = notification else { return Ok(None) };
                let millis = notification.turn.duration_ms;
                self.spent = notification.turn.usage.clone().map(|usage| Spent { usage, millis });
                return Ok(end(&notification.turn));
            }
            method if asks(method) => {
                let asked = requests::pending(&self.client, &self.thread).await?;
                // Others are reported later, in order.
                let is_meant = |ask: &Ask| Some(&*ask.request.id) == about.request();
                self.decide(asked.into_iter().filter(is_meant), prompts).await?;
            }
            method if settles(method) => {
                if let Some(id) = about.request() {
                    self.withdrawn(id, &about, prompts)?;
                }
            }
            _ if self.manners.json => {}
            name::ITEM_STARTED | name::ITEM_COMPLETED | name::ITEM_DELTA => {
                if let Some(notification) = read::<ItemNotification>(params) {
                    self.screen.item(&notification.event)?;
                }
                if message.method != name::ITEM_DELTA {
                    prompts.repeat(&mut self.screen)?;
                }
            }
            name::MODE_CHANGED => {
                if let Some(changed) = read::<ModeChanged>(params) {
                    let text = format!("the mode is {} now", safe::line(&changed.mode));
                    self.screen.note(Tone::Faint, &text)?;
                }
            }
            name::WARNING => {
                if let Some(warning) = read::<Warning>(params) {
                    let text = format!("warning: {}", safe::line(&warning.message));
                    self.screen.note(Tone::Warning, &text)?;
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// What a notification says of our thread, if it is about it.
    fn about_us(&self, params: &str) -> Option<About> {
        let about = read::<About>(params)?;
        let thread = about.thread.as_ref().map(|thread| &thread.id);
        (about.thread_id.as_ref().or(thread) == Some(&self.thread)).then_some(about)
    }

    /// Finds out what was asked before anybody told us, in a thread that runs already.
    async fn begin(&mut self, turn: &str, prompts: &mut Prompts) -> Outcome<Option<Ended>> {
        let asked = requests::pending(&self.client, &self.thread).await?;
        // Every notification before this answer has arrived; most requests are among them.
        while let Ok(message) = self.notifications.try_recv() {
            if let Some(ended) = self.take(turn, &message, prompts).await? {
                return Ok(Some(ended));
            }
        }
        self.decide(asked.into_iter(), prompts).await?;
        Ok(None)
    }

    /// Decides or asks what was not seen before.
    async fn decide(
        &mut self,
        asked: impl Iterator<Item = Ask>,
        prompts: &mut Prompts,
    ) -> Outcome<()> {
        for ask in asked {
            if !prompts.is_new(&ask.request.id) {
                continue;
            }
            let is_yes_or_no =
                matches!(ask.request.kind, RequestKind::Approval | RequestKind::PlanExit);
            match self.manners.always.filter(|_| is_yes_or_no) {
                Some(approved) => {
                    let answer = decided(&ask.request.id, approved);
                    call(&self.client, answer).await?;
                }
                None if prompts.can_ask() && ask.request.kind != RequestKind::ExternalTool => {
                    prompts.put(ask);
                }
                None => self.tell_how(&ask)?,
            }
        }
        prompts.open_next(&mut self.screen)
    }

    /// Says what waits and how to answer it from elsewhere.
    fn tell_how(&mut self, ask: &Ask) -> Outcome<()> {
        let id = requests::short_id(&ask.request.id, std::iter::empty());
        let how = match ask.request.kind {
            RequestKind::Approval | RequestKind::PlanExit => {
                format!("answer with `rookery approve {id}` or `rookery deny {id}`")
            }
            RequestKind::Input => {
                let keys = ask.questions.iter().map(|one| format!(" {}=…", safe::line(&one.id)));
                format!("answer with `rookery answer {id}{}`", keys.collect::<String>())
            }
            RequestKind::ExternalTool => "the client that runs the tool has to answer".to_owned(),
        };
        self.screen.details(&requests::details(ask))?;
        let kind = requests::kind(ask.request.kind);
        let text = format!("waiting: {kind}, {}; {how}", requests::summary(&ask.request));
        self.screen.note(Tone::Warning, &text)
    }

    /// Takes a typed line.
    async fn typed(&mut self, line: Option<String>, prompts: &mut Prompts) -> Outcome<()> {
        let Some(line) = line else {
            // The terminal is closed; the request waits for an answer from another client.
            for ask in prompts.close() {
                self.tell_how(&ask)?;
            }
            return Ok(());
        };
        self.screen.answered();
        match prompts.take(&line) {
            Some(Next::Answer(answer)) => {
                self.answer(answer).await?;
                prompts.open_next(&mut self.screen)
            }
            Some(Next::Again | Next::More) => prompts.ask(&mut self.screen),
            None => Ok(()),
        }
    }

    async fn answer(&mut self, answer: AnswerRequest) -> Outcome<()> {
        let answered: Answered = call(&self.client, answer).await?;
        if !answered.settled {
            self.screen.note(Tone::Warning, "another client answered first")?;
        }
        Ok(())
    }

    /// Withdraws a question that was answered elsewhere.
    fn withdrawn(&mut self, id: &str, about: &About, prompts: &mut Prompts) -> Outcome<()> {
        if !prompts.withdraw(id) {
            return Ok(());
        }
        let how = match about.approved {
            Some(true) => "approved",
            Some(false) => "denied",
            None => "settled",
        };
        let by = about.source.as_deref().map(|by| format!(" by {}", safe::line(by)));
        let text = format!("[{how} elsewhere{}]", by.unwrap_or_default());
        self.screen.note(Tone::Warning, &text)?;
        prompts.open_next(&mut self.screen)
    }

    /// After notifications were lost: whether the turn is over.
    async fn catch_up(&mut self, turn: &str) -> Outcome<Option<Ended>> {
        self.missed = self.client.missed();
        let short = show::short_id(&self.thread);
        let text =
            format!("some output was missed; `rookery threads show {short}` prints all of it");
        self.screen.note(Tone::Warning, &text)?;
        let params = ThreadReadParams { thread_id: self.thread.clone(), include_turns: true };
        let read: ThreadReadResult = call(&self.client, params).await?;
        let turns = read.thread.and_then(|thread| thread.turns).unwrap_or_default();
        Ok(turns.iter().find(|one| one.id == turn).and_then(end))
    }

    /// Prints what the turn has cost, if stderr is a terminal.
    pub(super) fn tell_usage(&mut self) -> Outcome<()> {
        let Some(Spent { usage, millis }) = self.spent.take() else { return Ok(()) };
        if !io::stderr().is_terminal() || usage.total_tokens == 0 {
            return Ok(());
        }
        let mut text = format!("{} tokens in", usage.prompt_tokens);
        if usage.cached_prompt_tokens > 0 {
            text += &format!(" ({} cached)", usage.cached_prompt_tokens);
        }
        text += &format!(", {} out", usage.completion_tokens);
        if let Some(millis) = millis {
            text += &format!(" · {}", age::took(millis));
        }
        self.screen.note(Tone::Faint, &text)
    }

    /// The last line of a turn in JSON.
    pub(super) fn tell_end(&self, turn: &str, ended: &Ended) -> Outcome<()> {
        let (status, error) = match ended {
            Ended::Completed => ("completed", None),
            Ended::Failed(error) => ("failed", Some(&**error)),
            Ended::Interrupted => ("interrupted", None),
            Ended::Left(_) => ("left", None),
        };
        let done = Done { r#type: "done", thread_id: &self.thread, turn_id: turn, status, error };
        let text = serde_json::to_string(&done);
        let text = text.map_err(|error| Failure::new(format!("cannot write JSON: {error}")))?;
        output::line(safe::json(&text))
    }
}

/// How a turn ended, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done<'a> {
    r#type: &'static str,
    thread_id: &'a str,
    turn_id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Option<T> {
    serde_json::from_str(params).ok()
}

/// How a turn ended, if it did.
fn end(turn: &Turn) -> Option<Ended> {
    match turn.status {
        TurnStatus::InProgress => None,
        TurnStatus::Completed => Some(Ended::Completed),
        TurnStatus::Interrupted => Some(Ended::Interrupted),
        TurnStatus::Failed => {
            let message = turn.error.as_ref().map(|error| safe::line(&error.message));
            Some(Ended::Failed(message.unwrap_or_else(|| "the turn failed".to_owned())))
        }
    }
}

#[cfg(test)]
mod tests;
