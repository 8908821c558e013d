//! Results and notifications: read, written again, and the same to the byte.

use serde::{Serialize, de::DeserializeOwned};

use crate::wire::{
    Empty,
    command::*,
    discovery::*,
    exec::*,
    fs::*,
    initialize::*,
    item::ItemNotification,
    notification::{name, twin, *},
    process::*,
    provider::*,
    session::*,
    settings::*,
    thread::*,
    tool::*,
    turn::*,
    upkeep::*,
    workspace::*,
};

fn check<T: DeserializeOwned + Serialize>(text: &str) {
    let text = text.trim().lines().map(str::trim).collect::<String>();
    let value: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
}

#[test]
fn handshake_and_discovery() {
    check::<InitializeResult>(
        r#"{"provider":"mock","model":"mock","cwd":"/abs","serverInfo":{"name":"rookery","version":"1"},
        "protocolVersion":1,"policyMode":"default","capabilities":{"methods":["initialize"]},
        "remote":{"authenticated":true,"authSchemes":["authorization_bearer","websocket_subprotocol_bearer"],
        "serverName":"Rookery","workspace":"/abs"}}"#,
    );
    check::<InitializeResult>(
        r#"{"provider":"mock","model":"mock","cwd":null,"serverInfo":{"name":"rookery","version":"1"},
        "protocolVersion":1,"policyMode":"ask","capabilities":{"methods":[]}}"#,
    );
    check::<ExtensionsListResult>(
        r#"{"extensions":[{"id":"mock","name":"Mock","version":"1","api_version":"1","description":"d",
        "provides":[{"InferenceEngine":"mock"},{"ThreadStore":"t"}],
        "required_capabilities":[{"id":"net","reason":"r"},{"id":"fs"}],"apiVersion":"1",
        "requiredCapabilities":[{"id":"net","reason":"r"},{"id":"fs"}]}],
        "capability_statuses":{"mock":[{"id":"net","decision":"granted"},{"id":"fs","decision":"denied","reason":"r"}]}}"#,
    );
    check::<ModelListResult>(
        r#"{"models":[{"id":"m","name":"M","modelProvider":"mock","defaultReasoningEffort":null,
        "reasoningEfforts":["low"],"isDefault":true}]}"#,
    );
    check::<ToolsListResult>(
        r#"{"tools":[{"name":"echo","description":"d","parameters":{"type":"object"}}]}"#,
    );
    check::<AgentsListResult>(
        r#"{"agents":[{"agent_type":"explore","description":"d","tools":["grep"],"model":null,
        "permission_mode":"read_only","max_turns":5,"max_result_chars":null,"agentType":"explore",
        "permissionMode":"read_only","maxTurns":5,"maxResultChars":null}],"diagnostics":[]}"#,
    );
}

