//! Who may pass from HTTP to the WebSocket: Host, Origin, throttle and token, judged in this order
//! so that a foreign page can neither guess tokens nor lock its user out. Does no I/O.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Handshake, SUBPROTOCOL, Token};
use crate::transport::http::{Answer, Head, Host, Throttle, host_of, is_local_name, normal_origin};

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
    ) -> Result<Handshake, Answer> {
        let host = head.only("host").and_then(host_of);
        let host = host.ok_or_else(|| Answer::text(400, "bad or missing Host header\n"))?;
        if !self.knows_host(&host, local) {
            return Err(Answer::text(403, "unknown host\n"));
        }
        if !head.all("origin").all(|origin| self.permits_origin(origin, &host)) {
            return Err(Answer::text(403, "origin is not allowed\n"));
        }
        self.check_token(head, peer, now)?;
        Handshake::read(head, SUBPROTOCOL)
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
