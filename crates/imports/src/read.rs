//! A file as items: what each is, and what it would do. Pure.

use serde_json::json;

use crate::content::{Content, Rule, Skill};
use crate::front_matter::{self, list_of, text_of};
use crate::item::{Risk, SourceKind};
use crate::preview;
use crate::redact::{redacted, redacted_text};
use crate::sources::Read;
use crate::{hooks, jsonc, mcp, plugin};

/// The longest name of a command or a skill.
const NAME_LIMIT: usize = 128;

/// A file that was read.
pub(crate) struct FileText<'a> {
    /// What it says.
    pub(crate) text: &'a str,
    /// Its path below the folder of its row, without its ending, parts joined by colons.
    pub(crate) name: String,
    /// The name of the folder that it is in.
    pub(crate) folder: String,
    /// The ending of its name.
    pub(crate) ending: &'a str,
    /// The plugin that it is a part of.
    pub(crate) plugin: Option<&'a str>,
}

/// An item before it has a place.
pub(crate) struct Draft {
    pub(crate) kind: SourceKind,
    pub(crate) name: Option<String>,
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) risk: Risk,
    pub(crate) is_command_capable: bool,
    pub(crate) needs_approval: bool,
    pub(crate) preview: serde_json::Value,
    pub(crate) content: Content,
}

impl Draft {
    fn passive(kind: SourceKind, title: String, summary: String, content: Content) -> Self {
        Self {
            kind,
            name: None,
            title,
            summary,
            risk: Risk::Passive,
            is_command_capable: false,
            needs_approval: false,
            preview: serde_json::Value::Null,
            content,
        }
    }
}

/// The items of a file, and what is wrong with parts of it.
///
/// # Errors
/// If it is none, with the reason.
pub(crate) fn items(read: Read, file: &FileText<'_>) -> Result<(Vec<Draft>, Vec<String>), String> {
    let one = |draft: Draft| Ok((vec![draft], Vec::new()));
    match read {
        Read::Guidance if file.text.trim().is_empty() => Ok(Default::default()),
        Read::Guidance => one(guidance(file.text)),
        Read::Excerpt => {
            let excerpt = preview::excerpt(file.text).map(guidance);
            Ok((excerpt.into_iter().collect(), Vec::new()))
        }
        Read::Rule => one(rule(file)?),
        Read::Skill => one(skill(file)?),
        Read::Command => one(command(file)?),
        Read::Agent => one(agent(file)?),
        Read::Servers => servers(file),
        Read::Hooks => Ok((hook_file(file)?.into_iter().collect(), Vec::new())),
        Read::Plugin => one(manifest(file)?),
    }
}

fn guidance(text: &str) -> Draft {
    let content = Content::Guidance(text.trim().to_owned());
    let summary = preview::summary(text);
    let draft = Draft::passive(SourceKind::Guidance, "Guidance".to_owned(), summary, content);
    Draft { preview: preview::text(text), ..draft }
}

fn rule(file: &FileText<'_>) -> Result<Draft, String> {
    let (head, body) = front_matter::split(file.text)?;
    let text = body.trim().to_owned();
    if text.is_empty() {
        return Err("it says nothing".to_owned());
    }
    let description = text_of(&head, "description");
    let is_always = head.get("alwaysApply").and_then(serde_json::Value::as_bool) == Some(true);
    let mut globs = list_of(&head, "globs");
    globs.extend(list_of(&head, "paths"));
    if is_always {
        globs.clear();
    }
    let summary = description.clone().unwrap_or_else(|| preview::summary(&text));
    let mut shown = preview::text(&text);
    shown["description"] = json!(description.as_deref().map(redacted_text));
    shown["globs"] = json!(globs);
    let content = Content::Rule(Rule { text, description, globs });
    let title = format!("Rule {}", file.name);
    let draft = Draft::passive(SourceKind::Rule, title, preview::one_line(&summary), content);
    Ok(Draft { preview: shown, ..draft })
}

fn skill(file: &FileText<'_>) -> Result<Draft, String> {
    let (head, body) = front_matter::split(file.text)?;
    let own = text_of(&head, "name").filter(|name| is_name(name));
    let bare = own.unwrap_or_else(|| file.folder.clone());
    let name = prefixed(file.plugin, &bare);
    if !is_name(&name) {
        return Err(format!("\"{}\" is not a skill name", shown(&name)));
    }
    let body = body.trim().to_owned();
    let described = text_of(&head, "description");
    let description = described.unwrap_or_else(|| preview::summary(&body));
    let mut preview = preview::text(&body);
    preview["name"] = json!(name);
    preview["description"] = json!(redacted_text(&description));
    let (title, summary) = (format!("Skill {name}"), preview::one_line(&description));
    let content = Content::Skill(Skill { name, description, body });
    let draft = Draft::passive(SourceKind::Skill, title, summary, content);
    Ok(Draft { name: Some(file.folder.clone()), preview, ..draft })
}

fn command(file: &FileText<'_>) -> Result<Draft, String> {
    let (head, body) = front_matter::split(file.text)?;
    if body.trim().is_empty() {
        return Err("its body is empty".to_owned());
    }
    let name = prefixed(file.plugin, &file.name);
    if !is_name(&name) {
        return Err(format!("\"{}\" is not a command name", shown(&name)));
    }
    let description = text_of(&head, "description").unwrap_or_else(|| preview::summary(&body));
    let mut preview = preview::text(&body);
    preview["name"] = json!(name);
    let (title, summary) = (format!("Command /{name}"), preview::one_line(&description));
    let content = Content::SlashCommand { name: name.clone(), text: file.text.to_owned() };
    let draft = Draft::passive(SourceKind::SlashCommand, title, summary, content);
    Ok(Draft { name: Some(name), preview, ..draft })
}