#[test]
fn providers_and_settings() {
    check::<ProvidersListResult>(
        r#"{"active_provider":"openai","active_model":"gpt-5.5","active_reasoning":"medium",
        "selectionMode":{"type":"manual","provider":"openai","model":"gpt-5.5","reasoning":"medium"},
        "routingOptions":[],
        "providers":[{"id":"openai","name":"OpenAI","description":null,
        "auth_type":"o_auth","auth_label":"OPENAI_API_KEY","authenticated":true,
        "auth_detail":null,"recommended":true,"sort_order":0,
        "capabilities":{"streaming":true,"tool_calls":true,"parallel_tool_calls":true,
        "reasoning_summaries":true,"structured_output":false,"image_input":true,"prompt_cache":true,
        "provider_metadata":true,"tool_search":false},
        "models":[{"id":"a","name":"A","context_window":200000,"default_reasoning":"medium",
        "supported_reasoning":[{"effort":"low","description":"d"}]},
        {"id":"b","name":"B","context_window":null}]}]}"#,
    );
    for auth in [r#""none""#, r#""api_key""#, r#""o_auth""#] {
        check::<AuthType>(auth);
    }
    check::<ProvidersConfigureResult>(r#"{"provider":"openai","authenticated":true}"#);
    check::<ProvidersClearResult>(r#"{"provider":"openai"}"#);
    check::<ProvidersSelectResult>(r#"{"provider":"openai","model":"m","reasoning":"none"}"#);
    check::<ModelSelectResult>(
        r#"{"provider":"openai","model":"m","reasoning":"low","selectionMode":{"type":"auto","optionId":"o"}}"#,
    );
    check::<SettingsGetResult>(
        r#"{"web_search":{"mode":"cached","external_enabled":false,"providers":[]},
        "search_index":{"enabled":true},"shell":{"shell":"/bin/sh","options":["/bin/sh"]},
        "default_provider":"mock","default_model":"mock","default_reasoning":"none","default_mode":"default",
        "agent_swarm_mode":false,"ultra_mode":false,"file_backed_dynamic_context":true}"#,
    );
    check::<SettingsSetWebSearchResult>(
        r#"{"web_search":{"mode":"auto","external_enabled":false,"providers":[]}}"#,
    );
    check::<SettingsSetDefaultModeResult>(r#"{"default_mode":"ask"}"#);
    check::<SettingsSetShellResult>(r#"{"shell":{"shell":"/bin/sh","options":[]}}"#);
    check::<SettingsSetSearchIndexResult>(r#"{"search_index":{"enabled":true},"enabled":true}"#);
    check::<SettingsSetDynamicContextResult>(r#"{"enabled":true}"#);
    check::<ProvidersChanged>("{}");
    check::<SettingsChanged>(r#"{"default_mode":"plan"}"#);
}

const THREAD: &str = r#"{"id":"u","sessionId":"u","preview":"Untitled thread","modelProvider":"mock","model":"mock","createdAt":0,"updatedAt":0,"status":{"type":"idle","activeTurnId":null,"activeFlags":[]},"cwd":"/abs","messageCount":0,"ephemeral":false}"#;

const TURN: &str =
    r#"{"id":"t","items":[],"itemsView":"default","status":"inProgress","startedAt":1}"#;

#[test]
fn workspaces_and_threads() {
    let workspace = r#"{"id":"ws_1","name":"n","roots":[{"id":"root_1","path":"/a","name":"a"}],"defaultRootId":"root_1","updatedAt":1779883200000}"#;
    check::<WorkspaceListResult>(&format!(r#"{{"workspaces":[{workspace}]}}"#));
    check::<WorkspaceResult>(&format!(r#"{{"workspace":{workspace}}}"#));
    check::<WorkspaceForgetResult>(r#"{"workspaceId":"ws_1","forgotten":true}"#);
    check::<Thread>(THREAD);
    check::<Thread>(
        r#"{"id":"u","sessionId":"u","preview":"p","modelProvider":"mock","model":"mock",
        "selectionMode":{"type":"manual","provider":"mock","model":"mock"},"createdAt":0,"updatedAt":0,
        "status":{"type":"running","activeTurnId":"t","activeFlags":["approvalRequired","userInputRequired","planExitRequired","externalToolPending","interrupting"]},
        "cwd":"/abs","workspaceId":"ws_1","rootId":"root_1","name":"title","messageCount":2,
        "turns":[{"id":"t","items":[{"type":"userMessage","id":"t-user","text":"a"}],"itemsView":"default","status":"failed",
        "error":{"message":"m","kind":"runtime_restart"},"startedAt":1,"completedAt":2,"durationMs":1000,
        "usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"cached_prompt_tokens":5,"cache_creation_prompt_tokens":0,"cache_hit_rate":0.5},
        "finishReason":"stop"}],"ephemeral":false,"toolAllowlist":["grep"],"developerInstructions":"d",
        "externalTools":[{"name":"x","description":"d","parameters":{}}],"parentThreadId":"v","archived":true}"#,
    );
    check::<ThreadStartResult>(&format!(
        r#"{{"thread":{THREAD},"model":"mock","modelProvider":"mock","reasoning":"none","cwd":"/abs","workspaceId":"ws_1","rootId":"root_1"}}"#
    ));
    check::<ThreadListResult>(&format!(
        r#"{{"data":[{THREAD}],"nextCursor":null,"backwardsCursor":"c"}}"#
    ));
    check::<ThreadReadResult>(
        r#"{"thread":null,"lifecycle":{"records":[],"corruptRecordCount":0}}"#,
    );
    check::<ThreadHistoryReadResult>(&format!(
        r#"{{"thread":{THREAD},"before":null,"hasMore":false}}"#
    ));
    check::<ThreadArchiveResult>(r#"{"threadId":"u","archived":true}"#);
    check::<ThreadDeleteResult>(r#"{"threadId":"u","deleted":false}"#);
    check::<ThreadNameResult>(r#"{"threadId":"u","name":"n"}"#);
    check::<ThreadResult>(&format!(r#"{{"thread":{THREAD}}}"#));
    let fork = r#"{"id":"f","ownership":{"creatorThreadId":"u","ownerThreadId":"f"},"providerId":"shared","sourceWorkspace":"/a","workspace":"/a","status":"active","provenance":{"createdAt":"c"},"cleanup":"explicit"}"#;
    check::<ThreadForkResult>(&format!(r#"{{"thread":{THREAD},"fork":{fork},"warnings":["w"]}}"#));
    check::<ThreadCompactResult>(
        r#"{"compacted":false,"reason":"r","estimatedTokensBefore":5,"estimatedTokensAfter":5}"#,
    );
    check::<ThreadGoalResult>(
        r#"{"goal":{"threadId":"u","objective":"o","status":"budgetLimited","tokenBudget":5,"tokensUsed":6,
        "timeUsedSeconds":7,"createdAt":"2026-05-27T12:00:00Z","updatedAt":"2026-05-27T12:00:00Z"}}"#,
    );
    check::<ThreadGoalResult>(r#"{"goal":null}"#);
    check::<ThreadGoalClearResult>(r#"{"cleared":true}"#);
}

#[test]
fn turns_and_answers() {
    check::<TurnStartResult>(&format!(r#"{{"turnId":"t","turn":{TURN}}}"#));
    check::<TurnIdResult>(r#"{"turnId":"t"}"#);
    check::<RuntimeDrainResult>(r#"{"status":"deadline_exceeded","remainingTurnIds":["t"]}"#);
    let plan = r#""target_mode":"default","plan_summary":"p","next_steps":["a"],"requested_at":"r","expires_at":null"#;
    let camel = r#""targetMode":"default","planSummary":"p","nextSteps":["a"],"requestedAt":[2026,320,10,5,6,7,0,0,0],"expiresAt":null"#;
    let approval = r#"{"threadId":"u","turnId":"t","approvalId":"appr_1","toolId":"c","toolName":"write_file","reason":"side-effecting tool call","input":{"path":"a"},"preview":"+a"}"#;
    let input = r#"{"threadId":"u","turnId":"t","requestId":"input_1","questions":[{"header":"h","id":"choice","question":"q","options":[{"label":"A","description":"d"}]}]}"#;
    check::<SessionGetResult>(&format!(
        r#"{{"mode":"plan","pending_plan_exit":{{"thread_id":"u","turn_id":"t","request_id":"r",{plan}}},"pendingPlanExit":{{"threadId":"u","turnId":"t","requestId":"r",{camel}}},"pendingApprovals":[{approval}],"pendingUserInputs":[{input}]}}"#
    ));
    check::<SessionGetResult>(
        r#"{"mode":"default","pending_plan_exit":null,"pendingPlanExit":null,"pendingApprovals":[],"pendingUserInputs":[]}"#,
    );
    check::<SessionSetModeResult>(r#"{"mode":"ask"}"#);
    check::<SessionExitPlanResult>(r#"{"resolved":true,"mode":"default"}"#);
    check::<ResolvedResult>(r#"{"resolved":false}"#);
    check::<ApprovalRequested>(approval);
    check::<UserInputRequested>(input);
    check::<ApprovalResolved>(
        r#"{"threadId":"u","turnId":"t","approvalId":"appr_1","toolId":"c","toolName":"x","approved":true,"source":"roder"}"#,
    );
    check::<UserInputResolved>(
        r#"{"threadId":"u","turnId":"t","requestId":"r","answers":{"choice":"yes"}}"#,
    );
    check::<PlanExitRequested>(
        r#"{"threadId":"u","turnId":"t","requestId":"r","targetMode":"default","planSummary":"p","nextSteps":["a"]}"#,
    );
    check::<PlanExitResolved>(
        r#"{"threadId":"u","turnId":"t","requestId":"r","approved":true,"targetMode":"default","resolvedMode":"default"}"#,
    );
    check::<ModeChanged>(r#"{"previousMode":"default","mode":"plan","reason":"desktop toggle"}"#);
}

#[test]
fn files_commands_and_tools() {
    check::<FsReadFileResult>(r#"{"dataBase64":"YQ=="}"#);
    check::<FsReadDirectoryResult>(
        r#"{"entries":[{"fileName":"a","isDirectory":false,"isFile":true}]}"#,
    );
    check::<CommandExecResult>(
        r#"{"exitCode":0,"stdout":"o","stderr":"","stdoutArtifact":{"id":"a","kind":"command_stdout","threadId":"app-server",
        "turnId":"p","byteCount":5,"lineCount":1,"truncated":true,"droppedBytes":3,"createdAt":"2026-05-27T12:00:00Z"},"durationMs":5,"timedOut":false}"#,
    );
    check::<CommandExecOutputDelta>(
        r#"{"processId":"p","stream":"stdout","deltaBase64":"YQ==","capReached":false}"#,
    );
    check::<Empty>("{}");
    let process = r#"{"processId":"p","origin":"command_exec","state":"running","command":["ls"],"commandSummary":"ls","cwd":"/a","status":"running","stoppable":true,"pid":5,"exitCode":null,"tty":false,"startedAt":"s","updatedAt":"s"}"#;
    check::<ProcessState>(r#"{"exited":{"exitCode":0}}"#);
    check::<ProcessState>(r#"{"failed":{"error":"e"}}"#);
    check::<ProcessesListResult>(&format!(r#"{{"processes":[{process}]}}"#));
    check::<ProcessesGetResult>(&format!(
        r#"{{"process":{process},"output":[{{"processId":"p","stream":"stdout","chunk":"c","droppedBytes":1,"timestamp":"t"}}],"stdout":"","stderr":""}}"#
    ));
    check::<ProcessesGetResult>(r#"{"output":[],"stdout":"","stderr":""}"#);
    check::<ProcessStarted>(&format!(r#"{{"process":{process},"timestamp":"t"}}"#));
    check::<ProcessExited>(&format!(r#"{{"process":{process},"exitCode":0,"timestamp":"t"}}"#));
    check::<ProcessStopping>(r#"{"processId":"p","reason":"r","timestamp":"t"}"#);
    check::<ProcessStopped>(&format!(r#"{{"process":{process},"reason":"r","timestamp":"t"}}"#));
    check::<ProcessFailed>(&format!(r#"{{"process":{process},"error":"e","timestamp":"t"}}"#));
    let stopped = r#"{"processId":"p","stopped":true}"#;
    check::<ProcessesStopResult>(&format!(
        r#"{{"result":{stopped},"processId":"p","stopped":true}}"#
    ));
    check::<ProcessesStopAllResult>(&format!(
        r#"{{"results":[{stopped}],"stoppedProcessIds":["p"]}}"#
    ));
    check::<ProcessesSubscribeResult>(
        r#"{"subscribed":true,"eventKinds":["process.started","processes/updated"],"processes":[]}"#,
    );
    let command = r#"{"name":"review","description":"d","argument_hint":null,"source":"built-in","model":null,"agent":null,"has_shell_includes":false,"has_url_includes":false}"#;
    check::<CommandsListResult>(&format!(r#"{{"commands":[{command}]}}"#));
    let expanded = format!(
        r#"{{"command":{command},"message":"m","context_blocks":[{{"id":"i","kind":"RetrievedDocument","text":"t","priority":1,"token_estimate":null,"metadata":{{"truncated":true}}}}],"allowed_tools":["grep"],"model":null,"agent":null}}"#
    );
    check::<CommandsExpandResult>(&expanded);
    check::<CommandsRunResult>(&format!(r#"{{"turn_id":"t","turnId":"t","expanded":{expanded}}}"#));
    check::<ToolsCallResult>(r#"{"text":"t","data":{"a":1},"is_error":false}"#);
    check::<ToolExecutionRequested>(
        r#"{"threadId":"u","turnId":"t","requestId":"exttool-1","call":{"id":"c","name":"acme_lookup","arguments":{"query":"thread status"}}}"#,
    );
    check::<ToolExecutionResolved>(
        r#"{"threadId":"u","turnId":"t","requestId":"exttool-1","toolId":"c","toolName":"acme_lookup","outcome":"timedOut","isError":true}"#,
    );
}

#[test]
fn notifications() {
    check::<ThreadStatusChanged>(
        r#"{"threadId":"u","status":{"type":"running","activeTurnId":"t","activeFlags":["approvalRequired"]}}"#,
    );
    check::<TurnNotification>(&format!(r#"{{"threadId":"u","turn":{TURN}}}"#));
    check::<TurnPartialResult>(r#"{"threadId":"u","turnId":"t","summary":"s"}"#);
    check::<TurnDeadlineExceeded>(
        r#"{"threadId":"u","turnId":"t","deadline":[2026,1,0,0,0,0,0,0,0],"partialResult":"p"}"#,
    );
    check::<TurnLifecycleUpdated>(
        r#"{"threadId":"u","turnId":"t","lifecycle":{"threadId":"u","turnId":"t","state":"recovery_needed","cleanup":"c","ownership":"o","reason":"r","timestamp":"s"}}"#,
    );
    check::<ThreadArchived>(r#"{"threadId":"u"}"#);
    check::<Warning>(r#"{"message":"m","threadId":"u"}"#);
    // The sample of the contract, as it stands there.
    check::<ItemNotification>(
        r#"{"seq":12,"eventId":"T-item-event-12","threadId":"U","turnId":"T","timestamp":"2026-05-27T12:00:00Z",
        "itemId":"T-agent-final_answer","delta":"Hello","phase":"final_answer",
        "event":{"type":"itemDelta","itemId":"T-agent-final_answer",
        "delta":{"type":"agentMessageText","delta":"Hello","phase":"final_answer"}}}"#,
    );
}

#[test]
fn twins_differ_only_in_what_they_begin_with() {
    let pairs = [
        twin::APPROVAL_REQUESTED,
        twin::APPROVAL_RESOLVED,
        twin::USER_INPUT_REQUESTED,
        twin::USER_INPUT_RESOLVED,
        twin::PLAN_EXIT_REQUESTED,
        twin::PLAN_EXIT_RESOLVED,
    ];
    for [older, newer] in pairs {
        let bare = older.strip_prefix("session/");
        assert_eq!(bare, newer.strip_prefix("thread/"));
        assert!(bare.is_some());
    }
    assert_eq!(twin::COMMAND_OUTPUT_DELTA[0], "command/exec/output_delta");
    assert_eq!(name::ITEM_DELTA, "item/agentMessage/delta");
}
