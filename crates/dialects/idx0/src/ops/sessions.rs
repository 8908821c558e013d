//! Sessions: listed, looked at, closed.

use rookery_core::{SessionError, SessionHome};

use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload};
use crate::values::{parse_uuid, uuid};

/// A window that is open comes to the front by itself.
pub(crate) async fn open(cx: Cx, _: Payload) -> Result<Reply, Failure> {
    cx.core.seats().raise_window();
    Ok(Reply::ok("idx0 activated"))
}

pub(crate) async fn list(cx: Cx, _: Payload) -> Result<Reply, Failure> {
    let mut reply = Reply::ok(super::OK);
    let sessions = cx.core.sessions().list();
    reply.data = Some(sessions.into_iter().map(|one| (uuid(one.id.get()), one.title)).collect());
    Ok(reply)
}

pub(crate) async fn focus(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let query = match payload.get("session") {
        Some(query) if !query.is_empty() => query,
        _ => return Err(Failure::new("Missing --session value")),
    };
    let session = cx.core.sessions().find(query).map_err(|error| match error {
        SessionError::Unknown => Failure::new(format!("No session matched '{query}'")),
        SessionError::Ambiguous => Failure::new(format!("Ambiguous session query '{query}'")),
    })?;
    match session.home {
        SessionHome::Terminal(id) => drop(cx.core.workspace().activate(id).await?),
        // A thread has no tab; clients that show it follow the same events.
        SessionHome::Thread(_) => {}
    }
    let is_by_id = parse_uuid(query.trim()) == Some(session.id.get());
    Ok(Reply::ok(match is_by_id {
        true => format!("Focused session {}", uuid(session.id.get())),
        false => format!("Focused '{}'", session.title),
    }))
}

pub(crate) async fn close(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = ids::session(&cx.core, &payload)?;
    cx.core.check_session(session.id)?;
    match session.home {
        SessionHome::Terminal(id) => cx.core.terminals().close(id).await?,
        SessionHome::Thread(id) => drop(cx.core.threads().archive(id, true).await?),
    }
    Ok(Reply::ok("Session closed"))
}

pub(crate) async fn protocol(cx: Cx, _: Payload) -> Result<Reply, Failure> {
    Ok(Reply::ok(super::OK)
        .with("version", "1")
        .with("server", concat!("rookery ", env!("CARGO_PKG_VERSION")))
        .with("commands", (cx.commands)().join(",")))
}
