//! Who may pass from HTTP to the WebSocket: Host, Origin, throttle and token, judged in this order
//! so that a foreign page can neither guess tokens nor lock its user out. Does no I/O.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::{
    SUBPROTOCOL, Token,
    http::{Answer, Head},
    throttle::Throttle,
};

/// How a token stands in a list of subprotocols.
const BEARER_ELEMENT: &str = "bearer.";

/// The rules by which a listener lets peers in.
#[derive(Debug)]
pub struct Gate {
    token: Token,
    origins: Vec<String>,
    hosts: Vec<String>,
    expires: Option<Instant>,
    throttle: Mutex<Throttle>,
}

impl Gate {
    /// Accepts clients that have the token and are not a foreign web page.
    #[must_use]
    pub fn new(token: Token) -> Self {
        let node = rustix::system::uname().nodename().to_string_lossy().to_ascii_lowercase();
        let hosts = vec![format!("{node}.local"), node];
        Self { token, origins: Vec::new(), hosts, expires: None, throttle: Mutex::default() }
    }

    /// Lets pages of this origin in as well, such as `https://app.example`.
    #[must_use]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        self.origins.push(normal_origin(origin));
        self
    }

    /// Answers to this name as well; addresses, `localhost` and the machine's own name are known.
    #[must_use]
    pub fn allow_host(mut self, name: &str) -> Self {
        self.hosts.push(name.to_ascii_lowercase());
        self
    }

    /// Stops accepting new clients after this time from now; connected ones stay.
    #[must_use]
    pub fn expires_in(mut self, ttl: Duration) -> Self {
        self.expires = Instant::now().checked_add(ttl);
        self
    }

    /// The token.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Judges a request to upgrade that came from `peer` to our address `local`.
    pub(super) fn judge(
        &self,
        head: &Head,
        peer: IpAddr,
        local: IpAddr,
        now: Instant,
    ) -> Result<Admission, Answer> {
        let host = head.only("host").and_then(host_of);
        let host = host.ok_or_else(|| Answer::text(400, "bad or missing Host header\n"))?;
        if !self.knows_host(&host, local) {
            return Err(Answer::text(403, "unknown host\n"));
        }
        if !head.all("origin").all(|origin| self.permits_origin(origin, &host)) {
            return Err(Answer::text(403, "origin is not allowed\n"));
        }
        self.check_token(head, peer, now)?;
        Admission::of(head)
    }

    /// Whether a request may name us so. Only names can be turned against us by a foreign DNS
    /// server; a listener that only this machine reaches has no other address either.
    fn knows_host(&self, host: &Host, local: IpAddr) -> bool {
        match host {
            Host::Address(address) => !local.to_canonical().is_loopback() || address.is_loopback(),
            Host::Name(name) => is_local_name(name) || self.hosts.contains(name),
        }
    }

    fn permits_origin(&self, origin: &str, host: &Host) -> bool {
        let origin = normal_origin(origin);
        if self.origins.contains(&origin) {
            return true;
        }
        let authority = origin.split_once("://").and_then(|(_, authority)| host_of(authority));
        host.is_loopback() && authority.is_some_and(|authority| authority.is_loopback())
    }

    fn check_token(&self, head: &Head, peer: IpAddr, now: Instant) -> Result<(), Answer> {
        let mut throttle = self.throttle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seconds) = throttle.wait(peer, now) {
            let refusal = Answer::text(429, "too many failed attempts\n");
            return Err(refusal.with("Retry-After", seconds));
        }
        let is_current = self.expires.is_none_or(|expires| now < expires);
        if presented(head).any(|token| self.token.matches(token)) && is_current {
            throttle.succeeded(peer);
            return Ok(());
        }
        let refusal = Answer::text(401, "unauthorized\n").with("WWW-Authenticate", "Bearer");
        Err(match throttle.failed(peer, now) {
            Some(seconds) => refusal.with("Retry-After", seconds),
            None => refusal,
        })
    }
}

/// Every token that the request presents, in whichever of the two ways. The URL is not one.
fn presented(head: &Head) -> impl Iterator<Item = &str> {
    let bearer = |value: &'_ str| -> Option<usize> {
        let (scheme, _) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(scheme.len())
    };
    let headers = head
        .all("authorization")
        .filter_map(move |value| bearer(value).map(|at| value[at..].trim()));
    let elements = head
        .elements("sec-websocket-protocol")
        .filter_map(|element| element.strip_prefix(BEARER_ELEMENT));
    headers.chain(elements)
}

