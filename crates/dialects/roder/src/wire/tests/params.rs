//! Params, each method's own, in camelCase, in snake_case and with nothing at all.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::RawValue};

use crate::{
    casing::{Shape, fold},
    wire::{
        command::*, exec::*, fs::*, initialize::*, input::InputItem, process::*, provider::*,
        session::*, settings::*, thread::*, tool::*, turn::*, upkeep::*, workspace::*,
    },
};

/// Decodes params as methods do.
pub(super) fn read<P: DeserializeOwned + JsonSchema>(text: &str) -> Result<P, String> {
    let raw = RawValue::from_string(text.to_owned()).map_err(|error| error.to_string())?;
    let folded = fold(&raw, &Shape::of::<P>()).map_err(|conflict| conflict.to_string())?;
    serde_json::from_str(folded.get()).map_err(|error| error.to_string())
}

/// `threadId` as `thread_id`, in names of the top level only.
pub(super) fn unfold(params: &Value) -> Value {
    let Value::Object(members) = params else { return params.clone() };
    let unfolded = members.iter().map(|(name, value)| {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        (snake, value.clone())
    });
    Value::Object(unfolded.collect())
}

/// What a method makes of params: whether they decode.
type Reads = fn(&str) -> Result<(), String>;

macro_rules! methods {
    ($($name:literal : $params:ty),* $(,)?) => {
        BTreeMap::from([$(($name, {
            let reads: Reads = |text| {
                let params = read::<$params>(text)?;
                let value: Value = serde_json::from_str(text).unwrap();
                let other = read::<$params>(&unfold(&value).to_string())?;
                assert_eq!(params, other, "{text}");
                Ok(())
            };
            reads
        })),*])
    };
}

fn methods() -> BTreeMap<&'static str, Reads> {
    methods! {
        "initialize": InitializeParams,
        "providers/configure": ProvidersConfigureParams,
        "providers/clear": ProvidersClearParams,
        "providers/select": ProvidersSelectParams,
        "model/select": ModelSelectParams,
        "settings/set_web_search": SettingsSetWebSearchParams,
        "settings/set_default_mode": SettingsSetDefaultModeParams,
        "settings/set_shell": SettingsSetShellParams,
        "settings/set_search_index": SettingsSetSearchIndexParams,
        "settings/set_file_backed_dynamic_context": SettingsSetDynamicContextParams,
        "workspace/create": WorkspaceCreateParams,
        "workspace/update": WorkspaceUpdateParams,
        "workspace/forget": WorkspaceForgetParams,
        "thread/start": ThreadStartParams,
        "thread/list": ThreadListParams,
        "thread/read": ThreadReadParams,
        "thread/history/read": ThreadHistoryReadParams,
        "thread/archive": ThreadIdParams,
        "thread/name/set": ThreadNameSetParams,
        "thread/fork": ThreadForkParams,
        "thread/rollback": ThreadRollbackParams,
        "thread/compact": ThreadCompactParams,
        "thread/goal/set": ThreadGoalSetParams,
        "turn/start": TurnStartParams,
        "turn/steer": TurnSteerParams,
        "turn/interrupt": TurnInterruptParams,
        "runtime/drain": RuntimeDrainParams,
        "session/get": SessionGetParams,
        "session/set_mode": SessionSetModeParams,
        "session/exit_plan": SessionExitPlanParams,
        "session/resolve_approval": SessionResolveApprovalParams,
        "session/resolve_user_input": SessionResolveUserInputParams,
        "fs/readFile": FsReadFileParams,
        "fs/readDirectory": FsReadDirectoryParams,
        "command/exec": CommandExecParams,
        "command/exec/write": CommandExecWriteParams,
        "command/exec/resize": CommandExecResizeParams,
        "command/exec/terminate": CommandExecTerminateParams,
        "processes/list": ProcessesListParams,
        "processes/get": ProcessesGetParams,
        "processes/stop": ProcessesStopParams,
        "processes/subscribe": ProcessesSubscribeParams,
        "commands/list": CommandsListParams,
        "commands/expand": CommandsExpandParams,
        "commands/run": CommandsRunParams,
        "tools/call": ToolsCallParams,
        "tools/resolve": ToolsResolveParams,
    }
}

