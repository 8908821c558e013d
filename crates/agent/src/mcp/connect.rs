//! The way to a server: a program on its pipes, or a page, greeted and asked for its tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, Tool};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, QuitReason, RoleClient, RunningService,
    ServiceError, ServiceExt as _,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rookery_host::http::Client;
use rookery_host::{PipeCommand, PipedProgram};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::complaints::{self, LastErrorLine};
use crate::settings::McpServerSettings;

/// How many pages a list of tools may have.
const MAX_PAGES: usize = 32;

/// How many tools are looked at, of which not all are offered.
const MAX_LISTED: usize = 4096;

/// How long after its pipes closed a program may take to be gone, so that its exit status is known.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Hears what a server says by itself.
pub(super) struct ServerListener {
    /// Told when its tools changed.
    pub(super) changed: Arc<Notify>,
}

impl ClientHandler for ServerListener {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("rookery", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}

/// A server that answers. Dropping it ends a program with all that it started.
pub(super) struct Connection {
    service: RunningService<RoleClient, ServerListener>,
    /// Told when its tools changed.
    pub(super) changed: Arc<Notify>,
    program: Option<(PipedProgram, LastErrorLine)>,
}

impl Connection {
    /// Reaches a server and greets it.
    pub(super) async fn open(
        name: &str,
        settings: &McpServerSettings,
        client: &Client,
        withheld: &[String],
    ) -> Result<Self, String> {
        let changed = Arc::new(Notify::new());
        let ears = ServerListener { changed: Arc::clone(&changed) };
        if let Some(url) = &settings.url {
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            config.custom_headers = headers(settings)?;
            let client = client.shared().await.map_err(|error| error.to_string())?;
            let page = StreamableHttpClientTransport::with_client(client, config);
            let service = ears.serve(page).await.map_err(|error| words(&error))?;
            return Ok(Self { service, changed, program: None });
        }
        let env = settings.env.iter().map(|(key, value)| (key.into(), value.expose().into()));
        let command = PipeCommand {
            argv: settings.command.iter().map(Into::into).collect(),
            env: env.collect(),
            // Keys are for providers; a server has those that its own setting names.
            env_remove: withheld.iter().map(Into::into).collect(),
            cwd: settings.cwd.clone(),
        };
        let (program, pipes) = PipedProgram::start(command).await?;
        let complaint = LastErrorLine::default();
        let listening = complaints::listen(name.to_owned(), pipes.stderr, Arc::clone(&complaint));
        tokio::spawn(listening);
        match ears.serve((pipes.stdout, pipes.stdin)).await {
            Ok(service) => Ok(Self { service, changed, program: Some((program, complaint)) }),
            Err(error) => {
                Err(lost(&Some((program, complaint))).await.unwrap_or_else(|| words(&error)))
            }
        }
    }

    /// The way to ask it something, which works as long as the connection is there.
    pub(super) fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// Waits until it is lost, and says why.
    pub(super) async fn lost(self) -> String {
        let Self { service, program, .. } = self;
        let quit = service.waiting().await;
        match (lost(&program).await, quit) {
            (Some(reason), _) => reason,
            (None, Ok(QuitReason::Closed | QuitReason::Cancelled)) => "it hung up".to_owned(),
            (None, _) => "the connection broke".to_owned(),
        }
    }
}

/// All tools of a server.
pub(super) async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    if peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = peer.list_tools(Some(params)).await;
        let page = page.map_err(|error| service_words(&error))?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= MAX_LISTED {
            break;
        }
    }
    tools.truncate(MAX_LISTED);
    Ok(tools)
}

/// How a program ended, if it did.
async fn lost(program: &Option<(PipedProgram, LastErrorLine)>) -> Option<String> {
    let (program, complaint) = program.as_ref()?;
    let code = timeout(END_LIMIT, program.wait()).await.ok()?;
    let end = match code {
        0.. => format!("it ended with status {code}"),
        _ => format!("it was killed by signal {}", -code),
    };
    let complaint = complaint.lock().clone();
    Some(if complaint.is_empty() { end } else { format!("{end}: {complaint}") })
}

fn headers(settings: &McpServerSettings) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let read = |(name, value): (&String, &crate::settings::Secret)| {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("{name:?} is not a valid header name"))?;
        // The value may be a key: it is not shown.
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| format!("header {name} has characters that no header may have"))?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    settings.headers.iter().map(read).collect()
}

fn words(error: &ClientInitializeError) -> String {
    one_line(&match error {
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::ConnectionClosed(_) => "it hung up".to_owned(),
        // The rest shows whole messages, which are too much.
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => "its answer is invalid".to_owned(),
        other => other.to_string(),
    })
}

/// Why something could not be done.
pub(super) fn service_words(error: &ServiceError) -> String {
    one_line(&match error {
        ServiceError::McpError(error) => error.message.to_string(),
        ServiceError::TransportSend(error) => error.error.to_string(),
        ServiceError::TransportClosed => "the connection is closed".to_owned(),
        ServiceError::UnexpectedResponse => "it answered something else".to_owned(),
        other => other.to_string(),
    })
}

fn one_line(text: &str) -> String {
    let mut line = text.replace(char::is_control, " ");
    line.truncate(line.floor_char_boundary(complaints::LONGEST));
    line
}
