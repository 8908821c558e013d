//! A program that is an agent: started, greeted, given a session, and killed with all that it started.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    ResumeSessionRequest, SessionConfigOption, SessionConfigOptionCategory, SessionNotification,
    SetSessionConfigOptionRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, ErrorCode, JsonRpcRequest, Lines};
use rookery_host::{PipeCommand, PipedProgram};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::choice::{Change, Choice, choose};
use super::lines::{self, LineRouter};
use super::prompt::Mark;
use super::{DEFAULT_MODEL, Options};
use crate::complaints::{self, LastErrorLine};
use crate::provider::{Failure, FailureKind};
use crate::providers::Loan;
use crate::providers::settings::mask;
use crate::settings::Secret;

/// How many updates may wait to be read.
const UPDATES: usize = 256;

/// How many questions an agent may have open.
pub(super) const ASKS: usize = 16;

/// How long after its pipes closed a program may take to be gone, so that its exit status is known.
const END_LIMIT: Duration = Duration::from_secs(1);

/// A question of an agent's, with the way to answer it.
pub(super) struct Ask {
    pub(super) request: RequestPermissionRequest,
    responder: Responder<RequestPermissionResponse>,
    gate: Arc<Semaphore>,
}

impl Ask {
    /// Answers it. An agent that is gone needs no answer.
    pub(super) fn answer(self, outcome: RequestPermissionOutcome) {
        let _ = self.responder.respond(RequestPermissionResponse::new(outcome));
        self.gate.add_permits(1);
    }
}

/// What an agent says.
pub(super) struct Inbox {
    pub(super) updates: mpsc::Receiver<SessionNotification>,
    pub(super) asks: mpsc::Receiver<Ask>,
}

impl Inbox {
    /// Discards updates without a receiver.
    pub(super) fn clear(&mut self) {
        while self.updates.try_recv().is_ok() {}
        while let Ok(ask) = self.asks.try_recv() {
            ask.answer(RequestPermissionOutcome::Cancelled);
        }
    }
}

/// An agent at work. Dropping it kills the program.
pub(super) struct Live {
    /// Where it works.
    pub(super) cwd: PathBuf,
    /// The keys that it was started with, besides its own.
    keys: Vec<Loan>,
    /// What it can do.
    pub(super) capabilities: AgentCapabilities,
    /// The session that is open, and what it heard.
    pub(super) mark: Option<Mark>,
    /// What can be chosen in it.
    config: Vec<SessionConfigOption>,
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) inbox: Inbox,
    words: Words,
    startup: Duration,
    _driver: AbortOnDropHandle<()>,
}

impl Live {
    /// Starts a program with the keys of a caller, and greets it.
    pub(super) async fn start(
        options: &Options,
        cwd: &Path,
        keys: &[Loan],
    ) -> Result<Self, Failure> {
        let lent = keys.iter().filter_map(|loan| Some((loan.variable()?, loan.key())));
        let set = options.env.iter().map(|(name, value)| (name.as_str(), value));
        let env: Vec<(&str, &Secret)> = lent.chain(set).collect();
        let command = PipeCommand {
            argv: options.command.iter().map(Into::into).collect(),
            env: env.iter().map(|(name, value)| (name.into(), value.expose().into())).collect(),
            cwd: Some(cwd.to_owned()),
            ..PipeCommand::default()
        };
        let secrets: Vec<String> = env.iter().map(|(_, value)| value.expose().to_owned()).collect();
        let started = PipedProgram::start(command).await;
        let (program, pipes) = started.map_err(|error| {
            let message = mask(&format!("{}: {error}", options.id), &secrets);
            Failure { message, kind: FailureKind::Unavailable }
        })?;
        let complaint = LastErrorLine::default();
        let listening =
            complaints::listen(options.id.clone(), pipes.stderr, Arc::clone(&complaint));
        tokio::spawn(listening);
        let words = Words { id: options.id.clone(), program, complaint, secrets };
        let gate = Arc::new(Semaphore::new(ASKS));
        let (updates, inbox_updates) = mpsc::channel(UPDATES);
        let sorter = LineRouter { name: options.id.clone(), updates, gate: Arc::clone(&gate) };
        let transport =
            Lines::new(lines::outgoing(pipes.stdin), lines::incoming(pipes.stdout, sorter));
        let (asks, inbox_asks) = mpsc::channel(ASKS);
        let (give, given) = oneshot::channel();
        let driver = tokio::spawn(drive(transport, asks, gate, give));
        let driver = AbortOnDropHandle::new(driver);
        let inbox = Inbox { updates: inbox_updates, asks: inbox_asks };
        let Ok(connection) = given.await else { return Err(words.lost(None, "it began").await) };
        let mut live = Self {
            cwd: cwd.to_owned(),
            keys: keys.to_vec(),
            capabilities: AgentCapabilities::default(),
            mark: None,
            config: Vec::new(),
            connection,
            inbox,
            words,
            startup: options.startup,
            _driver: driver,
        };
        live.greet().await?;
        Ok(live)
    }

