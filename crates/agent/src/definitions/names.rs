//! Names of tools in definitions: ours, and those of Claude Code.

use crate::tools::{CHILD, DELEGATION, ROLE_SWITCH};

/// Names of Claude Code, and the tools of ours that do the same.
const ALIASES: &[(&str, &[&str])] = &[
    ("Read", &["read_file", "view_image"]),
    ("Grep", &["grep"]),
    ("Glob", &["glob"]),
    ("LS", &["list_files"]),
    ("Edit", &["edit", "apply_patch"]),
    ("MultiEdit", &["multi_edit"]),
    ("Write", &["write_file"]),
    ("Bash", &["shell", "exec_command", "write_stdin"]),
    ("Task", &["task"]),
    // Models search and fetch by themselves, where their provider can; there is no tool of ours.
    ("WebFetch", &[]),
    ("WebSearch", &[]),
    ("TodoWrite", &["update_plan"]),
    ("AskUserQuestion", &["request_user_input"]),
    // Short names that others use.
    ("read", &["read_file"]),
    ("list", &["list_files"]),
    ("write", &["write_file"]),
    ("bash", &["shell", "exec_command", "write_stdin"]),
];

/// Tools that no child has: it cannot start others, and its mode is its parent's.
const NOT_FOR_CHILDREN: [&str; 4] = [CHILD, DELEGATION, ROLE_SWITCH, "exit_plan_mode"];

/// Whether a child may have a tool of this name.
pub fn is_for_children(tool: &str) -> bool {
    !NOT_FOR_CHILDREN.contains(&tool)
}

/// The tools of ours that a name means. One that is not known is a tool of a server or a client, and
/// stays as it is.
pub fn tools_named(name: &str) -> Vec<String> {
    let alias = ALIASES.iter().find(|(known, _)| *known == name);
    match alias {
        Some((_, tools)) => tools.iter().map(|tool| (*tool).to_owned()).collect(),
        None => vec![name.to_owned()],
    }
}

/// The name of Claude Code for a tool of ours; none if it has no such tool.
pub fn claude_name(tool: &str) -> Option<&'static str> {
    let is_theirs = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let mut aliases = ALIASES.iter().filter(|(name, _)| is_theirs(name));
    aliases.find(|(_, tools)| tools.contains(&tool)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_mean_tools_that_are_there() {
        for (name, tools) in ALIASES {
            assert_eq!(tools_named(name), *tools);
            for tool in *tools {
                assert!(crate::tools::find(tool).is_some(), "{name}: there is no {tool}");
            }
        }
        assert_eq!((claude_name("shell"), claude_name("echo")), (Some("Bash"), None));
        assert_eq!(tools_named("mcp__docs__search"), ["mcp__docs__search"]);
    }
}
