//! Who may enter a site whose visitors were paired with it: Host, Origin, `Sec-Fetch-Site`, and then what the
//! visitor presents, judged in this order so that a foreign page can neither guess nor lock its user out.
//! Pure but for the count of failures.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use tokio::time::Instant;

use super::{Answer, Head, Host, Origin, Request, Scheme, Throttle, host_of};

/// The cookie of a paired browser.
const COOKIE: &str = "rookery";
/// The same over an encrypted connection, where browsers guard it.
const SECURE_COOKIE: &str = "__Host-rookery";
/// How a credential stands in a list of subprotocols.
const BEARER_ELEMENT: &str = "bearer.";
/// Credentials of one request that are looked at. Servers on other ports of a machine can add cookies to ours.
const MOST_CREDENTIALS: usize = 4;

/// The rules of one site.
#[derive(Debug)]
pub struct Entry {
    origins: Vec<Origin>,
    throttle: Mutex<Throttle>,
}

/// What a request is for, and so how sure it must be that no foreign page sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What every visitor may have.
    Open,
    /// Something is read.
    Read,
    /// Something is done.
    Act,
    /// Something is done for which a program needs no cookie: one that comes all the same is a browser's, whatever
    /// else is presented.
    Post,
}

/// What a visitor presents to show who it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Credential<'a>(pub &'a str);

impl std::fmt::Debug for Credential<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential(..)")
    }
}

/// A request whose Host and Origin are ours.
#[derive(Debug)]
pub struct Visitor<'a> {
    /// Where a page that sent this request comes from.
    pub origin: Origin,
    /// What it presents, in the order in which it is to be looked at.
    pub credentials: Vec<Credential<'a>>,
    /// Whether that came as a cookie.
    pub has_cookie: bool,
    peer: IpAddr,
}

impl Entry {
    /// Knows this machine by the address that a request came to and as `localhost`, and by these origins besides.
    #[must_use]
    pub fn new(origins: Vec<Origin>) -> Self {
        Self { origins, throttle: Mutex::default() }
    }

