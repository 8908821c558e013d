//! HTTP for remote clients: a listener whose connections are bounded and keep none of the others out, and the
//! rules by which pages and programs are let in. What is answered is a [`Site`]'s business; how bytes become
//! requests is hyper's.

mod answer;
mod carrier;
mod entry;
mod head;
mod hosts;
mod listener;
mod serve;
mod strict;
mod throttle;
mod tls;
mod waiting;

use std::net::SocketAddr;

use bytes::Bytes;

#[cfg(test)]
mod tests;

pub use answer::Answer;
pub(crate) use carrier::Carrier;
pub use entry::{Credential, Entry, Purpose, Visitor};
pub use head::Head;
pub(crate) use hosts::{Host, host_of, is_local_name, normal_origin};
pub use hosts::{Origin, Scheme};
pub use listener::{Limits, Server};
pub(crate) use throttle::Throttle;
pub use tls::{BadCertificate, Tls};

use super::ws::Handshake;

/// What answers the requests that come to a listener.
pub trait Site: Send + Sync + 'static {
    /// What is known of a peer that was let in.
    type Guest: Send + 'static;

    /// Answers one request, or lets its peer in.
    fn answer(&self, request: Request) -> impl Future<Output = Reply<Self::Guest>> + Send;

    /// Completes the answer to a request that did not get that far: it was malformed, too long or too slow, or
    /// there was no room for its peer.
    fn refuse(&self, answer: Answer) -> Answer {
        answer
    }
}

/// A request, whole.
#[derive(Debug)]
pub struct Request {
    /// Everything before the body.
    pub head: Head,
    /// The body; empty where none is taken.
    pub body: Bytes,
    /// Who sent it.
    pub peer: SocketAddr,
    /// The address of ours that it came to.
    pub local: SocketAddr,
    /// Whether the connection is encrypted by us.
    pub is_encrypted: bool,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Reply<G> {
    /// It is answered.
    Answer(Answer),
    /// Its peer leaves HTTP for a WebSocket.
    Enter(Handshake, G),
}

impl<G> From<Answer> for Reply<G> {
    fn from(answer: Answer) -> Self {
        Reply::Answer(answer)
    }
}
