//! Tools of servers that are programs or pages.

mod answers;
mod page;
pub(crate) mod program;

use std::collections::BTreeMap;
use std::time::Duration;

use rookery_agent::mcp::{McpServers, McpState};
use rookery_agent::settings::{McpServerSettings, Secret};
use rookery_agent::tool::ToolOutput;
use rookery_model::ToolKind;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::processes::{gone, is_alive};
use crate::{Case, ROLE, this_binary};
use page::Page;

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        &[$((concat!("mcp::", stringify!($name)), || Box::pin($name()))),*]
    };
}

/// The tests.
pub(crate) const CASES: &[(&str, Case)] = cases![
    tools_are_listed_by_names_that_models_take,
    tools_are_always_allowed_by_the_names_of_their_server,
    a_call_comes_back,
    results_of_all_sorts_come_back,
    what_goes_wrong_is_reported,
    a_call_is_bounded_in_time_and_can_be_given_up,
    a_program_that_crashed_is_started_again,
    a_program_that_does_not_start_is_reported_without_keys,
    a_slow_program_is_tried_again,
    tools_that_change_are_listed_again,
    programs_end_with_their_owner,
    wrong_settings_are_reported,
    a_page_has_tools_too,
    a_page_that_comes_back_is_found_again,
];

fn program(env: &[(&str, &str)]) -> McpServerSettings {
    let env = env.iter().copied().chain([(ROLE, "mcp")]);
    let env = env.map(|(name, value)| (name.to_owned(), Secret::new(value)));
    // The machine may have much else to do.
    let startup_timeout = Duration::from_secs(30);
    let command = vec![this_binary()];
    McpServerSettings { command, env: env.collect(), startup_timeout, ..Default::default() }
}

fn begin(settings: McpServerSettings) -> McpServers {
    let client = rookery_host::http::Client::new();
    McpServers::new(&BTreeMap::from([("my small".to_owned(), settings)]), &client, &[])
}

fn state(servers: &McpServers) -> McpState {
    servers.statuses().remove(0).state
}