    /// Judges everything but who the visitor is.
    ///
    /// # Errors
    /// The answer to a request that is refused.
    pub fn judge<'a>(&self, request: &'a Request, purpose: Purpose) -> Result<Visitor<'a>, Answer> {
        let head = &request.head;
        let foreign = || Answer::text(403, "origin is not allowed\n");
        let ways = self.ways(request)?;
        let own = ways.first().ok_or_else(|| Answer::text(403, "unknown host\n"))?.clone();
        let peer = request.peer.ip();
        if purpose == Purpose::Open {
            return Ok(Visitor { origin: own, credentials: Vec::new(), has_cookie: false, peer });
        }
        let mut origins = head.all("origin");
        let origin = match (origins.next(), origins.next()) {
            (None, _) => None,
            (Some(text), None) => {
                let origin = Origin::parse(text).filter(|origin| ways.contains(origin));
                Some(origin.ok_or_else(foreign)?)
            }
            (Some(_), Some(_)) => return Err(foreign()),
        };
        let mut sites = head.all("sec-fetch-site");
        let is_own_fetch = head.has("sec-fetch-site");
        if sites.any(|site| site != "same-origin") {
            return Err(foreign());
        }
        let has_cookie = |name: &&str| head.cookies(name).next().is_some();
        let is_browser = [COOKIE, SECURE_COOKIE].iter().any(has_cookie);
        if purpose == Purpose::Post && origin.is_none() && is_browser {
            return Err(Answer::text(403, "origin is missing\n"));
        }
        let bearers: Vec<_> = match origin {
            None => bearers(head).take(MOST_CREDENTIALS).map(Credential).collect(),
            Some(_) => Vec::new(),
        };
        let is_page = origin.is_some() || purpose == Purpose::Read && is_own_fetch;
        let origin = origin.unwrap_or(own);
        let cookie = cookie_name(origin.scheme());
        if !bearers.is_empty() {
            return Ok(Visitor { origin, credentials: bearers, has_cookie: false, peer });
        }
        let cookies: Vec<_> = head.cookies(cookie).take(MOST_CREDENTIALS).map(Credential).collect();
        if !cookies.is_empty() && !is_page {
            return Err(Answer::text(403, "origin is missing\n"));
        }
        Ok(Visitor { origin, has_cookie: !cookies.is_empty(), credentials: cookies, peer })
    }

    /// The origins that a page may have which sent a request to this Host.
    fn ways(&self, request: &Request) -> Result<Vec<Origin>, Answer> {
        let bad = || Answer::text(400, "bad or missing Host header\n");
        let authority = request.head.only("host").ok_or_else(bad)?;
        let host = host_of(authority).ok_or_else(bad)?;
        let named = |origin: &&Origin| {
            Origin::of(origin.scheme, authority).is_some_and(|asked| asked == **origin)
        };
        let mut ways: Vec<Origin> = self.origins.iter().filter(named).cloned().collect();
        let scheme = if request.is_encrypted { Scheme::Https } else { Scheme::Http };
        if is_here(&host, request.local.ip()) {
            ways.extend(Origin::of(scheme, authority).filter(|origin| !ways.contains(origin)));
        }
        Ok(ways)
    }

    /// The answer to a visitor that presented nothing that is right; one that guesses has to wait.
    #[must_use]
    pub fn refuse(&self, visitor: &Visitor<'_>) -> Answer {
        let refusal = || Answer::text(401, "unauthorized\n").with("WWW-Authenticate", "Bearer");
        if visitor.credentials.is_empty() {
            return refusal();
        }
        let now = Instant::now();
        let mut throttle = self.throttle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seconds) = throttle.wait(visitor.peer, now) {
            return Answer::text(429, "too many failed attempts\n").with("Retry-After", seconds);
        }
        match throttle.failed(visitor.peer, now) {
            Some(seconds) => refusal().with("Retry-After", seconds),
            None => refusal(),
        }
    }

    /// A visitor presented what is right: its address begins anew.
    pub fn welcome(&self, visitor: &Visitor<'_>) {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner).succeeded(visitor.peer);
    }
}

/// Whether a request that came to `local` may name us so. Only names can be turned against us by a foreign DNS
/// server, but an address that is not ours was never meant for us either. Names below `localhost` are those of
/// other programs of this machine, and cookies tell hosts apart.
fn is_here(host: &Host, local: IpAddr) -> bool {
    match host {
        Host::Address(address) => *address == local.to_canonical(),
        Host::Name(name) => name == "localhost",
    }
}

/// Every credential that a program presents. The URL is no place for one.
fn bearers(head: &Head) -> impl Iterator<Item = &str> {
    let headers = head.all("authorization").filter_map(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| rest.trim())
    });
    let elements = head
        .elements("sec-websocket-protocol")
        .filter_map(|element| element.strip_prefix(BEARER_ELEMENT));
    headers.chain(elements)
}

fn cookie_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Http => COOKIE,
        Scheme::Https => SECURE_COOKIE,
    }
}

