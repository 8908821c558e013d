//! One server, looked after: started, asked for its tools, started again, and called.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject};
use rmcp::service::{Peer, RoleClient, ServiceError};
use rookery_host::http::Client;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::connect::{self, Connection, service_words};
use super::offers::{Offer, offers};
use super::output::output;
use super::{McpState, McpStatus};
use crate::providers::mask;
use crate::settings::{McpServerSettings, Secret};
use crate::tool::ToolOutput;

/// How many calls of one server may be at work.
const MAX_CALLS: usize = 16;

/// The waits before a server that does not work is tried again.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(super) struct Server {
    name: String,
    settings: McpServerSettings,
    /// Variables that its program does not inherit.
    withheld: Vec<String>,
    secrets: Vec<String>,
    offered: Mutex<(Arc<Vec<Offer>>, usize)>,
    state: watch::Sender<State>,
    /// Notified when the server is needed now.
    needed: Notify,
    /// The newest attempt whose connection a call found broken.
    broken: watch::Sender<u64>,
    calls: Semaphore,
    changes: watch::Sender<u64>,
}

/// Where an attempt to reach a server stands.
struct State {
    attempt: u64,
    link: ConnectionState,
}

/// The way to a server.
enum ConnectionState {
    /// It is looked for.
    Connecting,
    /// Here it is.
    Open(Peer<RoleClient>),
    /// There is none, for this reason.
    Closed(String),
}

impl Server {
    /// Begins to look after a server.
    pub(super) fn begin(
        name: &str,
        settings: &McpServerSettings,
        client: &Client,
        withheld: &[String],
        changes: watch::Sender<u64>,
        stopped: CancellationToken,
    ) -> Arc<Self> {
        let values = settings.env.values().chain(settings.headers.values());
        let server = Arc::new(Self {
            name: name.to_owned(),
            settings: settings.clone(),
            withheld: withheld.to_vec(),
            secrets: values.map(Secret::expose).map(str::to_owned).collect(),
            offered: Mutex::default(),
            state: watch::Sender::new(State { attempt: 1, link: ConnectionState::Connecting }),
            needed: Notify::new(),
            broken: watch::Sender::new(0),
            calls: Semaphore::new(MAX_CALLS),
            changes,
        });
        let wrong = match (settings.command.is_empty(), &settings.url) {
            (true, None) => Some("names neither a command nor a url"),
            (false, Some(_)) => Some("names both a command and a url"),
            _ => None,
        };
        match wrong {
            Some(wrong) => server.close(1, &format!("its setting {wrong}")),
            None => {
                let keeping = Arc::clone(&server).keep(client.clone());
                tokio::spawn(stopped.run_until_cancelled_owned(keeping));
            }
        }
        server
    }

    /// Its name in the settings.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the settings always allow a tool of it, by the server's own name for it.
    pub(super) fn always_allows(&self, tool: &str) -> bool {
        self.settings.always_allow.iter().any(|allowed| allowed == tool)
    }

    /// The tools it offered last.
    pub(super) fn offers(&self) -> Arc<Vec<Offer>> {
        Arc::clone(&self.offered.lock().0)
    }

    /// How it is.
    pub(super) fn status(&self) -> McpStatus {
        let state = match &self.state.borrow().link {
            ConnectionState::Connecting => McpState::Starting,
            ConnectionState::Open(_) => McpState::Ready,
            ConnectionState::Closed(reason) => McpState::Failed(reason.clone()),
        };
        let offered = self.offered.lock();
        McpStatus { name: self.name.clone(), state, tools: offered.0.len(), left_out: offered.1 }
    }

    /// Calls one of its tools. A server that is not there is started first.
    pub(super) async fn call(&self, tool: &str, arguments: Option<JsonObject>) -> ToolOutput {
        let (attempt, peer) = match self.peer().await {
            Ok(found) => found,
            Err(reason) => return self.error(&reason),
        };
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = arguments;
        let call = async {
            let _permit = self.calls.acquire().await;
            peer.call_tool_once(params).await
        };
        match timeout(self.settings.tool_timeout, call).await {
            Ok(Ok(CallToolResponse::Complete(result))) => output(result),
            Ok(Ok(_)) => self.error("it asks for more input, which is not supported"),
            Ok(Err(error)) => {
                if matches!(error, ServiceError::TransportSend(_) | ServiceError::TransportClosed) {
                    self.broken.send_if_modified(|newest| {
                        std::mem::replace(newest, attempt.max(*newest)) < attempt
                    });
                }
                self.error(&service_words(&error))
            }
            Err(_) => {
                let seconds = self.settings.tool_timeout.as_secs();
                self.error(&format!("{tool} did not answer within {seconds} s"))
            }
        }
    }

