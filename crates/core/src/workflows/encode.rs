//! Runs, results and consents as their files have them: JSON, written and read here alone.
//!
//! Names are in camelCase and times are RFC 3339, as on the wire. Files of before, with snake_case and
//! microseconds, are read as well.
//!
//! What cannot be read is none; the file is then moved aside by whoever reads it.

mod kept;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rookery_model::spelling::{camel, snake};
use rookery_model::{Timestamp, Usage, Words as _};
use rookery_scripts::{HOST_API_VERSION, LIMIT_NAMES, LaunchKey, Limits};
use serde_json::{Map, Value, json};

use super::types::{
    AgentStatus, CostEstimate, Phase, PhaseStatus, Run, RunAgent, RunApproval, RunDecision,
    RunStatus, ScriptInfo, ScriptKind,
};
use crate::worktrees::KeptTree;

pub(crate) use kept::{Consent, KeptRecord, KeptResult};

rookery_model::words! {
    ScriptKind {
        Generated = "generated",
        BuiltIn = "built_in",
        User = "user",
        Workspace = "workspace",
    }
    RunStatus {
        AwaitingApproval = "awaiting_approval",
        Queued = "queued",
        Running = "running",
        Paused = "paused",
        Completed = "completed",
        Failed = "failed",
        Stopped = "stopped",
    }
    PhaseStatus {
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Skipped = "skipped",
    }
    AgentStatus {
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Timeout = "timeout",
        Cancelled = "cancelled",
    }
    RunDecision {
        RunOnce = "run_once",
        AlwaysForScriptAndWorkspace = "always_for_script_and_workspace",
        Deny = "deny",
    }
}

/// Stands for the place of a launch in files of before, which did not note it. No script has such a place.
pub(crate) const NO_PLACE: &str = "\0";

/// Reads members of an object.
struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    fn of(value: &'a Value) -> Option<Members<'a>> {
        value.as_object().map(Members)
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        let found = self.0.get(name).or_else(|| self.0.get(&snake(name)));
        found.filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(str::to_owned)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    fn small(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    fn time(&self, name: &str) -> Option<Timestamp> {
        match self.get(name)? {
            Value::String(text) => {
                let read: jiff::Timestamp = text.parse().ok()?;
                Some(Timestamp::from_micros(read.as_microsecond()))
            }
            old => old.as_i64().map(Timestamp::from_micros),
        }
    }

    /// A word of ours.
    fn word(&self, name: &str) -> Option<String> {
        Some(snake(self.get(name)?.as_str()?))
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.as_str()?.parse().ok()
    }
}

fn time(time: Timestamp) -> Value {
    time.to_string().into()
}

fn path(path: &Option<PathBuf>) -> Value {
    path.as_ref().map(|path| path.to_string_lossy().into_owned()).into()
}

fn limits(limits: &Limits) -> Value {
    let named = LIMIT_NAMES.iter().zip(limits.values());
    named.map(|(name, value)| ((*name).to_owned(), Value::from(value))).collect()
}

fn read_limits(value: &Value) -> Option<Limits> {
    let values: Option<Vec<u64>> = match value {
        Value::Object(members) => {
            LIMIT_NAMES.iter().map(|name| members.get(*name)?.as_u64()).collect()
        }
        old => old.as_array()?.iter().map(Value::as_u64).collect(),
    };
    values?.try_into().ok().map(Limits::from_values)
}

fn usage(usage: &Usage) -> Value {
    json!({
        "promptTokens": usage.prompt,
        "completionTokens": usage.completion,
        "cachedPromptTokens": usage.cached,
        "cacheCreationPromptTokens": usage.cache_creation,
    })
}

fn read_usage(value: &Value) -> Option<Usage> {
    let at = |place: usize, name: &str| value.get(name).or_else(|| value.get(place))?.as_u64();
    Some(Usage {
        prompt: at(0, "promptTokens")?,
        completion: at(1, "completionTokens")?,
        cached: at(2, "cachedPromptTokens")?,
        cache_creation: at(3, "cacheCreationPromptTokens")?,
    })
}

fn worktree(tree: &KeptTree) -> Value {
    json!({"path": tree.path.to_string_lossy(), "branch": tree.branch})
}

fn read_worktree(value: &Value) -> Option<KeptTree> {
    let members = Members::of(value)?;
    Some(KeptTree { path: members.path("path")?, branch: members.text("branch") })
}

fn read_nested(value: Option<&Value>) -> BTreeMap<String, String> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, hash)| Some((name.clone(), hash.as_str()?.to_owned()))).collect()
}

