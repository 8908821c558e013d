//! A request without its body, as the rules of entry look at it. Headers carry secrets, so they are not shown.

use std::fmt;

use hyper::{Version, http::request::Parts};

/// Everything before the body of a request.
#[derive(Default, Clone, PartialEq, Eq)]
pub struct Head {
    pub method: String,
    /// The target without its query.
    pub path: String,
    headers: Vec<(String, String)>,
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({} {})", self.method, self.path)
    }
}

impl Head {
    /// A head of these parts, for tests and for tools that have parsed one themselves.
    #[must_use]
    pub fn new(method: &str, path: &str, headers: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), value.trim().to_owned());
        let headers = headers.iter().map(own).collect();
        Self { method: method.to_owned(), path: path.to_owned(), headers }
    }

    /// Reads what hyper made of a request. None for another version than 1.1, for a target that names another
    /// server, and for a header that is no text.
    pub(super) fn read(parts: &Parts) -> Option<Self> {
        let is_plain = parts.uri.authority().is_none() && parts.uri.path().starts_with('/');
        if parts.version != Version::HTTP_11 || !is_plain {
            return None;
        }
        let mut headers = Vec::with_capacity(parts.headers.len());
        for (name, value) in &parts.headers {
            let value = std::str::from_utf8(value.as_bytes()).ok()?;
            headers.push((name.as_str().to_owned(), value.trim().to_owned()));
        }
        let (method, path) = (parts.method.as_str().to_owned(), parts.uri.path().to_owned());
        Some(Self { method, path, headers })
    }

    /// The value of a header that is given once; `None` if it is absent or repeated.
    #[must_use]
    pub fn only(&self, name: &'static str) -> Option<&str> {
        let mut values = self.all(name);
        values.next().filter(|_| values.next().is_none())
    }

    /// The values of all headers of that name.
    pub fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let named = move |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().filter(named).map(|(_, value)| value.as_str())
    }

    /// Whether there is such a header.
    #[must_use]
    pub fn has(&self, name: &'static str) -> bool {
        self.all(name).next().is_some()
    }

    /// The elements of a comma-separated header, trimmed, over all lines it is given in.
    pub fn elements(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.all(name).flat_map(|value| value.split(',')).map(str::trim)
    }

    /// Whether such a header has this element, in whatever case.
    #[must_use]
    pub fn has_element(&self, name: &'static str, element: &str) -> bool {
        self.elements(name).any(|found| found.eq_ignore_ascii_case(element))
    }

    /// Whether the peer wants to leave HTTP for a WebSocket.
    #[must_use]
    pub fn is_upgrade(&self) -> bool {
        self.has_element("upgrade", "websocket")
    }

    /// The values of all cookies of that name.
    pub fn cookies<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.all("cookie").flat_map(|value| value.split(';'));
        pairs.filter_map(move |pair| {
            let (key, value) = pair.split_once('=')?;
            (key.trim() == name).then_some(value.trim())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_in_whatever_case_and_only_once() {
        let head = Head::new("GET", "/a", &[("Host", " b "), ("X", "1, 2"), ("x", "3")]);
        assert_eq!(head.only("host"), Some("b"));
        assert_eq!(head.only("x"), None);
        assert_eq!(head.elements("X").collect::<Vec<_>>(), ["1", "2", "3"]);
        assert_eq!(format!("{head:?}"), "Head(GET /a)");
    }

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let cookies = [("Cookie", "a=1; rookery=x.y; xrookery=z"), ("Cookie", "rookery = second")];
        let head = Head::new("GET", "/", &cookies);
        assert_eq!(head.cookies("rookery").collect::<Vec<_>>(), ["x.y", "second"]);
        assert_eq!(head.cookies("__Host-rookery").count(), 0);
    }
}
