//! One definition file: a head of YAML between lines of dashes, and the prompt below it. Pure.

use serde::Deserialize;

use super::names::tools_named;
use super::{AgentDefinition, Permission, Source};
use crate::front_matter;

/// The longest name.
const NAME_LIMIT: usize = 64;
/// The longest description.
const DESCRIPTION_LIMIT: usize = 4000;
/// The most tools that a file may name.
const TOOLS_LIMIT: usize = 256;

/// The keys of a head that mean something; others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    #[serde(alias = "agent_type")]
    name: Option<String>,
    description: Option<String>,
    tools: Option<Names>,
    model: Option<String>,
    #[serde(alias = "permissionMode")]
    permission_mode: Option<String>,
    #[serde(alias = "maxTurns")]
    max_turns: Option<u32>,
    max_result_chars: Option<u32>,
}

/// Names as a list, or as a text with commas.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    Text(String),
    List(Vec<String>),
}

impl Names {
    fn into_list(self) -> Vec<String> {
        match self {
            Self::List(names) => names,
            Self::Text(text) => text.split(',').map(str::to_owned).collect(),
        }
    }
}

/// Reads a definition, and what is doubtful about it. The text is no part of any message.
///
/// # Errors
/// If it is none, with the key that is missing or wrong.
pub fn parse(text: &str, source: Source) -> Result<(AgentDefinition, Vec<String>), String> {
    let (head, body) = split(text)?;
    let name = named(head.name)?;
    let description = head.description.map(|text| text.trim().to_owned()).unwrap_or_default();
    if description.is_empty() {
        return Err("it has no description".to_owned());
    }
    if description.chars().count() > DESCRIPTION_LIMIT {
        return Err(format!("its description is longer than {DESCRIPTION_LIMIT} characters"));
    }
    let mut doubts = Vec::new();
    let tools = head.tools.map(|names| tools(names, &mut doubts)).transpose()?.flatten();
    let at_least_one = |key: &str, number: Option<u32>| match number {
        Some(0) => Err(format!("its {key} must be at least 1")),
        number => Ok(number),
    };
    let model = head.model.map(|model| model.trim().to_owned());
    let definition = AgentDefinition {
        name,
        description,
        tools,
        model: model.filter(|model| !model.is_empty() && model != "inherit"),
        permission: head.permission_mode.map_or(Ok(Permission::default()), |word| {
            permission(&word).ok_or_else(|| {
                "its permission_mode must be read_only, default or auto_edit".to_owned()
            })
        })?,
        max_turns: at_least_one("max_turns", head.max_turns)?,
        max_result_chars: at_least_one("max_result_chars", head.max_result_chars)?,
        prompt: body.trim().to_owned(),
        source,
    };
    Ok((definition, doubts))
}

/// The head and the body. Descriptions often have colons in them without being quoted, which is no YAML
/// and still what was meant.
fn split(text: &str) -> Result<(Head, String), String> {
    front_matter::split::<Head>(text)
        .or_else(|error| front_matter::split::<Head>(&quoted(text)).map_err(|_| error))
}

/// The same text with its description between quotes.
fn quoted(text: &str) -> String {
    const KEY: &str = "description:";
    let line = |line: &str| match line.strip_prefix(KEY).map(str::trim) {
        Some(value) if !value.is_empty() && !value.starts_with(['"', '\'', '|', '>']) => {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{KEY} \"{escaped}\"")
        }
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn named(name: Option<String>) -> Result<String, String> {
    let name = name.map(|name| name.trim().to_owned()).unwrap_or_default();
    if name.is_empty() {
        return Err("it has no name".to_owned());
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match name.len() <= NAME_LIMIT && name.chars().all(is_part) {
        true => Ok(name),
        false => Err(format!(
            "its name must be letters, digits, dashes, dots and underscores, {NAME_LIMIT} at most"
        )),
    }
}

/// The tools of ours that are named; none for all of them.
fn tools(names: Names, doubts: &mut Vec<String>) -> Result<Option<Vec<String>>, String> {
    let names = names.into_list();
    if names.len() > TOOLS_LIMIT {
        return Err(format!("it names more than {TOOLS_LIMIT} tools"));
    }
    let mut tools: Vec<String> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if name == "*" {
            return Ok(None);
        }
        if name.contains(|c: char| c.is_whitespace() || c == '(') {
            // Without the pattern it would mean more than its author wrote.
            doubts.push("a tool with a pattern is left out: name the tool alone".to_owned());
            continue;
        }
        for tool in tools_named(name) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
    }
    Ok(Some(tools))
}

/// The permission that a word means, in our spelling or in that of Claude Code.
fn permission(word: &str) -> Option<Permission> {
    Some(match word.trim() {
        "read_only" | "read-only" | "readOnly" | "plan" => Permission::ReadOnly,
        "auto_edit" | "auto-edit" | "acceptEdits" => Permission::AutoEdit,
        // What would allow more than the parent may is no more than that.
        "default" | "inherit" | "bypassPermissions" | "dontAsk" => Permission::Default,
        _ => return None,
    })
}
