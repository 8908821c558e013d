//! Notifications that no conversation here brings about: built from our own types, decoded with the published.

use std::collections::BTreeSet;

use rookery_roder::wire::import::{ImportError, ImportFailed};
use rookery_roder::wire::memory::{MemoryReembedQueued, MemorySelection};
use rookery_roder::wire::workflow::{
    Decision, RunAgent, RunApproval, WorkflowBody, WorkflowNotification,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::types::{NOTIFICATIONS, UNSAID};

const AT: &str = "2026-11-19T20:00:00Z";

fn value(params: impl Serialize) -> Value {
    serde_json::to_value(params).unwrap()
}

/// A notification of a run, as it is written.
fn of_run(body: WorkflowBody) -> Value {
    value(WorkflowNotification {
        run_id: "run-1".to_owned(),
        thread_id: Some("thread-1".to_owned()),
        turn_id: None,
        body,
        timestamp: AT.to_owned(),
    })
}

fn denied() -> WorkflowBody {
    let approval = RunApproval {
        approval_id: "approval-run-1".to_owned(),
        run_id: "run-1".to_owned(),
        script_hash: "0".repeat(64),
        workspace: None,
        decision: Decision::Deny,
        approved_capabilities: Vec::new(),
        reason: Some("no".to_owned()),
        decided_at: AT.to_owned(),
    };
    WorkflowBody::Approval { approval: Box::new(approval) }
}

fn agent_failed() -> WorkflowBody {
    let agent = json!({
        "agentId": "a", "phaseId": "p", "description": "d", "status": "failed", "error": "e",
        "cached": false, "attempt": 1, "startedAt": AT, "completedAt": AT,
    });
    let agent: RunAgent = serde_json::from_value(agent).unwrap();
    WorkflowBody::AgentFailed { agent: Box::new(agent), error: "e".to_owned() }
}

fn checkpoint() -> WorkflowBody {
    let phase_id = Some("p".to_owned());
    WorkflowBody::Checkpoint { phase_id, key: "k".to_owned(), byte_count: 3 }
}

fn samples() -> Vec<(&'static str, Value)> {
    let provider = MemorySelection { provider_id: "house".to_owned(), model: "m".to_owned() };
    let reembed = MemoryReembedQueued { scope: None, provider, timestamp: AT.to_owned() };
    let error = ImportError { path: "/w/.mcp.json".to_owned(), message: "is no JSON".to_owned() };
    let failed = ImportFailed { item_id: Some("i".to_owned()), error, timestamp: AT.to_owned() };
    vec![
        ("memory/reembedQueued", value(reembed)),
        ("workflow/importFailed", value(failed)),
        ("workflows/agentFailed", of_run(agent_failed())),
        ("workflows/checkpointRecorded", of_run(checkpoint())),
        ("workflows/denied", of_run(denied())),
        ("workflows/failed", of_run(WorkflowBody::Failed { error: "e".to_owned(), summary: None })),
        ("workflows/paused", of_run(WorkflowBody::Reason { reason: Some("r".to_owned()) })),
        ("workflows/resumed", of_run(WorkflowBody::Status { status: "running".to_owned() })),
        ("workflows/stopped", of_run(WorkflowBody::Reason { reason: None })),
    ]
}

#[test]
fn what_no_conversation_brings_about_decodes_as_well() {
    let samples = samples();
    let named: BTreeSet<&str> = samples.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, UNSAID.iter().copied().collect());
    for (name, params) in &samples {
        let row = NOTIFICATIONS.iter().find(|row| row.name == *name).unwrap();
        (row.decode)(params).unwrap_or_else(|error| panic!("{name}: {error} in {params}"));
    }
}
