//! Events of agents, as harnesses report them.

use rookery_core::{AgentEvent, AgentEventKind, Created};
use rookery_model::ErrorKind;

use crate::agent_event::{self, Envelope, EventType, SCHEMA_VERSION};
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::Payload;
use crate::values::uuid;

pub(crate) async fn take(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let text = payload.get("envelope").filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| Failure::new("Missing envelope payload"))?;
    let envelope = agent_event::parse(text)
        .map_err(|reason| Failure::new(format!("Invalid agent event envelope: {reason}")))?;
    let version = envelope.schema_version;
    if version != SCHEMA_VERSION {
        let message = format!("Unsupported agent event schema version: {version}");
        return Err(Failure::new(message));
    }
    match cx.core.sessions().take_agent_event(event(envelope)).await {
        Ok((session, created)) => {
            if let Some(mirror) = &cx.mirror {
                mirror.catch_up().await;
            }
            let reply = Reply::ok("Event ingested").with("sessionID", uuid(session.get()));
            Ok(match created {
                Created::Nothing => reply,
                Created::Checkpoint(id) => reply.with("checkpointID", uuid(id.get())),
                Created::Handoff(id) => reply.with("handoffID", uuid(id.get())),
                Created::Review(id) => reply.with("reviewID", uuid(id.get())),
                Created::Approval(id) => reply.with("approvalID", uuid(id.get())),
            })
        }
        Err(error) if error.kind() == ErrorKind::Conflict => {
            Err(Failure::new("Duplicate event ignored."))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Failure::new("Unable to resolve target session."))
        }
        Err(error) => Err(error.into()),
    }
}

fn event(envelope: Envelope) -> AgentEvent {
    let Envelope { event_id, session_id, session_title_hint, timestamp, payload, .. } = envelope;
    let summary = payload.filled("summary");
    let kind = match envelope.event_type {
        EventType::Progress => AgentEventKind::Progress { summary },
        EventType::Completed => AgentEventKind::Completed { summary },
        EventType::Blocked => AgentEventKind::Blocked { summary },
        EventType::Error => AgentEventKind::Error { summary },
        EventType::Checkpoint => AgentEventKind::Checkpoint {
            title: payload.text_or("title", "Agent checkpoint"),
            summary: payload.text_or("summary", "Checkpoint emitted by harness."),
            head: payload.text("commitSHA"),
            differences: payload.differences(),
        },
        EventType::Handoff => AgentEventKind::Handoff {
            to: payload.session("targetSessionID"),
            checkpoint: payload.checkpoint(),
            title: payload.text_or("title", "Agent handoff"),
            summary: payload.text_or("summary", "Handoff from harness."),
            risks: payload.texts("risks"),
            next_actions: payload.texts("nextActions"),
        },
        EventType::ReviewRequest => AgentEventKind::Review {
            checkpoint: payload.checkpoint(),
            summary: payload.text_or("summary", "Review requested by harness."),
            differences: payload.differences(),
        },
        EventType::ApprovalRequest => AgentEventKind::Approval {
            title: payload.text_or("title", "Approval requested"),
            summary: payload.text_or("summary", "Harness requested approval."),
            action: payload.text_or("requestedAction", "Review requested action"),
            scope: payload.text("scopeDescription"),
        },
    };
    AgentEvent {
        id: event_id,
        session: session_id,
        title_hint: session_title_hint,
        at: timestamp,
        kind,
    }
}