    /// Whether it can serve a caller: where it works, and with the caller's own keys or none.
    pub(super) fn fits(&self, cwd: &Path, keys: &[Loan]) -> bool {
        let told =
            |loan: &Loan| (loan.variable().map(str::to_owned), loan.key().expose().to_owned());
        let has_keys = self.keys.iter().map(told).eq(keys.iter().map(told));
        self.is_alive() && self.cwd == cwd && has_keys
    }

    /// Whether it can still be spoken with.
    pub(super) fn is_alive(&self) -> bool {
        self.words.program.ended().is_none()
            && self.connection.termination().is_none()
            && !self.connection.is_incoming_closed()
    }

    async fn greet(&mut self) -> Result<(), Failure> {
        let us = Implementation::new("rookery", env!("CARGO_PKG_VERSION"));
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let hello = self.ask(hello, "it was greeted").await?;
        if hello.protocol_version != ProtocolVersion::V1 {
            let version = hello.protocol_version.as_u16();
            let message = format!(
                "{}: the agent speaks version {version} of the protocol, not 1",
                self.words.id
            );
            return Err(Failure { message, kind: FailureKind::Rejected });
        }
        self.capabilities = hello.agent_capabilities;
        Ok(())
    }

    /// Opens a session that has heard nothing.
    pub(super) async fn begin(&mut self) -> Result<String, Failure> {
        let request = NewSessionRequest::new(self.cwd.clone());
        let session = self.ask(request, "a session was opened").await?;
        self.config = session.config_options.unwrap_or_default();
        Ok(session.session_id.to_string())
    }

    /// Takes up a session again, if the agent can and still knows it.
    pub(super) async fn resume(&mut self, session: &str) -> Result<bool, Failure> {
        let (doing, cwd) = ("a session was taken up again", self.cwd.clone());
        let done = if self.capabilities.session_capabilities.resume.is_some() {
            let request = ResumeSessionRequest::new(session.to_owned(), cwd);
            self.ask(request, doing).await.map(|session| session.config_options)
        } else if self.capabilities.load_session {
            let request = LoadSessionRequest::new(session.to_owned(), cwd);
            self.ask(request, doing).await.map(|session| session.config_options)
        } else {
            return Ok(false);
        };
        // What it reported of the past is known here already.
        self.inbox.clear();
        match done {
            Ok(config) => {
                self.config = config.unwrap_or_default();
                Ok(true)
            }
            Err(failure) if !self.is_alive() || failure.kind == FailureKind::Auth => Err(failure),
            Err(failure) => {
                tracing::info!("{}; a new session begins", failure.message);
                Ok(false)
            }
        }
    }

    /// Lets a session use a model, and think as hard as it should if that can be chosen. The default
    /// model is whichever the agent likes.
    pub(super) async fn choose(
        &mut self,
        session: &str,
        model: &str,
        effort: Option<&str>,
    ) -> Result<(), Failure> {
        if ![DEFAULT_MODEL, ""].contains(&model) {
            match choose(&self.config, &SessionConfigOptionCategory::Model, model) {
                Choice::Made => {}
                Choice::Change(change) => self.change(session, change).await?,
                Choice::Missing => {
                    let message = format!("{}: the agent has no model {model}", self.words.id);
                    return Err(Failure { message, kind: FailureKind::Rejected });
                }
            }
        }
        let level = SessionConfigOptionCategory::ThoughtLevel;
        match effort.map(|effort| choose(&self.config, &level, effort)) {
            Some(Choice::Change(change)) => self.change(session, change).await,
            _ => Ok(()),
        }
    }

    async fn change(&mut self, session: &str, change: Change) -> Result<(), Failure> {
        let request = SetSessionConfigOptionRequest::new(
            session.to_owned(),
            change.option,
            change.value.as_str(),
        );
        let changed = self.ask(request, "its model was chosen").await?;
        self.config = changed.config_options;
        Ok(())
    }

