//! Browsers that were let in: each is served the link, with the rights of its device, until it goes or has to.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rookery_core::{CloseReason as Parted, ViewerRights, Visit};
use rookery_dialects::{CloseReason, Served};
use rookery_model::{Caller, Standing};
use rookery_wire::rights::Needs;
use rookery_wire::transport::http::Server;
use rookery_wire::transport::ws::{Messages, Socket};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::site::PageSite;

/// The name of the endpoint in records of decisions.
pub(super) const ENDPOINT: &str = "web";
/// How often a browser is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// That the server ends, and why; clones hear of the same end.
#[derive(Clone, Debug, Default)]
pub(super) struct ShutdownSignal {
    token: CancellationToken,
    why: Arc<OnceLock<CloseReason>>,
}

impl ShutdownSignal {
    /// It ends now, for the first reason that is given.
    pub(super) fn end(&self, why: CloseReason) {
        let _ = self.why.set(why);
        self.token.cancel();
    }

    pub(super) async fn wait(&self) -> CloseReason {
        self.token.cancelled().await;
        self.why.get().copied().unwrap_or(CloseReason::Stopping)
    }
}

/// Accepts connections until it is over. Returns what broke the listener, if that was the end.
pub(super) async fn serve_all(
    mut server: Server<PageSite>,
    served: Served,
    over: ShutdownSignal,
    tasks: TaskTracker,
) -> Option<std::io::Error> {
    loop {
        let accepted = tokio::select! {
            accepted = server.accept() => accepted,
            _ = over.wait() => return None,
        };
        match accepted {
            Ok((socket, visit)) => {
                tasks.spawn(serve(socket, visit, served.clone(), over.clone()));
            }
            Err(error) => return Some(error),
        }
    }
}

async fn serve(socket: Socket, visit: Visit, served: Served, over: ShutdownSignal) {
    let device = &visit.device;
    let caller = Caller {
        // The person carried a code to it, and no agent is at the other end.
        standing: Standing::Person(None),
        pid: None,
        program: Some(device.name.clone()),
        endpoint: ENDPOINT.to_owned(),
    };
    let most = match device.rights {
        ViewerRights::Look => Needs::Look,
        ViewerRights::Decide => Needs::Decide,
        // The daemon itself is for those at its machine.
        ViewerRights::Full => Needs::Full,
    };
    let closing = async {
        tokio::select! {
            why = visit.closed() => match why {
                Parted::Revoked => CloseReason::Revoked,
                Parted::Replaced => CloseReason::Replaced,
            },
            why = over.wait() => why,
        }
    };
    let served = served.on_behalf_of(caller);
    let socket = socket.with_pings(PING);
    let outcome = served.serve_remote(socket, Messages, &device.id, most, closing).await;
    tracing::debug!(device = device.id, %outcome, "a browser is gone");
}
