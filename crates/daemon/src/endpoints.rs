//! The endpoints: which socket speaks what. A new dialect is one more row here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_core::Core;
use rookery_idx0 as idx0;
use rookery_model::Caller;
use rookery_native as native;
use rookery_ptywright as ptywright;
use rookery_roder as roder;
use rookery_roost as roost;
use rookery_wire::exchange::{Limits, serve_exchange};
use rookery_wire::framing::{Framing, Ndjson};
use rookery_wire::rpc::{JsonRpc, OnBadFrame, Table};
use rookery_wire::transport::Transport;
use rookery_wire::transport::unix::{self, BindOptions, UnixEndpoint};
use rookery_wire::{ConnectionHandle, Options, Order, Outcome, serve_connection};

use crate::config::{Config, EndpointConfig};
use crate::homes::Homes;

/// What every connection is served from: a core and the dialects over it. Cheap to clone.
#[derive(Clone)]
pub struct Served {
    core: Core,
    control: Arc<dyn native::Control>,
    native: Arc<Table<native::Cx>>,
    ptywright: Arc<Table<ptywright::Cx>>,
    roder: Arc<Table<roder::Cx>>,
    shared: Arc<ptywright::Shared>,
    roost: Arc<roost::Settings>,
    idx0: Option<idx0::Mirror>,
}

impl Served {
    /// All dialects over `core`.
    pub fn new(
        core: Core,
        control: Arc<dyn native::Control>,
        shared: Arc<ptywright::Shared>,
    ) -> Served {
        Served {
            core,
            control,
            native: Arc::new(Table::new([native::METHODS])),
            ptywright: Arc::new(Table::new([ptywright::METHODS])),
            roder: Arc::new(Table::new([roder::METHODS, roder::KEY_METHODS])),
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

    /// The same, for one connection.
    #[must_use]
    pub(crate) fn on_behalf_of(&self, caller: Caller) -> Served {
        Served { core: self.core.on_behalf_of(caller), ..self.clone() }
    }

    fn ptywright_cx(&self, connection: ConnectionHandle) -> ptywright::Cx {
        ptywright::Cx::new(self.core.clone(), Arc::clone(&self.shared), connection)
    }

    /// Our own methods, ptywright's and Roder's, as `rookery.sock` speaks them. Who does not use
    /// Roder's is not told of threads.
    fn joined(&self, connection: ConnectionHandle) -> JsonRpc {
        let ptywright = self.ptywright_cx(connection.clone());
        let link = roder::Link::default();
        let roder = roder::Cx::new(self.core.clone(), connection.clone(), link, false);
        let companions = [ptywright.companion(), roder.companion()];
        let cx = native::Cx::new(self.core.clone(), connection, Arc::clone(&self.control));
        let protocol = JsonRpc::new(Arc::clone(&self.native), cx)
            .and(Arc::clone(&self.ptywright), ptywright)
            .and(Arc::clone(&self.roder), roder)
            .error_filter(ptywright::redact_error);
        companions.into_iter().fold(protocol, JsonRpc::companion)
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
    pub(crate) async fn serve_strict(
        &self,
        stream: impl Transport,
        framing: impl Framing,
    ) -> Outcome {
        let options = Options { order: Order::Sequential, ..Options::default() };
        serve_connection(stream, framing, options, |connection| self.strict(connection)).await
    }
}

/// One endpoint: its name, where it usually listens, and which dialect serves it.
#[derive(Debug)]
pub struct Endpoint {
    /// Name in the config and in `ready`.
    pub name: &'static str,
    /// Path relative to the runtime directory.
    pub path: &'static str,
    /// Variable of the original that moves it, if it has one.
    pub variable: Option<&'static str>,
    /// Whether the daemon does without it where another program serves it.
    pub yields: bool,
    /// A file beside the socket that is locked while it listens, if its clients look for one.
    pub lock: Option<&'static str>,
    setting: fn(&Config) -> &EndpointConfig,
    speaks: Speaks,
}

#[derive(Clone, Copy, Debug)]
enum Speaks {
    Idx0,
    Joined,
    Ptywright,
    Roder,
    Roost,
}

impl Speaks {
    /// What a client reads that cannot be served, as its dialect says it. None of its requests was read.
    fn refusal(self) -> &'static str {
        match self {
            Speaks::Idx0 => {
                "{\"success\":false,\"message\":\"the daemon has too many connections or open files; close some and try again\"}\n"
            }
            Speaks::Joined | Speaks::Ptywright | Speaks::Roder => {
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"the daemon has too many connections or open files; close some and try again\"}}\n"
            }
            Speaks::Roost => {
                "{\"id\":\"0\",\"ok\":false,\"error\":{\"code\":\"internal\",\"message\":\"the daemon has too many connections or open files; close some and try again\"}}\n"
            }
        }
    }
}

/// All endpoints.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        name: "rookery",
        path: "rookery/rookery.sock",
        variable: Some("ROOKERY_SOCKET"),
        yields: false,
        lock: None,
        setting: |config| &config.endpoints.rookery,
        speaks: Speaks::Joined,
    },
    Endpoint {
        name: "roder",
        path: "roder/roder.sock",
        variable: None,
        yields: false,
        lock: None,
        setting: |config| &config.endpoints.roder,
        speaks: Speaks::Roder,
    },
    Endpoint {
        name: "ptywright",
        path: "ptywright/ptywright.sock",
        variable: None,
        yields: false,
        lock: None,
        setting: |config| &config.endpoints.ptywright,
        speaks: Speaks::Ptywright,
    },
    Endpoint {
        name: "roost",
        path: "roost/roost.sock",
        variable: Some("ROOST_SOCKET"),
        yields: false,
        lock: Some("roost.lock"),
        setting: |config| &config.endpoints.roost,
        speaks: Speaks::Roost,
    },
    Endpoint {
        name: "idx0",
        path: "idx0/idx0.sock",
        variable: Some("IDX0_IPC_SOCKET"),
        yields: true,
        lock: None,
        setting: |config| &config.endpoints.idx0,
        speaks: Speaks::Idx0,
    },
];

