//! Params of the families beyond turns, as their contract writes them, in both spellings.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::params::{read, unfold};
use crate::wire::{
    git::*, hunk::*, import::*, marketplace::*, media::*, memory::*, plan::*, runner::*, task::*,
    team::*, trace::*, workflow::*,
};

#[track_caller]
fn decodes<P: DeserializeOwned + JsonSchema + PartialEq + Debug>(params: &Value) {
    let one = read::<P>(&params.to_string()).unwrap_or_else(|error| panic!("{params}: {error}"));
    let other = read::<P>(&unfold(params).to_string()).unwrap();
    assert_eq!(one, other, "{params}");
    // What is not known is passed by, and what is required is missed.
    let mut more = params.clone();
    more["notKnownHere"] = json!({ "a": 1 });
    assert_eq!(read::<P>(&more.to_string()).unwrap(), one, "{params}");
}

#[test]
fn work_beside_a_thread_is_asked_for_in_both_spellings() {
    decodes::<RunnersSelectParams>(
        &json!({ "destinationId": "d", "providerId": "ssh", "config": { "host": "h" }, "manifest": { "entries": [] } }),
    );
    decodes::<RunnersSessionParams>(&json!({ "threadId": "T", "ensure": true }));
    decodes::<RunnersSnapshotParams>(&json!({ "threadId": "T", "label": "l" }));
    decodes::<RunnersDeleteParams>(&json!({ "destinationId": "d", "force": true }));
    decodes::<RunnersPortsParams>(&json!({ "action": "expose", "port": 3000, "label": "l" }));
    decodes::<RunnersRejoinParams>(&json!({ "threadId": "T", "sandbox": "s" }));
    let retry = json!({ "max": 2, "on": ["lost", "failed"], "backoffSeconds": 30 });
    decodes::<TasksSubmitParams>(
        &json!({ "executorId": "process", "input": { "command": "make" }, "threadId": "T", "turnId": "U", "timeoutSeconds": 5, "lifetime": "server", "key": "k", "retry": retry, "lost": "hold" }),
    );
    decodes::<TasksListParams>(&json!({ "threadId": "T", "state": "running", "limit": 5 }));
    decodes::<TasksGetParams>(&json!({ "taskId": "K", "afterSeq": 3 }));
    decodes::<TasksCancelParams>(&json!({ "taskId": "K", "reason": "r" }));
    decodes::<TasksSubscribeParams>(&json!({ "taskId": "K", "eventKinds": ["task.output"] }));
    decodes::<TasksUnsubscribeParams>(&json!({ "subscriptionId": "s" }));
    decodes::<TeamStartParams>(
        &json!({ "leadThreadId": "T", "displayMode": "in-process", "members": [{ "name": "n", "modelProvider": "mock", "model": "m" }] }),
    );
    decodes::<TeamMemberStartParams>(
        &json!({ "teamId": "G", "name": "n", "modelProvider": "mock" }),
    );
    decodes::<TeamMemberMessageParams>(
        &json!({ "teamId": "G", "memberId": "member-1", "text": "t", "expectedTurnId": "U" }),
    );
    decodes::<TeamMemberInterruptParams>(
        &json!({ "teamId": "G", "memberId": "lead", "turnId": "U" }),
    );
    decodes::<TeamCleanupParams>(&json!({ "teamId": "G", "force": true }));
    decodes::<SubagentTracesListParams>(&json!({ "threadId": "T", "turnId": "U" }));
    decodes::<SubagentTraceReadParams>(
        &json!({ "threadId": "T", "traceId": "R", "offset": 1, "limit": 2, "itemIndex": 3, "textOffset": 4 }),
    );
    decodes::<WorkflowsPlanParams>(
        &json!({ "prompt": "p", "threadId": "T", "turnId": "U", "arguments": { "aKey": 1 }, "script": "s" }),
    );
    decodes::<WorkflowsApproveParams>(
        &json!({ "runId": "R", "decision": "alwaysForScriptAndWorkspace", "reason": "r" }),
    );
    decodes::<WorkflowsListParams>(
        &json!({ "threadId": "T", "includeTerminal": true, "limit": 10 }),
    );
    decodes::<WorkflowsGetParams>(
        &json!({ "runId": "R", "includeScriptBody": true, "includeAgents": true }),
    );
    decodes::<WorkflowsPauseParams>(&json!({ "runId": "R", "cancelRunningAgents": true }));
    decodes::<WorkflowsRestartAgentParams>(&json!({ "runId": "R", "agentId": "agent-1" }));
    decodes::<WorkflowsSaveParams>(
        &json!({ "runId": "R", "name": "n", "scope": "user", "overwrite": true }),
    );
    decodes::<WorkflowsScriptsReadParams>(
        &json!({ "scriptId": "s", "source": "builtIn", "includeBody": true }),
    );
    decodes::<WorkflowsScriptsDeleteParams>(&json!({ "scriptId": "s", "deleteFile": true }));
}

