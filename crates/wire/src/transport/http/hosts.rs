//! Names of servers: what stands in a `Host` header and in an origin, and which of them mean this machine.

use std::net::{IpAddr, Ipv6Addr};

/// The host part of a Host header or an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Address(IpAddr),
    Name(String),
}

impl Host {
    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Name(name) => is_local_name(name),
        }
    }
}

/// Names that mean this machine and are never looked up.
pub(crate) fn is_local_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Reads `host` or `host:port`; the port says nothing about who we are, since it may be forwarded.
pub(crate) fn host_of(authority: &str) -> Option<Host> {
    split(authority).map(|(host, _)| host)
}

/// The same with the port.
fn split(authority: &str) -> Option<(Host, Option<u16>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        let port = port(rest)?;
        let address: Ipv6Addr = address.parse().ok()?;
        return Some((Host::Address(IpAddr::V6(address).to_canonical()), port));
    }
    let at = authority.find(':').unwrap_or(authority.len());
    let (name, rest) = authority.split_at(at);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if name.is_empty() || !name.bytes().all(fits) {
        return None;
    }
    let port = port(rest)?;
    let name = name.strip_suffix('.').unwrap_or(name);
    let host = name.parse().map_or_else(|_| Host::Name(name.to_ascii_lowercase()), Host::Address);
    Some((host, port))
}

/// Nothing, or a colon and digits.
fn port(text: &str) -> Option<Option<u16>> {
    match text.strip_prefix(':') {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => digits.parse().ok().map(Some),
        None => text.is_empty().then_some(None),
    }
}

pub(crate) fn normal_origin(origin: &str) -> String {
    origin.trim().trim_end_matches('/').to_ascii_lowercase()
}

/// Whether what comes and goes is encrypted on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// It is not.
    Http,
    /// It is, by us or by a proxy in front.
    Https,
}

impl Scheme {
    fn usual_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// The scheme of WebSockets that goes with it.
    #[must_use]
    pub fn of_sockets(self) -> &'static str {
        match self {
            Scheme::Http => "ws",
            Scheme::Https => "wss",
        }
    }
}

/// Where a page comes from: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) host: Host,
    pub(crate) port: u16,
}

impl Origin {
    /// Reads `http://HOST[:PORT]` or `https://HOST[:PORT]`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        Self::of(scheme, authority)
    }

    /// An origin by its scheme and the `host[:port]` of a Host header.
    pub(crate) fn of(scheme: Scheme, authority: &str) -> Option<Self> {
        let (host, port) = split(authority)?;
        Some(Self { scheme, host, port: port.unwrap_or(scheme.usual_port()) })
    }

    /// Whether what comes and goes is encrypted.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The same place for WebSockets, as a policy for browsers spells it.
    #[must_use]
    pub fn for_sockets(&self) -> String {
        self.spelled(self.scheme.of_sockets())
    }

    fn spelled(&self, scheme: &str) -> String {
        let host = match &self.host {
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
            Host::Address(address) => address.to_string(),
            Host::Name(name) => name.clone(),
        };
        match self.port == self.scheme.usual_port() {
            true => format!("{scheme}://{host}"),
            false => format!("{scheme}://{host}:{}", self.port),
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.spelled(match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_spelled_as_browsers_spell_them() {
        for (text, spelled, sockets) in [
            ("http://127.0.0.1:7665", "http://127.0.0.1:7665", "ws://127.0.0.1:7665"),
            ("HTTPS://Box.Tail.Net", "https://box.tail.net", "wss://box.tail.net"),
            ("https://box:443", "https://box", "wss://box"),
            ("http://[::1]:7665", "http://[::1]:7665", "ws://[::1]:7665"),
        ] {
            let origin = Origin::parse(text).unwrap();
            assert_eq!(
                (origin.to_string().as_str(), origin.for_sockets().as_str()),
                (spelled, sockets)
            );
        }
        for bad in [
            "",
            "null",
            "ftp://x",
            "http://",
            "http://a/b",
            "http://a b",
            "http://u@h",
            "//x",
            "http://a:99999",
        ] {
            assert_eq!(Origin::parse(bad), None, "{bad}");
        }
    }
}