impl Endpoint {
    /// Where it listens, if it does: the config's word, then its usual place. Our own socket always
    /// listens, since every command needs it.
    pub fn socket(&self, homes: &Homes, config: &Config) -> Option<PathBuf> {
        let usual = match self.speaks {
            Speaks::Roost => homes.roost_socket(),
            Speaks::Idx0 => homes.idx0_socket(),
            Speaks::Joined | Speaks::Ptywright | Speaks::Roder => {
                homes.runtime_dir().join(self.path)
            }
        };
        let configured = Config::endpoint((self.setting)(config), &usual);
        configured.or_else(|| matches!(self.speaks, Speaks::Joined).then_some(usual))
    }

    pub(crate) fn bind(&self, path: &Path) -> std::io::Result<UnixEndpoint> {
        let refusal = self.speaks.refusal();
        unix::bind(path, &BindOptions { refusal, ..BindOptions::default() })
    }

    /// Serves one connection to its end, whatever carries it.
    pub async fn serve<T: Transport>(&self, stream: T, served: Served) {
        let caller = served.core.identify(stream.peer_pid(), self.name).await;
        let served = served.on_behalf_of(caller);
        let framing = Ndjson::default();
        let outcome = match self.speaks {
            Speaks::Idx0 => {
                let (core, mirror) = (served.core.clone(), served.idx0.clone());
                let answer = |request| idx0::serve(core, mirror, request);
                let outcome = serve_exchange(stream, Limits::default(), answer).await;
                tracing::debug!(?outcome, "an exchange ended");
                return;
            }
            Speaks::Joined => {
                serve_connection(stream, framing, Options::default(), |connection| {
                    served.joined(connection)
                })
                .await
            }
            Speaks::Ptywright => served.serve_strict(stream, framing).await,
            Speaks::Roder => {
                serve_connection(stream, roder::framing(), roder::options(), |connection| {
                    roder::protocol(served.core.clone(), connection, roder::Link::default())
                })
                .await
            }
            Speaks::Roost => {
                serve_connection(stream, roost::framing(), roost::options(), |connection| {
                    roost::serve(served.core.clone(), Arc::clone(&served.roost), connection)
                })
                .await
            }
        };
        tracing::debug!(?outcome, "a connection ended");
    }
}

/// Accepts connections on an endpoint until its task is dropped.
pub(crate) async fn accept_all(endpoint: &'static Endpoint, socket: UnixEndpoint, served: Served) {
    loop {
        let Ok(stream) = socket.accept().await else { return };
        tokio::spawn(endpoint.serve(stream, served.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_one_endpoint_are_disjoint() {
        let native = native::METHODS.iter().map(|method| method.name);
        let ptywright = ptywright::METHODS.iter().map(|method| method.name);
        let roder = roder::METHODS.iter().map(|method| method.name);
        let mut seen = std::collections::HashSet::new();
        for name in native.chain(ptywright).chain(roder) {
            assert!(seen.insert(name), "{name} is in two tables");
        }
    }
}