async fn until(servers: &McpServers, is_it: impl Fn(&McpServers) -> bool) {
    let mut changes = servers.changes();
    let wait = async {
        while !is_it(servers) {
            changes.changed().await.unwrap();
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    waited.unwrap_or_else(|_| panic!("{:?}", servers.statuses()));
}

async fn ready(settings: McpServerSettings) -> McpServers {
    let servers = begin(settings);
    until(&servers, |servers| state(servers) == McpState::Ready).await;
    servers
}

async fn call(servers: &McpServers, tool: &str, arguments: Value) -> ToolOutput {
    let name = format!("mcp__my_small__{tool}");
    servers.call(&name, arguments, CancellationToken::new()).await
}

fn names(servers: &McpServers) -> Vec<String> {
    let name = |name: String| name.strip_prefix("mcp__my_small__").unwrap().to_owned();
    servers.tools().into_iter().map(|(spec, _)| name(spec.name)).collect()
}

async fn tools_are_listed_by_names_that_models_take() {
    let servers = begin(program(&[]));
    assert!(servers.tools().is_empty(), "it is not waited for");
    until(&servers, |servers| state(servers) == McpState::Ready).await;
    let tools = servers.tools();
    assert_eq!(tools.len(), 11, "both pages");
    let (echo, kind) = &tools[0];
    assert_eq!((echo.name.as_str(), *kind), ("mcp__my_small__echo", ToolKind::Read));
    assert_eq!(
        (echo.description.as_str(), &echo.parameters),
        ("does echo", &json!({ "type": "object" }))
    );
    assert_eq!(
        (tools[10].0.name.as_str(), tools[10].1),
        ("mcp__my_small__last_one", ToolKind::Unknown)
    );
    assert_eq!(servers.kind("mcp__my_small__echo"), Some(ToolKind::Read));
    assert_eq!(servers.kind("echo"), None);
}

async fn tools_are_always_allowed_by_the_names_of_their_server() {
    let always_allow =
        vec!["last one".to_owned(), "gone".to_owned(), "mcp__my_small__echo".to_owned()];
    let servers = ready(McpServerSettings { always_allow, ..program(&[]) }).await;
    assert!(servers.is_always_allowed("mcp__my_small__last_one"));
    for name in ["mcp__my_small__echo", "mcp__my_small__gone", "last one", "last_one", ""] {
        assert!(!servers.is_always_allowed(name), "{name}");
    }
}

async fn a_call_comes_back() {
    let servers = ready(program(&[])).await;
    let output = call(&servers, "echo", json!({ "a": [1, "b"] })).await;
    assert_eq!(output, ToolOutput::new(r#"{"a":[1,"b"]}"#, Value::Null));
    assert_eq!(call(&servers, "echo", Value::Null).await.text, "null");
    assert_eq!(call(&servers, "last_one", json!({})).await.text, "last");
}

async fn results_of_all_sorts_come_back() {
    let servers = ready(program(&[])).await;
    let image = call(&servers, "image", json!({})).await;
    assert_eq!(image.images, ["data:image/png;base64,QUJD"]);
    let details = call(&servers, "details", json!({})).await;
    assert_eq!((details.text.as_str(), details.data), ("{\"n\":1}", json!({ "n": 1 })));
    let big = call(&servers, "big", json!({})).await;
    assert!(big.text.len() < (1 << 20) + 100 && big.text.ends_with("bytes]"));
}

async fn what_goes_wrong_is_reported() {
    let servers = ready(program(&[])).await;
    assert_eq!(call(&servers, "fail", json!({})).await, ToolOutput::error("it did not work"));
    let refused = call(&servers, "refuse", json!({})).await;
    assert_eq!(refused, ToolOutput::error("mcp server my small: not today"));
    let wrong = call(&servers, "echo", json!("x")).await;
    assert_eq!(wrong.text, "arguments of mcp__my_small__echo must be an object");
    let missing = call(&servers, "missing", json!({})).await;
    assert_eq!(missing.text, "there is no tool mcp__my_small__missing");
    assert!(wrong.is_error && missing.is_error);
}

async fn a_call_is_bounded_in_time_and_can_be_given_up() {
    let settings = McpServerSettings { tool_timeout: Duration::from_secs(5), ..program(&[]) };
    let servers = ready(settings).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let given_up = servers.call("mcp__my_small__hang", json!({}), cancel).await;
    assert_eq!(given_up, ToolOutput::error("mcp__my_small__hang was cancelled"));
    tokio::time::pause();
    let late = call(&servers, "hang", json!({})).await;
    assert_eq!(late.text, "mcp server my small: hang did not answer within 5 s");
    tokio::time::resume();
    assert_eq!(call(&servers, "last_one", json!({})).await.text, "last");
}

async fn a_program_that_crashed_is_started_again() {
    let servers = ready(program(&[])).await;
    let before = call(&servers, "who", json!({})).await.text;
    let crashed = call(&servers, "crash", json!({})).await;
    assert!(crashed.is_error && crashed.text.starts_with("mcp server my small: "), "{crashed:?}");
    assert_eq!(servers.tools().len(), 11, "its tools are still offered");
    let after = call(&servers, "who", json!({})).await;
    assert!(!after.is_error, "{after:?}");
    assert_ne!(before, after.text);
    gone(before.parse().unwrap()).await;
}

async fn a_program_that_does_not_start_is_reported_without_keys() {
    let servers = begin(program(&[("REFUSE", "1"), ("KEY", "sk-secret")]));
    until(&servers, |servers| matches!(state(servers), McpState::Failed(_))).await;
    let wanted = "it ended with status 3: no such library, key ***";
    assert_eq!(state(&servers), McpState::Failed(wanted.into()));
    let missing = McpServerSettings { command: vec!["/no/such".into()], ..Default::default() };
    let servers = begin(missing);
    until(&servers, |servers| matches!(state(servers), McpState::Failed(_))).await;
    assert!(
        matches!(state(&servers), McpState::Failed(words) if words.starts_with("cannot start"))
    );
}

async fn a_slow_program_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let slow = program(&[("SLOW", mark.to_str().unwrap())]);
    let servers = begin(McpServerSettings { startup_timeout: Duration::from_secs(2), ..slow });
    until(&servers, |servers| matches!(state(servers), McpState::Failed(_))).await;
    assert_eq!(state(&servers), McpState::Failed("no answer within 2 s".into()));
    until(&servers, |servers| state(servers) == McpState::Ready).await;
    assert_eq!(call(&servers, "last_one", json!({})).await.text, "last");
}

async fn tools_that_change_are_listed_again() {
    let servers = ready(program(&[])).await;
    assert!(!names(&servers).contains(&"grown".to_owned()));
    assert_eq!(call(&servers, "grow", json!({})).await.text, "grown");
    until(&servers, |servers| names(servers).contains(&"grown".to_owned())).await;
}

async fn programs_end_with_their_owner() {
    let servers = ready(program(&[])).await;
    let pid = call(&servers, "who", json!({})).await.text.parse().unwrap();
    assert!(is_alive(pid));
    drop(servers);
    gone(pid).await;
}

async fn wrong_settings_are_reported() {
    let servers = begin(McpServerSettings::default());
    let words = "its setting names neither a command nor a url";
    assert_eq!(state(&servers), McpState::Failed(words.into()));
    let both = McpServerSettings { url: Some("http://127.0.0.1:9".into()), ..program(&[]) };
    let words = "its setting names both a command and a url";
    assert_eq!(state(&begin(both)), McpState::Failed(words.into()));
    let off = McpServerSettings { enabled: false, ..program(&[]) };
    assert!(begin(off).statuses().is_empty());
}

fn page(port: u16, key: &str) -> McpServerSettings {
    McpServerSettings {
        url: Some(format!("http://127.0.0.1:{port}/mcp")),
        headers: BTreeMap::from([("X-Key".to_owned(), Secret::new(key))]),
        ..Default::default()
    }
}

async fn a_page_has_tools_too() {
    let served = Page::open(0, "open-sesame").await;
    let servers = ready(page(served.port, "open-sesame")).await;
    let (echo, kind) = servers.tools().remove(0);
    assert_eq!((echo.name.as_str(), kind), ("mcp__my_small__echo", ToolKind::Network));
    assert_eq!(call(&servers, "echo", json!({ "a": 1 })).await.text, "{\"a\":1}");
    assert!(call(&servers, "fail", json!({})).await.is_error);
    assert_eq!(call(&servers, "refuse", json!({})).await.text, "mcp server my small: not today");
    assert_eq!(call(&servers, "grow", json!({})).await.text, "grown");
    until(&servers, |servers| names(servers).contains(&"grown".to_owned())).await;
    let stranger = begin(page(served.port, "wrong-key"));
    until(&stranger, |servers| matches!(state(servers), McpState::Failed(_))).await;
    assert!(!format!("{stranger:?}").contains("wrong-key"), "{stranger:?}");
}

async fn a_page_that_comes_back_is_found_again() {
    let served = Page::open(0, "k").await;
    let port = served.port;
    let servers = ready(page(port, "k")).await;
    drop(served);
    let lost = call(&servers, "echo", json!({})).await;
    assert!(lost.is_error && lost.text.starts_with("mcp server my small: "), "{lost:?}");
    let _served = Page::open(port, "k").await;
    let found = call(&servers, "echo", json!({})).await;
    assert_eq!(found.text, "{}", "{found:?}");
}
