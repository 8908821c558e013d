//! What is read of a connection, judged before it is parsed: a head that a proxy in front of us could read
//! otherwise than we do goes no further, and nothing after it does. Bodies have a length that is said once.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Carrier;

/// Largest request head.
pub(super) const MAX_HEAD: usize = 16 * 1024;
/// Most that is read at once.
const MAX_READ: usize = 8 * 1024;
/// Stands for a head that is refused: a target that no site has, and the end of the connection.
const REFUSED: &[u8] = b"OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n";

/// A stream to a peer from which only heads can be read that have one meaning.
pub(super) struct Strict {
    carrier: Carrier,
    /// Read, and not handed on yet.
    raw: BytesMut,
    /// How far a head was looked for its end.
    searched: usize,
    /// Bytes of a judged head and its body that may be handed on.
    passing: u64,
    /// Whether nothing is read any more.
    is_over: bool,
}

impl Strict {
    pub(super) fn new(carrier: Carrier) -> Self {
        Self { carrier, raw: BytesMut::new(), searched: 0, passing: 0, is_over: false }
    }

    /// The stream below, and what was read of it but not handed on.
    pub(super) fn into_parts(self) -> (Carrier, BytesMut) {
        (self.carrier, self.raw)
    }

    /// Judges the next head as soon as it is there, or as much of it as shows that it cannot be right.
    fn look(&mut self) {
        match end_of_head(&self.raw, self.searched) {
            End::At(end) => {
                self.searched = 0;
                match body_after(&self.raw[..end]) {
                    Some(body) => self.passing = (end as u64).saturating_add(body),
                    None => self.refuse(),
                }
            }
            End::Malformed => self.refuse(),
            // The parser says what is wrong with it.
            End::NotYet if self.raw.len() > MAX_HEAD => self.passing = u64::MAX,
            End::NotYet => self.searched = self.raw.len(),
        }
    }

    /// Reads what there is; 0 bytes at the end.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [0; MAX_READ];
        let mut read = ReadBuf::new(&mut space);
        ready!(Pin::new(&mut self.carrier).poll_read(cx, &mut read))?;
        self.raw.extend_from_slice(read.filled());
        Poll::Ready(Ok(read.filled().len()))
    }

    fn refuse(&mut self) {
        self.raw = REFUSED.into();
        self.passing = REFUSED.len() as u64;
        self.is_over = true;
    }
}

impl AsyncRead for Strict {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let most = usize::try_from(this.passing).unwrap_or(usize::MAX);
            let count = most.min(this.raw.len()).min(buf.remaining());
            if count > 0 {
                buf.put_slice(&this.raw[..count]);
                this.raw.advance(count);
                this.passing -= count as u64;
                return Poll::Ready(Ok(()));
            }
            if this.is_over || buf.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            // What came with the request before is there already.
            if this.raw.len() <= this.searched && ready!(this.poll_more(cx))? == 0 {
                this.is_over = true;
                return Poll::Ready(Ok(()));
            }
            if this.passing == 0 {
                this.look();
            }
        }
    }
}

impl AsyncWrite for Strict {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().carrier).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().carrier).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().carrier).poll_shutdown(cx)
    }
}

/// Where a head ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// After this many bytes.
    At(usize),
    /// After bytes that have not come yet.
    NotYet,
    /// It has a byte that no head has.
    Malformed,
}

/// Finds the end of a head, of which the first `searched` bytes were seen before. Lines end with CR LF, and
/// these two are nowhere else.
fn end_of_head(bytes: &[u8], searched: usize) -> End {
    let mut at = searched;
    while let Some(byte) = bytes.get(at) {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        match byte {
            b'\n' if before != Some(b'\r') => return End::Malformed,
            // An empty line before any other.
            b'\n' if at == 1 => return End::Malformed,
            b'\n' if bytes[..at].ends_with(b"\r\n\r") => return End::At(at + 1),
            b'\n' => {}
            _ if before == Some(b'\r') => return End::Malformed,
            b'\r' | b'\t' => {}
            0..=31 | 127 => return End::Malformed,
            _ => {}
        }
        at += 1;
    }
    End::NotYet
}

/// Judges a head; yields how many bytes its body has. None for one that is malformed, or that readers
/// disagree about.
fn body_after(head: &[u8]) -> Option<u64> {
    let text = head.strip_suffix(b"\r\n\r\n")?;
    let mut lines =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    if !is_request_line(lines.next()?) {
        return None;
    }
    let (mut body, mut hosts) = (None, 0);
    for line in lines {
        let colon = memchr::memchr(b':', line)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().all(is_token) {
            return None;
        }
        if name.eq_ignore_ascii_case(b"host") {
            hosts += 1;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = length(value).filter(|_| body.is_none())?;
            body = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return None;
        }
    }
    (hosts <= 1).then_some(body.unwrap_or(0))
}

