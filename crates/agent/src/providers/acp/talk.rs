//! One prompt to an agent: what is asked, what comes back, and how it is given up.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, PromptRequest, PromptResponse, RequestPermissionOutcome,
    StopReason,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::live::{Ask, Live};
use super::prompt::{self, Mark};
use super::updates::Translator;
use super::{Answers, Options, Shared, permission};
use crate::provider::{Failure, FailureKind, ModelEvent, ModelRequest, Stop};

/// A call of a turn.
pub(super) struct Call {
    pub(super) request: ModelRequest,
    pub(super) events: mpsc::Sender<ModelEvent>,
    pub(super) answers: Answers,
    pub(super) cancel: CancellationToken,
}

/// How a call ended.
pub(super) struct Ending {
    /// What is still to be sent.
    pub(super) failure: Option<Failure>,
    /// Whether the agent can be asked again.
    pub(super) is_kept: bool,
}

impl Ending {
    const SETTLED: Self = Self { failure: None, is_kept: true };
    pub(super) const ABANDONED: Self = Self { failure: None, is_kept: false };

    fn failed(failure: Failure) -> Self {
        Self { failure: Some(failure), is_kept: false }
    }
}

/// Brings a call to the thread's agent, which is started if there is none.
pub(super) async fn talk(shared: &Shared, place: &mut Option<Live>, call: &mut Call) -> Ending {
    let cancel = call.cancel.clone();
    let prepared = tokio::select! {
        biased;
        () = cancel.cancelled() => return Ending::ABANDONED,
        prepared = prepare(shared, place, &call.request) => prepared,
    };
    let (blocks, mark) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => {
            // What is refused before it is sent leaves the session as it was.
            let is_refused = matches!(failure.kind, FailureKind::NoImages | FailureKind::Rejected);
            let is_kept = is_refused && place.as_ref().is_some_and(Live::is_alive);
            return Ending { failure: Some(failure), is_kept };
        }
    };
    let Some(live) = place else { return Ending::ABANDONED };
    live.mark = Some(mark.clone());
    converse(live, call, blocks, &mark, &shared.options).await
}

/// Finds or creates a session, and what has to be sent to it.
async fn prepare(
    shared: &Shared,
    place: &mut Option<Live>,
    request: &ModelRequest,
) -> Result<(Vec<ContentBlock>, Mark), Failure> {
    let options = &shared.options;
    if place.as_ref().is_some_and(|live| !live.fits(&request.cwd, &request.keys)) {
        *place = None;
    }
    let live = match place {
        Some(live) => live,
        None => place.insert(Live::start(options, &request.cwd, &request.keys).await?),
    };
    live.inbox.clear();
    let takes_images = live.capabilities.prompt_capabilities.image;
    shared.takes_images.store(takes_images, Ordering::Relaxed);
    let entries = &request.entries;
    let known = match live.mark.clone() {
        Some(mark) => prompt::news(entries, &mark.last).map(|news| (mark, news)),
        None => match Mark::newest(entries, &request.thread) {
            Some(mark) => match prompt::news(entries, &mark.last) {
                Some(news) if live.resume(&mark.session).await? => Some((mark, news)),
                _ => None,
            },
            None => None,
        },
    };
    let (session, before, news) = match known {
        Some((mark, news)) => (mark.session, &[][..], news),
        None => {
            let (before, news) = prompt::split(entries);
            (live.begin().await?, before, news)
        }
    };
    live.choose(&session, &request.model, request.reasoning.as_deref()).await?;
    if prompt::has_images(&news) && !takes_images {
        let message = format!("{}: the agent does not take images", options.id);
        return Err(Failure { message, kind: FailureKind::NoImages });
    }
    let last = prompt::last_words(entries);
    Ok((prompt::blocks(before, &news), Mark { session, last }))
}

/// What happened next while an agent works.
enum Next {
    Cancelled,
    Events(Vec<ModelEvent>),
    Answered(Result<PromptResponse, agent_client_protocol::Error>),
    Silence,
}

