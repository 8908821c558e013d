//! The listener of remote clients: what is answered to those that have no token, and to requests that are no
//! handshake at all.

use std::{io, net::SocketAddr};

use tokio::time::Instant;

use super::{Gate, Socket};
pub use crate::transport::http::Limits;
use crate::transport::http::{Answer, Head, Reply, Request, Server, Site};

/// A listening address with its gate.
#[derive(Debug)]
pub struct Listener(Server<Gate>);

impl Listener {
    /// Binds `address`.
    ///
    /// # Errors
    /// `InvalidInput` if the token is too short to guard that address; else what binding gives.
    pub async fn bind(address: SocketAddr, gate: Gate, limits: Limits) -> io::Result<Self> {
        let guards = gate.token().check_guards(address.ip());
        guards.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Self(Server::bind(address, gate, limits, None).await?))
    }

    /// The address bound, with the port the system chose for port 0.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    #[must_use]
    pub fn gate(&self) -> &Gate {
        self.0.site()
    }

    /// The next peer that was let in. Handshakes go on only while this is awaited; giving it up
    /// loses none of them.
    ///
    /// # Errors
    /// Only if the listener itself is broken.
    pub async fn accept(&mut self) -> io::Result<Socket> {
        self.0.accept().await.map(|(socket, ())| socket)
    }
}

impl Site for Gate {
    type Guest = ();

    fn refuse(&self, answer: Answer) -> Answer {
        last_word(answer)
    }

    async fn answer(&self, request: Request) -> Reply<()> {
        let Request { head, peer, local, .. } = request;
        if !head.is_upgrade() {
            return last_word(page(&head)).into();
        }
        match self.judge(&head, peer.ip(), local.ip(), Instant::now()) {
            Ok(handshake) => Reply::Enter(handshake, ()),
            Err(refusal) => {
                tracing::info!(%peer, status = refusal.status(), "refused a remote client");
                last_word(refusal).into()
            }
        }
    }
}

/// What every answer carries besides its own.
fn last_word(answer: Answer) -> Answer {
    answer.with("Cache-Control", "no-store").with("X-Content-Type-Options", "nosniff")
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
        ("GET", "/readyz" | "/healthz") => Answer::new(200, "text/plain", "ok\n"),
        ("GET", "/pair") => Answer::new(200, "text/html; charset=utf-8", PAIR_PAGE)
            .with("Content-Security-Policy", "default-src 'none'"),
        _ => Answer::text(404, "not found\n"),
    }
}