/// Requests as the contract and its seed write them.
const REQUESTS: &str = r#"
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","id":10,"method":"thread/start","params":{"cwd":"/absolute/path/to/workspace","modelProvider":"mock","model":"mock","ephemeral":false}}
{"jsonrpc":"2.0","id":11,"method":"thread/list","params":{"limit":20}}
{"jsonrpc":"2.0","id":12,"method":"thread/read","params":{"threadId":"THREAD_ID","includeTurns":true}}
{"jsonrpc":"2.0","id":20,"method":"turn/start","params":{"threadId":"THREAD_ID","prompt":"summarize this repository and list the main crates","taskLedgerRequired":false}}
{"jsonrpc":"2.0","id":21,"method":"turn/steer","params":{"threadId":"THREAD_ID","expectedTurnId":"TURN_ID","prompt":"focus on app-server code paths"}}
{"jsonrpc":"2.0","id":22,"method":"turn/interrupt","params":{"threadId":"THREAD_ID","turnId":"TURN_ID"}}
{"jsonrpc":"2.0","id":31,"method":"session/set_mode","params":{"mode":"ask","reason":"desktop toggle"}}
{"jsonrpc":"2.0","id":32,"method":"session/resolve_approval","params":{"approvalId":"APPROVAL_ID","approved":true}}
{"jsonrpc":"2.0","id":33,"method":"session/resolve_user_input","params":{"requestId":"REQUEST_ID","answers":{"choice":"yes"}}}
{"jsonrpc":"2.0","id":34,"method":"session/exit_plan","params":{"requestId":"PLAN_REQUEST_ID","approved":true}}
{"jsonrpc":"2.0","id":41,"method":"providers/select","params":{"provider":"openai","model":"gpt-5.1","reasoning":null}}
{"jsonrpc":"2.0","id":42,"method":"providers/configure","params":{"provider":"openrouter","api_key":"sk-..."}}
{"jsonrpc":"2.0","id":44,"method":"settings/set_web_search","params":{"mode":"auto"}}
{"jsonrpc":"2.0","id":45,"method":"settings/set_default_mode","params":{"mode":"ask"}}
{"jsonrpc":"2.0","id":50,"method":"fs/readDirectory","params":{"path":"/absolute/path/to/workspace"}}
{"jsonrpc":"2.0","id":51,"method":"fs/readFile","params":{"path":"/absolute/path/to/file.rs"}}
{"jsonrpc":"2.0","id":52,"method":"command/exec","params":{"command":["git","status","--short"],"cwd":"/absolute/path/to/workspace","timeoutMs":30000,"outputBytesCap":20000}}
{"jsonrpc":"2.0","id":61,"method":"commands/expand","params":{"name":"review","arguments":"src/main.rs","workspace":"/absolute/path"}}
{"jsonrpc":"2.0","id":62,"method":"commands/run","params":{"threadId":"THREAD_ID","name":"review","arguments":"src/main.rs"}}
{"jsonrpc":"2.0","id":63,"method":"tools/call","params":{"threadId":"THREAD_ID","toolName":"example_tool","arguments":{}}}
{"method":"initialize","params":{"clientInfo":{"name":"a","title":"b","version":"1"},"capabilities":{"experimentalApi":true,"optOutNotificationMethods":["x"],"reasoningMethods":true}}}
{"method":"providers/clear","params":{"provider":"openai"}}
{"method":"providers/select","params":{"provider":"openai","threadId":"T"}}
{"method":"model/select","params":{"selection":{"type":"manual","provider":"openai","model":"m","reasoning":"low"},"threadId":"T"}}
{"method":"model/select","params":{"selection":{"type":"auto","optionId":"o"}}}
{"method":"settings/set_shell","params":{"shell":"/bin/zsh"}}
{"method":"settings/set_search_index","params":{"enabled":true}}
{"method":"settings/set_file_backed_dynamic_context","params":{"enabled":false}}
{"method":"workspace/create","params":{"name":"n","roots":[{"path":"/a","name":"a"},{"path":"/b"}],"defaultRootPath":"/a"}}
{"method":"workspace/update","params":{"workspaceId":"ws_1","name":"n","roots":[{"path":"/a"}],"defaultRootId":"root_1"}}
{"method":"workspace/forget","params":{"workspaceId":"ws_1"}}
{"method":"thread/start","params":{"workspaceId":"ws_1","rootId":"root_1","toolAllowlist":["grep"],"developerInstructions":"d","externalTools":[{"name":"acme_lookup","description":"d","parameters":{"type":"object"}}],"selection":{"type":"manual","provider":"mock"},"reasoning":"low","name":"n"}}
{"method":"thread/list","params":{"limit":5,"cursor":"c","archived":true,"cwd":"/a","searchTerm":"x"}}
{"method":"thread/history/read","params":{"threadId":"T","before":"b","limit":5,"maxBytes":1000}}
{"method":"thread/archive","params":{"threadId":"T"}}
{"method":"thread/name/set","params":{"threadId":"T","name":"n"}}
{"method":"thread/fork","params":{"threadId":"T","fromTurnId":"U","name":"n"}}
{"method":"thread/rollback","params":{"threadId":"T","numTurns":2}}
{"method":"thread/compact","params":{"threadId":"T","turnId":"U","preserveHint":"h"}}
{"method":"thread/goal/set","params":{"threadId":"T","objective":"o","status":"usageLimited","tokenBudget":5}}
{"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"a"},{"type":"image","imageUrl":"data:x"},{"type":"mention","path":"/a"}],"modelProvider":"mock","model":"mock","reasoning":"low","developerContext":"d","policyMode":"plan","deadlineSeconds":60}}
{"method":"turn/start","params":{"threadId":"T","prompt":"p","input":null,"taskLedgerRequired":null}}
{"method":"turn/interrupt","params":{"threadId":"T"}}
{"method":"runtime/drain","params":{"timeoutMs":100}}
{"method":"session/get","params":{"threadId":"T"}}
{"method":"session/set_mode","params":{"mode":"plan","threadId":"T"}}
{"method":"session/resolve_approval","params":{"approvalId":"A","approved":false,"message":"no","remember":"session"}}
{"method":"fs/readFile","params":{"path":"/a","offset":1,"limit":2}}
{"method":"command/exec","params":{"command":["sh"],"env":{"A":"b","C":null},"streamStdoutStderr":true,"processId":"p","disableTimeout":true,"disableOutputCap":true,"tty":true,"streamStdin":true,"size":{"rows":24,"cols":80},"sandboxPolicy":{"type":"x"}}}
{"method":"command/exec/write","params":{"processId":"p","deltaBase64":"YQ==","closeStdin":true}}
{"method":"command/exec/resize","params":{"processId":"p","size":{"rows":24,"cols":80}}}
{"method":"command/exec/terminate","params":{"processId":"p"}}
{"method":"processes/list","params":{"includeCompleted":true}}
{"method":"processes/get","params":{"processId":"p","outputBytes":5}}
{"method":"processes/stop","params":{"processId":"p"}}
{"method":"processes/subscribe","params":{"processId":"p"}}
{"method":"commands/list","params":{"workspace":"/a"}}
{"method":"commands/run","params":{"threadId":"T","name":"n","arguments":null,"workspace":"/a"}}
{"method":"tools/call","params":{"threadId":"T","toolName":"x","arguments":{"tool_name":1},"waitForApproval":true}}
{"method":"tools/resolve","params":{"requestId":"exttool-1","output":"o","isError":true}}
"#;

#[test]
fn every_request_of_the_contract_decodes_in_both_spellings() {
    let methods = methods();
    let mut unseen: Vec<_> = methods.keys().copied().collect();
    for line in REQUESTS.trim().lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        let name = request["method"].as_str().unwrap();
        unseen.retain(|method| *method != name);
        let params = request["params"].to_string();
        methods[name](&params).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    assert_eq!(unseen, [""; 0], "no example");
}

#[test]
fn methods_without_required_members_need_no_params() {
    let optional = [
        "commands/list",
        "initialize",
        "processes/list",
        "processes/subscribe",
        "runtime/drain",
        "session/get",
        "thread/list",
        "thread/start",
    ];
    let methods = methods();
    let takes_nothing = |reads: &Reads| reads("{}").is_ok();
    let names: Vec<_> =
        methods.iter().filter(|(_, reads)| takes_nothing(reads)).map(|(name, _)| *name).collect();
    assert_eq!(names, optional);
}

#[test]
fn unknown_members_are_ignored_and_mistyped_ones_are_not() {
    assert!(read::<ThreadReadParams>(r#"{"thread_id":"t","new_member":{}}"#).is_ok());
    assert!(read::<ThreadReadParams>(r#"{"threadId":5}"#).is_err());
    assert!(read::<ThreadListParams>(r#"{"limit":-1}"#).is_err());
    assert!(read::<SessionResolveUserInputParams>(r#"{"requestId":"r"}"#).is_err());
    let nothing: SessionResolveUserInputParams =
        read(r#"{"requestId":"r","answers":null}"#).unwrap();
    assert_eq!(nothing.answers, Value::Null);
}

#[test]
fn input_has_the_types_of_the_contract_and_no_other() {
    for (text, want) in [
        (r#"{"type":"text","text":"a"}"#, InputItem::Text("a".into())),
        (r#"{"type":"image","image_url":"u"}"#, InputItem::Image("u".into())),
        (r#"{"type":"input_image","imageUrl":"u"}"#, InputItem::Image("u".into())),
        (r#"{"type":"image","path":"/p"}"#, InputItem::LocalImage("/p".into())),
        (r#"{"type":"localImage","path":"/p"}"#, InputItem::LocalImage("/p".into())),
        (r#"{"type":"file","path":"/p"}"#, InputItem::File("/p".into())),
        (r#"{"type":"mention","path":"/p"}"#, InputItem::File("/p".into())),
    ] {
        let item: InputItem = read(text).unwrap();
        assert_eq!(item, want, "{text}");
        let written = serde_json::to_string(&item).unwrap();
        assert_eq!(read::<InputItem>(&written).unwrap(), want);
    }
    for (text, why) in [
        (r#"{"type":"smell"}"#, "unknown input type `smell`"),
        (r#"{"type":"text"}"#, "input of type `text` has no `text`"),
        (r#"{"type":"image"}"#, "input of type `image` has no `path`"),
        (r#"{"type":"input_image","path":"/p"}"#, "input of type `input_image` has no `imageUrl`"),
        (r#"{"type":"file"}"#, "input of type `file` has no `path`"),
        ("{}", "missing field `type`"),
    ] {
        let error = read::<InputItem>(text).unwrap_err();
        assert!(error.starts_with(why), "{text}: {error}");
    }
}

#[test]
fn keys_are_never_shown() {
    let params: ProvidersConfigureParams =
        read(r#"{"provider":"openai","apiKey":"sk-very-secret"}"#).unwrap();
    assert_eq!(params.api_key.expose(), "sk-very-secret");
    assert!(!format!("{params:?}").contains("sk-"));
    let both = json!({"provider": "a", "apiKey": "sk-1", "api_key": "sk-2"}).to_string();
    let error = read::<ProvidersConfigureParams>(&both).unwrap_err();
    assert_eq!(error, "`apiKey` and `api_key` differ");
}