/// A method, a path of ours and the version, with a blank between them.
fn is_request_line(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(b"HTTP/1.1"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    !method.is_empty()
        && method.iter().all(is_token)
        && target.starts_with(b"/")
        && target.iter().all(u8::is_ascii_graphic)
}

fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

/// A length in digits alone.
fn length(value: &[u8]) -> Option<u64> {
    let is_plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| is_plain)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What comes of a head: how many bytes of body, or nothing if it is refused.
    fn judged(head: &str) -> Option<u64> {
        match end_of_head(head.as_bytes(), 0) {
            End::At(end) => body_after(&head.as_bytes()[..end]),
            End::NotYet | End::Malformed => None,
        }
    }

    #[test]
    fn a_head_with_one_meaning_says_how_long_its_body_is() {
        for (head, body) in [
            ("GET / HTTP/1.1\r\n\r\n", 0),
            ("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\nmore", 0),
            ("POST /b HTTP/1.1\r\nHost:x\r\ncontent-length:\t12 \r\nX: a\tb\u{fc}\r\n\r\n", 12),
            ("M-SEARCH / HTTP/1.1\r\nX:\r\n\r\n", 0),
        ] {
            assert_eq!(judged(head), Some(body), "{head:?}");
        }
    }

    #[test]
    fn attack_what_readers_disagree_about_is_refused() {
        let first = "POST /pair HTTP/1.1\r\nHost: x\r\n";
        for rest in [
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: identity\r\n",
            "transfer-encoding:\r\n",
            "Content-Length: 4\r\nContent-Length: 4\r\n",
            "Content-Length: 4\r\nContent-Length: 5\r\n",
            "Content-Length: 4, 4\r\n",
            "Content-Length: +4\r\n",
            "Content-Length: 0x4\r\n",
            "Content-Length: 4 4\r\n",
            "Content-Length:\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length : 4\r\n",
            " Content-Length: 4\r\n",
            "X: a\r\n folded\r\n",
            "X: a\r\n\tfolded\r\n",
            "X: a\nContent-Length: 4\r\n",
            "X: a\rContent-Length: 4\r\n",
            "X: a\r\r\n",
            "X: a\0b\r\n",
            "X: a\u{b}b\r\n",
            "X\r\n",
            ": a\r\n",
            "X(: a\r\n",
            "Host: x\r\n",
            "HOST: y\r\n",
        ] {
            assert_eq!(judged(&format!("{first}{rest}\r\n")), None, "{rest:?}");
        }
        for line in [
            "",
            "GET /",
            "GET / HTTP/1.0",
            "GET / HTTP/2.0",
            "GET / http/1.1",
            "GET  / HTTP/1.1",
            "GET\t/ HTTP/1.1",
            " GET / HTTP/1.1",
            "GET / HTTP/1.1 ",
            "GET /a b HTTP/1.1",
            "GET http://x/ HTTP/1.1",
            "GET * HTTP/1.1",
            "CONNECT x:80 HTTP/1.1",
            "GET /\u{fc} HTTP/1.1",
            "G(T / HTTP/1.1",
        ] {
            assert_eq!(judged(&format!("{line}\r\nHost: x\r\n\r\n")), None, "{line:?}");
        }
    }

    /// Pieces of heads, so that some of those that are put together are right.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("GET / HTTP/1.1".to_owned()),
            Just("Host: x".to_owned()),
            Just("Content-Length: 3".to_owned()),
            Just("Transfer-Encoding: chunked".to_owned()),
            Just("\r\n".to_owned()),
            Just("\r\n".to_owned()),
            Just("\n".to_owned()),
            Just("\r".to_owned()),
            any::<char>().prop_map(String::from),
        ]
    }

    proptest! {
        #[test]
        fn where_a_head_ends_does_not_depend_on_how_it_comes(
            pieces in prop::collection::vec(piece(), 0..12),
            cuts in prop::collection::vec(0_usize..40, 0..6),
        ) {
            let all = pieces.concat().into_bytes();
            let whole = end_of_head(&all, 0);
            let (mut there, mut searched) = (0, 0);
            let mut found = End::NotYet;
            for cut in cuts.into_iter().chain([all.len()]) {
                there = (there + cut).min(all.len());
                found = end_of_head(&all[..there], searched);
                if found != End::NotYet {
                    break;
                }
                searched = there;
            }
            prop_assert_eq!(&found, &whole);
            if let End::At(end) = whole {
                prop_assert!(all[..end].ends_with(b"\r\n\r\n"));
                let head = std::str::from_utf8(&all[..end]).unwrap().to_ascii_lowercase();
                if body_after(&all[..end]).is_some() {
                    prop_assert!(!head.contains("\r\ntransfer-encoding:"));
                    prop_assert!(head.matches("\r\ncontent-length:").count() <= 1);
                    prop_assert!(head.matches("\r\nhost:").count() <= 1);
                }
            }
        }
    }
}