#[test]
fn what_becomes_of_a_lost_task_is_read() {
    let text = r#"{"executorId":"process","retry":{"max":1,"on":["lost"],"backoff_seconds":3},"lost":"hold"}"#;
    let params = read::<TasksSubmitParams>(text).unwrap();
    let retry = TaskRetry { max: 1, on: vec![TaskRetryOn::Lost], backoff_seconds: 3 };
    assert_eq!((params.retry, params.lost), (Some(retry), Some(TaskLost::Hold)));
}

#[test]
fn what_changed_and_what_is_known_is_asked_for_in_both_spellings() {
    let anchor = json!({ "file": { "path": "a", "startLine": 1, "endLine": 2 } });
    decodes::<PlanReviewCommentParams>(
        &json!({ "threadId": "T", "reviewId": "R", "anchor": anchor, "body": "b" }),
    );
    decodes::<PlanReviewRewriteParams>(
        &json!({ "threadId": "T", "reviewId": "R", "replacementMarkdown": "m" }),
    );
    decodes::<PlanReviewRejectParams>(&json!({ "threadId": "T", "reviewId": "R", "reason": "r" }));
    decodes::<HunkListParams>(
        &json!({ "threadId": "T", "turnId": "U", "reviewId": "R", "path": "a" }),
    );
    decodes::<HunkReadParams>(&json!({ "threadId": "T", "hunkId": "H", "offset": 1, "limit": 2 }));
    decodes::<HunkRollbackParams>(&json!({ "threadId": "T", "hunkId": "H", "confirmed": true }));
    decodes::<WorkspaceChangesListParams>(&json!({ "threadId": "T", "turnId": "U" }));
    decodes::<GitChangesListParams>(&json!({ "workspace": "/a", "limit": 500 }));
    decodes::<GitChangesReadParams>(
        &json!({ "workspace": "/a", "path": "b", "offset": 0, "limit": 400, "ignoreWhitespace": true }),
    );
    decodes::<WorkflowScanParams>(&json!({ "workspace": "/a", "includeUser": true }));
    decodes::<WorkflowEnableParams>(
        &json!({ "workspace": "/a", "itemId": "I", "approveSideEffects": true }),
    );
    decodes::<MediaListParams>(&json!({ "threadId": "T", "kind": "image" }));
    decodes::<MediaReadParams>(&json!({ "artifactId": "A", "maxBytes": 5 }));
    decodes::<MediaAttachToTurnParams>(&json!({ "artifactId": "A", "threadId": "T" }));
    decodes::<MediaImportParams>(
        &json!({ "bytesBase64": "YQ==", "mimeType": "text/plain", "threadId": "T", "title": "t" }),
    );
    for scope in [
        json!("project"),
        json!("Global"),
        json!({ "Project": "p" }),
        json!({ "kind": "project", "workspace": "/a" }),
    ] {
        decodes::<MemorySaveParams>(
            &json!({ "scope": scope, "text": "t", "metadata": { "a": 1 } }),
        );
        decodes::<MemoryQueryParams>(
            &json!({ "scope": scope, "text": "t", "limit": 5, "includeGlobal": true }),
        );
    }
    decodes::<MemoryRecallPreviewParams>(
        &json!({ "threadId": "T", "turnId": "U", "text": "t", "includeGlobal": false }),
    );
    for source in [
        json!({ "kind": "localPath", "path": "/a" }),
        json!({ "kind": "git", "url": "file:///a", "refName": "main", "catalogPath": "c" }),
        json!({ "kind": "github", "repo": "a/b", "pluginRoot": "p" }),
        json!({ "kind": "httpJson", "url": "https://x" }),
    ] {
        decodes::<MarketplaceAddParams>(
            &json!({ "id": "m", "displayName": "M", "source": source, "kind": "claude" }),
        );
    }
    decodes::<MarketplaceIdParams>(&json!({ "marketplaceId": "m" }));
    decodes::<PluginParams>(&json!({ "marketplaceId": "m", "pluginId": "p" }));
    decodes::<VariantParams>(&json!({ "variantKey": "m:p" }));
}
