//! What is kept of answers and consents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rookery_model::{Timestamp, Usage, Words as _};
use rookery_scripts::LaunchKey;
use serde_json::{Value, json};

use super::{
    Members, agent, key, path, read_agent, read_key, read_nested, read_usage, read_worktree, time,
    usage, worktree,
};
use crate::workflows::types::{AgentStatus, RunAgent};
use crate::worktrees::KeptTree;

/// A result that was kept: what a script gets again without asking. One without an answer is given again
/// only where another agent begins anew.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeptResult {
    pub(crate) key: LaunchKey,
    pub(crate) agent: String,
    /// How it ended.
    pub(crate) status: AgentStatus,
    /// Why it did not answer.
    pub(crate) error: Option<String>,
    pub(crate) output: Option<String>,
    pub(crate) structured: Option<Value>,
    pub(crate) usage: Option<Usage>,
    pub(crate) worktree: Option<KeptTree>,
    /// The agent as it was announced; none in files of before.
    pub(crate) record: Option<KeptRecord>,
}

/// An agent that has answered. The record of its run is written only later.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeptRecord {
    /// The name of its phase.
    pub(crate) phase: String,
    pub(crate) agent: RunAgent,
}

/// What was said once and for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consent {
    pub(crate) script_hash: String,
    /// The scripts that it may run, by name and hash.
    pub(crate) nested: BTreeMap<String, String>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) decided_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
}

impl KeptResult {
    /// One line of the journal.
    pub(in crate::workflows) fn to_json(&self) -> Value {
        json!({
            "key": key(&self.key),
            "agentId": self.agent,
            "status": self.status.word(),
            "error": self.error,
            "output": self.output,
            "structured": self.structured,
            "usage": self.usage.as_ref().map(usage),
            "worktree": self.worktree.as_ref().map(worktree),
            "record": self.record.as_ref().map(record),
        })
    }

    pub(in crate::workflows) fn from_json(value: &Value) -> Option<KeptResult> {
        let members = Members::of(value)?;
        Some(KeptResult {
            key: read_key(members.get("key")?)?,
            agent: members.text("agentId")?,
            // Files of before have answers alone.
            status: match members.text("status") {
                None => AgentStatus::Completed,
                Some(word) => AgentStatus::from_word(&word).filter(|status| status.is_over())?,
            },
            error: members.text("error"),
            output: members.text("output"),
            structured: members.get("structured").cloned(),
            usage: members.get("usage").and_then(read_usage),
            worktree: members.get("worktree").and_then(read_worktree),
            record: members.get("record").and_then(read_record),
        })
    }
}

impl Consent {
    pub(in crate::workflows) fn to_json(&self) -> Value {
        json!({
            "scriptHash": self.script_hash,
            "nested": self.nested,
            "workspace": path(&self.workspace),
            "sourcePath": path(&self.path),
            "approvedCapabilities": ["childAgents"],
            "decidedAt": time(self.decided_at),
            "expiresAt": self.expires_at.map(time),
        })
    }

    pub(in crate::workflows) fn from_json(value: &Value) -> Option<Consent> {
        let members = Members::of(value)?;
        Some(Consent {
            script_hash: members.text("scriptHash")?,
            nested: read_nested(members.get("nested")),
            workspace: members.path("workspace"),
            path: members.path("sourcePath"),
            decided_at: members.time("decidedAt")?,
            expires_at: members.time("expiresAt"),
        })
    }
}

fn record(record: &KeptRecord) -> Value {
    json!({ "phase": record.phase, "agent": agent(&record.agent) })
}

fn read_record(value: &Value) -> Option<KeptRecord> {
    let members = Members::of(value)?;
    Some(KeptRecord { phase: members.text("phase")?, agent: read_agent(members.get("agent")?)? })
}
