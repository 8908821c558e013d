//! The tools of a server as models see them: their names, what they do, and how many. Pure.

use std::collections::HashSet;

use rmcp::model::{Tool, ToolAnnotations};
use rookery_model::ToolKind;
use serde_json::Value;

use super::PREFIX;
use crate::settings::McpServerSettings;

/// How long a name may be; models take no longer ones.
const MAX_NAME: usize = 64;

/// How many tools of one server are offered.
const MAX_TOOLS: usize = 256;

/// How much all schemas and descriptions of one server may be: every model call carries them.
const MAX_SCHEMAS: usize = 64 << 10;

/// A tool that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    /// Its name, as the server calls it.
    pub(super) tool: String,
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) kind: ToolKind,
}

/// What is offered of a server's tools, and how many are left out because they are too much.
pub(super) fn offers(tools: Vec<Tool>, settings: &McpServerSettings) -> (Vec<Offer>, usize) {
    let (mut offered, mut left_out, mut room) = (Vec::new(), 0, MAX_SCHEMAS);
    for tool in tools {
        let kind = kind(tool.annotations.as_ref(), settings);
        let description = tool.description.as_deref().or(tool.title.as_deref());
        let description = description.unwrap_or_default().to_owned();
        let parameters = Value::Object(tool.input_schema.as_ref().clone());
        let size = tool.name.len() + description.len() + parameters.to_string().len();
        match room.checked_sub(size).filter(|_| offered.len() < MAX_TOOLS) {
            Some(left) => {
                room = left;
                let tool = tool.name.into_owned();
                offered.push(Offer { tool, description, parameters, kind });
            }
            None => left_out += 1,
        }
    }
    (offered, left_out)
}

/// What a tool does: what was set, else where it is, else what it says of itself.
fn kind(annotations: Option<&ToolAnnotations>, settings: &McpServerSettings) -> ToolKind {
    let hint = |read: fn(&ToolAnnotations) -> Option<bool>| annotations.and_then(read);
    match settings.kind {
        Some(kind) => kind,
        None if settings.url.is_some() => ToolKind::Network,
        None if hint(|it| it.read_only_hint) == Some(true) => ToolKind::Read,
        None if hint(|it| it.destructive_hint).is_some() => ToolKind::Write,
        None => ToolKind::Unknown,
    }
}

/// What models call a tool: of letters that all of them take, not too long, and not taken.
pub(super) fn name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let plain = |text: &str| -> String {
        let fits = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        text.chars().map(|it| if fits(it) { it } else { '_' }).collect()
    };
    // All of it is ASCII, so that bytes are characters.
    let whole = format!("{PREFIX}{}__{}", plain(server), plain(tool));
    let mut name = whole[..whole.len().min(MAX_NAME)].to_owned();
    let mut number = 2_u64;
    while taken.contains(&name) {
        let suffix = format!("_{number}");
        name = format!("{}{suffix}", &whole[..whole.len().min(MAX_NAME - suffix.len())]);
        number += 1;
    }
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn tool(name: &str, hints: Option<ToolAnnotations>) -> Tool {
        let tool = Tool::new(name.to_owned(), "does it", Arc::new(serde_json::Map::new()));
        match hints {
            Some(hints) => tool.with_annotations(hints),
            None => tool,
        }
    }

    #[test]
    fn names_are_made_of_what_models_take() {
        let mut taken = HashSet::new();
        assert_eq!(name("my server", "read.file", &mut taken), "mcp__my_server__read_file");
        assert_eq!(name("my_server", "read/file", &mut taken), "mcp__my_server__read_file_2");
        let long = "x".repeat(99);
        assert_eq!(name("s", &long, &mut taken).len(), MAX_NAME);
        let other = name("s", &long, &mut taken);
        assert_eq!(other.len(), MAX_NAME);
        assert!(other.ends_with("x_2"), "{other}");
    }

    #[test]
    fn what_a_tool_does_is_set_or_guessed() {
        let hints = ToolAnnotations::new;
        let cases = [
            (None, ToolKind::Unknown),
            (Some(hints()), ToolKind::Unknown),
            (Some(hints().read_only(true)), ToolKind::Read),
            (Some(hints().read_only(false).destructive(true)), ToolKind::Write),
            (Some(hints().destructive(false)), ToolKind::Write),
        ];
        let far = McpServerSettings { url: Some("http://x".into()), ..Default::default() };
        let set = McpServerSettings { kind: Some(ToolKind::Exec), ..far.clone() };
        for (hints, wanted) in cases {
            assert_eq!(kind(hints.as_ref(), &McpServerSettings::default()), wanted);
            assert_eq!(kind(hints.as_ref(), &far), ToolKind::Network);
            assert_eq!(kind(hints.as_ref(), &set), ToolKind::Exec);
        }
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let mut tools = vec![tool("a", None), tool("b", None), tool("c", None)];
        tools[1].description = Some("x".repeat(MAX_SCHEMAS).into());
        let (offered, left_out) = offers(tools, &McpServerSettings::default());
        let names: Vec<&str> = offered.iter().map(|offer| offer.tool.as_str()).collect();
        assert_eq!((names, left_out), (vec!["a", "c"], 1));
        let many = (0..MAX_TOOLS + 3).map(|number| tool(&number.to_string(), None)).collect();
        let (offered, left_out) = offers(many, &McpServerSettings::default());
        assert_eq!((offered.len(), left_out), (MAX_TOOLS, 3));
    }

    proptest! {
        #[test]
        fn names_are_always_unique_and_short(names in proptest::collection::vec("\\PC{0,80}", 0..40)) {
            let mut taken = HashSet::new();
            for (number, tool) in names.iter().enumerate() {
                let name = name(&names[number / 2], tool, &mut taken);
                prop_assert!(name.len() <= MAX_NAME);
                prop_assert!(name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it)));
                prop_assert_eq!(taken.len(), number + 1);
            }
        }
    }
}
