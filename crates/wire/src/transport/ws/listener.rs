//! Accepting peers: each handshake runs beside the others, within its time, and only those that
//! the gate lets in come out. Plain HTTP requests are answered here.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt as _, future::Abortable, stream::FuturesUnordered};
use rustix::net::sockopt;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    time::{Instant, timeout},
};

use super::{
    Gate, Socket,
    http::{self, Answer, BadHead, Head},
    waiting::Waiting,
};
use crate::transport::{Slots, accept_patiently};

/// Bounds of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Peers let in at the same time; more are answered 503.
    pub connections: usize,
    /// Handshakes at the same time; for the next, the oldest of the busiest address is given up.
    pub handshakes: usize,
    /// Handshakes of one address at the same time; for the next, its oldest is given up.
    pub handshakes_per_peer: usize,
    /// How long a handshake may take, from the first byte to the last.
    pub handshake_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            handshakes: 128,
            handshakes_per_peer: 32,
            handshake_time: Duration::from_secs(5),
        }
    }
}

/// A handshake at work; it yields a peer if it was let in.
type Handshake = Pin<Box<dyn Future<Output = (u64, Option<Socket>)> + Send>>;

/// A listening address with its gate.
pub struct Listener {
    tcp: TcpListener,
    gate: Arc<Gate>,
    limits: Limits,
    slots: Slots,
    handshakes: FuturesUnordered<Handshake>,
    waiting: Waiting,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("tcp", &self.tcp).finish_non_exhaustive()
    }
}

impl Listener {
    /// Binds `address`.
    ///
    /// # Errors
    /// `InvalidInput` if the token is too short to guard that address; else what binding gives.
    pub async fn bind(address: SocketAddr, gate: Gate, limits: Limits) -> io::Result<Self> {
        let guards = gate.token().check_guards(address.ip());
        guards.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let tcp = TcpListener::bind(address).await?;
        let slots = Slots::new(limits.connections);
        let (handshakes, waiting) =
            (FuturesUnordered::new(), Waiting::new(limits.handshakes, limits.handshakes_per_peer));
        Ok(Self { tcp, gate: Arc::new(gate), limits, slots, handshakes, waiting })
    }

    /// The address bound, with the port the system chose for port 0.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// The gate.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The next peer that was let in. Handshakes go on only while this is awaited; giving it up
    /// loses none of them.
    ///
    /// # Errors
    /// Only if the listener itself is broken.
    pub async fn accept(&mut self) -> io::Result<Socket> {
        loop {
            tokio::select! {
                Some((number, done)) = self.handshakes.next() => {
                    self.waiting.done(number);
                    if let Some(socket) = done {
                        return Ok(socket);
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
        let shaking = shake(stream, peer, Arc::clone(&self.gate), self.slots.clone());
        let bounded = Abortable::new(timeout(self.limits.handshake_time, shaking), registration);
        self.handshakes.push(Box::pin(async move {
            let done = bounded.await.ok().and_then(Result::ok).flatten();
            (number, done)
        }));
    }
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

/// Reads a request, answers it, and yields the peer if it was let in.
async fn shake(
    mut stream: TcpStream,
    peer: SocketAddr,
    gate: Arc<Gate>,
    slots: Slots,
) -> Option<Socket> {
    let local = stream.local_addr().ok()?.ip();
    let refusal = match http::read_head(&mut stream).await {
        Ok((head, rest)) if head.is_upgrade() => {
            match upgrade(&mut stream, &head, peer.ip(), local, &gate, &slots).await {
                Ok(Some(slot)) => return Some(Socket::new(stream, rest, peer, slot).await),
                Ok(None) => return None,
                Err(refusal) => {
                    tracing::info!(%peer, status = refusal.status, "refused a remote client");
                    refusal
                }
            }
        }
        Ok((head, _)) => page(&head),
        Err(BadHead::Gone) => return None,
        Err(BadHead::TooLong) => Answer::text(431, "request head is too long\n"),
        Err(BadHead::Malformed) => Answer::text(400, "malformed request\n"),
    };
    http::answer(&mut stream, &refusal).await;
    None
}

/// Lets a peer in, if the gate says so and there is a place.
async fn upgrade(
    stream: &mut TcpStream,
    head: &Head,
    peer: IpAddr,
    local: IpAddr,
    gate: &Gate,
    slots: &Slots,
) -> Result<Option<crate::transport::Slot>, Answer> {
    let admission = gate.judge(head, peer, local, Instant::now())?;
    let busy = || Answer::text(503, "too many connections\n").with("Retry-After", 1);
    let slot = slots.take().ok_or_else(busy)?;
    let reply = http::switching(&admission.accept, admission.subprotocol);
    Ok(stream.write_all(&reply).await.is_ok().then_some(slot))
}

/// Where a phone lands that opened the address in a browser.
const PAIR_PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Rookery</title>
<body>
<h1>Rookery</h1>
<p>This is a remote app-server. To pair a client with it, scan the code that the server printed
when it started, or open the <code>roder://connect</code> link printed below that code.</p>
</body>
</html>
";

/// What a request that is no handshake gets.
fn page(head: &Head) -> Answer {
    match (head.method.as_str(), head.path.as_str()) {
        ("GET", "/readyz" | "/healthz") => Answer {
            status: 200,
            headers: vec![("Content-Type", "text/plain".to_owned())],
            body: "ok\n",
        },
        ("GET", "/pair") => Answer {
            status: 200,
            headers: vec![
                ("Content-Type", "text/html; charset=utf-8".to_owned()),
                ("Content-Security-Policy", "default-src 'none'".to_owned()),
            ],
            body: PAIR_PAGE,
        },
        _ => Answer::text(404, "not found\n"),
    }
}
