//! Approvals: the requests of agents that are allowed or refused.

use std::time::Duration;

use rookery_core::{Approval, ApprovalStatus, Resolution, Resolved, Topics};
use rookery_model::{Answer, ErrorKind, RequestId};

use super::{BY, listed};
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled};
use crate::values::{date, session_uuid, uuid};
use crate::wire::ApprovalRequest;

/// How long to wait for a decision at most.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

const STATUSES: &[(&str, ApprovalStatus)] = &[
    ("pending", ApprovalStatus::Pending),
    ("approved", ApprovalStatus::Approved),
    ("denied", ApprovalStatus::Denied),
    ("deferred", ApprovalStatus::Deferred),
];

/// The word for a status; none for what this protocol has no word for.
fn spell(status: ApprovalStatus) -> Option<&'static str> {
    STATUSES.iter().find(|(_, known)| *known == status).map(|(word, _)| *word)
}

/// An approval as it is shown. One that was answered at its terminal without telling how, or that
/// went without an answer, is not: each of the four words would be wrong.
fn show(approval: &Approval) -> Option<ApprovalRequest> {
    Some(ApprovalRequest {
        created_at: date(approval.created_at),
        id: uuid(approval.id.get()),
        requested_action: approval.action.clone(),
        scope_description: approval.scope.clone(),
        session_id: session_uuid(approval.session),
        status: spell(approval.status)?.to_owned(),
        summary: approval.summary.clone(),
        title: approval.title.clone(),
    })
}

pub(crate) async fn list(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let raw = |key: &str| payload.get(key).filter(|value| !value.trim().is_empty());
    let session = match raw("session") {
        Some(query) => Some(ids::resolve(&cx.core, query)?.id),
        None => None,
    };
    let status = match raw("status") {
        None => None,
        Some(raw) => {
            let word = raw.to_lowercase();
            let known = STATUSES.iter().find(|(known, _)| *known == word);
            let invalid = || Failure::new(format!("Invalid approval status '{raw}'"));
            Some(known.ok_or_else(invalid)?.1)
        }
    };
    let approvals = cx.core.requests().approvals();
    let wanted = approvals.iter().filter(|one| {
        session.is_none_or(|session| one.session == Some(session))
            && status.is_none_or(|status| one.status == status)
    });
    Ok(listed(&wanted.filter_map(show).collect::<Vec<_>>()))
}

fn approval_id(payload: &Payload) -> Result<RequestId, Failure> {
    let id = ids::id(payload, "approvalID");
    id.map(RequestId::new).ok_or_else(|| Failure::new("Missing approvalID"))
}

pub(crate) async fn respond(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let id = approval_id(&payload)?;
    let message = filled(&payload, "message").map(str::to_owned);
    let resolution = match payload.get("status").map(String::as_str) {
        Some("approved") => Answer::Approved { remember: false }.into(),
        Some("denied") => Answer::Denied { message }.into(),
        Some("deferred") => Resolution::later(),
        _ => return Err(Failure::new("Missing or invalid approval status")),
    };
    let requests = cx.core.requests();
    if requests.approval(id).is_none() {
        return Err(not_found());
    }
    match requests.resolve(id, resolution.or_revise(), BY).await {
        Ok(Resolved::Now | Resolved::Same) => Ok(Reply::ok("Approval updated")),
        Ok(Resolved::Unknown) => Err(not_found()),
        Ok(Resolved::Late) => Err(already_resolved()),
        Err(error) if error.kind() == ErrorKind::Conflict => Err(already_resolved()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn wait(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let id = approval_id(&payload)?;
    let limit = match filled(&payload, "timeoutMs") {
        None => LONGEST_WAIT,
        Some(text) => {
            let millis = text.parse().map_err(|_| Failure::new("Invalid timeoutMs"))?;
            Duration::from_millis(millis).min(LONGEST_WAIT)
        }
    };
    let decided = async {
        // Events and not changes: a decision counts once it is durable.
        let mut happened = cx.core.log().subscribe(Topics::EVENTS, None);
        loop {
            let approval = cx.core.requests().approval(id).ok_or_else(not_found)?;
            match approval.status {
                ApprovalStatus::Approved | ApprovalStatus::Denied => {
                    cx.core.requests().mark_acted_on(id);
                    return Ok(approval.status);
                }
                ApprovalStatus::Pending | ApprovalStatus::Deferred => {}
                ApprovalStatus::AtTerminal => {
                    return Err(Failure::new("Approval was answered at its terminal."));
                }
                ApprovalStatus::Withdrawn => {
                    return Err(Failure::new("Approval is no longer asked for."));
                }
            }
            if happened.next().await.is_err() {
                return Err(Failure::new("App unavailable"));
            }
        }
    };
    match tokio::time::timeout(limit, decided).await {
        Ok(status) => {
            let word = spell(status?).ok_or_else(not_found)?;
            Ok(Reply::ok("OK").with("status", word))
        }
        Err(_) => Err(Failure::new("Timed out waiting for approval")),
    }
}

fn already_resolved() -> Failure {
    Failure::new("Approval already resolved.")
}

fn not_found() -> Failure {
    Failure::new("Approval request not found.")
}
