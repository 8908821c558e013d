//! The request that turns HTTP into a WebSocket, and its answer.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::transport::http::{Answer, Head};

/// What a peer that is let in is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The proof that we speak WebSocket.
    accept: String,
    /// The subprotocol agreed on.
    subprotocol: Option<&'static str>,
    /// Further headers.
    headers: Vec<(&'static str, String)>,
}

impl Handshake {
    /// Reads what a peer asks for; of the subprotocols it offers, this one is agreed on.
    ///
    /// # Errors
    /// The answer, if this is no handshake.
    pub fn read(head: &Head, subprotocol: &'static str) -> Result<Self, Answer> {
        if head.method != "GET" || !head.is_upgrade() || !head.has_element("connection", "upgrade")
        {
            return Err(Answer::text(400, "not a WebSocket handshake\n"));
        }
        if head.only("sec-websocket-version") != Some("13") {
            let refusal = Answer::text(426, "only WebSocket version 13 is spoken\n");
            return Err(refusal.with("Sec-WebSocket-Version", 13));
        }
        let key = head.only("sec-websocket-key").unwrap_or_default();
        if STANDARD.decode(key).map(|bytes| bytes.len()) != Ok(16) {
            return Err(Answer::text(400, "bad or missing Sec-WebSocket-Key header\n"));
        }
        let mut offered = head.elements("sec-websocket-protocol");
        let subprotocol = offered.any(|element| element == subprotocol).then_some(subprotocol);
        Ok(Self { accept: derive_accept_key(key.as_bytes()), subprotocol, headers: Vec::new() })
    }

    /// The subprotocol agreed on.
    #[must_use]
    pub fn subprotocol(&self) -> Option<&'static str> {
        self.subprotocol
    }

    /// The same with one more header in its answer.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub(crate) fn answer(self) -> Answer {
        let mut answer = Answer::empty(101)
            .with("Upgrade", "websocket")
            .with("Connection", "Upgrade")
            .with("Sec-WebSocket-Accept", &self.accept);
        if let Some(subprotocol) = self.subprotocol {
            answer = answer.with("Sec-WebSocket-Protocol", subprotocol);
        }
        self.headers.into_iter().fold(answer, |answer, (name, value)| answer.with(name, value))
    }
}
