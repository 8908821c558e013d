//! Files that name servers of the Model Context Protocol, in the shapes of several agents. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml_parser::lexer::TokenKind;

use crate::front_matter::yaml_value;
use crate::jsonc;

/// Servers of one file that are looked at.
const SERVERS_LIMIT: usize = 256;
/// The longest name of a server.
const NAME_LIMIT: usize = 128;
/// How deep the values of a TOML file may lie in each other.
const DEPTH_LIMIT: usize = 128;

#[derive(Clone, Default, PartialEq, Eq)]
pub struct McpServer {
    /// Its name in the file.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables that the program gets; they may be keys.
    pub env: BTreeMap<String, String>,
    /// Where the program runs, from the workspace on.
    pub cwd: Option<String>,
    /// Where it is, if it is no program.
    pub url: Option<String>,
    /// Headers that go with each request; they may be keys.
    pub headers: BTreeMap<String, String>,
    /// How it is reached, if the file says so.
    pub transport: Option<String>,
    /// Whether it has a command, arguments or a transport, so that a program may be started for it.
    pub is_command_capable: bool,
}

/// Without what may be a key.
impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a file of servers holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpFile {
    /// Servers by name, each as it is written.
    pub servers: Vec<(McpServer, Value)>,
    /// Entries that are no servers, and why.
    pub problems: Vec<String>,
}

/// Reads a file of servers; how it is written is known by its ending.
///
/// # Errors
/// If it is not valid in its format.
pub fn parse(text: &str, ending: &str) -> Result<McpFile, String> {
    read(text, ending, |_| false)
}

/// The same for a file of a plugin, which may be the map of servers itself.
///
/// # Errors
/// If it is not valid in its format.
pub(crate) fn parse_of_plugin(text: &str, ending: &str) -> Result<McpFile, String> {
    let is_server = |entry: &Value| {
        ["command", "url", "serverUrl", "httpUrl"].iter().any(|key| entry.get(*key).is_some())
    };
    read(text, ending, |members| !members.is_empty() && members.values().all(is_server))
}

fn read(
    text: &str,
    ending: &str,
    is_map_of_servers: impl Fn(&Map<String, Value>) -> bool,
) -> Result<McpFile, String> {
    let value = match ending {
        "toml" => toml_value(text)?,
        "yaml" | "yml" => yaml_value(text)?,
        _ => jsonc::parse(text)?,
    };
    let Value::Object(members) = value else { return Err("it is no map".to_owned()) };
    let listed = ["mcpServers", "mcp_servers", "servers", "mcp"]
        .iter()
        .find_map(|key| members.get(*key).and_then(Value::as_object))
        .or_else(|| is_map_of_servers(&members).then_some(&members));
    let mut file = McpFile::default();
    let Some(listed) = listed else { return Ok(file) };
    for (name, entry) in listed.iter().take(SERVERS_LIMIT) {
        match server(name, entry) {
            Ok(server) => file.servers.push((server, entry.clone())),
            Err(problem) => file.problems.push(problem),
        }
    }
    if listed.len() > SERVERS_LIMIT {
        file.problems.push(format!("only the first {SERVERS_LIMIT} servers are read"));
    }
    Ok(file)
}

fn toml_value(text: &str) -> Result<Value, String> {
    if toml_depth(text) > DEPTH_LIMIT {
        return Err("its values are nested too deeply".to_owned());
    }
    let read = text.parse::<toml::Table>().map_err(|error| {
        let text = error.message().to_owned();
        format!("it is not valid TOML: {}", text.lines().next().unwrap_or_default())
    })?;
    Ok(Value::Object(read.into_iter().map(|(key, value)| (key, from_toml(value))).collect()))
}

