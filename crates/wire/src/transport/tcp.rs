//! TCP endpoints. Owns the rule that only this machine may connect without a token, not the
//! handshake in which a dialect asks for it.

use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpStream};

use super::unauthenticated::{Place, Unauthenticated};
use super::{Slot, Slots, Transport, accept_patiently, delegate_io};

/// Who may connect.
#[derive(Clone, PartialEq, Eq)]
pub enum Access {
    /// Programs on this machine; only loopback addresses can be bound.
    Loopback,
    /// Any client that presents the token; the dialect compares it by [`tokens_equal`].
    Token(String),
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Loopback => "Loopback",
            Self::Token(_) => "Token(..)",
        })
    }
}

impl Access {
    /// True if the address may be bound under this rule.
    #[must_use]
    pub fn permits(&self, address: SocketAddr) -> bool {
        match self {
            Self::Loopback => address.ip().is_loopback(),
            Self::Token(token) => !token.is_empty(),
        }
    }
}

/// Compares secrets in a time that depends only on the length of the first.
#[must_use]
pub fn tokens_equal(presented: &str, secret: &str) -> bool {
    let (presented, secret) = (presented.as_bytes(), secret.as_bytes());
    let mut difference = u8::from(presented.len() != secret.len());
    for (at, byte) in presented.iter().enumerate() {
        difference |= byte ^ secret.get(at % secret.len().max(1)).copied().unwrap_or(0);
    }
    std::hint::black_box(difference) == 0
}

/// A listening TCP socket.
#[derive(Debug)]
pub struct TcpEndpoint {
    listener: TcpListener,
    slots: Slots,
    /// Peers that have not presented the token yet, if they have to.
    unauthenticated: Option<Unauthenticated>,
}

impl TcpEndpoint {
    /// Binds `address` if `access` permits it, for at most `max_connections` at a time. Of peers that have to present
    /// a token and have not yet, there are far fewer.
    ///
    /// # Errors
    /// `PermissionDenied` for an address other machines can reach without a token; else what
    /// binding gives.
    pub async fn bind(
        address: SocketAddr,
        access: &Access,
        max_connections: usize,
    ) -> io::Result<Self> {
        if !access.permits(address) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("refusing to listen on {address} without a token"),
            ));
        }
        let listener = TcpListener::bind(address).await?;
        let unauthenticated = matches!(access, Access::Token(_)).then(Unauthenticated::default);
        Ok(Self { listener, slots: Slots::new(max_connections), unauthenticated })
    }

    /// The address bound, with the port the system chose for port 0.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The next connection; those over the limit are closed at once.
    ///
    /// # Errors
    /// Only if the listener itself is broken.
    pub async fn accept(&self) -> io::Result<TcpConnection> {
        loop {
            let (stream, peer) = accept_patiently(|| self.listener.accept()).await?;
            let Some(slot) = self.slots.take() else {
                tracing::warn!(%peer, "too many connections, closing the newest");
                continue;
            };
            let pending_peer = match &self.unauthenticated {
                None => None,
                Some(unauthenticated) => match unauthenticated.take(peer.ip()) {
                    Some(place) => Some(place),
                    None => {
                        tracing::warn!(%peer, "too many connections without a token, closing the newest");
                        continue;
                    }
                },
            };
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "cannot set TCP_NODELAY");
            }
            return Ok(TcpConnection { stream, peer, pending_peer, _slot: slot });
        }
    }
}

/// An accepted TCP connection.
#[derive(Debug)]
pub struct TcpConnection {
    stream: TcpStream,
    peer: SocketAddr,
    /// Its place among those who have not presented the token.
    pending_peer: Option<Place>,
    _slot: Slot,
}

impl TcpConnection {
    /// The address of the other side.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The address of this side: that of the listener only if it listens at one address.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }
}

delegate_io!(TcpConnection, stream);

impl Transport for TcpConnection {
    fn peer_gone(&self) -> bool {
        self.stream.peer_gone()
    }

    fn admitted(&mut self) {
        self.pending_peer = None;
    }
}

/// Connects to a TCP endpoint.
///
/// # Errors
/// As for [`TcpStream::connect`].
pub async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn tokens() {
        assert!(tokens_equal("abc", "abc"));
        assert!(tokens_equal("", ""));
        for (a, b) in [("abc", "abd"), ("ab", "abc"), ("abcabc", "abc"), ("", "abc"), ("abc", "")] {
            assert!(!tokens_equal(a, b), "{a} {b}");
        }
    }

    #[tokio::test]
    async fn other_machines_need_a_token() {
        let everywhere = "0.0.0.0:0".parse().unwrap();
        let refused = TcpEndpoint::bind(everywhere, &Access::Loopback, 1).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(Access::Token("secret".into()).permits(everywhere));
        assert!(!Access::Token(String::new()).permits(everywhere));
    }

    #[tokio::test]
    async fn connections_over_the_limit_are_closed() {
        let address = "127.0.0.1:0".parse().unwrap();
        let endpoint = TcpEndpoint::bind(address, &Access::Loopback, 1).await.unwrap();
        let address = endpoint.local_addr().unwrap();
        let mut first = connect(address).await.unwrap();
        let mut accepted = endpoint.accept().await.unwrap();
        let mut second = connect(address).await.unwrap();
        let serve = async { endpoint.accept().await };
        let closed = async { second.read(&mut [0]).await };
        tokio::select! {
            _ = serve => panic!("accepted over the limit"),
            read = closed => assert_eq!(read.unwrap(), 0),
        }
        accepted.write_all(b"x").await.unwrap();
        assert_eq!(first.read_u8().await.unwrap(), b'x');
    }

    #[tokio::test]
    async fn attack_peers_without_a_token_are_few_and_those_with_it_do_not_count() {
        use super::super::unauthenticated::MOST_FROM_ONE;

        let address = "127.0.0.1:0".parse().unwrap();
        let access = Access::Token("secret".into());
        let endpoint = TcpEndpoint::bind(address, &access, 1000).await.unwrap();
        let address = endpoint.local_addr().unwrap();
        let (mut clients, mut held) = (Vec::new(), Vec::new());
        for _ in 0..MOST_FROM_ONE + 2 {
            clients.push(connect(address).await.unwrap());
            let mut accepted = endpoint.accept().await.unwrap();
            // Two of them present it.
            if held.len() < 2 {
                accepted.admitted();
            }
            held.push(accepted);
        }
        let mut late = connect(address).await.unwrap();
        let mut byte = [0];
        tokio::select! {
            _ = endpoint.accept() => panic!("accepted over the limit"),
            read = late.read(&mut byte) => assert_eq!(read.unwrap(), 0),
        }
        drop(held.pop());
        clients.push(connect(address).await.unwrap());
        endpoint.accept().await.unwrap();
    }
}