    /// Asks something that is no prompt. What it says meanwhile is thrown away.
    async fn ask<Request>(
        &mut self,
        request: Request,
        doing: &str,
    ) -> Result<Request::Response, Failure>
    where
        Request: JsonRpcRequest,
        Request::Response: Send,
    {
        let answer = self.connection.send_request(request).block_task();
        let inbox = &mut self.inbox;
        let answer = timeout(self.startup, async {
            let mut answer = std::pin::pin!(answer);
            loop {
                tokio::select! {
                    biased;
                    Some(_) = inbox.updates.recv() => {}
                    Some(ask) = inbox.asks.recv() => ask.answer(RequestPermissionOutcome::Cancelled),
                    answer = &mut answer => break answer,
                }
            }
        });
        match answer.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.failed(error, doing).await),
            Err(_) => Err(self.silent(self.startup, doing)),
        }
    }

    /// Why something could not be done.
    pub(super) async fn failed(&self, error: Error, doing: &str) -> Failure {
        // That its pipe closed is seen a little earlier than that it ended.
        if !self.is_alive() {
            return self.words.lost(Some(&error), doing).await;
        }
        let (kind, what) = match error.code {
            ErrorCode::AUTH_REQUIRED => (FailureKind::Auth, "the agent wants a login of its own"),
            _ => (FailureKind::Rejected, "the agent answered with an error"),
        };
        let message = format!("{}: {what} when {doing}: {}", self.words.id, one_line(&error));
        Failure { message: mask(&message, &self.words.secrets), kind }
    }

    /// That nothing came for too long.
    pub(super) fn silent(&self, patience: Duration, doing: &str) -> Failure {
        let seconds = patience.as_secs();
        let message =
            format!("{}: the agent said nothing for {seconds} s when {doing}", self.words.id);
        Failure { message, kind: FailureKind::Unavailable }
    }
}

/// The program, and how its exit is reported.
struct Words {
    id: String,
    program: PipedProgram,
    complaint: LastErrorLine,
    secrets: Vec<String>,
}

impl Words {
    async fn lost(&self, error: Option<&Error>, doing: &str) -> Failure {
        let ended = timeout(END_LIMIT, self.program.wait()).await.ok();
        let mut message = match ended {
            Some(code @ 0..) => format!("{}: the agent ended with status {code}", self.id),
            Some(signal) => format!("{}: the agent was killed by signal {}", self.id, -signal),
            None => format!("{}: the agent cannot be spoken with any more", self.id),
        };
        message.push_str(&format!(" when {doing}"));
        let complaint = self.complaint.lock().clone();
        if !complaint.is_empty() {
            message.push_str(&format!(": {complaint}"));
        } else if let (None, Some(error)) = (ended, error) {
            message.push_str(&format!(": {}", one_line(error)));
        }
        Failure { message: mask(&message, &self.secrets), kind: FailureKind::Unavailable }
    }
}

fn one_line(error: &Error) -> String {
    let detail = error.data.as_ref().and_then(|data| {
        let text = data.as_str().or_else(|| data.get("details")?.as_str());
        text.map(|text| format!(": {text}"))
    });
    let mut line = format!("{}{}", error.message, detail.unwrap_or_default()).replace('\n', " ");
    line.truncate(line.floor_char_boundary(complaints::LONGEST));
    line
}

/// Serves the connection until the agent closes it.
async fn drive<EventSink, In>(
    transport: Lines<EventSink, In>,
    asks: mpsc::Sender<Ask>,
    gate: Arc<Semaphore>,
    give: oneshot::Sender<ConnectionTo<Agent>>,
) where
    EventSink: futures_util::Sink<String, Error = std::io::Error> + Send + 'static,
    In: futures_util::Stream<Item = std::io::Result<String>> + Send + 'static,
{
    let served = Client
        .v1()
        .name("rookery")
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                let ask = Ask { request, responder, gate: Arc::clone(&gate) };
                // The gate lets no more through than there is room for.
                asks.try_send(ask).map_err(|_| Error::internal_error())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
            let _ = give.send(connection.clone());
            connection.incoming_closed().await;
            Ok(())
        });
    if let Err(error) = served.await {
        tracing::debug!("the connection to an agent ended: {}", one_line(&error));
    }
}