/// The text of the definition is the agent's prompt, which is not shown before it is enabled either: the
/// preview has its head only.
fn agent(file: &FileText<'_>) -> Result<Draft, String> {
    let (head, body) = front_matter::split(file.text)?;
    let own = text_of(&head, "name").or_else(|| text_of(&head, "agent_type"));
    let bare = own.clone().unwrap_or_else(|| file.name.clone());
    let name = prefixed(file.plugin, &bare);
    if !is_name(&name) {
        return Err(format!("\"{}\" is not an agent name", shown(&name)));
    }
    let description = text_of(&head, "description").unwrap_or_default();
    let preview = json!({
        "name": name,
        "description": redacted_text(&description),
        "tools": list_of(&head, "tools"),
        "model": text_of(&head, "model"),
        "bytes": body.len(),
    });
    let text = match own {
        Some(_) => file.text.to_owned(),
        None => named(file.text, &bare),
    };
    let (title, summary) = (format!("Agent {name}"), preview::one_line(&description));
    let content = Content::Agent { name, text };
    let draft = Draft::passive(SourceKind::Agent, title, summary, content);
    Ok(Draft { name: Some(file.name.clone()), preview, ..draft })
}

/// A definition that is named by its file, with the name in its head.
fn named(text: &str, name: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.strip_prefix("---\r\n").or_else(|| text.strip_prefix("---\n")) {
        Some(rest) => format!("---\nname: {name}\n{rest}"),
        None => format!("---\nname: {name}\n---\n{text}"),
    }
}

fn servers(file: &FileText<'_>) -> Result<(Vec<Draft>, Vec<String>), String> {
    let read = match file.plugin {
        Some(_) => mcp::parse_of_plugin(file.text, file.ending)?,
        None => mcp::parse(file.text, file.ending)?,
    };
    let draft = |(server, raw): (mcp::McpServer, serde_json::Value)| {
        let what = match (&server.url, server.command.is_empty()) {
            (Some(url), true) => format!("contacts {url}"),
            (_, false) => format!("starts {}", redacted_words(&server.command)),
            (None, true) => "names neither a command nor a url".to_owned(),
        };
        Draft {
            kind: SourceKind::McpServer,
            name: Some(server.name.clone()),
            title: format!("MCP server {}", server.name),
            summary: preview::one_line(&what),
            risk: Risk::StartsProcess,
            is_command_capable: server.is_command_capable,
            // One that is only contacted tells others that it is, and what its tools are called with.
            needs_approval: true,
            preview: json!({ "name": server.name, "config": redacted(&raw) }),
            content: Content::McpServer(Box::new(server)),
        }
    };
    Ok((read.servers.into_iter().map(draft).collect(), read.problems))
}

/// A command line without secrets.
fn redacted_words(words: &[String]) -> String {
    let words: serde_json::Value = words.iter().map(String::as_str).collect();
    let words = redacted(&words);
    let words = words.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    words.collect::<Vec<_>>().join(" ")
}

fn hook_file(file: &FileText<'_>) -> Result<Option<Draft>, String> {
    let value = jsonc::parse(file.text)?;
    let Some(read) = hooks::parse(&value)? else { return Ok(None) };
    let commands: Vec<serde_json::Value> = read
        .hooks
        .iter()
        .map(|hook| {
            json!({
                "event": hook.event.word(),
                "matcher": hook.matcher,
                "command": redacted_text(&hook.command),
                "timeoutSeconds": hook.timeout.as_secs(),
            })
        })
        .collect();
    let mut events: Vec<&str> = read.hooks.iter().map(|hook| hook.event.word()).collect();
    events.sort_unstable();
    events.dedup();
    let count = commands.len();
    let noun = if count == 1 { "command" } else { "commands" };
    let summary = format!("runs {count} {noun} at {}", events.join(", "));
    Ok(Some(Draft {
        kind: SourceKind::Hook,
        name: None,
        title: "Hooks".to_owned(),
        summary: preview::one_line(&summary),
        risk: Risk::RunsHook,
        is_command_capable: true,
        needs_approval: true,
        preview: json!({
            "hooks": commands,
            "unknownEvents": read.unknown_events,
            "truncated": read.is_cut,
        }),
        content: Content::Hooks(read.hooks),
    }))
}

fn manifest(file: &FileText<'_>) -> Result<Draft, String> {
    let manifest = plugin::parse(file.text)?;
    let name = manifest.name.clone().or_else(|| plugin::name(&file.folder));
    let name = name.unwrap_or_else(|| "plugin".to_owned());
    let description = manifest.description.clone().unwrap_or_default();
    Ok(Draft {
        kind: SourceKind::Plugin,
        name: None,
        title: format!("Plugin {name}"),
        summary: preview::one_line(&description),
        risk: Risk::Unknown,
        is_command_capable: false,
        needs_approval: false,
        preview: json!({ "name": name, "manifest": redacted(&manifest.raw) }),
        content: Content::Plugin(Box::new(plugin::Manifest { name: Some(name), ..manifest })),
    })
}

fn prefixed(plugin: Option<&str>, name: &str) -> String {
    plugin.map_or_else(|| name.to_owned(), |plugin| format!("{plugin}:{name}"))
}

pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_LIMIT
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}