fn key(key: &LaunchKey) -> Value {
    json!({
        "path": key.path,
        "occurrence": key.occurrence,
        "promptHash": key.prompt_hash,
        "model": key.model,
        "lane": key.lane,
        "schemaHash": key.schema_hash,
    })
}

fn read_key(value: &Value) -> Option<LaunchKey> {
    let members = Members::of(value)?;
    Some(LaunchKey {
        path: members.text("path").unwrap_or_else(|| NO_PLACE.to_owned()),
        occurrence: members.small("occurrence")?,
        prompt_hash: members.text("promptHash")?,
        model: members.text("model"),
        lane: members.text("lane"),
        schema_hash: members.text("schemaHash"),
    })
}

fn script(script: &ScriptInfo) -> Value {
    json!({
        "scriptId": script.id,
        "name": script.name,
        "description": script.description,
        "source": { "kind": camel(script.kind.word()), "path": path(&script.path) },
        "hostApiVersion": HOST_API_VERSION,
        "hash": script.hash,
        "argumentsSchema": script.arguments_schema,
        "body": script.body,
        "limits": limits(&script.limits),
        "createdAt": time(script.created_at),
        "updatedAt": time(script.updated_at),
    })
}

fn read_script(value: &Value) -> Option<ScriptInfo> {
    let members = Members::of(value)?;
    // It was no member of its own before.
    let source = members.get("source").and_then(Members::of);
    let source = source.as_ref().unwrap_or(&members);
    Some(ScriptInfo {
        id: members.text("scriptId")?,
        name: members.text("name")?,
        description: members.text("description"),
        kind: ScriptKind::from_word(&source.word("kind")?)?,
        path: source.path("path"),
        hash: members.text("hash")?,
        arguments_schema: members.get("argumentsSchema").cloned(),
        body: members.text("body"),
        limits: read_limits(members.get("limits")?)?,
        created_at: members.time("createdAt")?,
        updated_at: members.time("updatedAt")?,
    })
}

fn phase(phase: &Phase) -> Value {
    json!({
        "phaseId": phase.id,
        "name": phase.name,
        "status": camel(phase.status.word()),
        "description": phase.description,
        "startedAt": phase.started_at.map(time),
        "completedAt": phase.completed_at.map(time),
    })
}

fn read_phase(value: &Value) -> Option<Phase> {
    let members = Members::of(value)?;
    Some(Phase {
        id: members.text("phaseId")?,
        name: members.text("name")?,
        status: PhaseStatus::from_word(&members.word("status")?)?,
        description: members.text("description"),
        queued_agents: 0,
        completed_agents: 0,
        failed_agents: 0,
        started_at: members.time("startedAt"),
        completed_at: members.time("completedAt"),
    })
}

fn agent(agent: &RunAgent) -> Value {
    json!({
        "agentId": agent.id,
        "key": key(&agent.key),
        "phaseId": agent.phase,
        "description": agent.description,
        "label": agent.label,
        "status": camel(agent.status.word()),
        "lane": agent.lane,
        "model": agent.model,
        "threadId": agent.thread.map(|thread| thread.to_string()),
        "turnId": agent.turn.map(|turn| turn.to_string()),
        "usage": agent.usage.as_ref().map(usage),
        "exitReason": agent.exit_reason,
        "error": agent.error,
        "outputPreview": agent.output_preview,
        "cached": agent.is_cached,
        "attempt": agent.attempt,
        "worktree": agent.worktree.as_ref().map(worktree),
        "startedAt": agent.started_at.map(time),
        "completedAt": agent.completed_at.map(time),
    })
}

fn read_agent(value: &Value) -> Option<RunAgent> {
    let members = Members::of(value)?;
    Some(RunAgent {
        id: members.text("agentId")?,
        key: read_key(members.get("key")?)?,
        phase: members.text("phaseId")?,
        description: members.text("description")?,
        label: members.text("label"),
        status: AgentStatus::from_word(&members.word("status")?)?,
        lane: members.text("lane"),
        model: members.text("model"),
        thread: members.parsed("threadId"),
        turn: members.parsed("turnId"),
        usage: members.get("usage").and_then(read_usage),
        exit_reason: members.text("exitReason"),
        error: members.text("error"),
        output_preview: members.text("outputPreview"),
        is_cached: members.get("cached").and_then(Value::as_bool).unwrap_or(false),
        attempt: members.small("attempt")?,
        worktree: members.get("worktree").and_then(read_worktree),
        started_at: members.time("startedAt"),
        completed_at: members.time("completedAt"),
    })
}

