//! What every connection is served from, and how each dialect serves one.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rookery_core::Core;
use rookery_idx0 as idx0;
use rookery_link as link;
use rookery_model::Caller;
use rookery_native as native;
use rookery_ptywright as ptywright;
use rookery_roder as roder;
use rookery_roo as roo;
use rookery_roost as roost;
use rookery_wire::framing::{Framing, Ndjson};
use rookery_wire::rights::{Allowed, Called, Needs};
use rookery_wire::rpc::{JsonRpc, OnBadFrame, Table};
use rookery_wire::transport::Transport;
use rookery_wire::{ConnectionHandle, Options, Order, Outcome, serve_connection};

use crate::{Serving, Stream};

/// A core and the dialects over it. Cheap to clone.
#[derive(Clone)]
pub struct Served {
    pub(crate) core: Core,
    control: Arc<dyn native::Control>,
    native: Arc<Table<native::Cx>>,
    link: Arc<Table<link::Cx>>,
    ptywright: Arc<Table<ptywright::Cx>>,
    roder: Arc<Table<roder::Cx>>,
    shared: Arc<ptywright::Shared>,
    pub(crate) roost: Arc<roost::Settings>,
    pub(crate) idx0: Option<idx0::Mirror>,
    pub(crate) roo: roo::Hub,
    pub(crate) listeners: Listeners,
}

/// Why the daemon ends a connection of a face elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The server that it came to stops.
    Stopping,
    /// The same, and another daemon takes its place.
    Restarting,
    /// Its device was revoked.
    Revoked,
    /// Its device has too many, and this was the oldest.
    Replaced,
}

/// How long a face elsewhere may take for its last bytes: one that was revoked is gone within a second.
const REMOTE_LINGER: Duration = Duration::from_millis(500);

/// What connections of the two endpoints of Roo Code have in common.
#[derive(Clone, Debug)]
pub struct Listeners {
    /// With events as the schema document writes them.
    pub seed: Arc<roo::Listener>,
    /// With events as the published client validates them.
    pub published: Arc<roo::Listener>,
}

impl Listeners {
    /// Without any settings: tasks work in this directory.
    #[must_use]
    pub fn usual(workspace: &std::path::Path) -> Listeners {
        let listener =
            |name: &str, shape| Arc::new(roo::Listener::new(name, shape, workspace.to_owned()));
        Listeners {
            seed: listener("roo", roo::wire::Shape::Seed),
            published: listener("roo-code", roo::wire::Shape::Published),
        }
    }
}

impl Served {
    /// All dialects over `core`.
    pub fn new(
        core: Core,
        control: Arc<dyn native::Control>,
        shared: Arc<ptywright::Shared>,
    ) -> Served {
        Served {
            roo: roo::Hub::new(core.clone()),
            listeners: Listeners::usual(&core.agents().cwd()),
            core,
            control,
            native: Arc::new(Table::new([native::METHODS])),
            link: Arc::new(Table::new([link::METHODS])),
            ptywright: Arc::new(Table::new([ptywright::METHODS])),
            roder: Arc::new(Table::new([roder::METHODS])),
            shared,
            roost: Arc::new(roost::Settings::new(PathBuf::new())),
            idx0: None,
        }
    }

    /// The same, with these settings of the Roost dialect.
    #[must_use]
    pub fn with_roost(self, settings: roost::Settings) -> Served {
        Served { roost: Arc::new(settings), ..self }
    }

    /// The same, with a file that follows the events of agents.
    #[must_use]
    pub fn with_mirror(self, mirror: Option<idx0::Mirror>) -> Served {
        Served { idx0: mirror, ..self }
    }

    /// The same, with these listeners of Roo Code.
    #[must_use]
    pub fn with_listeners(self, listeners: Listeners) -> Served {
        Served { listeners, ..self }
    }

    /// The same, for one connection.
    #[must_use]
    pub fn on_behalf_of(&self, caller: Caller) -> Served {
        Served { core: self.core.on_behalf_of(caller), ..self.clone() }
    }

    /// Who is at the other end of a connection to an endpoint.
    pub(crate) async fn identify(&self, pid: Option<u32>, endpoint: &'static str) -> Caller {
        self.core.identify(pid, endpoint).await
    }

    fn ptywright_cx(&self, connection: ConnectionHandle) -> ptywright::Cx {
        ptywright::Cx::new(self.core.clone(), Arc::clone(&self.shared), connection)
    }

