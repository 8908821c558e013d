//! Plugins: what a manifest says of the plugin's parts. Pure.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::jsonc;

/// The longest name of a plugin.
const NAME_LIMIT: usize = 64;
/// Paths of one kind that a manifest may name.
const PATHS_LIMIT: usize = 32;

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
    /// Further files of hooks.
    pub hooks: Vec<String>,
    /// Further files of servers.
    pub servers: Vec<String>,
    /// Whether hooks are in the manifest itself.
    pub has_own_hooks: bool,
    /// Whether servers are in the manifest itself.
    pub has_own_servers: bool,
    /// All of it, as it is written.
    pub raw: Value,
}

/// Reads a manifest.
///
/// # Errors
/// If it is no JSON, or no map.
pub fn parse(text: &str) -> Result<Manifest, String> {
    let raw = jsonc::parse(text)?;
    let Value::Object(members) = &raw else { return Err("it is no map".to_owned()) };
    let name = members.get("name").and_then(Value::as_str).and_then(name);
    let description = members.get("description").and_then(Value::as_str).map(str::to_owned);
    let (skills, commands) = (paths(members, &["skills"]), paths(members, &["commands"]));
    let agents = paths(members, &["agents"]);
    let hooks = paths(members, &["hooks", "hooksJson"]);
    let servers = paths(members, &["mcpServers", "mcp"]);
    let has_own = |keys: &[&str]| {
        keys.iter().any(|key| {
            members
                .get(*key)
                .is_some_and(|value| value.as_object().is_some_and(|map| !map.is_empty()))
        })
    };
    let (has_own_hooks, has_own_servers) = (has_own(&["hooks"]), has_own(&["mcpServers", "mcp"]));
    Ok(Manifest {
        name,
        description,
        skills,
        commands,
        agents,
        hooks,
        servers,
        has_own_hooks,
        has_own_servers,
        raw,
    })
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
        let path = text.trim().trim_start_matches("./").trim_end_matches('/');
        let is_down = !path.is_empty()
            && !path.starts_with('/')
            && !path.contains('\0')
            && path.split('/').all(|part| part != "..");
        is_down.then(|| path.to_owned())
    });
    texts.take(PATHS_LIMIT).collect()
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
        assert_eq!(
            (read.commands, read.servers),
            (vec!["c".to_owned()], vec!["m.json".to_owned()])
        );
        assert!(read.has_own_hooks && !read.has_own_servers);
        assert!(read.skills.is_empty() && read.agents.is_empty());
        assert!(parse("[]").is_err() && parse("x").is_err());
        assert_eq!(name("--"), None);
    }
}
