//! The one way out to the web: a shared client whose answers are streams of bytes.
//!
//! It knows neither what is asked nor what the bytes mean; [`sse`] cuts them into frames for callers that
//! speaks to a server that streams.

pub mod loopback;
pub mod sse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an unused connection is kept for the next request.
const POOL_IDLE: Duration = Duration::from_secs(90);

/// Headers whose values no log may show.
const SECRET_HEADERS: [&str; 3] = ["authorization", "x-api-key", "api-key"];

/// The outgoing HTTP client. Clones share their connections.
///
/// It takes the proxies of the system, speaks HTTP/2 where the server does, and follows no redirect:
/// what is sent carries keys, and they are meant for one host only.
#[derive(Clone, Debug)]
pub struct Client {
    /// Made when it is first used: it reads all certificates of the machine.
    inner: Arc<OnceLock<Result<reqwest::Client, String>>>,
}

/// What a server is asked to do with what the address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// To show it.
    Get,
    /// To take something in.
    Post,
    /// To put something in its place.
    Put,
    /// To remove it.
    Delete,
}

/// What is asked of a server.
#[derive(Clone, Default)]
pub struct Request {
    /// The address.
    pub url: String,
    /// Headers, later ones of a name replacing earlier ones.
    pub headers: Vec<(String, String)>,
    /// What is asked for; without a word a POST if there is a body, else a GET.
    pub method: Option<Method>,
    /// What is sent.
    pub body: Option<Bytes>,
    /// How long the server may be silent: until its headers, and then between any two reads.
    pub idle: Duration,
}

/// What a server answers. Dropping it ends the request at once.
pub struct Response {
    inner: reqwest::Response,
    idle: Duration,
}

impl fmt::Debug for Request {
    /// Headers and addresses may hold keys: only their names and lengths are shown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let length = self.body.as_ref().map(Bytes::len);
        out.debug_struct("Request")
            .field("headers", &names)
            .field("body", &length)
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Response").field("status", &self.status()).finish_non_exhaustive()
    }
}

/// Why there is no answer, or not all of it. The texts never show the address, which may hold a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The client could not be made.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
    /// The request cannot be sent as it is.
    #[error("{0}")]
    Invalid(String),
    /// There is no connection.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The server said nothing for too long.
    #[error("nothing came for {} ms", .0.as_millis())]
    Idle(Duration),
    /// The connection broke.
    #[error("connection lost: {0}")]
    Lost(String),
}

impl Client {
    /// A client of its own pool. One is enough for a process.
    pub fn new() -> Self {
        Self { inner: Arc::default() }
    }

    /// The client itself, for libraries that bring a protocol of their own. The first call takes some
    /// milliseconds.
    ///
    /// # Errors
    /// If TLS cannot be set up on this machine.
    pub async fn shared(&self) -> Result<reqwest::Client, Error> {
        let made = match self.inner.get() {
            Some(made) => made.clone(),
            None => {
                let inner = Arc::clone(&self.inner);
                let make = move || inner.get_or_init(make).clone();
                let made = tokio::task::spawn_blocking(make).await;
                made.map_err(|error| Error::Setup(error.to_string()))?
            }
        };
        made.map_err(Error::Setup)
    }

    /// Asks, and comes back with the headers of the answer.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let headers = headers(&request.headers)?;
        let client = self.shared().await?;
        let usual = if request.body.is_some() { Method::Post } else { Method::Get };
        let mut builder = match request.method.unwrap_or(usual) {
            Method::Get => client.get(&request.url),
            Method::Post => client.post(&request.url),
            Method::Put => client.put(&request.url),
            Method::Delete => client.delete(&request.url),
        };
        if let Some(body) = request.body {
            builder = builder.body(body);
        }
        let sent = tokio::time::timeout(request.idle, builder.headers(headers).send()).await;
        match sent {
            Err(_) => Err(Error::Idle(request.idle)),
            Ok(Err(error)) => Err(refine(error)),
            Ok(Ok(inner)) => Ok(Response { inner, idle: request.idle }),
        }
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

fn make() -> Result<reqwest::Client, String> {
    // Refused if there is one already, which is the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("rookery/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| chain(&error))
}

impl Response {
    /// The status of the answer.
    pub fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// A header of the answer, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.headers().get(name)?.to_str().ok()
    }

    /// The next bytes; none once the answer is whole.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        match tokio::time::timeout(self.idle, self.inner.chunk()).await {
            Err(_) => Err(Error::Idle(self.idle)),
            Ok(Err(error)) => Err(refine(error)),
            Ok(Ok(chunk)) => Ok(chunk),
        }
    }

    /// The answer up to a number of bytes; the rest is not waited for.
    pub async fn bytes(&mut self, limit: usize) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        while all.len() < limit {
            let Some(chunk) = self.chunk().await? else { break };
            let room = limit - all.len();
            all.extend_from_slice(&chunk[..chunk.len().min(room)]);
        }
        Ok(all)
    }
}

/// The words people have for a status, if it has any.
pub fn reason(status: u16) -> Option<&'static str> {
    reqwest::StatusCode::from_u16(status).ok()?.canonical_reason()
}

fn headers(list: &[(String, String)]) -> Result<HeaderMap, Error> {
    let mut map = HeaderMap::with_capacity(list.len());
    for (name, value) in list {
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| Error::Invalid(format!("{name:?} is not a valid header name")))?;
        // The value may be a key: it is not shown.
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            Error::Invalid(format!("header {key} has characters that no header may have"))
        })?;
        value.set_sensitive(SECRET_HEADERS.contains(&key.as_str()));
        map.insert(key, value);
    }
    Ok(map)
}

fn refine(error: reqwest::Error) -> Error {
    let error = error.without_url();
    let text = chain(&error);
    if error.is_builder() {
        Error::Invalid(format!("the address is not valid: {text}"))
    } else if error.is_connect() || error.is_timeout() {
        Error::Connect(text)
    } else {
        Error::Lost(text)
    }
}

/// An error with its causes, which reqwest keeps to itself otherwise.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}
