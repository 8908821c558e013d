//! A connection that follows one thread, and a turn of it from its start to its end.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use rookery_native::{
    notification,
    wire::{
        AnswerRequest, Answered, Request, RequestKind, RequestState, ThreadItems, ThreadNews,
        ThreadNotification, ThreadRead, ThreadSubscribe, ThreadUnsubscribe, Turn, TurnInterrupt,
        TurnStatus, Usage,
    },
};
use rookery_view::safe;
use rookery_wire::{Client, client::Notification};
use rustix::{io::Errno, termios::tcgetattr};
use tokio::{sync::mpsc, time::timeout};

use super::{
    asking::{Next, decided},
    prompts::Prompts,
    relay::Relay,
    screen::Screen,
};
use crate::{
    failure::{Failure, Outcome},
    link::call,
    output::Tone,
    stop::Stop,
    talk::{age, mode, requests, show},
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
pub(super) struct DecisionMode {
    /// The answer to everything, if there is one.
    pub(super) always: Option<bool>,
    /// Whether questions can be asked at the terminal.
    pub(super) can_ask: bool,
}

/// A thread that is followed.
pub(super) struct Talk {
    pub(super) client: Client,
    pub(super) thread: String,
    pub(super) screen: Screen,
    pub(super) stop: Stop,
    /// Prints what happens as it is, instead of showing it.
    pub(super) relay: Option<Relay>,
    notifications: mpsc::Receiver<Notification>,
    /// What we are subscribed to; none before the first thread, and after the daemon gave us up.
    subscription: Option<u64>,
    decisions: DecisionMode,
    /// Notifications that were lost, as far as it was reported.
    missed: u64,
    /// How the turn that is followed ended, before all of it was printed.
    ended: Option<Ended>,
    /// What the turn that ended last has cost.
    spent: Option<Spent>,
}

/// What a turn has cost.
struct Spent {
    usage: Usage,
    millis: Option<u64>,
}

fn notifications_of(client: &Client) -> Outcome<mpsc::Receiver<Notification>> {
    client.notifications().ok_or_else(|| Failure::new("no notifications"))
}

impl Talk {
    /// A connection that follows no thread yet.
    pub(super) fn new(client: Client, screen: Screen, decisions: DecisionMode) -> Outcome<Self> {
        Ok(Self {
            notifications: notifications_of(&client)?,
            client,
            thread: String::new(),
            screen,
            stop: Stop::new()?,
            relay: None,
            subscription: None,
            decisions,
            missed: 0,
            ended: None,
            spent: None,
        })
    }

    /// Follows this thread from now on, and no other.
    pub(super) async fn follow(&mut self, thread: &str) -> Outcome<()> {
        if let Some(subscription) = self.subscription.take() {
            call(&self.client, ThreadUnsubscribe { subscription }).await?;
        }
        thread.clone_into(&mut self.thread);
        let params = ThreadSubscribe { thread: Some(thread.to_owned()) };
        self.subscription = Some(call(&self.client, params).await?.subscription);
        Ok(())
    }

    /// Takes another connection, after the daemon was replaced.
    pub(super) async fn reconnect(&mut self, client: Client) -> Outcome<()> {
        self.notifications = notifications_of(&client)?;
        (self.client, self.missed, self.subscription) = (client, 0, None);
        let thread = std::mem::take(&mut self.thread);
        self.follow(&thread).await
    }

    /// Discards notifications until the connection is over, which may be known
    /// already, or a signal asks us to end.
    pub(super) async fn idle(&mut self, is_connected: bool) -> Idle {
        loop {
            tokio::select! {
                message = self.notifications.recv(), if is_connected => {
                    let Some(message) = message else { return Idle::Disconnected };
                    self.notice_loss(&message);
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
        let mut prompts = Prompts::new(self.decisions.can_ask)?;
        let mut is_interrupting = false;
        self.ended = None;
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
            if (self.client.missed() > self.missed || self.subscription.is_none())
                && let Some(ended) = self.catch_up(turn).await?
            {
                return Ok(ended);
            }
        }
    }

    fn lost(&self) -> Failure {
        let short = show::short_id(&self.thread);
        Failure::new("lost the connection to the daemon")
            .hint(format!("continue with `rookery chat --thread {short}` when it is back"))
    }

    /// Interrupts a turn; the result is reported by its end.
    async fn interrupt(&self, turn: &str) {
        let params = TurnInterrupt { thread: self.thread.clone(), turn: Some(turn.to_owned()) };
        let _ = timeout(PATIENCE, self.client.send(params)).await;
    }

    /// Shows a notification; gives the end of the turn once all of it was shown.
    async fn take(
        &mut self,
        turn: &str,
        message: &Notification,
        prompts: &mut Prompts,
    ) -> Outcome<Option<Ended>> {
        if message.method != notification::THREAD {
            // The end of the turn is the last that is printed of it.
            if let Some(relay) = self.relay.as_mut().filter(|relay| !relay.has_ended(turn)) {
                relay.print(&self.thread, message)?;
            }
        } else if let Some(news) = self.news(message) {
            self.show(turn, news, prompts).await?;
        }
        // The stream for programs has its own end of the turn, which may come later than ours.
        let is_shown = self.relay.as_ref().is_none_or(|relay| relay.has_ended(turn));
        Ok(self.ended.take_if(|_| is_shown))
    }

    /// What happened to our thread, if the notification says so.
    fn news(&mut self, message: &Notification) -> Option<ThreadNews> {
        self.notice_loss(message);
        let told: ThreadNotification = serde_json::from_str(message.params.get()).ok()?;
        (told.thread.as_ref() == Some(&self.thread)).then_some(told.news)
    }

    /// Notices that the daemon gave us up, so that the thread is followed anew.
    fn notice_loss(&mut self, message: &Notification) {
        let told = serde_json::from_str::<ThreadNotification>(message.params.get());
        let is_ours = |told: &ThreadNotification| self.subscription == Some(told.subscription);
        if message.method == notification::THREAD
            && told.is_ok_and(|told| is_ours(&told) && matches!(told.news, ThreadNews::Lost {}))
        {
            self.subscription = None;
        }
    }

    async fn show(&mut self, turn: &str, news: ThreadNews, prompts: &mut Prompts) -> Outcome<()> {
        match news {
            ThreadNews::TurnEnded { turn: done } if done.id == turn => {
                self.spent = Some(Spent { usage: done.usage, millis: done.duration_ms });
                self.ended = end(&done);
                Ok(())
            }
            ThreadNews::RequestOpened { request } => {
                if prompts.renew(&request) {
                    self.screen.note(Tone::Warning, "[rewritten elsewhere]")?;
                }
                self.decide(std::iter::once(*request), prompts).await
            }
            ThreadNews::RequestSettled { request } => self.withdrawn(&request, prompts),
            _ if self.relay.is_some() => Ok(()),
            ThreadNews::ItemStarted { item, .. } => {
                self.screen.started(&item)?;
                prompts.repeat(&mut self.screen)
            }
            ThreadNews::ItemCompleted { item, .. } => {
                self.screen.completed(&item)?;
                prompts.repeat(&mut self.screen)
            }
            ThreadNews::ItemDelta { item, of, text, .. } => self.screen.grew(&item, of, &text),
            ThreadNews::ModeChanged { to, .. } => {
                self.screen.note(Tone::Faint, &format!("the mode is {} now", mode::word(to)))
            }
            ThreadNews::Warning { message } => {
                let text = format!("warning: {}", safe::line(&message));
                self.screen.note(Tone::Warning, &text)
            }
            _ => Ok(()),
        }
    }

    /// Finds out what was asked before we followed it, in a thread that runs already.
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
        asked: impl Iterator<Item = Request>,
        prompts: &mut Prompts,
    ) -> Outcome<()> {
        for request in asked {
            if !prompts.is_new(&request.id) {
                continue;
            }
            let is_yes_or_no =
                matches!(request.kind, RequestKind::Approval | RequestKind::PlanExit);
            match self.decisions.always.filter(|_| is_yes_or_no) {
                Some(approved) => {
                    call(&self.client, decided(&request.id, approved)).await?;
                }
                None if prompts.can_ask() && request.kind != RequestKind::ExternalTool => {
                    prompts.put(request);
                }
                None => self.print_how_to_answer(&request)?,
            }
        }
        prompts.open_next(&mut self.screen)
    }

    /// Says what waits and how to answer it from elsewhere.
    fn print_how_to_answer(&mut self, request: &Request) -> Outcome<()> {
        let id = requests::short_id(&request.id, std::iter::empty());
        let how = match request.kind {
            RequestKind::Approval | RequestKind::PlanExit => {
                format!("answer with `rookery approve {id}` or `rookery deny {id}`")
            }
            RequestKind::Input => {
                let questions = request.questions.iter();
                let keys = questions.map(|one| format!(" {}=…", safe::line(&one.id)));
                format!("answer with `rookery answer {id}{}`", keys.collect::<String>())
            }
            RequestKind::ExternalTool => "the client that runs the tool has to answer".to_owned(),
        };
        self.screen.details(&requests::details(request))?;
        let kind = requests::kind(request.kind);
        let text = format!("waiting: {kind}, {}; {how}", requests::summary(request));
        self.screen.note(Tone::Warning, &text)
    }

    /// Takes a typed line.
    async fn typed(&mut self, line: Option<String>, prompts: &mut Prompts) -> Outcome<()> {
        let Some(line) = line else {
            // The terminal is closed; the request waits for an answer from another client.
            for request in prompts.close() {
                self.print_how_to_answer(&request)?;
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
    fn withdrawn(&mut self, request: &Request, prompts: &mut Prompts) -> Outcome<()> {
        if !prompts.withdraw(&request.id) {
            return Ok(());
        }
        let how = match request.state {
            RequestState::Approved => "approved",
            RequestState::Denied => "denied",
            _ => "settled",
        };
        let by = request.settled_by.as_deref().map(|by| format!(" by {}", safe::line(by)));
        let text = format!("[{how} elsewhere{}]", by.unwrap_or_default());
        self.screen.note(Tone::Warning, &text)?;
        prompts.open_next(&mut self.screen)
    }

    /// After notifications were lost: whether the turn is over.
    async fn catch_up(&mut self, turn: &str) -> Outcome<Option<Ended>> {
        self.missed = self.client.missed();
        if self.subscription.is_none() {
            let thread = self.thread.clone();
            self.follow(&thread).await?;
        }
        let short = show::short_id(&self.thread);
        let text =
            format!("some output was missed; `rookery threads show {short}` prints all of it");
        self.screen.note(Tone::Warning, &text)?;
        let thread = self.thread.clone();
        let params = ThreadRead { thread, before: None, limit: None, max_bytes: None };
        let read: ThreadItems = call(&self.client, params).await?;
        Ok(read.turns.iter().find(|one| one.id == turn).and_then(end))
    }

    /// Prints what the turn has cost, if stderr is a terminal.
    pub(super) fn print_usage(&mut self) -> Outcome<()> {
        let Some(Spent { usage, millis }) = self.spent.take() else { return Ok(()) };
        if !io::stderr().is_terminal() || usage.prompt + usage.completion == 0 {
            return Ok(());
        }
        let mut text = format!("{} tokens in", usage.prompt);
        if usage.cached > 0 {
            text += &format!(" ({} cached)", usage.cached);
        }
        text += &format!(", {} out", usage.completion);
        if let Some(millis) = millis {
            text += &format!(" · {}", age::took(millis));
        }
        self.screen.note(Tone::Faint, &text)
    }
}

/// How a turn ended, if it did.
fn end(turn: &Turn) -> Option<Ended> {
    match turn.status {
        TurnStatus::InProgress => None,
        TurnStatus::Completed => Some(Ended::Completed),
        TurnStatus::Interrupted => Some(Ended::Interrupted),
        TurnStatus::Failed => {
            let message = turn.error.as_deref().map(safe::line);
            Some(Ended::Failed(message.unwrap_or_else(|| "the turn failed".to_owned())))
        }
    }
}

#[cfg(test)]
mod tests;
