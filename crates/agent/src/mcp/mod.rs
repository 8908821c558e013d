//! Servers of the Model Context Protocol as tools: programs of ours, or pages of others.
//!
//! Each server is looked after in the background: it is started, asked for its tools, asked again when
//! they change, and started again when it is lost. No turn waits for one before a tool of it is called.
//! What is reported of tools and what comes of a call is translated in `offers` and `output`, which are pure.

mod connect;
mod offers;
mod output;
mod server;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rookery_host::http::Client;
use rookery_model::ToolKind;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::provider::ToolSpec;
use crate::settings::McpServerSettings;
use crate::tool::ToolOutput;
use server::Server;

/// What every tool of a server is called by begins with this.
pub const PREFIX: &str = "mcp__";

/// All servers. Dropping this ends them, with all that they started.
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    changes: watch::Receiver<u64>,
    _alive: DropGuard,
}

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpStatus {
    /// Its name in the settings.
    pub name: String,
    /// Whether it can be used.
    pub state: McpState,
    /// How many tools it offers.
    pub tools: usize,
    /// How many more it has that are too much.
    pub left_out: usize,
}

/// Whether a server can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpState {
    /// It is not known yet.
    Starting,
    /// It can.
    Ready,
    /// It cannot, for this reason; it is tried again, unless its settings are wrong.
    Failed(String),
}

impl McpServers {
    /// Begins to look after the servers that are enabled; their programs do not inherit the variables
    /// that are withheld. Returns at once; must be called inside of a tokio runtime with time and I/O.
    pub fn new(
        settings: &BTreeMap<String, McpServerSettings>,
        client: &Client,
        withheld: &[String],
    ) -> Self {
        let stopped = CancellationToken::new();
        let (changed, changes) = watch::channel(0);
        let enabled = settings.iter().filter(|(_, set)| set.enabled);
        let begin = |(name, set): (&String, &McpServerSettings)| {
            Server::begin(name, set, client, withheld, changed.clone(), stopped.clone())
        };
        Self { servers: enabled.map(begin).collect(), changes, _alive: stopped.drop_guard() }
    }

    /// The tools that are known now, with what they do. A server that was lost keeps its tools: calling
    /// one starts it again.
    pub fn tools(&self) -> Vec<(ToolSpec, ToolKind)> {
        let mut tools = Vec::new();
        self.each(|_, name, offer| {
            let spec = ToolSpec {
                name: name.to_owned(),
                description: offer.description.clone(),
                parameters: offer.parameters.clone(),
            };
            tools.push((spec, offer.kind));
            true
        });
        tools
    }

    /// What the tool of this name does; none if there is no such tool.
    pub fn kind(&self, name: &str) -> Option<ToolKind> {
        self.find(name).map(|(_, _, kind)| kind)
    }

    /// Whether the settings always allow the tool of this name; false if there is no such tool.
    pub fn is_always_allowed(&self, name: &str) -> bool {
        self.find(name).is_some_and(|(server, tool, _)| server.always_allows(&tool))
    }

    /// Calls a tool by the name that [`Self::tools`] gave it. Errors are in the output.
    pub async fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> ToolOutput {
        let Some((server, tool, _)) = self.find(name) else {
            return ToolOutput::error(format!("there is no tool {name}"));
        };
        let arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            Value::Null => None,
            _ => return ToolOutput::error(format!("arguments of {name} must be an object")),
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => ToolOutput::error(format!("{name} was cancelled")),
            output = server.call(&tool, arguments) => output,
        }
    }

    /// How each server is.
    pub fn statuses(&self) -> Vec<McpStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// Counts how often the tools or the state of any server changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    fn find(&self, wanted: &str) -> Option<(Arc<Server>, String, ToolKind)> {
        if !wanted.starts_with(PREFIX) {
            return None;
        }
        let mut found = None;
        self.each(|server, name, offer| {
            if name == wanted {
                found = Some((Arc::clone(server), offer.tool.clone(), offer.kind));
            }
            found.is_none()
        });
        found
    }

    /// Goes through all tools by the names they have for models, which are unique.
    fn each(&self, mut visit: impl FnMut(&Arc<Server>, &str, &offers::Offer) -> bool) {
        let mut taken = HashSet::new();
        for server in &self.servers {
            for offer in server.offers().iter() {
                let name = offers::name(server.name(), &offer.tool, &mut taken);
                if !visit(server, &name, offer) {
                    return;
                }
            }
        }
    }
}

impl std::fmt::Debug for McpServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServers").field("statuses", &self.statuses()).finish_non_exhaustive()
    }
}
