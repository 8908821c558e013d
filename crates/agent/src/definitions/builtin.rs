//! The definitions that ship with us.

use super::{AgentDefinition, Permission, Source};

/// The name of the one that only looks.
pub const EXPLORE: &str = "explore";
/// The name of the one that is used where none is named.
pub const GENERAL: &str = "general";

const EXPLORE_PROMPT: &str = "You look for an answer in the files of a workspace and change nothing. \
Search broadly first, then read what matters. Answer with what you found: paths with line numbers, and \
what they show. Say plainly what you did not find.";

const GENERAL_PROMPT: &str = "You carry out one task on behalf of another agent, which gets only your \
last message. Do what the task says and no more, then answer with the result: what you did, what you \
found, and what is left open.";

/// All of them, by name.
pub fn built_ins() -> [AgentDefinition; 2] {
    [
        AgentDefinition {
            name: EXPLORE.to_owned(),
            description: "Finds things in the files of a workspace, and changes nothing".to_owned(),
            tools: Some(["read_file", "grep", "glob", "list_files"].map(str::to_owned).to_vec()),
            model: None,
            permission: Permission::ReadOnly,
            max_turns: Some(8),
            max_result_chars: Some(4000),
            prompt: EXPLORE_PROMPT.to_owned(),
            source: Source::BuiltIn,
        },
        AgentDefinition {
            name: GENERAL.to_owned(),
            description: "Carries out one task with every tool that its parent has".to_owned(),
            tools: None,
            model: None,
            permission: Permission::Default,
            max_turns: None,
            max_result_chars: None,
            prompt: GENERAL_PROMPT.to_owned(),
            source: Source::BuiltIn,
        },
    ]
}
