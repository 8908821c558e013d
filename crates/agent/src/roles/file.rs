//! Files of roles: YAML or JSON with a list, whose entries are checked one by one. Pure.

use std::collections::HashSet;

use rookery_model::{Role, ToolGroup, ToolSort};
use serde::Deserialize;
use serde_json::Value;

use crate::policy::unasked::file_expression;

/// The longest slug.
const SLUG_LIMIT: usize = 100;
/// How many roles of one file are read.
const ROLES_LIMIT: usize = 200;
/// A group that there was once; files may still name it.
const RETIRED: &str = "browser";

/// The groups by the names that files use.
const GROUPS: &[(&str, ToolSort)] = &[
    ("read", ToolSort::Read),
    ("edit", ToolSort::Edit),
    ("command", ToolSort::Command),
    ("mcp", ToolSort::Mcp),
    ("modes", ToolSort::Roles),
];

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    custom_modes: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    slug: String,
    name: String,
    role_definition: String,
    groups: Vec<Group>,
    when_to_use: Option<String>,
    description: Option<String>,
    custom_instructions: Option<String>,
}

/// A group: its name, or that with more to say.
#[derive(Deserialize)]
#[serde(untagged)]
enum Group {
    Name(String),
    Bounded(String, Bounds),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounds {
    file_regex: Option<String>,
}

/// The roles of a file, and what is wrong with the others.
///
/// Never panics, whatever the text is: this is where untrusted files come in.
pub fn read_all(text: &str) -> (Vec<Role>, Vec<String>) {
    let entries = match parse(text) {
        Ok(file) => file.custom_modes.unwrap_or_default(),
        Err(reason) => return (Vec::new(), vec![reason]),
    };
    let (mut roles, mut warnings): (Vec<Role>, Vec<String>) = (Vec::new(), Vec::new());
    if entries.len() > ROLES_LIMIT {
        warnings.push(format!("only the first {ROLES_LIMIT} roles are read"));
    }
    for (at, entry) in entries.iter().take(ROLES_LIMIT).enumerate() {
        match read(entry) {
            Ok(role) if roles.iter().any(|known| known.slug == role.slug) => {
                warnings.push(format!("role {} was skipped: its slug is taken", at + 1));
            }
            Ok(role) => roles.push(role),
            Err(reason) => warnings.push(format!("role {} was skipped: {reason}", at + 1)),
        }
    }
    (roles, warnings)
}

/// JSON is tried first: what it indents with tabs is no YAML.
fn parse(text: &str) -> Result<File, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(File::default());
    }
    if let Ok(file) = serde_json::from_str(text) {
        return Ok(file);
    }
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options::<Option<File>>(text, options)
        .map(Option::unwrap_or_default)
        .map_err(|error| {
            let text = error.to_string();
            format!("it is neither YAML nor JSON with roles: {}", text.lines().next().unwrap_or(""))
        })
}

/// One role, as a file or a client spells it.
///
/// # Errors
/// If something is missing, or is not what it has to be.
pub fn read(entry: &Value) -> Result<Role, String> {
    let entry: Entry = serde_path_to_error::deserialize(entry).map_err(|error| {
        match error.path().to_string() {
            path if path == "." => error.inner().to_string(),
            path => format!("{path}: {}", error.inner()),
        }
    })?;
    let is_slug = !entry.slug.is_empty()
        && entry.slug.len() <= SLUG_LIMIT
        && entry.slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_slug {
        return Err("slug: letters, digits and dashes are expected".to_owned());
    }
    for (member, text) in [("name", &entry.name), ("roleDefinition", &entry.role_definition)] {
        if text.trim().is_empty() {
            return Err(format!("{member}: it must not be blank"));
        }
    }
    Ok(Role {
        slug: entry.slug,
        name: entry.name.trim().to_owned(),
        definition: entry.role_definition.trim().to_owned(),
        instructions: filled(entry.custom_instructions),
        when_to_use: filled(entry.when_to_use).or(filled(entry.description)),
        groups: groups(entry.groups)?,
    })
}

fn groups(listed: Vec<Group>) -> Result<Vec<ToolGroup>, String> {
    let mut seen = HashSet::new();
    let mut groups = Vec::new();
    for group in listed {
        let (name, files) = match group {
            Group::Name(name) => (name, None),
            Group::Bounded(name, bounds) => (name, filled(bounds.file_regex)),
        };
        if name == RETIRED {
            continue;
        }
        let Some(&(_, sort)) = GROUPS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = GROUPS.iter().map(|(known, _)| *known).collect();
            let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
            return Err(format!("groups: {shown} is none of {}", known.join(", ")));
        };
        if !seen.insert(sort) {
            return Err(format!("groups: {name} is there twice"));
        }
        if files.as_deref().is_some_and(|files| file_expression(files).is_err()) {
            return Err(format!("groups: the fileRegex of {name} is not understood"));
        }
        groups.push(ToolGroup { sort, files });
    }
    Ok(groups)
}

fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
