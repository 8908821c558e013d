//! One attempt: a request goes out, its stream is read to the end or to a failure.

use std::time::SystemTime;

use bytes::Bytes;
use rookery_host::http::{self, Request, Response, sse};
use serde_json::Value;

use super::failure::{cut, message_of};
use super::retry::retry_after;
use super::{
    Decoder, Endpoint, EventSink, Failed, Names, Progress, ReceiverClosed, Remote, StreamError,
    status_failure,
};
use crate::provider::{Failure, FailureKind, ModelEvent};
use crate::providers::settings::mask;
use crate::settings::Secret;

/// How much of an error's body is read to find its message.
const ERROR_BODY: usize = 64 * 1024;

/// How much of an answer is kept to explain one that is no stream.
const HEAD: usize = 4096;

/// How long a whole answer may be.
const STREAM_LIMIT: usize = 256 * 1024 * 1024;

/// How many events that say nothing by themselves are held back.
const MOST_HELD: usize = 64;

impl Remote {
    /// Sends one request. The outer error means that the receiver is gone.
    pub(super) async fn attempt(
        &self,
        body: &Value,
        names: &Names,
        key: Option<&Secret>,
        out: &EventSink,
    ) -> Result<Result<(), Failed>, ReceiverClosed> {
        let endpoint = &self.endpoint;
        let request = Request {
            url: self.protocol.url(&endpoint.base_url),
            headers: self.request_headers(key),
            method: None,
            body: Some(Bytes::from(body.to_string())),
            idle: endpoint.idle(),
        };
        let outcome = match endpoint.client.send(request).await {
            Err(error) => Err(unreachable(endpoint, &error)),
            Ok(response) if (200..300).contains(&response.status()) => {
                Reader::new(endpoint, self.protocol.decoder(names.clone()), out)
                    .read(response)
                    .await?
            }
            Ok(response) => Err(refused(endpoint, response).await),
        };
        Ok(outcome.map_err(|mut failed| {
            failed.failure.message = mask(&failed.failure.message, &endpoint.secrets(key));
            failed
        }))
    }

    /// The headers of a request: ours, the key's, and those of the settings last.
    pub(crate) fn request_headers(&self, key: Option<&Secret>) -> Vec<(String, String)> {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.push(("accept".to_owned(), "text/event-stream, application/json".to_owned()));
        // A stream that is packed may be held back until a block of it is full.
        headers.push(("accept-encoding".to_owned(), "identity".to_owned()));
        headers.extend(self.protocol.headers());
        headers.extend(key.map(|key| self.protocol.auth(key)));
        headers.extend(self.endpoint.headers.iter().cloned());
        headers
    }
}

fn unreachable(endpoint: &Endpoint, error: &http::Error) -> Failed {
    let is_retryable = !matches!(error, http::Error::Invalid(_) | http::Error::Setup(_));
    let kind = if is_retryable { FailureKind::Unavailable } else { FailureKind::Rejected };
    let message = format!("{} cannot be reached: {error}", endpoint.name);
    Failed { failure: Failure { message, kind }, status: None, is_retryable, retry_after: None }
}

async fn refused(endpoint: &Endpoint, mut response: Response) -> Failed {
    let status = response.status();
    let wait =
        response.header("retry-after").and_then(|value| retry_after(value, SystemTime::now()));
    // A body that breaks off still has its beginning, and the status says enough without one.
    let body = response.bytes(ERROR_BODY).await.unwrap_or_default();
    let failure = status_failure(&endpoint.name, status, &body);
    let is_listed = endpoint.retry.status_codes.contains(&status);
    let is_retryable = is_listed && failure.kind != FailureKind::ContextTooLong;
    Failed { failure, status: Some(status), is_retryable, retry_after: wait }
}

/// Reads a stream and forwards what it says.
struct Reader<'a> {
    endpoint: &'a Endpoint,
    decoder: Box<dyn Decoder>,
    out: &'a EventSink,
    /// Whether anything went to the turn that must not come twice.
    has_content: bool,
    /// What says nothing by itself, and waits for something that does: a stream that breaks before
    /// that can be asked for again.
    held: Vec<ModelEvent>,
    has_frames: bool,
    events: Vec<ModelEvent>,
}

impl<'a> Reader<'a> {
    fn new(endpoint: &'a Endpoint, decoder: Box<dyn Decoder>, out: &'a EventSink) -> Self {
        let (held, events) = (Vec::new(), Vec::new());
        Self { endpoint, decoder, out, has_content: false, held, has_frames: false, events }
    }