impl Visitor<'_> {
    /// The header that has a browser keep a credential for this many seconds; 0 has it forget one.
    #[must_use]
    pub fn cookie(&self, value: &str, seconds: u64) -> String {
        let scheme = self.origin.scheme();
        let secure = if scheme == Scheme::Https { "; Secure" } else { "" };
        let name = cookie_name(scheme);
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}")
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn request(local: &str, is_encrypted: bool, headers: &[(&str, &str)]) -> Request {
        Request {
            head: Head::new("GET", "/link", headers),
            body: Bytes::new(),
            peer: "127.0.0.1:50000".parse().unwrap(),
            local: local.parse().unwrap(),
            is_encrypted,
        }
    }

    fn entry() -> Entry {
        let origins = ["https://box.tail.ts.net", "http://lan.example:7665"];
        Entry::new(origins.into_iter().filter_map(Origin::parse).collect())
    }

    /// What is answered, or 0 for a visitor that may present itself, and with how many credentials.
    fn judged(purpose: Purpose, request: &Request) -> (u16, usize) {
        match entry().judge(request, purpose) {
            Ok(visitor) => (0, visitor.credentials.len()),
            Err(answer) => (answer.status(), 0),
        }
    }

    const HERE: &str = "127.0.0.1:7665";

    #[test]
    fn attack_only_our_own_names_are_answered() {
        for (local, host, want) in [
            (HERE, "127.0.0.1:7665", 0),
            (HERE, "localhost:9999", 0),
            (HERE, "LOCALHOST:7665", 0),
            (HERE, "[::ffff:127.0.0.1]:7665", 0),
            (HERE, "[::1]:7665", 403),
            (HERE, "127.0.0.2:7665", 403),
            (HERE, "app.localhost:7665", 403),
            ("[::1]:7665", "[::1]:7665", 0),
            ("[::1]:7665", "127.0.0.1:7665", 403),
            ("[::ffff:127.0.0.1]:7665", "127.0.0.1:7665", 0),
            (HERE, "box.tail.ts.net", 0),
            (HERE, "lan.example:7665", 0),
            (HERE, "lan.example", 403),
            (HERE, "box.tail.ts.net:7665", 403),
            (HERE, "evil.example:7665", 403),
            (HERE, "localhost.evil.example", 403),
            (HERE, "192.168.1.5:7665", 403),
            ("100.101.1.1:7665", "100.101.1.1:7665", 0),
            ("100.101.1.1:7665", "100.101.1.2:7665", 403),
            ("100.101.1.1:7665", "127.0.0.1:7665", 403),
            (HERE, "a b", 400),
            (HERE, "user@localhost", 400),
            (HERE, "", 400),
        ] {
            let request = request(local, false, &[("Host", host)]);
            assert_eq!(judged(Purpose::Open, &request).0, want, "{host} at {local}");
        }
        let none = request(HERE, false, &[]);
        let two = request(HERE, false, &[("Host", HERE), ("Host", HERE)]);
        assert_eq!((judged(Purpose::Open, &none).0, judged(Purpose::Open, &two).0), (400, 400));
    }

    #[test]
    fn attack_a_cookie_counts_only_with_the_origin_of_our_own_page() {
        let cookie = ("Cookie", "rookery=id.secret");
        let secure = ("Cookie", "__Host-rookery=id.secret");
        let (host, own) = (("Host", HERE), ("Origin", "http://127.0.0.1:7665"));
        let same = ("Sec-Fetch-Site", "same-origin");
        for (headers, act, read) in [
            (&[host, cookie, own][..], (0, 1), (0, 1)),
            (&[host, cookie, own, same], (0, 1), (0, 1)),
            (&[host, cookie], (403, 0), (403, 0)),
            (&[host, cookie, same], (403, 0), (0, 1)),
            (&[host, own], (0, 0), (0, 0)),
            (&[host], (0, 0), (0, 0)),
            (&[host, cookie, ("Origin", "http://localhost:7665")], (403, 0), (403, 0)),
            (&[host, cookie, ("Origin", "http://127.0.0.1:7666")], (403, 0), (403, 0)),
            (&[host, cookie, ("Origin", "http://127.0.0.1")], (403, 0), (403, 0)),
            (&[host, cookie, ("Origin", "https://127.0.0.1:7665")], (403, 0), (403, 0)),
            (&[host, cookie, ("Origin", "https://evil.example")], (403, 0), (403, 0)),
            (&[host, cookie, ("Origin", "null")], (403, 0), (403, 0)),
            (&[host, cookie, own, own], (403, 0), (403, 0)),
            (&[host, cookie, own, ("Sec-Fetch-Site", "cross-site")], (403, 0), (403, 0)),
            (&[host, cookie, own, ("Sec-Fetch-Site", "same-site")], (403, 0), (403, 0)),
            (&[host, cookie, own, same, ("Sec-Fetch-Site", "none")], (403, 0), (403, 0)),
            (&[host, secure, own], (0, 0), (0, 0)),
            (&[host, ("Authorization", "Bearer id.secret")], (0, 1), (0, 1)),
            (&[host, ("Authorization", "Bearer id.secret"), own], (0, 0), (0, 0)),
            (&[host, ("Authorization", "Bearer id.secret"), cookie], (0, 1), (0, 1)),
            (&[host, ("Sec-WebSocket-Protocol", "x, bearer.id.secret")], (0, 1), (0, 1)),
            (
                &[("Host", "box.tail.ts.net"), secure, ("Origin", "https://box.tail.ts.net")],
                (0, 1),
                (0, 1),
            ),
            (
                &[("Host", "box.tail.ts.net"), secure, ("Origin", "http://box.tail.ts.net")],
                (403, 0),
                (403, 0),
            ),
            (&[("Host", "box.tail.ts.net"), secure, own], (403, 0), (403, 0)),
        ] {
            let request = request(HERE, false, headers);
            assert_eq!(judged(Purpose::Act, &request), act, "{headers:?}");
            assert_eq!(judged(Purpose::Read, &request), read, "{headers:?}");
        }
    }

    #[test]
    fn attack_no_bearer_stands_in_for_the_origin_of_a_browser_that_posts() {
        let (host, own) = (("Host", HERE), ("Origin", "http://127.0.0.1:7665"));
        let (cookie, junk) = (("Cookie", "rookery=a.b"), ("Authorization", "Bearer x"));
        let secure = ("Cookie", "__Host-rookery=a.b");
        for (headers, want) in [
            (&[host, cookie, junk][..], (403, 0)),
            (&[host, secure, junk], (403, 0)),
            (&[host, secure], (403, 0)),
            (&[host, cookie, own, junk], (0, 1)),
            (&[host, junk], (0, 1)),
            (&[host], (0, 0)),
            (&[host, ("Cookie", "other=a.b"), junk], (0, 1)),
        ] {
            let request = request(HERE, false, headers);
            assert_eq!(judged(Purpose::Post, &request), want, "{headers:?}");
        }
    }

    #[test]
    fn cookies_are_guarded_by_browsers_where_the_way_is_encrypted() {
        let plain = request(HERE, false, &[("Host", HERE)]);
        let visitor = entry().judge(&plain, Purpose::Act).unwrap();
        let cookie = "rookery=a.b; HttpOnly; SameSite=Strict; Path=/; Max-Age=60";
        assert_eq!(visitor.cookie("a.b", 60), cookie);
        for encrypted in [
            request(HERE, true, &[("Host", HERE)]),
            request(HERE, false, &[("Host", "box.tail.ts.net")]),
        ] {
            let visitor = entry().judge(&encrypted, Purpose::Act).unwrap();
            let cookie =
                "__Host-rookery=a.b; HttpOnly; SameSite=Strict; Path=/; Max-Age=60; Secure";
            assert_eq!(visitor.cookie("a.b", 60), cookie);
        }
    }

    #[tokio::test]
    async fn guessing_costs_time_and_asking_does_not() {
        let entry = entry();
        let (host, own) = (("Host", HERE), ("Origin", "http://127.0.0.1:7665"));
        let asking = request(HERE, false, &[host, own]);
        let guessing = request(HERE, false, &[host, own, ("Cookie", "rookery=a.b")]);
        let refuse = |request| {
            let visitor = entry.judge(request, Purpose::Act).unwrap();
            entry.refuse(&visitor).status()
        };
        assert_eq!([0; 9].map(|_| refuse(&asking)), [401; 9]);
        assert_eq!([0; 4].map(|_| refuse(&guessing)), [401, 401, 401, 429]);
        entry.welcome(&entry.judge(&guessing, Purpose::Act).unwrap());
        assert_eq!(refuse(&guessing), 401);
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(
            host in "\\PC{0,30}", origin in "\\PC{0,40}", cookie in "\\PC{0,40}", bearer in "\\PC{0,30}",
        ) {
            let headers = [
                ("Host", host.as_str()), ("Origin", &origin), ("Cookie", &cookie),
                ("Authorization", &bearer),
            ];
            let request = request(HERE, false, &headers);
            for purpose in [Purpose::Open, Purpose::Read, Purpose::Act, Purpose::Post] {
                let _ = judged(purpose, &request);
            }
        }
    }
}