/// How deep the values of a TOML file can lie at most. Its parser limits the parts of a key and how tables
/// nest, but not both together, and needs stack for every level.
fn toml_depth(text: &str) -> usize {
    use TokenKind::{Comma, Comment, Dot, Equals, LeftCurlyBracket, LeftSquareBracket};
    use TokenKind::{Newline, RightCurlyBracket, RightSquareBracket, Whitespace};
    let (mut open, mut deepest) = (Vec::new(), 0);
    let (mut dots, mut most_dots) = (0, 0);
    let mut follows_dot = false;
    for token in toml_parser::Source::new(text).lex() {
        let kind = token.kind();
        match kind {
            LeftSquareBracket => open.push(RightSquareBracket),
            LeftCurlyBracket => open.push(RightCurlyBracket),
            RightSquareBracket | RightCurlyBracket if open.last() == Some(&kind) => {
                open.pop();
            }
            Dot => dots += 1,
            // The parser goes on with a key that ends in a dot, whatever comes between.
            Comma | Equals | Newline if !follows_dot => dots = 0,
            _ => {}
        }
        (deepest, most_dots) = (deepest.max(open.len()), most_dots.max(dots));
        if !matches!(kind, Whitespace | Comment) {
            follows_dot = kind == Dot;
        }
    }
    // Beside what is in brackets, the head of a table and the key of a value have parts.
    (deepest + 2) * (most_dots + 1)
}

fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(is) => is.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(values) => values.into_iter().map(from_toml).collect(),
        toml::Value::Table(members) => {
            let member = |(key, value)| (key, from_toml(value));
            Value::Object(members.into_iter().map(member).collect())
        }
    }
}

fn server(name: &str, entry: &Value) -> Result<McpServer, String> {
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    if name.trim().is_empty() || name.len() > NAME_LIMIT || name.contains(char::is_control) {
        return Err(format!("\"{shown}\" is not a server name"));
    }
    let entry = entry.as_object().ok_or_else(|| format!("server {shown} is no map"))?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut command = match entry.get("command") {
        Some(Value::String(program)) if !program.trim().is_empty() => vec![program.clone()],
        Some(Value::Array(words)) => texts(words),
        _ => Vec::new(),
    };
    if let Some(args) = entry.get("args").and_then(Value::as_array) {
        command.extend(texts(args));
    }
    let mut headers = map(entry, &["headers", "http_headers"]);
    let bearer = text("bearer_token_env_var").filter(|variable| !variable.is_empty());
    if let Some(variable) = bearer {
        headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}"));
    }
    let has = |key: &str| entry.get(key).is_some_and(|value| !value.is_null());
    Ok(McpServer {
        name: name.to_owned(),
        command,
        env: map(entry, &["env", "environment"]),
        cwd: text("cwd").filter(|cwd| !cwd.is_empty()),
        url: ["url", "serverUrl", "httpUrl"].iter().find_map(|key| text(key)),
        headers,
        transport: text("transport").or_else(|| text("type")),
        is_command_capable: ["command", "args", "transport"].iter().any(|key| has(key)),
    })
}

fn texts(values: &[Value]) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    values.iter().filter_map(text).collect()
}

