//! Who is at the other end of a connection of a browser, as far as this machine can tell.

use std::net::SocketAddr;

use rookery_core::{Core, Reach};
use rookery_host::{TcpPeer, is_own_peer, tcp_peer};
use rookery_wire::transport::http::Request;

use super::sockets::ENDPOINT;

/// Whether a program that an agent runs is at the other end. What stands for another machine, such as ssh and
/// Tailscale, belongs to other users or hides from us, and is none.
pub(super) async fn is_agent(core: &Core, request: &Request) -> bool {
    let found = look(request, tcp_peer).await;
    let Some(TcpPeer::Processes(pids)) = found else { return false };
    for pid in pids {
        if core.identify(Some(pid), ENDPOINT).await.is_agent() {
            return true;
        }
    }
    false
}

/// Where the device is that sends a request.
pub(super) async fn place(request: &Request) -> Reach {
    match look(request, is_own_peer).await {
        Some(true) => Reach::Here,
        _ => Reach::Anywhere,
    }
}

async fn look<T: Send + 'static>(
    request: &Request,
    look: fn(SocketAddr, SocketAddr) -> T,
) -> Option<T> {
    let (local, peer) = (request.local, request.peer);
    tokio::task::spawn_blocking(move || look(local, peer)).await.ok()
}