/// What a peer that was let in is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Admission {
    /// The proof that we speak WebSocket.
    pub(super) accept: String,
    /// The subprotocol agreed on.
    pub(super) subprotocol: Option<&'static str>,
}

impl Admission {
    fn of(head: &Head) -> Result<Self, Answer> {
        if head.method != "GET" || !head.has_element("connection", "upgrade") {
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
        let subprotocol = offered.any(|element| element == SUBPROTOCOL).then_some(SUBPROTOCOL);
        Ok(Self { accept: derive_accept_key(key.as_bytes()), subprotocol })
    }
}

/// The host part of a Host header or an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    Name(String),
}

impl Host {
    fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Name(name) => is_local_name(name),
        }
    }
}

/// Names that mean this machine and are never looked up.
fn is_local_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Reads `host` or `host:port`; the port says nothing about who we are, since it may be forwarded.
fn host_of(authority: &str) -> Option<Host> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        is_port(rest).then_some(())?;
        let address: Ipv6Addr = address.parse().ok()?;
        return Some(Host::Address(IpAddr::V6(address).to_canonical()));
    }
    let at = authority.find(':').unwrap_or(authority.len());
    let (name, port) = authority.split_at(at);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if name.is_empty() || !name.bytes().all(fits) || !is_port(port) {
        return None;
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    Some(name.parse().map_or_else(|_| Host::Name(name.to_ascii_lowercase()), Host::Address))
}

/// Nothing, or a colon and digits.
fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some(digits) => digits.parse::<u16>().is_ok() && !digits.starts_with('+'),
        None => text.is_empty(),
    }
}

fn normal_origin(origin: &str) -> String {
    origin.trim().trim_end_matches('/').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const LAN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 1, 5));

    fn gate() -> Gate {
        Gate::new(Token::new("secret").unwrap())
    }

    #[test]
    fn hosts_that_are_ours() {
        let gate = gate().allow_host("Box.Tail.Net");
        let node = gate.hosts[1].clone();
        for (host, on_loopback, on_lan) in [
            ("127.0.0.1:9786", true, true),
            ("127.9.9.9", true, true),
            ("[::1]:80", true, true),
            ("[::ffff:127.0.0.1]", true, true),
            ("LocalHost:1", true, true),
            ("app.localhost", true, true),
            ("localhost.", true, true),
            ("box.tail.net", true, true),
            (node.as_str(), true, true),
            ("192.168.1.5:9786", false, true),
            ("[fd00::1]", false, true),
            ("evil.example", false, false),
            ("localhost.evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
        ] {
            let parsed = host_of(host).unwrap();
            assert_eq!(gate.knows_host(&parsed, HERE), on_loopback, "{host}");
            assert_eq!(gate.knows_host(&parsed, LAN), on_lan, "{host}");
        }
        for bad in
            ["", ":80", "a b", "a:x", "a:99999", "a:+1", "[::1", "[::1]x", "[x]", "a@b", "a/b"]
        {
            assert_eq!(host_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn origins_that_may_enter() {
        let gate = gate().allow_origin("https://App.example/").allow_origin("null");
        let (here, lan) = (Host::Address(HERE), Host::Address(LAN));
        for (origin, from_loopback, from_lan) in [
            ("https://app.example", true, true),
            ("https://app.example:444", false, false),
            ("http://app.example", false, false),
            ("null", true, true),
            ("http://localhost:3000", true, false),
            ("http://127.0.0.1", true, false),
            ("http://[::1]:5", true, false),
            ("http://192.168.1.5", false, false),
            ("https://evil.example", false, false),
            ("http://localhost.evil.example", false, false),
            ("http://localhost@evil.example", false, false),
            ("localhost", false, false),
            ("", false, false),
        ] {
            assert_eq!(gate.permits_origin(origin, &here), from_loopback, "{origin}");
            assert_eq!(gate.permits_origin(origin, &lan), from_lan, "{origin}");
        }
    }

    proptest! {
        #[test]
        fn hosts_and_origins_never_panic(text in "\\PC{0,40}") {
            let _ = host_of(&text);
            let _ = gate().permits_origin(&text, &Host::Address(HERE));
        }
    }
}
