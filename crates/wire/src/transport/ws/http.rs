//! The little HTTP that stands before a WebSocket: one request head read within a bound, one
//! answer written. Knows neither tokens nor origins.

use std::fmt::{self, Write as _};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Largest request head.
pub(super) const MAX_HEAD: usize = 16 * 1024;
/// Most header lines in it.
const MAX_HEADERS: usize = 64;
/// Bytes read and thrown away after an answer, so that closing does not take it from the peer.
const MAX_DRAIN: usize = 64 * 1024;

/// A request without its body. Headers carry tokens, so they are not shown.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    /// The target without its query.
    pub(super) path: String,
    headers: Vec<(String, String)>,
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({} {})", self.method, self.path)
    }
}

impl Head {
    /// The value of a header that is given once; `None` if it is absent or repeated.
    pub(super) fn only(&self, name: &'static str) -> Option<&str> {
        let mut values = self.all(name);
        values.next().filter(|_| values.next().is_none())
    }

    /// The values of all headers of that name.
    pub(super) fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let named = move |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().filter(named).map(|(_, value)| value.as_str())
    }

    /// The elements of a comma-separated header, trimmed, over all lines it is given in.
    pub(super) fn elements(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.all(name).flat_map(|value| value.split(',')).map(str::trim)
    }

    /// Whether such a header has this element, in whatever case.
    pub(super) fn has_element(&self, name: &'static str, element: &str) -> bool {
        self.elements(name).any(|found| found.eq_ignore_ascii_case(element))
    }

    /// Whether the peer wants to leave HTTP for a WebSocket.
    pub(super) fn is_upgrade(&self) -> bool {
        self.has_element("upgrade", "websocket")
    }
}

/// Why there is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadHead {
    /// The peer went away, or reading failed.
    Gone,
    /// The head does not end within the bound.
    TooLong,
    /// It is no HTTP/1.
    Malformed,
}

/// Reads bytes up to the end of a head. What came behind it is returned as well.
pub(super) async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<(Head, Vec<u8>), BadHead> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if let Some((head, len)) = parse_head(&bytes)? {
            return Ok((head, bytes.split_off(len)));
        }
        if bytes.len() >= MAX_HEAD {
            return Err(BadHead::TooLong);
        }
        let room = (MAX_HEAD - bytes.len()) as u64;
        match stream.take(room).read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Err(BadHead::Gone),
            Ok(_) => {}
        }
    }
}

/// The head at the front of `bytes` and its length, once it is whole.
fn parse_head(bytes: &[u8]) -> Result<Option<(Head, usize)>, BadHead> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let len = match request.parse(bytes) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(BadHead::TooLong),
        Err(_) => return Err(BadHead::Malformed),
    };
    let (Some(method), Some(target), Some(1)) = (request.method, request.path, request.version)
    else {
        return Err(BadHead::Malformed);
    };
    let mut head = Head { method: method.to_owned(), ..Head::default() };
    head.path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
    for header in request.headers {
        let value = std::str::from_utf8(header.value).map_err(|_| BadHead::Malformed)?;
        head.headers.push((header.name.to_owned(), value.trim().to_owned()));
    }
    Ok(Some((head, len)))
}

/// An answer after which the connection is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: &'static str,
}

impl Answer {
    /// A status, explained in plain text.
    pub(super) fn text(status: u16, body: &'static str) -> Self {
        let headers = vec![("Content-Type", "text/plain; charset=utf-8".to_owned())];
        Self { status, headers, body }
    }

    /// The same answer with one more header.
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        let len = self.body.len().to_string();
        let fixed = [
            ("Content-Length", len.as_str()),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Connection", "close"),
        ];
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in own.chain(fixed) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        head.push_str(self.body);
        head.into_bytes()
    }
}

/// Writes the answer and waits, within a bound, until the peer has seen that it is the last word.
pub(super) async fn answer(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), answer: &Answer) {
    if stream.write_all(&answer.to_bytes()).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    let mut scrap = [0; 4096];
    let mut drained = 0;
    while drained < MAX_DRAIN {
        match stream.read(&mut scrap).await {
            Ok(0) | Err(_) => return,
            Ok(count) => drained += count,
        }
    }
}

/// The head that turns the connection into a WebSocket.
pub(super) fn switching(accept: &str, subprotocol: Option<&str>) -> Vec<u8> {
    let mut head = format!(
        "HTTP/1.1 101 {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n",
        reason(101)
    );
    if let Some(subprotocol) = subprotocol {
        let _ = write!(head, "Sec-WebSocket-Protocol: {subprotocol}\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_is_found_whatever_follows_it() {
        let bytes = b"GET /a?token=x HTTP/1.1\r\nHost:  b \r\nX: 1, 2\r\nx: 3\r\n\r\nrest";
        let (head, len) = parse_head(bytes).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str()), ("GET", "/a"));
        assert_eq!(&bytes[len..], b"rest");
        assert_eq!(head.only("host"), Some("b"));
        assert_eq!(head.only("x"), None);
        assert_eq!(head.elements("X").collect::<Vec<_>>(), ["1", "2", "3"]);
        for cut in 0..len {
            assert_eq!(parse_head(&bytes[..cut]), Ok(None), "{cut}");
        }
    }

    #[test]
    fn other_versions_and_noise_are_malformed() {
        for bytes in [&b"GET / HTTP/1.0\r\n\r\n"[..], b"\x16\x03\x01\x02\x00", b"{\"id\":1}\n"] {
            assert_eq!(parse_head(bytes), Err(BadHead::Malformed));
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(parse_head(many.as_bytes()), Err(BadHead::TooLong));
    }

    #[tokio::test]
    async fn an_endless_head_is_given_up() {
        let mut endless = tokio::io::join(tokio::io::repeat(b'a'), tokio::io::sink());
        assert_eq!(read_head(&mut endless).await.unwrap_err(), BadHead::TooLong);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_head(&bytes);
        }
    }
}
