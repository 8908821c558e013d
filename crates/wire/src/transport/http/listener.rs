//! Accepting peers: each connection is served beside the others, within its time, and only those whose peers
//! were let in come out.

use std::{io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::Abortable, stream::FuturesUnordered};
use rustix::net::sockopt;
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{
    Carrier, Site, Tls,
    serve::{Ends, serve},
    waiting::Waiting,
};
use crate::transport::{Slots, accept_patiently, ws::Socket};

/// Bounds of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Peers let in at the same time; more are answered 503.
    pub connections: usize,
    /// Connections of peers that were not let in, at the same time; for the next, the oldest of the busiest
    /// address is given up.
    pub handshakes: usize,
    /// The same of one address; for the next, its oldest is given up.
    pub handshakes_per_peer: usize,
    /// How long a request may take to come, from the first byte to the last.
    pub handshake_time: Duration,
    /// How long a connection may last whose peer is not let in; none ends it with the first answer.
    pub stay: Option<Duration>,
    /// Bytes of a request's body; with 0 none is read.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            handshakes: 128,
            handshakes_per_peer: 32,
            handshake_time: Duration::from_secs(5),
            stay: None,
            body: 0,
        }
    }
}

/// A connection at work; it yields a peer if it was let in.
type Work<G> = Pin<Box<dyn Future<Output = (u64, Option<(Socket, G)>)> + Send>>;

/// A listening address with what answers there.
pub struct Server<S: Site> {
    tcp: TcpListener,
    site: Arc<S>,
    limits: Limits,
    tls: Option<Tls>,
    slots: Slots,
    work: FuturesUnordered<Work<S::Guest>>,
    waiting: Waiting,
}

impl<S: Site> std::fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("tcp", &self.tcp).finish_non_exhaustive()
    }
}

impl<S: Site> Server<S> {
    /// Binds `address`.
    ///
    /// # Errors
    /// What binding gives.
    pub async fn bind(
        address: SocketAddr,
        site: S,
        limits: Limits,
        tls: Option<Tls>,
    ) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        let slots = Slots::new(limits.connections);
        let waiting = Waiting::new(limits.handshakes, limits.handshakes_per_peer);
        let (site, work) = (Arc::new(site), FuturesUnordered::new());
        Ok(Self { tcp, site, limits, tls, slots, work, waiting })
    }

    /// The address bound, with the port the system chose for port 0.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// What answers.
    #[must_use]
    pub fn site(&self) -> &S {
        &self.site
    }

    /// The next peer that was let in. Connections go on only while this is awaited; giving it up
    /// loses none of them.
    ///
    /// # Errors
    /// Only if the listener itself is broken.
    pub async fn accept(&mut self) -> io::Result<(Socket, S::Guest)> {
        loop {
            tokio::select! {
                Some((number, done)) = self.work.next() => {
                    self.waiting.done(number);
                    if let Some(entered) = done {
                        return Ok(entered);
                    }
                }
                accepted = accept_patiently(|| self.tcp.accept()) => {
                    let (stream, peer) = accepted?;
                    self.begin(stream, peer);
                }
            }
        }
    }

    fn begin(&mut self, stream: TcpStream, peer: SocketAddr) {
        let (number, registration) = self.waiting.admit(peer.ip());
        if let Err(error) = tune(&stream) {
            tracing::debug!(%error, "cannot set options of a socket");
        }
        let (site, limits, slots) = (Arc::clone(&self.site), self.limits, self.slots.clone());
        let tls = self.tls.clone();
        let serving = async move {
            let (carrier, ends) = begin(stream, peer, tls, limits).await?;
            serve(carrier, ends, site, limits, slots).await
        };
        let longest = limits.stay.unwrap_or(limits.handshake_time);
        let bounded = Abortable::new(timeout(longest, serving), registration);
        self.work.push(Box::pin(async move {
            let done = bounded.await.ok().and_then(Result::ok).flatten();
            (number, done)
        }));
    }
}

/// The stream that HTTP is spoken on, encrypted if it has to be.
async fn begin(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<Tls>,
    limits: Limits,
) -> Option<(Carrier, Ends)> {
    let local = stream.local_addr().ok()?;
    let is_encrypted = tls.is_some();
    let carrier = match tls {
        None => Carrier::Plain(stream),
        Some(tls) => {
            let shaken = timeout(limits.handshake_time, tls.acceptor().accept(stream)).await;
            Carrier::Encrypted(Box::new(shaken.ok()?.ok()?))
        }
    };
    Some((carrier, Ends { peer, local, is_encrypted }))
}

/// Small messages go out at once, and a peer that vanished is noticed within two minutes.
fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(15))?;
    sockopt::set_tcp_keepcnt(stream, 4)?;
    Ok(())
}
