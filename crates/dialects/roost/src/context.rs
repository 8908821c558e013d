//! What an operation gets to work with: the core, its connection and the settings of the dialect.

use std::{path::PathBuf, sync::Arc};

use rookery_core::Core;
use rookery_wire::ConnectionHandle;
use tokio_util::sync::CancellationToken;

use crate::painter::Painter;
use crate::subscription::{Log, Subscription};

/// What the dialect says of its server, and what it allows.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The socket it listens on.
    pub socket_path: PathBuf,
    /// Its name for people.
    pub app_label: String,
    /// Its name for programs.
    pub app_id: String,
    pub ui_version: String,
    /// Whether operations for tests are allowed.
    pub test_mode: bool,
    /// The painter, if there is one.
    pub painter: Option<Arc<dyn Painter>>,
}

impl Settings {
    /// The settings a client of this dialect expects, for a server on that socket.
    #[must_use]
    pub fn new(socket_path: PathBuf) -> Self {
        Self {
            socket_path,
            app_label: "Roost".to_owned(),
            app_id: "ai.stridelabs.Roost".to_owned(),
            ui_version: env!("CARGO_PKG_VERSION").to_owned(),
            test_mode: false,
            painter: None,
        }
    }
}

/// A connection as the operations on it see it.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) connection: ConnectionHandle,
    pub(crate) subscription: Arc<Subscription>,
    /// Cancelled when the connection takes no more requests, so that those waiting for people end.
    pub(crate) ending: CancellationToken,
}

impl Link {
    pub(crate) fn new(connection: ConnectionHandle, log: impl Log) -> Self {
        let subscription = Arc::new(Subscription::new(connection.outbox().clone(), log));
        Self { ending: connection.closed(), subscription, connection }
    }
}

/// The context of every operation, one per connection.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) settings: Arc<Settings>,
    pub(crate) link: Link,
}

impl Cx {
    pub(crate) fn new(core: Core, settings: Arc<Settings>, connection: ConnectionHandle) -> Self {
        let link = Link::new(connection, core.log());
        Self { core, settings, link }
    }
}
