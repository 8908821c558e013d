//! Every message of the contract through the typed structs, byte for byte.

use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::params::Fields;

use super::{
    agent::*, app::*, clipboard::*, envelope::*, events::*, notification::*, palette::*,
    project::*, selection::*, tab::*, *,
};

/// Decodes and encodes `text`, which is written without blanks in the order of our keys.
fn survives<T: Serialize + DeserializeOwned>(text: &str) {
    let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
}

/// The same for a request of operation `P` with these params.
fn request<P: Call>(params: &str) {
    survives::<P>(params);
    let line = format!(r#"{{"id":"1","op":"{}","params":{params}}}"#, P::METHOD);
    survives::<Request<P>>(&line);
    let decoded: Request<P> = serde_json::from_str(&line).unwrap();
    let again = Request::new(1, decoded.params);
    assert_eq!(serde_json::to_string(&again).unwrap(), line);
}

/// The same for the response to operation `P`.
fn response<P: Call>(result: &str) {
    survives::<P::Reply>(result);
    survives::<Response<P::Reply>>(&format!(r#"{{"id":"1","ok":true,"result":{result}}}"#));
}

/// The same for an event, with and without a number.
fn event(name: &str, data: &str) {
    let line = format!(r#"{{"event":"{name}","data":{data}}}"#);
    survives::<Event>(&line);
    survives::<EventFrame>(&line);
    let numbered = format!(r#"{{"event":"{name}","data":{data},"seq":"7"}}"#);
    survives::<EventFrame>(&numbered);
    assert!(matches!(Incoming::parse(line.as_bytes()), Ok(Incoming::Event(_))), "{line}");
}

const OLD_TAB: &str = concat!(
    r#"{"id":"3","project_id":"1","title":"build","cwd":"/tmp","state":"needs_input","#,
    r#""has_notification":false,"is_active":true,"user_titled":false,"position":0,"#,
    r#""created_at":1700000000,"last_active":1700000001,"hook_active":false}"#
);
const OWNED_TAB: &str = concat!(
    r#"{"id":"3","project_id":"1","title":"build","cwd":"/tmp","state":"running","#,
    r#""has_notification":true,"is_active":false,"user_titled":true,"position":2,"#,
    r#""created_at":1700000000,"last_active":1700000001,"hook_active":true,"#,
    r#""shell_state":"foreground_process","agent_lifecycle":"working","#,
    r#""ownership":{"source":"claude","session_id":"s","last_event_at":1700000002,"detail":"d","#,
    r#""metadata":{"session_title":"t"}}}"#
);
const PROJECT: &str =
    r#"{"id":"1","name":"Roost","cwd":"/tmp","position":0,"created_at":1700000000,"tabs":[]}"#;

#[test]
fn the_application_as_the_contract_shows_it() {
    request::<Identify>(r#"{"client_name":"roostctl","client_version":"0.6.0"}"#);
    response::<Identify>(concat!(
        r#"{"socket_path":"/Users/.../Library/Caches/Roost/roost.sock","pid":1234,"#,
        r#""active_project_id":"1","active_tab_id":"3","app_label":"Roost","#,
        r#""app_id":"ai.stridelabs.Roost","ui_version":"0.7.0","protocol_version":1}"#
    ));
    request::<AppScreenshot>(r#"{"scale":1}"#);
    response::<AppScreenshot>(r#"{"png":"iVBORw0KGgo=","width":1100,"height":700,"scale":1}"#);
    request::<AppActivate>("{}");
    request::<AppWindowMetrics>("{}");
    response::<AppWindowMetrics>(concat!(
        r#"{"window_width":1100.0,"window_height":700.5,"sidebar_width":0.0,"#,
        r#""sidebar_collapsed":true,"terminal_top":38.0,"terminal_font_family":"Mono"}"#
    ));
    response::<AppSidebarDump>(concat!(
        r#"{"agents_visible":true,"projects":[{"project_id":"1","agents":[{"tab_id":"3","#,
        r#""name":"n","lifecycle":"failed","status_text":"Failed","time_text":"2m","#,
        r#""is_active":true}]}]}"#
    ));
    response::<AppSelectedTabId>(r#"{"tab_id":"3"}"#);
    response::<AppActiveTerminalFocused>(r#"{"focused":true}"#);
    response::<AppCursorShape>(r#"{"shape":"default"}"#);
    request::<AppRenderStats>(r#"{"reset":true}"#);
    response::<AppRenderStats>(concat!(
        r#"{"refresh_calls":"1","refresh_nanos":"2","rows_rebuilt":"3","cells_walked":"4","#,
        r#""draw_calls":"5","draw_nanos":"6","fill_text_calls":"7","view_calls":"8","#,
        r#""view_nanos":"9","elide_calls":"10","elide_nanos":"11"}"#
    ));
    request::<AppSetWindowFocus>(r#"{"focus":false}"#);
    request::<WindowResize>(r#"{"width":800.0,"height":600.0}"#);
    request::<SidebarSetWidth>(r#"{"width":220.0}"#);
}

#[test]
fn tabs_as_the_contract_shows_them() {
    survives::<Tab>(OLD_TAB);
    survives::<Tab>(OWNED_TAB);
    request::<TabOpen>(
        r#"{"project_id":"1","cwd":"","argv":["/bin/zsh"],"cols":120,"rows":30,"title":""}"#,
    );
    response::<TabOpen>(&format!(r#"{{"tab":{OLD_TAB}}}"#));
    request::<TabClose>(r#"{"tab_id":"3"}"#);
    response::<TabClose>("{}");
    request::<TabList>("{}");
    let with_tabs = PROJECT.replace("[]", &format!("[{OLD_TAB},{OWNED_TAB}]"));
    response::<TabList>(&format!(r#"{{"projects":[{PROJECT},{with_tabs}]}}"#));
    request::<TabWrite>(r#"{"tab_id":"3","data":"bHMK"}"#);
    request::<TabResize>(r#"{"tab_id":"3","cols":100,"rows":24}"#);
    request::<TabDump>(r#"{"tab_id":"3"}"#);
    response::<TabDump>(concat!(
        r#"{"cols":120,"rows":30,"cursor":{"row":1,"col":14,"visible":true},"#,
        r#""rows_text":["/tmp $ echo hi","hi","/tmp $",""]}"#
    ));
    response::<TabDump>(r#"{"cols":1,"rows":1,"rows_text":[""]}"#);
    request::<TabDumpResolved>(r#"{"tab_id":"3"}"#);
    response::<TabDumpResolved>(concat!(
        r##"{"cols":80,"rows":24,"cells":[{"row":0,"col":0,"text":"h","fg":"#ffffff","##,
        r##""bg":"#1c1c1c","has_explicit_bg":false,"bold":true,"italic":false,"inverse":false},"##,
        r##"{"row":0,"col":1,"text":"i","fg":"#ffffff","bg":"#1c1c1c","##,
        r##""has_explicit_bg":false,"bold":true,"italic":false,"inverse":false}]}"##
    ));
    request::<TabFeedPtyBytes>(r#"{"tab_id":"3","data":"G10xMTtyZ2I6MDAvMTEvMjIH"}"#);
    request::<TabCapturePtyInput>(r#"{"tab_id":"3","drain":true}"#);
    response::<TabCapturePtyInput>(r#"{"data":"G10xMTtyZ2I6MDAwMC8xMTExLzIyMjIH"}"#);
    request::<TabReorder>(r#"{"project_id":"1","tab_ids":["3","2","1"]}"#);
    request::<TabFocus>(r#"{"tab_id":"3"}"#);
    response::<TabFocus>(r#"{"previous_project_id":"1","previous_tab_id":"2"}"#);
    request::<TabSetTitle>(r#"{"tab_id":"3","title":"build"}"#);
    request::<TabSetState>(r#"{"tab_id":"3","state":"running"}"#);
    request::<TabClearNotification>(r#"{"tab_id":"3"}"#);
    request::<TabSetHookActive>(r#"{"tab_id":"3","active":true}"#);
    request::<TabDispatchMouseEvent>(
        r#"{"tab_id":"3","kind":"press","button":"wheel_up","cell_x":1,"cell_y":2,"mods":5}"#,
    );
    request::<TabFeedIme>(
        r#"{"tab_id":"3","action":"preedit","text":"k","cursor_start":0,"cursor_end":1}"#,
    );
    request::<AgentReport>(concat!(
        r#"{"tab_id":"3","source":"claude","session_id":"s","ownership_action":"claim","#,
        r#""lifecycle":"waiting","attention":"set","severity":"warn","title":"t","body":"b","#,
        r#""detail":"d","metadata":{"k":"v"}}"#
    ));
    response::<AgentReport>(&format!(r#"{{"accepted":true,"tab":{OWNED_TAB}}}"#));
}

#[test]
fn projects_and_notifications_as_the_contract_shows_them() {
    request::<ProjectCreate>(r#"{"name":"","cwd":"/tmp"}"#);
    response::<ProjectCreate>(&format!(r#"{{"project":{PROJECT}}}"#));
    request::<ProjectRename>(r#"{"project_id":"1","name":"Roost"}"#);
    request::<ProjectDelete>(r#"{"project_id":"1"}"#);
    request::<ProjectReorder>(r#"{"project_ids":["2","1","3"]}"#);
    request::<NotificationCreate>(r#"{"tab_id":"3","title":"Build","body":"passed"}"#);
    response::<NotificationCreate>("{}");
}

#[test]
fn the_palette_as_the_contract_shows_it() {
    request::<PaletteOpen>(r#"{"kind":"commands"}"#);
    response::<PaletteRead>(concat!(
        r#"{"open":true,"frame":"commands","query":"tab","selection":2,"#,
        r#""items":[{"id":"new_tab","title":"New Tab"},"#,
        r#"{"id":"select_theme","title":"Select Theme…"}]}"#
    ));
    response::<PaletteDismiss>(r#"{"open":false,"query":"","selection":0,"items":[]}"#);
    response::<PaletteActivate>(concat!(
        r#"{"open":true,"frame":"agents","query":"","selection":0,"items":[{"id":"agent:3","#,
        r#""title":"p · n","subtitle":"s","agent":{"effective_lifecycle":"working","#,
        r#""project":"p","name":"n","status_text":"Working","time_text":"12s","#,
        r#""metrics_text":"1f +2 -3"}}],"selected_in_view":true}"#
    ));
    request::<PaletteRead>("{}");
    request::<PaletteQuery>(r#"{"query":"theme"}"#);
    request::<PaletteActivate>(r#"{"id":"new_tab"}"#);
    request::<PalettePresent>(
        r#"{"title":"Open shed","items":[{"id":"web","title":"shed: web"}]}"#,
    );
    response::<PalettePresent>(r#"{"selected_id":"web","dismissed":false}"#);
    response::<PalettePresent>(r#"{"dismissed":true}"#);
}

#[test]
fn selection_and_clipboard_as_the_contract_shows_them() {
    request::<SelectionSet>(
        r#"{"tab_id":"1","anchor":{"col":3,"row":0},"cursor":{"col":17,"row":0}}"#,
    );
    request::<SelectionClear>(r#"{"tab_id":"1"}"#);
    response::<SelectionDump>(r#"{"text":"...","anchor_visible":true,"cursor_visible":false}"#);
    response::<SelectionDump>(r#"{"anchor_visible":false,"cursor_visible":false}"#);
    request::<ExpandSelectionAt>(r#"{"tab_id":"1","col":3,"row":0,"click_count":2}"#);
    response::<ExpandSelectionAt>(r#"{"col0":1,"col1":4,"text":"word"}"#);
    request::<ClipboardDump>(r#"{"target":"system"}"#);
    response::<ClipboardDump>(r#"{"text":"..."}"#);
    response::<ClipboardDump>("{}");
    request::<ClipboardWrite>(r#"{"target":"selection","text":"..."}"#);
}

#[test]
fn events_as_the_contract_shows_them() {
    request::<EventsSubscribe>(r#"{"tab_id_filter":"0"}"#);
    request::<EventsSubscribe>(r#"{"tab_id_filter":"3","since":"-1"}"#);
    response::<EventsSubscribe>("{}");
    response::<EventsSubscribe>(r#"{"seq":"7"}"#);
    event("tab.opened", &format!(r#"{{"tab":{OLD_TAB}}}"#));
    event("tab.closed", r#"{"tab_id":"3"}"#);
    event("tab.state_changed", r#"{"tab_id":"3","state":"idle"}"#);
    event("tab.title_changed", r#"{"tab_id":"3","title":"t"}"#);
    event("tab.cwd_changed", r#"{"tab_id":"3","cwd":"/"}"#);
    event("tab.notification", r#"{"tab_id":"3","has_pending":true}"#);
    event("project.created", &format!(r#"{{"project":{PROJECT}}}"#));
    event("project.renamed", r#"{"project_id":"1","name":"n"}"#);
    event("project.deleted", r#"{"project_id":"1"}"#);
    event("active.changed", r#"{"project_id":"1","tab_id":"0"}"#);
    event("hook_active.changed", r#"{"tab_id":"3","active":false}"#);
    event("notification.fired", r#"{"tab_id":"3","title":"t","body":""}"#);
    event(
        "agent_report.changed",
        concat!(
            r#"{"tab_id":"3","shell_state":"at_prompt","agent_lifecycle":"inactive","#,
            r#""state":"none","hook_active":false}"#
        ),
    );
}

#[test]
fn failures_as_the_contract_shows_them() {
    let line = r#"{"id":"1","ok":false,"error":{"code":"not-found","message":"no tab 3"}}"#;
    survives::<Response>(line);
    let Ok(Incoming::Response(response)) = Incoming::parse(line.as_bytes()) else {
        panic!("no response")
    };
    assert_eq!(response.error.unwrap().code, "not-found");
}

#[test]
fn a_client_takes_what_it_does_not_know() {
    let tab = OLD_TAB.replace("\"state\"", "\"color\":1,\"state\"");
    let line = format!(r#"{{"id":"1","ok":true,"took":3,"result":{{"tab":{tab},"more":[]}}}}"#);
    let response: Response<TabReply> = serde_json::from_str(&line).unwrap();
    assert_eq!(response.result.unwrap().tab.id, Int64(3));
    let line = r#"{"event":"tab.painted","data":{"tab_id":"3"}}"#;
    let Ok(Incoming::UnknownEvent(name)) = Incoming::parse(line.as_bytes()) else {
        panic!("no event")
    };
    assert_eq!(name, "tab.painted");
    assert!(Incoming::parse(b"7").is_err());
}

pub(super) type Decode = fn(&RawValue) -> Option<String>;

/// Decodes params; those that decode must survive.
pub(super) fn decode<P: Call>(raw: &RawValue) -> Option<String> {
    let params: P = Fields::of::<P>().decode(Some(raw)).ok()?;
    let text = serde_json::to_string(&params).unwrap();
    survives::<P>(&text);
    Some(text)
}

/// Every operation with params.
fn calls() -> impl Iterator<Item = &'static (&'static str, Decode)> {
    let nouns = [
        agent::CALLS,
        app::CALLS,
        clipboard::CALLS,
        events::CALLS,
        notification::CALLS,
        palette::CALLS,
        project::CALLS,
        selection::CALLS,
        tab::CALLS,
    ];
    nouns.into_iter().flatten()
}

fn any_params() -> impl Strategy<Value = String> {
    let keys = prop_oneof![
        Just("tab_id"),
        Just("project_id"),
        Just("title"),
        Just("name"),
        Just("data"),
        Just("cols"),
        Just("rows"),
        Just("scale"),
        Just("kind"),
        Just("items"),
        Just("tab_ids"),
        Just("state"),
        Just("target"),
        Just("text"),
        Just("width"),
        Just("height"),
        Just("x"),
        Just("since"),
        Just("query"),
        Just("anchor"),
        Just("cursor"),
        Just("active"),
    ];
    let values = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| format!("\"{n}\"")),
        Just(r#""running""#.to_owned()),
        Just(r#""system""#.to_owned()),
        Just("[]".to_owned()),
        Just(r#"["1"]"#.to_owned()),
        Just(r#"{"col":1,"row":2}"#.to_owned()),
        Just(r#"[{"id":"a","title":"A"}]"#.to_owned()),
        Just(r#""aGk=""#.to_owned()),
    ];
    prop::collection::vec((keys, values), 0..4).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

proptest! {
    #[test]
    fn whatever_decodes_survives_and_nothing_panics(params in any_params()) {
        if let Ok(raw) = serde_json::from_str::<&RawValue>(&params) {
            for (_, decode) in calls() {
                decode(raw);
            }
        }
    }
}

#[test]
fn every_operation_has_its_own_name() {
    let mut names: Vec<&str> = calls().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), calls().count());
}
