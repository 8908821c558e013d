//! What a method gets to work with: the core, its connection, and a way to stop the daemon.

use std::sync::Arc;

use rookery_agent::providers::{KeyRing, Loan};
use rookery_core::Core;
use rookery_model as model;
use rookery_wire::ConnectionHandle;
use rookery_wire::rights::{self, Allowed, Needs, Rights};
use rookery_wire::rpc::{Admit, RpcError};

use crate::errors::Error;
use crate::streams::Streams;

/// What becomes of terminals when the daemon stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// They live on in the keeper, for the next daemon.
    KeepTerminals,
    /// They end, and the keeper with them.
    EndAll,
}

/// How a method reaches the process it runs in; supplied by the daemon.
pub trait Control: Send + Sync + 'static {
    /// Asks the daemon to stop and returns at once.
    ///
    /// Replies to requests at work, the caller's among them, still go out.
    fn shut_down(&self, ending: Ending);
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

    /// Whether a request may have text as it is that it asks for so.
    pub(crate) fn redacts(&self, asked: bool) -> bool {
        asked || !self.allowed.admits(Needs::Decide)
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
