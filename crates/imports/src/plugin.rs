//! Plugins: what a manifest says of the plugin's parts. Pure.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::jsonc;

/// The longest name of a plugin.
const NAME_LIMIT: usize = 64;
/// Paths of one kind that a manifest may name.
const PATHS_LIMIT: usize = 32;
/// Members with hooks, and with servers; what lies in the first of a kind is called the same in files.
const HOOKS: &[&str] = &["hooks", "hooksJson"];
const SERVERS: &[&str] = &["mcpServers", "mcp", "mcp_servers"];
/// How manifests spell the plugin's own folder.
const ROOTS: [&str; 2] = ["${CLAUDE_PLUGIN_ROOT}/", "$CLAUDE_PLUGIN_ROOT/"];

/// An installed plugin that is enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRoot {
    /// Its key among installed plugins.
    pub variant_key: String,
    /// Its name.
    pub plugin_id: String,
    /// Its folder.
    pub root: PathBuf,
}

/// What a manifest says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The plugin's name.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Further folders or files of skills, from the plugin on.
    pub skills: Vec<String>,
    /// Further folders or files of slash commands.
    pub commands: Vec<String>,
    /// Further folders or files of agents.
    pub agents: Vec<String>,
    /// Further folders or files of rules.
    pub rules: Vec<String>,
    /// Further files of hooks.
    pub hooks: Vec<String>,
    /// Further files of servers.
    pub servers: Vec<String>,
    /// Hooks of the manifest itself, by event.
    pub own_hooks: Map<String, Value>,
    /// Servers of the manifest itself, by name.
    pub own_servers: Map<String, Value>,
    /// Whether it is an entry of a catalog that alone says what the plugin has.
    pub is_alone: bool,
    /// All of it, as it is written.
    pub raw: Value,
}

impl Manifest {
    /// What a manifest says that was read already; nothing if it is no map.
    pub(crate) fn of(raw: Value) -> Option<Manifest> {
        let members = raw.as_object()?;
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        Some(Manifest {
            name: text("name").and_then(name),
            description: text("description").map(str::to_owned),
            skills: paths(members, &["skills"]),
            commands: paths(members, &["commands"]),
            agents: paths(members, &["agents"]),
            rules: paths(members, &["rules"]),
            hooks: paths(members, HOOKS),
            servers: paths(members, SERVERS),
            own_hooks: own(members, HOOKS),
            own_servers: own(members, SERVERS),
            is_alone: members.get("strict") == Some(&Value::Bool(false)),
            raw,
        })
    }

    /// Whether it names any part.
    pub(crate) fn has_parts(&self) -> bool {
        let lists =
            [&self.skills, &self.commands, &self.agents, &self.rules, &self.hooks, &self.servers];
        lists.iter().any(|list| !list.is_empty())
            || !self.own_hooks.is_empty()
            || !self.own_servers.is_empty()
    }
}

/// Reads a manifest.
///
/// # Errors
/// If it is no JSON, or no map.
pub fn parse(text: &str) -> Result<Manifest, String> {
    Manifest::of(jsonc::parse(text)?).ok_or_else(|| "it is no map".to_owned())
}

/// A name as it may stand before a colon: other characters become dashes.
pub(crate) fn name(text: &str) -> Option<String> {
    let part = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
        true => c,
        false => '-',
    };
    let name: String = text.trim().chars().take(NAME_LIMIT).map(part).collect();
    let name = name.trim_matches(['-', '.']).to_owned();
    (!name.is_empty()).then_some(name)
}

/// Paths that a member names: relative, and downwards.
fn paths(members: &Map<String, Value>, keys: &[&str]) -> Vec<String> {
    let values = keys.iter().filter_map(|key| members.get(*key));
    let texts = values.flat_map(|value| match value {
        Value::String(text) => vec![text.as_str()],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    });
    let texts = texts.filter_map(|text| {
        let path = text.trim();
        let path = ROOTS.iter().find_map(|root| path.strip_prefix(root)).unwrap_or(path);
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let is_down = !path.is_empty()
            && !path.starts_with('/')
            && !path.contains('\0')
            && path.split('/').all(|part| part != "..");
        is_down.then(|| path.to_owned())
    });
    texts.take(PATHS_LIMIT).collect()
}

/// What members hold themselves, instead of naming a file: maps, alone or in a list, as one.
fn own(members: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let values = keys.iter().filter_map(|key| members.get(*key));
    let maps = values.flat_map(|value| match value {
        Value::Object(map) => vec![map],
        Value::Array(values) => values.iter().filter_map(Value::as_object).collect(),
        _ => Vec::new(),
    });
    let mut own = Map::new();
    for map in maps.take(PATHS_LIMIT) {
        // Some write there what the file would say, with the name of the member once more.
        let inner = keys.first().and_then(|key| map.get(*key)?.as_object());
        for (name, value) in inner.unwrap_or(map) {
            match (own.get_mut(name), value) {
                (None, value) => drop(own.insert(name.clone(), value.clone())),
                (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.clone()),
                // The first of that name counts.
                (Some(_), _) => {}
            }
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_parts_below_the_plugin_only() {
        let text = r#"{"name": "My Plugin!", "commands": ["./c/", "../up", "/abs"], "hooks": {"Stop": []},
            "mcpServers": "./m.json", "skills": "", "agents": 7}"#;
        let read = parse(text).unwrap();
        assert_eq!(read.name.as_deref(), Some("My-Plugin"));
        assert!(read.has_parts() && !read.is_alone);
        assert_eq!(
            (read.commands, read.servers),
            (vec!["c".to_owned()], vec!["m.json".to_owned()])
        );
        assert!(read.own_hooks.contains_key("Stop") && read.own_servers.is_empty());
        assert!(read.skills.is_empty() && read.agents.is_empty());
        assert!(parse("[]").is_err() && parse("x").is_err());
        assert_eq!(name("--"), None);
    }

    #[test]
    fn what_a_manifest_holds_itself_is_found_in_every_shape() {
        let text = r#"{"strict": false, "rules": ["./r"], "agents": "${CLAUDE_PLUGIN_ROOT}/a.md",
            "mcpServers": ["./m.json", {"one": {"command": "x"}}, {"mcpServers": {"two": {}, "one": {}}}],
            "hooks": [{"Stop": [1]}, {"hooks": {"Stop": [2], "PreToolUse": []}}]}"#;
        let read = parse(text).unwrap();
        assert_eq!((read.rules, read.agents), (vec!["r".to_owned()], vec!["a.md".to_owned()]));
        assert_eq!(read.servers, ["m.json"]);
        let servers = serde_json::json!({"one": {"command": "x"}, "two": {}});
        assert_eq!(Value::Object(read.own_servers), servers);
        let hooks = serde_json::json!({"Stop": [1, 2], "PreToolUse": []});
        assert_eq!(Value::Object(read.own_hooks), hooks);
        assert!(read.is_alone);
        assert!(!parse(r#"{"name": "x", "skills": [], "mcp": {}}"#).unwrap().has_parts());
        // A server may be called as a member is.
        let read = parse(r#"{"mcp": {"mcp": {"command": "x"}}}"#).unwrap();
        assert!(read.own_servers.contains_key("mcp"));
    }
}