    async fn read(mut self, mut response: Response) -> Result<Result<(), Failed>, ReceiverClosed> {
        let mut parser = sse::Parser::new();
        let mut frames = Vec::new();
        let (mut total, mut head) = (0_usize, Vec::new());
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(error) => {
                    return Ok(Err(self.failed(StreamError::transient(&error.to_string()))));
                }
            };
            total = total.saturating_add(chunk.len());
            head.extend_from_slice(&chunk[..chunk.len().min(HEAD - head.len())]);
            let pushed = parser.push(&chunk, &mut frames);
            for frame in frames.drain(..) {
                match self.frame(&frame).await? {
                    Ok(Progress::More) => {}
                    Ok(Progress::Over) => return Ok(Ok(())),
                    Err(error) => return Ok(Err(self.failed(error))),
                }
            }
            if let Err(error) = pushed {
                return Ok(Err(self.failed(StreamError::nonsense(&error.to_string()))));
            }
            if total > STREAM_LIMIT {
                return Ok(Err(
                    self.failed(StreamError::nonsense("the response exceeds the size limit"))
                ));
            }
        }
        if head.iter().all(u8::is_ascii_whitespace) {
            return Ok(Err(self.empty()));
        }
        self.close(parser.finish(), &head).await
    }

    async fn frame(
        &mut self,
        frame: &sse::Frame,
    ) -> Result<Result<Progress, StreamError>, ReceiverClosed> {
        self.has_frames = true;
        let decoded = self.decoder.frame(frame, &mut self.events);
        self.forward().await?;
        Ok(decoded)
    }

    async fn forward(&mut self) -> Result<(), ReceiverClosed> {
        for event in self.events.drain(..) {
            if matches!(event, ModelEvent::Usage(_)) {
                self.out.send(event).await?;
                continue;
            }
            self.has_content |= is_content(&event) || self.held.len() >= MOST_HELD;
            self.held.push(event);
            if self.has_content {
                for event in self.held.drain(..) {
                    self.out.send(event).await?;
                }
            }
        }
        Ok(())
    }

    /// The stream ended by itself: what was left may still be its terminal frame.
    async fn close(
        mut self,
        left: Option<sse::Frame>,
        head: &[u8],
    ) -> Result<Result<(), Failed>, ReceiverClosed> {
        if let Some(frame) = left {
            match self.frame(&frame).await? {
                Ok(Progress::Over) => return Ok(Ok(())),
                // What cannot be read here is most likely only half of what was sent.
                Ok(Progress::More) | Err(_) => {}
            }
        }
        if !self.has_frames {
            return Ok(Err(self.no_stream(head)));
        }
        let closed = self.decoder.close(&mut self.events);
        self.forward().await?;
        Ok(closed.map_err(|error| self.failed(error)))
    }

    fn failed(&self, error: StreamError) -> Failed {
        let name = &self.endpoint.name;
        let message = match error.status {
            Some(status) => format!("{name} error {status}: {}", cut(&error.message)),
            None => format!("{name} stream error: {}", cut(&error.message)),
        };
        let is_listed =
            error.status.is_none_or(|status| self.endpoint.retry.status_codes.contains(&status));
        let is_retryable = error.is_retryable && is_listed && !self.has_content;
        Failed {
            failure: Failure { message, kind: error.kind },
            status: error.status,
            is_retryable,
            retry_after: None,
        }
    }

    fn empty(&self) -> Failed {
        let message = format!("{} error 200: empty response body", self.endpoint.name);
        let is_retryable = self.endpoint.retry.retry_empty_body && !self.has_content;
        let failure = Failure { message, kind: FailureKind::Unavailable };
        Failed { failure, status: Some(200), is_retryable, retry_after: None }
    }

    /// The answer was no stream; it may say why.
    fn no_stream(&self, head: &[u8]) -> Failed {
        let said = serde_json::from_slice::<Value>(head).ok().and_then(|body| message_of(&body));
        let message = said.unwrap_or_else(|| "the answer is no event stream".to_owned());
        self.failed(StreamError { status: Some(200), ..StreamError::transient(&message) })
            .retryable()
    }
}

/// Whether a client would see anything of an event.
fn is_content(event: &ModelEvent) -> bool {
    match event {
        ModelEvent::Text { text, .. } | ModelEvent::Reasoning { text, .. } => !text.is_empty(),
        ModelEvent::TextDone { .. }
        | ModelEvent::ReasoningDone { .. }
        | ModelEvent::Usage(_)
        | ModelEvent::Retrying { .. } => false,
        ModelEvent::ToolCall { .. }
        | ModelEvent::HostedTool(_)
        | ModelEvent::Permission { .. }
        | ModelEvent::Done { .. }
        | ModelEvent::Failed(_) => true,
    }
}

impl Failed {
    /// The same, worth another attempt: its status says nothing about that.
    fn retryable(self) -> Self {
        Self { is_retryable: true, ..self }
    }
}
