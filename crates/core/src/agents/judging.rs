//! What policy says of calls of tools and of commands, under the settings that hold now.

use std::sync::Arc;

use rookery_agent::policy::{self, Command, Judgement, Rules, ToolRequest};
use rookery_model::{Mode, Profile, ToolKind};
use serde_json::Value;

use super::Room;

impl Room {
    /// Judges a call by what the tool is and what it would do.
    pub(crate) fn judge(
        &self,
        tool: &str,
        kind: ToolKind,
        input: &str,
        mode: Mode,
        profile: Profile,
    ) -> Judgement {
        let rules = Arc::clone(&self.rules.read());
        self.judge_by(&rules, (tool, kind, input), mode, profile)
    }

    /// The same for a call that runs where no sandbox of ours can hold it.
    pub(crate) fn judge_unheld(
        &self,
        tool: &str,
        kind: ToolKind,
        input: &str,
        mode: Mode,
        profile: Profile,
    ) -> Judgement {
        let rules = Rules { sandboxed: false, ..Rules::clone(&self.rules.read()) };
        self.judge_by(&rules, (tool, kind, input), mode, profile)
    }

    fn judge_by(
        &self,
        rules: &Rules,
        (tool, kind, input): (&str, ToolKind, &str),
        mode: Mode,
        profile: Profile,
    ) -> Judgement {
        let command = self.command_of(tool, kind, input);
        // Looking at what a running program printed does nothing.
        let only_looks = tool == "write_stdin" && command.as_deref().is_none_or(str::is_empty);
        let kind = if only_looks { ToolKind::Read } else { kind };
        // What is typed into a program is no command of a shell.
        let is_shell = !matches!(tool, "write_stdin") && !is_continued(tool, input);
        let command = command.as_deref().filter(|_| is_shell).map(Command::Shell);
        let request = ToolRequest { tool, kind, command, env: &[] };
        policy::judge(&request, mode, rules, profile.is_unattended())
    }

    /// Judges a command line that runs as it is, held to nothing.
    pub(crate) fn judge_line(&self, line: &str, mode: Mode) -> Judgement {
        let rules = Rules { sandboxed: false, ..Rules::clone(&self.rules.read()) };
        let command = Some(Command::Shell(line));
        let request = ToolRequest { tool: "shell", kind: ToolKind::Exec, command, env: &[] };
        policy::judge(&request, mode, &rules, false)
    }

    /// Judges a program with its arguments, under the name by which rules know it.
    pub(crate) fn judge_argv(
        &self,
        tool: &str,
        argv: &[String],
        env: &[(String, Option<String>)],
        mode: Mode,
        profile: Profile,
    ) -> Judgement {
        let rules = Arc::clone(&self.rules.read());
        let command = Some(Command::Argv(argv));
        let request = ToolRequest { tool, kind: ToolKind::Exec, command, env };
        policy::judge(&request, mode, &rules, profile.is_unattended())
    }

    /// The same for a program that runs where no sandbox of ours can hold it.
    pub(crate) fn judge_argv_unheld(
        &self,
        tool: &str,
        argv: &[String],
        env: &[(String, Option<String>)],
        mode: Mode,
        profile: Profile,
    ) -> Judgement {
        let rules = Rules { sandboxed: false, ..Rules::clone(&self.rules.read()) };
        let command = Some(Command::Argv(argv));
        let request = ToolRequest { tool, kind: ToolKind::Exec, command, env };
        policy::judge(&request, mode, &rules, profile.is_unattended())
    }
}

/// Whether the call types into a program that runs already.
fn is_continued(tool: &str, input: &str) -> bool {
    tool == "unified_exec"
        && serde_json::from_str::<Value>(input)
            .is_ok_and(|input| input.get("session_id").is_some_and(|id| !id.is_null()))
}
