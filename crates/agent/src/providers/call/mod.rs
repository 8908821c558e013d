//! One call to a model on a server: key, request, stream, and trying again.
//!
//! It knows no protocol: [`Protocol`] encodes what is sent and decodes what comes.

mod attempt;
mod endpoint;
mod failure;
mod retry;
mod sign_in;

use std::future::Future;
use std::sync::Arc;

use rookery_host::http::sse::Frame;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub(crate) use endpoint::{Endpoint, Keys};
pub(crate) use failure::{StreamError, classify, status_failure};
pub(crate) use retry::{Failed, delay};
pub(crate) use sign_in::SignIn;

use super::listing;
use super::loans::Loan;
use super::names::{Names, Spelling};
use crate::provider::{Listing, ModelEvent, ModelRequest, ModelStream, Provider};
use crate::settings::Secret;

/// How freely a model answers, as all protocols call it.
const TEMPERATURE: &str = "temperature";

/// How many events may wait for a slow reader.
const QUEUE: usize = 64;

/// How a protocol says what we say. Everything in it is pure.
pub(crate) trait Protocol: Send + Sync {
    /// Where models are asked.
    fn url(&self, base: &str) -> String;
    /// Where models are listed.
    fn models_url(&self, base: &str) -> String;
    /// The headers that carry a key.
    fn auth(&self, key: &Secret) -> (String, String);
    /// Headers that every request has.
    fn headers(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// How names of tools are spelled.
    fn spelling(&self) -> Spelling {
        Spelling::Underscore
    }
    /// What is sent.
    fn encode(&self, request: &ModelRequest, names: &Names, endpoint: &Endpoint) -> Value;
    /// What reads the answer.
    fn decoder(&self, names: Names) -> Box<dyn Decoder>;
    /// Changes a request that the server does not take as it is; asked again at once if it did.
    fn amend(&self, _failed: &Failed, _body: &mut Value) -> bool {
        false
    }
}

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    Over,
}

/// Reads one answer, frame by frame.
pub(crate) trait Decoder: Send {
    /// Takes a frame and adds what it says. The last event of a stream is `Done`.
    fn frame(
        &mut self,
        frame: &Frame,
        events: &mut Vec<ModelEvent>,
    ) -> Result<Progress, StreamError>;
    /// The stream ended cleanly, but its terminal frame did not come.
    fn close(&mut self, _events: &mut Vec<ModelEvent>) -> Result<(), StreamError> {
        Err(StreamError::cut_off())
    }
}

/// A provider on a server.
#[derive(Clone)]
pub(crate) struct Remote {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) protocol: Arc<dyn Protocol>,
}

/// The receiver is gone.
#[derive(Debug)]
pub(crate) struct ReceiverClosed;

/// Where events of a call go.
#[derive(Clone, Debug)]
pub(crate) struct EventSink(mpsc::Sender<ModelEvent>);

impl EventSink {
    pub(crate) async fn send(&self, event: ModelEvent) -> Result<(), ReceiverClosed> {
        self.0.send(event).await.map_err(|_| ReceiverClosed)
    }
}

/// Runs a call behind a stream; dropping the stream ends it wherever it is.
pub(crate) fn stream<Run, Running>(run: Run) -> ModelStream
where
    Run: FnOnce(EventSink) -> Running,
    Running: Future<Output = Result<(), ReceiverClosed>> + Send + 'static,
{
    let (sender, events) = mpsc::channel(QUEUE);
    let token = CancellationToken::new();
    let running = run(EventSink(sender));
    tokio::spawn(token.clone().run_until_cancelled_owned(running));
    ModelStream { events, answers: None, guard: token.drop_guard() }
}

impl Provider for Remote {
    fn call(&self, request: ModelRequest) -> ModelStream {
        let remote = self.clone();
        stream(|out| async move { remote.run(request, out).await })
    }

    fn models(&self, key: Option<Loan>) -> Listing<'_> {
        Box::pin(listing::fetch(self, key))
    }
}

impl Remote {
    async fn run(&self, request: ModelRequest, out: EventSink) -> Result<(), ReceiverClosed> {
        let retry = &self.endpoint.retry;
        let names = Names::new(&request, self.protocol.spelling());
        let mut body = self.protocol.encode(&request, &names, &self.endpoint);
        temper(&mut body, self.endpoint.temperature);
        let (mut number, mut is_amended, mut is_renewed) = (1, false, false);
        let lent = request.keys.first();
        loop {
            let (key, failed) = match self.endpoint.credential(lent).await {
                Err(failed) => (None, failed),
                Ok(key) => match self.attempt(&body, &names, key.as_ref(), &out).await? {
                    Ok(()) => return Ok(()),
                    Err(failed) => (key, failed),
                },
            };
            if is_temper_refused(&failed, &mut body) {
                continue;
            }
            if !is_renewed && failed.status == Some(401) {
                is_renewed = true;
                if self.endpoint.renews(lent, key.as_ref()).await {
                    continue;
                }
            }
            if !is_amended && self.protocol.amend(&failed, &mut body) {
                is_amended = true;
                continue;
            }
            let Some(delay) = delay(retry, number, &failed, fastrand::f64()) else {
                return out.send(ModelEvent::Failed(failed.failure)).await;
            };
            number += 1;
            retrying(&out, number, delay, failed.failure.message).await?;
        }
    }
}

/// Says how freely the model is to answer; all protocols call it the same. One that thinks gets no such value:
/// it would refuse.
fn temper(body: &mut Value, temperature: Option<f64>) {
    let Some(body) = body.as_object_mut() else { return };
    let thinks = ["reasoning", "thinking"].iter().any(|member| body.contains_key(*member));
    if let Some(temperature) = temperature.filter(|_| !thinks) {
        body.insert(TEMPERATURE.into(), temperature.into());
    }
}

/// Leaves that out if it is what the server does not take; true if it was there.
fn is_temper_refused(failed: &Failed, body: &mut Value) -> bool {
    failed.status == Some(400)
        && failed.failure.message.contains(TEMPERATURE)
        && body.as_object_mut().is_some_and(|body| body.remove(TEMPERATURE).is_some())
}

/// Says that a call is tried again, and waits until then.
pub(crate) async fn retrying(
    out: &EventSink,
    attempt: u32,
    delay: std::time::Duration,
    reason: String,
) -> Result<(), ReceiverClosed> {
    tracing::warn!(attempt, delay_ms = delay.as_millis(), "asking the model again: {reason}");
    out.send(ModelEvent::Retrying { attempt, delay, reason }).await?;
    tokio::time::sleep(delay).await;
    Ok(())
}
