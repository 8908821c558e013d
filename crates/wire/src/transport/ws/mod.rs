//! WebSockets for remote clients: a listener that asks for a token before it says anything, one
//! text message per document, and the pairing text that tells a client where to go.
//!
//! A [`Listener`] yields a [`Socket`] per client that its [`Gate`] let in; serve it with
//! [`serve_connection`](crate::serve_connection) and [`Messages`] as framing. One that is cut off
//! because it does not read sees close code 1013.

mod gate;
mod handshake;
mod listener;
pub mod pairing;
mod socket;
mod token;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

pub use gate::Gate;
pub use handshake::Handshake;
pub use listener::{Limits, Listener};
pub use socket::{MAX_MESSAGE, Messages, Socket};
pub use token::{Token, TokenError};

/// The subprotocol that clients offer, and the type of the pairing payload.
pub const SUBPROTOCOL: &str = "roder.remote.v1";

/// Why a listen address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot listen on {0:?}: expected ws://ADDRESS:PORT with an IP address")]
pub struct BadAddress(String);

/// Reads `ws://ADDRESS:PORT`; IPv6 addresses stand in brackets.
///
/// # Errors
/// For any other scheme, and for anything that is no IP address and port.
pub fn parse_address(text: &str) -> Result<SocketAddr, BadAddress> {
    let bad = || BadAddress(text.chars().take(128).collect());
    let address = text.strip_prefix("ws://").ok_or_else(bad)?;
    address.strip_suffix('/').unwrap_or(address).parse().map_err(|_| bad())
}
