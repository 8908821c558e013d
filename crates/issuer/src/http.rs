//! HTTP as far as an issuer needs it: one request per connection, and answers good and bad.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use url::form_urlencoded;

use crate::Issuer;

/// One request, as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// The path without its query.
    pub path: String,
    pub query: String,
    /// The headers, each in a line.
    pub head: String,
    pub body: String,
}

impl Request {
    /// A field of its form or of its JSON.
    pub fn field(&self, name: &str) -> Option<String> {
        if let Ok(body) = serde_json::from_str::<Value>(&self.body) {
            return body.get(name)?.as_str().map(str::to_owned);
        }
        let mut pairs = form_urlencoded::parse(self.body.as_bytes());
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// A parameter of its query.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// The type of its body.
    pub fn has_type(&self, kind: &str) -> bool {
        let wanted = format!("content-type: {kind}");
        self.head.lines().any(|line| line.to_lowercase().starts_with(&wanted))
    }

    fn read(stream: &TcpStream) -> Option<Request> {
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let mut words = head.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        Some(Request { method, path, query, head, body: String::from_utf8(body).ok()? })
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A status and a JSON body.
    Json(u16, Value),
    /// A status and any body.
    Text(u16, String),
    Redirect(String),
    /// A body of this number of bytes.
    Huge(usize),
    /// A body that comes slower than anyone can wait for, byte by byte.
    Drip,
    /// The connection is closed without a word.
    Hangup,
}

impl Reply {
    fn write(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let head = |status: u16, kind: &str, length: usize| {
            format!(
                "HTTP/1.1 {status} Answer\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
                 Cache-Control: no-store\r\nConnection: close\r\n\r\n"
            )
        };
        match self {
            Reply::Json(status, body) => {
                let body = body.to_string();
                write!(stream, "{}{body}", head(*status, "application/json", body.len()))
            }
            Reply::Text(status, body) => {
                write!(stream, "{}{body}", head(*status, "text/html", body.len()))
            }
            Reply::Redirect(to) => write!(
                stream,
                "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ),
            Reply::Huge(length) => {
                write!(stream, "{}", head(200, "application/json", *length))?;
                let chunk = [b' '; 4096];
                let mut left = *length;
                while left > 0 {
                    let count = left.min(chunk.len());
                    stream.write_all(&chunk[..count])?;
                    left -= count;
                }
                Ok(())
            }
            Reply::Drip => {
                write!(stream, "{}", head(200, "application/json", 1 << 20))?;
                stream.set_read_timeout(Some(Duration::from_millis(500)))?;
                loop {
                    stream.write_all(b" ")?;
                    // A pause, and the end as soon as the client has gone away.
                    if let Ok(0) = stream.read(&mut [0; 1]) {
                        return Ok(());
                    }
                }
            }
            Reply::Hangup => Ok(()),
        }
    }
}

impl Issuer {
    pub(crate) fn serve(&self, stream: &TcpStream) {
        let Some(request) = Request::read(stream) else { return };
        let scripted = {
            let mut state = self.state();
            state.asked.push(request.clone());
            while state.held.iter().any(|path| request.path.ends_with(path)) {
                state = self
                    .shared
                    .changed
                    .wait(state)
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            let scripts = state.scripts.iter_mut();
            let script = scripts.filter(|(path, _)| request.path.ends_with(*path));
            script.filter_map(|(_, replies)| replies.pop_front()).next()
        };
        let reply = scripted.unwrap_or_else(|| self.answer(&request));
        // A client that has gone away needs no answer.
        let _ = reply.write(stream);
    }
}