fn approval(approval: &RunApproval) -> Value {
    json!({
        "scriptHash": approval.script_hash,
        "workspace": path(&approval.workspace),
        "decision": camel(approval.decision.word()),
        "reason": approval.reason,
        "decidedAt": time(approval.decided_at),
    })
}

fn read_approval(run: &str, value: &Value) -> Option<RunApproval> {
    let members = Members::of(value)?;
    Some(RunApproval {
        run: run.to_owned(),
        script_hash: members.text("scriptHash")?,
        workspace: members.path("workspace"),
        decision: RunDecision::from_word(&members.word("decision")?)?,
        reason: members.text("reason"),
        decided_at: members.time("decidedAt")?,
    })
}

fn read_cost(run: &Members<'_>) -> Option<CostEstimate> {
    if let Some(cost) = run.get("costEstimate").and_then(Members::of) {
        return Some(CostEstimate {
            min_agents: cost.small("minChildAgents")?,
            max_agents: cost.small("maxChildAgents")?,
            warning: cost.text("warning"),
        });
    }
    let old = run.get("cost")?;
    let at = |place: usize| u32::try_from(old.get(place)?.as_u64()?).ok();
    let warning = run.text("costWarning");
    Some(CostEstimate { min_agents: at(0)?, max_agents: at(1)?, warning })
}

impl Run {
    /// The whole record.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "version": 1,
            "runId": self.id,
            "threadId": self.thread.map(|thread| thread.to_string()),
            "turnId": self.turn.map(|turn| turn.to_string()),
            "script": script(&self.script),
            "status": camel(self.status.word()),
            "reason": self.reason,
            "limits": limits(&self.limits),
            "phases": self.phases.iter().map(phase).collect::<Vec<_>>(),
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "approval": self.approval.as_ref().map(approval),
            "costEstimate": {
                "minChildAgents": self.cost.min_agents,
                "maxChildAgents": self.cost.max_agents,
                "warning": self.cost.warning,
            },
            "nested": self.nested,
            "error": self.error,
            "report": self.report,
            "workspace": path(&self.workspace),
            "prompt": self.prompt,
            "arguments": self.arguments,
            "concurrencyPeak": self.concurrency_peak,
            "lines": self.lines,
            "createdAt": time(self.created_at),
            "updatedAt": time(self.updated_at),
            "startedAt": self.started_at.map(time),
            "completedAt": self.completed_at.map(time),
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<Run> {
        let members = Members::of(value)?;
        let id = members.text("runId")?;
        let list = |name: &str| members.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let phases: Option<Vec<Phase>> = list("phases")?.iter().map(read_phase).collect();
        let agents: Option<Vec<RunAgent>> = list("agents")?.iter().map(read_agent).collect();
        let mut run = Run {
            thread: members.parsed("threadId"),
            turn: members.parsed("turnId"),
            script: read_script(members.get("script")?)?,
            status: RunStatus::from_word(&members.word("status")?)?,
            reason: members.text("reason"),
            limits: read_limits(members.get("limits")?)?,
            phases: phases?,
            agents: agents?,
            approval: members.get("approval").and_then(|it| read_approval(&id, it)),
            cost: read_cost(&members)?,
            nested: read_nested(members.get("nested")),
            error: members.text("error"),
            report: members.text("report"),
            workspace: members.path("workspace"),
            prompt: members.text("prompt").unwrap_or_default(),
            arguments: members.0.get("arguments").cloned().unwrap_or_default(),
            concurrency_peak: members.small("concurrencyPeak").unwrap_or(0),
            lines: members.small("lines").unwrap_or(0),
            created_at: members.time("createdAt")?,
            updated_at: members.time("updatedAt")?,
            started_at: members.time("startedAt"),
            completed_at: members.time("completedAt"),
            id,
        };
        run.count_phases();
        Some(run)
    }
}