fn map(entry: &Map<String, Value>, keys: &[&str]) -> BTreeMap<String, String> {
    let found = keys.iter().find_map(|key| entry.get(*key).and_then(Value::as_object));
    let texts = found.into_iter().flatten().filter_map(|(key, value)| match value {
        Value::String(text) => Some((key.clone(), text.clone())),
        Value::Number(number) => Some((key.clone(), number.to_string())),
        Value::Bool(is) => Some((key.clone(), is.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, ending: &str) -> Vec<String> {
        parse(text, ending).unwrap().servers.into_iter().map(|(server, _)| server.name).collect()
    }

    #[test]
    fn a_file_of_a_plugin_may_be_the_map_of_servers_itself() {
        let names = |text: &str| {
            let read = parse_of_plugin(text, "json").unwrap().servers.into_iter();
            read.map(|(server, _)| server.name).collect::<Vec<_>>()
        };
        let bare = r#"{"one": {"command": "x"}, "two": {"type": "http", "url": "http://h/"}}"#;
        assert_eq!(names(bare), ["one", "two"]);
        assert!(parse(bare, "json").unwrap().servers.is_empty());
        assert_eq!(names(r#"{"mcpServers": {"one": {"command": "x"}}}"#), ["one"]);
        for other in ["{}", r#"{"one": {"command": "x"}, "version": 1}"#, r#"{"a": {"b": {}}}"#] {
            assert!(names(other).is_empty());
        }
    }

    #[test]
    fn every_shape_is_read() {
        let json = r#"{"mcpServers": {"a": {"command": "x", "args": ["-y", 1]}, "b": {"url": "http://h"}}}"#;
        let file = parse(json, "json").unwrap();
        let (a, b) = (&file.servers[0].0, &file.servers[1].0);
        assert_eq!(
            (a.command.as_slice(), a.is_command_capable),
            (&["x", "-y", "1"].map(String::from)[..], true)
        );
        assert_eq!((b.url.as_deref(), b.is_command_capable), (Some("http://h"), false));
        assert_eq!(names("[mcp_servers.c]\ncommand = \"x\"\n", "toml"), ["c"]);
        assert_eq!(names("servers:\n  d:\n    command: x\n", "yaml"), ["d"]);
        let opencode = r#"{"mcp": {"e": {"type": "local", "command": ["x", "y"], "environment": {"K": "v"}}}}"#;
        let file = parse(opencode, "json").unwrap();
        assert_eq!(file.servers[0].0.command, ["x", "y"]);
        assert_eq!(file.servers[0].0.env["K"], "v");
        let codex = "[mcp_servers.f]\nurl = \"https://h\"\nbearer_token_env_var = \"T\"\n";
        let file = parse(codex, "toml").unwrap();
        assert_eq!(file.servers[0].0.headers["Authorization"], "Bearer ${T}");
    }

    #[test]
    fn what_is_no_server_is_said_and_hides_no_other() {
        let file =
            parse(r#"{"servers": {"a": 1, "": {}, "ok": {"transport": "x"}}}"#, "json").unwrap();
        assert_eq!(file.problems.len(), 2);
        assert!(file.servers[0].0.is_command_capable);
        assert!(parse("[]", "json").is_err() && parse("= 1", "toml").is_err());
        assert_eq!(parse("{}", "json").unwrap(), McpFile::default());
    }

    /// A value in tables within each other, whose keys have many parts.
    fn nested_toml(levels: usize, parts: usize) -> String {
        let key = vec!["a"; parts].join(".");
        let inner = (0..levels).fold("1".to_owned(), |inner, _| format!("{{{key}={inner}}}"));
        format!("x = {inner}")
    }

    #[test]
    fn a_toml_file_that_needs_much_stack_is_refused_before_it_is_parsed() {
        for (levels, parts) in [(1, 79), (20, 79), (79, 2), (79, 79)] {
            let refused = parse(&nested_toml(levels, parts), "toml").unwrap_err();
            assert!(refused.contains("too deeply"), "{levels} of {parts}: {refused}");
        }
        let unfinished = format!("{}a = 1", "a.\n".repeat(1000));
        assert!(parse(&unfinished, "toml").unwrap_err().contains("too deeply"));
        assert!(parse(&nested_toml(6, 8), "toml").is_ok());
    }

    #[test]
    fn what_strings_and_comments_hold_is_no_depth() {
        let listed = r#"["[[[[.....", '{{{{', """{{{[[[""", 1.5, 2.5, 3.5, 4.5]"#;
        let text = format!("# [[[[ a.b.c.d\n[servers.\"a.b.c\"]\ncommand = {listed}\n");
        assert_eq!((toml_depth(&text), names(&text, "toml")), (6, vec!["a.b.c".to_owned()]));
    }

    #[test]
    fn keys_are_in_no_message() {
        let file = parse(r#"{"servers": {"a": {"command": "x", "env": {"K": "geheim"}}}}"#, "json");
        let shown = format!("{:?}", file.unwrap().servers[0].0);
        assert!(!shown.contains("geheim"), "{shown}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}", ending in "json|toml|yaml") {
            let _ = parse(&text, &ending);
        }
    }
}