    /// Our own methods, the link's, ptywright's and Roder's. A client that calls none of Roder's gets none of its notifications.
    fn joined(&self, connection: ConnectionHandle) -> JsonRpc {
        let ptywright = self.ptywright_cx(connection.clone());
        let allowed = Allowed::default();
        let shared = roder::Link::default();
        let roder = roder::Cx::new(self.core.clone(), connection.clone(), shared, false);
        let called = Called::default();
        let viewer = link::Cx::new(self.core.clone(), connection.clone(), allowed.clone())
            .called(called.clone());
        let companions = [ptywright.companion(), roder.companion()];
        let cx = native::Cx::new(self.core.clone(), connection, Arc::clone(&self.control))
            .with_keys(roder.key_ring())
            .called(called)
            .within(allowed.clone());
        // Who may not do everything drives no terminals and no agents past the link.
        let protocol = JsonRpc::new(Arc::clone(&self.native), cx)
            .and(Arc::clone(&self.link), viewer)
            .and_requiring(Needs::Full, Arc::clone(&self.ptywright), ptywright)
            .and_requiring(Needs::Full, Arc::clone(&self.roder), roder)
            .limited(allowed, link::refused)
            .error_filter(ptywright::redact_error);
        companions.into_iter().fold(protocol, JsonRpc::companion)
    }

    /// Our own methods and the link's, for a face elsewhere that is allowed no more than this. Returns what ends
    /// the connection as well.
    fn remote(
        &self,
        connection: ConnectionHandle,
        device: &str,
        most: Needs,
    ) -> (JsonRpc, link::Cx) {
        let allowed = Allowed::default();
        allowed.lower(most);
        let called = Called::default();
        let breached = connection.clone();
        let viewer = link::Cx::new(self.core.clone(), connection.clone(), allowed.clone())
            .of_device(device.to_owned())
            .called(called.clone());
        let cx = native::Cx::new(self.core.clone(), connection, Arc::clone(&self.control))
            .called(called)
            .within(allowed.clone());
        let protocol = JsonRpc::new(Arc::clone(&self.native), cx)
            .and(Arc::clone(&self.link), viewer.clone())
            .limited(allowed, link::refused)
            .unanswered(move |error| {
                if error.code == link::code::DENIED {
                    breached.dismiss(BEYOND_RIGHTS);
                }
            })
            .error_filter(ptywright::redact_error);
        (protocol, viewer)
    }

    /// Serves a face on a paired device to its end, or until it has to part.
    pub async fn serve_remote(
        &self,
        stream: impl Transport,
        framing: impl Framing,
        device: &str,
        most: Needs,
        closing: impl Future<Output = CloseReason>,
    ) -> Outcome {
        let options = Options { linger: REMOTE_LINGER, ..Options::default() };
        let viewer = OnceLock::new();
        let serving = serve_connection(stream, framing, options, |connection| {
            let (protocol, cx) = self.remote(connection, device, most);
            viewer.get_or_init(|| cx);
            protocol
        });
        let (mut serving, mut closing) = (pin!(serving), pin!(closing));
        tokio::select! {
            // First, so that there is a connection to part with.
            biased;
            outcome = &mut serving => return outcome,
            why = &mut closing => {
                if let Some(viewer) = viewer.get() {
                    viewer.part(match why {
                        CloseReason::Stopping => link::CloseReason::Stopping,
                        CloseReason::Restarting => link::CloseReason::Restarting,
                        CloseReason::Revoked => link::CloseReason::Revoked,
                        CloseReason::Replaced => link::CloseReason::Replaced,
                    });
                }
            }
        }
        serving.await
    }

    /// ptywright alone, strict.
    fn strict(&self, connection: ConnectionHandle) -> JsonRpc {
        let cx = self.ptywright_cx(connection);
        let companion = cx.companion();
        JsonRpc::new(Arc::clone(&self.ptywright), cx)
            .companion(companion)
            .on_bad_frame(OnBadFrame::Close)
            .error_filter(ptywright::redact_error)
    }

    /// Serves one strict ptywright connection to its end, each request after the reply to the one before it.
    pub async fn serve_strict(&self, stream: impl Transport, framing: impl Framing) -> Outcome {
        let options = Options { order: Order::Sequential, ..Options::default() };
        serve_connection(stream, framing, options, |connection| self.strict(connection)).await
    }
}

/// Waits for the end of a connection.
pub(crate) fn ended(work: impl Future<Output = Outcome> + Send + 'static) -> Serving {
    Box::pin(async move {
        let outcome = work.await;
        tracing::debug!(?outcome, "a connection ended");
    })
}

/// `rookery.sock` speaks all methods of JSON-RPC.
pub(crate) fn joined(stream: Stream, served: Served) -> Serving {
    let protocol = move |connection| served.joined(connection);
    ended(serve_connection(stream, Ndjson::with_limit(JOINED_LINE), Options::default(), protocol))
}

/// The code that a WebSocket is closed with which notifies of what it has no rights to: no reply could say so.
const BEYOND_RIGHTS: u16 = 4403;

/// The longest line that `rookery.sock` takes: the largest paste, with its line ends spelled.
const JOINED_LINE: usize = 40 << 20;
