//! What a method gets to work with: the core, its connection, and a way to stop the daemon.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use rookery_agent::providers::{KeyRing, Loan};
use rookery_core::{ClientGrant, Core, ViewerRights};
use rookery_model as model;
use rookery_wire::ConnectionHandle;
use rookery_wire::rights::{self, Allowed, Called, Needs, Rights};
use rookery_wire::rpc::{Admit, RpcError};

use crate::errors::Error;
use crate::streams::Streams;

/// What becomes of terminals when the daemon stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// They live on in the keeper, for the next daemon.
    KeepTerminals,
    /// The same, and the next daemon is about to start.
    Restart,
    /// They end, and the keeper with them.
    EndAll,
}

/// How a method reaches the process it runs in; supplied by the daemon.
pub trait Control: Send + Sync + 'static {
    /// Asks the daemon to stop and returns at once.
    ///
    /// Replies to requests at work, the caller's among them, still go out.
    fn shut_down(&self, ending: Ending);

    /// The server for browsers, if the process has one.
    fn web(&self) -> Option<Arc<dyn WebServer>> {
        None
    }
}

/// What a server for browsers is doing.
pub type WebWork<'a, T> = Pin<Box<dyn Future<Output = model::Result<T>> + Send + 'a>>;

/// The server for browsers; supplied by the daemon.
pub trait WebServer: Send + Sync + 'static {
    /// Turns it on, and keeps that. Without an address it listens where it did, else where the settings say.
    fn start(&self, listen: Option<SocketAddr>, is_plain: bool) -> WebWork<'_, WebWays>;

    /// Turns it off, and keeps that. Says whether it was on.
    fn stop(&self) -> WebWork<'_, bool>;

    /// How it can be reached; none while it is off.
    fn ways(&self) -> Option<WebWays>;

    /// Why it is off though it should be on, if it is.
    fn problem(&self) -> Option<String>;

    /// What devices may do for which nothing is said.
    fn usual_rights(&self) -> ViewerRights;
}

/// How a server for browsers can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebWays {
    /// The address of the page on this machine.
    pub url: String,
    /// Where a page may come from, the best way in first.
    pub origins: Vec<String>,
}

/// The context of every method, one per connection.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) connection: ConnectionHandle,
    pub(crate) control: Arc<dyn Control>,
    pub(crate) subscriptions: Arc<Streams>,
    pub(crate) attachments: Arc<Streams>,
    pub(crate) thread_subscriptions: Arc<Streams>,
    pub(crate) key_ring: KeyRing,
    /// What the connection is allowed.
    pub(crate) allowed: Allowed,
    /// What the person who looks through it is called.
    pub(crate) called: Called,
}

impl Cx {
    /// A context for one connection.
    pub fn new(core: Core, connection: ConnectionHandle, control: Arc<dyn Control>) -> Self {
        Self {
            core,
            connection,
            control,
            subscriptions: Streams::new("subscription"),
            attachments: Streams::new("attachment"),
            thread_subscriptions: Streams::new("subscription"),
            key_ring: KeyRing::default(),
            allowed: Allowed::default(),
            called: Called::default(),
        }
    }

    /// The same, with keys that the connection lends in other dialects as well.
    #[must_use]
    pub fn with_keys(self, key_ring: KeyRing) -> Self {
        Self { key_ring, ..self }
    }

    /// The same, for a connection that may be allowed less than all of it.
    #[must_use]
    pub fn within(self, allowed: Allowed) -> Self {
        Self { allowed, ..self }
    }

    /// The same, for a connection that says in another dialect who looks through it.
    #[must_use]
    pub fn called(self, called: Called) -> Self {
        Self { called, ..self }
    }

    /// Who decides, as records have it: the viewer of this connection, if it has one.
    pub(crate) fn by(&self) -> &str {
        self.called.or("rookery")
    }

    /// Who says something: an agent, or who decides.
    pub(crate) fn author(&self) -> &str {
        if self.core.caller().is_agent() { "agent" } else { self.by() }
    }

    /// Whether a request may have text as it is that it asks for so.
    pub(crate) fn redacts(&self, asked: bool) -> bool {
        asked || !self.allowed.admits(Needs::Decide)
    }

    /// What the client brings along for what it goes on with.
    pub(crate) fn grant(&self) -> ClientGrant {
        ClientGrant { client: None, keys: self.keys() }
    }

    /// The keys that the connection lends by now.
    pub(crate) fn keys(&self) -> Vec<Loan> {
        self.key_ring.keys()
    }
}

impl Admit for Cx {
    fn refuse(&self, name: &'static str, rights: Rights) -> Option<RpcError> {
        let is_admitted = rights.admits(self.core.caller().is_agent());
        let denied = || model::Error::new(model::ErrorKind::Denied, rights::refusal(name));
        (!is_admitted).then(|| Error::from(denied()).into())
    }
}