async fn converse(
    live: &mut Live,
    call: &mut Call,
    blocks: Vec<ContentBlock>,
    mark: &Mark,
    options: &Options,
) -> Ending {
    const DOING: &str = "it was prompted";
    let prompt = PromptRequest::new(mark.session.clone(), blocks);
    let answer = live.connection.send_request(prompt).block_task();
    let mut answer = std::pin::pin!(answer);
    let mut silence = std::pin::pin!(sleep(options.silence));
    let mut translator = Translator::default();
    let mut open = Questions::default();
    let cancel = call.cancel.clone();
    loop {
        let next = tokio::select! {
            biased;
            () = cancel.cancelled() => Next::Cancelled,
            Some(told) = live.inbox.updates.recv() => {
                let mut events = Vec::new();
                if told.session_id.to_string() == mark.session {
                    translator.update(told.update, &mut events);
                }
                Next::Events(events)
            }
            Some(ask) = live.inbox.asks.recv() => Next::Events(vec![open.ask(ask, &mut translator)]),
            answer = call.answers.recv(), if !open.asks.is_empty() => {
                match answer {
                    Some(answer) => open.answer(&answer.id, answer.is_allowed),
                    None => open.call_off(),
                }
                Next::Events(Vec::new())
            }
            answer = &mut answer => Next::Answered(answer),
            () = &mut silence, if open.asks.is_empty() => Next::Silence,
        };
        match next {
            Next::Events(events) => {
                silence.as_mut().reset(Instant::now() + options.silence);
                if call.pass(events).await {
                    continue;
                }
                break;
            }
            Next::Cancelled => break,
            Next::Silence => return Ending::failed(live.silent(options.silence, DOING)),
            Next::Answered(Err(error)) => {
                let failure = live.failed(error, DOING).await;
                return Ending { failure: Some(failure), is_kept: live.is_alive() };
            }
            Next::Answered(Ok(answer)) => {
                open.call_off();
                let opaque = mark.opaque(&call.request.thread);
                let stop = stop(answer.stop_reason);
                call.pass(vec![translator.seal(opaque), ModelEvent::Done { stop }]).await;
                return Ending::SETTLED;
            }
        }
    }
    open.call_off();
    let _ = live.connection.send_notification(CancelNotification::new(mark.session.clone()));
    let settled = timeout(options.settle, async {
        loop {
            tokio::select! {
                biased;
                Some(_) = live.inbox.updates.recv() => {}
                Some(ask) = live.inbox.asks.recv() => ask.answer(RequestPermissionOutcome::Cancelled),
                answer = &mut answer => break answer.is_ok(),
            }
        }
    });
    match settled.await {
        Ok(true) => Ending::SETTLED,
        _ => Ending::ABANDONED,
    }
}

impl Call {
    /// Passes events on; false once the receiver is gone.
    async fn pass(&self, events: Vec<ModelEvent>) -> bool {
        for event in events {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return false,
                sent = self.events.send(event) => if sent.is_err() {
                    return false;
                },
            }
        }
        true
    }
}

/// The questions that wait for an answer.
#[derive(Default)]
struct Questions {
    asks: HashMap<String, Ask>,
    count: u64,
}

impl Questions {
    fn ask(&mut self, ask: Ask, translator: &mut Translator) -> ModelEvent {
        self.count += 1;
        let id = format!("permission-{}", self.count);
        let tool = translator.asked(ask.request.tool_call.clone());
        self.asks.insert(id.clone(), ask);
        ModelEvent::Permission { id, tool }
    }

    fn answer(&mut self, id: &str, is_allowed: bool) {
        if let Some(ask) = self.asks.remove(id) {
            let outcome = permission::outcome(&ask.request.options, is_allowed);
            ask.answer(outcome);
        }
    }

    /// No answer will come any more.
    fn call_off(&mut self) {
        for (_, ask) in self.asks.drain() {
            ask.answer(RequestPermissionOutcome::Cancelled);
        }
    }
}

fn stop(reason: StopReason) -> Stop {
    match reason {
        StopReason::EndTurn => Stop::Stop,
        StopReason::MaxTokens => Stop::Length,
        StopReason::Refusal => Stop::Refusal,
        StopReason::MaxTurnRequests => Stop::Other("max_turn_requests".to_owned()),
        StopReason::Cancelled => Stop::Other("cancelled".to_owned()),
        _ => Stop::Other("unknown".to_owned()),
    }
}
