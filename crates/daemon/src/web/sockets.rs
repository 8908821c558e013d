//! Browsers that were let in: each is served the link, with the rights of its device, until it goes or has to.

use std::time::Duration;

use rookery_core::{Parting as Parted, ViewerRights, Visit};
use rookery_dialects::{Parting, Served};
use rookery_model::{Caller, Standing};
use rookery_wire::rights::Needs;
use rookery_wire::transport::http::Server;
use rookery_wire::transport::ws::{Messages, Socket};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::site::PageSite;

/// The name of the endpoint in records of decisions.
const ENDPOINT: &str = "web";
/// How often a browser is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// Accepts connections until it is over.
pub(super) async fn serve_all(
    mut server: Server<PageSite>,
    served: Served,
    over: CancellationToken,
    tasks: TaskTracker,
) {
    loop {
        let accepted = tokio::select! {
            accepted = server.accept() => accepted,
            () = over.cancelled() => return,
        };
        match accepted {
            Ok((socket, visit)) => {
                tasks.spawn(serve(socket, visit, served.clone(), over.clone()));
            }
            Err(error) => return tracing::error!(%error, "the page for browsers is gone"),
        }
    }
}

async fn serve(socket: Socket, visit: Visit, served: Served, over: CancellationToken) {
    let device = &visit.device;
    let caller = Caller {
        // The person carried a code to it.
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
    let parting = async {
        tokio::select! {
            why = visit.parted() => match why {
                Parted::Revoked => Parting::Revoked,
                Parted::Replaced => Parting::Replaced,
            },
            () = over.cancelled() => Parting::Stopping,
        }
    };
    let served = served.on_behalf_of(caller);
    let outcome = served.serve_remote(socket.with_pings(PING), Messages, most, parting).await;
    tracing::debug!(device = device.id, %outcome, "a browser is gone");
}