    fn error(&self, reason: &str) -> ToolOutput {
        let text = format!("mcp server {}: {reason}", self.name);
        ToolOutput::error(mask(&text, &self.secrets))
    }

    /// The way to it, waited for as long as it may take to start, with the attempt that found it.
    async fn peer(&self) -> Result<(u64, Peer<RoleClient>), String> {
        let mut states = self.state.subscribe();
        let wanted = {
            let state = states.borrow_and_update();
            match &state.link {
                // One that was lost is not known to be until its keeper looks.
                ConnectionState::Open(peer) if !peer.is_transport_closed() => {
                    return Ok((state.attempt, peer.clone()));
                }
                ConnectionState::Connecting => state.attempt,
                _ => state.attempt + 1,
            }
        };
        self.needed.notify_one();
        let patience = self.settings.startup_timeout + FIRST_WAIT;
        let sought = timeout(patience, async {
            loop {
                states.changed().await.map_err(|_| "it is being ended".to_owned())?;
                let state = states.borrow_and_update();
                match &state.link {
                    ConnectionState::Open(peer) if state.attempt >= wanted => {
                        return Ok((state.attempt, peer.clone()));
                    }
                    ConnectionState::Closed(reason) if state.attempt >= wanted => {
                        return Err(reason.clone());
                    }
                    _ => {}
                }
            }
        });
        sought.await.unwrap_or_else(|_| Err(self.unanswered()))
    }

    fn unanswered(&self) -> String {
        format!("no answer within {} s", self.settings.startup_timeout.as_secs())
    }

    /// Starts it, and starts it again whenever it is lost.
    async fn keep(self: Arc<Self>, client: Client) {
        let (mut wait, mut attempt) = (FIRST_WAIT, 1);
        loop {
            let opened = timeout(self.settings.startup_timeout, self.open(&client)).await;
            let reason = match opened.unwrap_or_else(|_| Err(self.unanswered())) {
                Ok(connection) => {
                    wait = FIRST_WAIT;
                    self.attend(connection, attempt).await
                }
                Err(reason) => reason,
            };
            self.close(attempt, &reason);
            tokio::select! {
                () = sleep(wait) => {}
                () = self.needed.notified() => {}
            }
            wait = (wait * 2).min(LONGEST_WAIT);
            attempt += 1;
            self.set(attempt, ConnectionState::Connecting);
        }
    }

    async fn open(&self, client: &Client) -> Result<Connection, String> {
        let connection =
            Connection::open(&self.name, &self.settings, client, &self.withheld).await?;
        self.list(&connection.peer()).await?;
        Ok(connection)
    }

    async fn list(&self, peer: &Peer<RoleClient>) -> Result<(), String> {
        let (offered, left_out) = offers(connect::tools(peer).await?, &self.settings);
        if left_out > 0 {
            let name = &self.name;
            tracing::warn!(
                "mcp server {name}: {left_out} tools are dropped, they exceed the limit"
            );
        }
        *self.offered.lock() = (Arc::new(offered), left_out);
        Ok(())
    }

    /// Stays with a server until it is lost, and says why.
    async fn attend(&self, connection: Connection, attempt: u64) -> String {
        let (peer, changed) = (connection.peer(), Arc::clone(&connection.changed));
        self.set(attempt, ConnectionState::Open(peer.clone()));
        let mut broken = self.broken.subscribe();
        let mut broken = std::pin::pin!(async move {
            let _ = broken.wait_for(|newest| *newest >= attempt).await;
        });
        let mut lost = std::pin::pin!(connection.lost());
        loop {
            tokio::select! {
                reason = &mut lost => return reason,
                () = &mut broken => {
                    // If it is a program that ended, it is better known why.
                    let reason = timeout(FIRST_WAIT, &mut lost).await;
                    return reason.unwrap_or_else(|_| "the connection broke".to_owned());
                }
                () = changed.notified() => {}
            }
            tokio::select! {
                reason = &mut lost => return reason,
                listed = timeout(self.settings.startup_timeout, self.list(&peer)) => {
                    let listed = listed.unwrap_or_else(|_| Err(self.unanswered()));
                    if let Err(reason) = listed {
                        tracing::warn!("mcp server {}: {reason}", self.name);
                    }
                    self.changes.send_modify(|count| *count += 1);
                }
            }
        }
    }

    fn close(&self, attempt: u64, reason: &str) {
        let reason = mask(reason, &self.secrets);
        tracing::warn!("mcp server {}: {reason}", self.name);
        self.set(attempt, ConnectionState::Closed(reason));
    }

    fn set(&self, attempt: u64, link: ConnectionState) {
        self.state.send_replace(State { attempt, link });
        self.changes.send_modify(|count| *count += 1);
    }
}
