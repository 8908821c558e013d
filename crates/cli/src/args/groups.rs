//! The commands in the order of what they are for, as `rookery --help` shows them.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;

const GROUPS: &[(&str, &[&str])] = &[
    ("Daemon", &["setup", "up", "down", "restart", "status", "web", "doctor", "daemon"]),
    (
        "Terminals",
        &[
            "tui", "window", "open", "run", "task", "attach", "ls", "send", "wait", "dump",
            "record", "replay", "kill", "close",
        ],
    ),
    (
        "Agents",
        &["chat", "threads", "inbox", "approve", "deny", "answer", "audit", "login", "logout"],
    ),
    (
        "Work",
        &[
            "workflow",
            "memory",
            "imports",
            "skills",
            "media",
            "marketplace",
            "plugin",
            "worktree",
            "checkpoint",
            "review",
            "changes",
            "hunk",
            "handoff",
        ],
    ),
    ("Scripts", &["events", "view", "schema", "serve", "app-server", "completions", "man"]),
    (
        "Other tools",
        &[
            "hooks",
            "shims",
            "import",
            "ptywright",
            "roostctl",
            "roder",
            "roo",
            "idx0",
            "idx0-notify",
        ],
    ),
];

impl Cli {
    /// Reads the command line of this process.
    pub(crate) fn read() -> Result<Cli, clap::Error> {
        let mut matches = grouped().try_get_matches()?;
        Cli::from_arg_matches_mut(&mut matches)
    }
}

/// The description of the command line whose help is grouped.
pub(super) fn grouped() -> Command {
    let command = Cli::command();
    let lists = lists(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lists}Options:\n{{options}}"
    ))
}

fn lists(command: &Command) -> String {
    let width = command.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (group, names) in GROUPS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{group}:");
        for name in *names {
            // What was left out of this build has no row.
            let Some(found) = command.find_subcommand(name) else { continue };
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:width$}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), shown);
        assert_eq!(grouped.len(), shown.len());
    }

    #[test]
    fn help_shows_the_groups() {
        let help = super::grouped().render_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("no {text:?} in {help}"));
        assert!(at("Usage: rookery") < at("Daemon:") && at("Terminals:") < at("  open"));
        assert!(at("Other tools:") < at("Options:") && at("Options:") < at("--version"));
    }
}
