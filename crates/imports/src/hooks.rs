//! Files that name commands for events of a turn, by the events' names of Claude Code; those of Cursor are
//! understood where they mean the same. Pure.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::item::words;

/// Commands of one file that are kept.
const HOOKS_LIMIT: usize = 256;
/// The longest command.
const COMMAND_LIMIT: usize = 8192;
/// The longest pattern for names of tools.
const MATCHER_LIMIT: usize = 1024;
/// How large a pattern may become.
const PATTERN_SIZE: usize = 1 << 20;
/// How long a command may take unless its file says less.
const USUAL_TIMEOUT: Duration = Duration::from_secs(60);

words! {
    /// When a command runs.
    HookEvent {
        /// Before a tool runs, which it can prevent.
        PreToolUse = "PreToolUse",
        /// After a tool ran.
        PostToolUse = "PostToolUse",
        /// Before a prompt begins a turn, which it can prevent.
        UserPromptSubmit = "UserPromptSubmit",
        /// Before a turn ends, which it can prevent.
        Stop = "Stop",
        /// Before the turn of a child agent ends, which it can prevent.
        SubagentStop = "SubagentStop",
        /// Before the first turn of a thread.
        SessionStart = "SessionStart",
        /// When a thread is archived or deleted.
        SessionEnd = "SessionEnd",
        /// Before a conversation is made shorter.
        PreCompact = "PreCompact",
        /// When an agent waits for a person.
        Notification = "Notification",
    }
}

/// A command for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// When it runs.
    pub event: HookEvent,
    /// The tools that it is for, as a pattern; all of them if there is none.
    pub matcher: Option<String>,
    /// The command line.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
}

impl Hook {
    /// Whether it is for a tool that goes by one of these names. A pattern has to fit a whole name; one that
    /// is no regular expression is a name.
    pub fn is_for(&self, names: &[&str]) -> bool {
        let Some(matcher) = &self.matcher else { return true };
        let pattern =
            regex::RegexBuilder::new(&format!("^(?:{matcher})$")).size_limit(PATTERN_SIZE).build();
        names.iter().any(|name| match &pattern {
            Ok(pattern) => pattern.is_match(name),
            Err(_) => matcher == name,
        })
    }
}

/// What a file of hooks holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookFile {
    /// Commands for events, in the order of the file.
    pub hooks: Vec<Hook>,
    /// Names of events that are not known here, sorted.
    pub unknown_events: Vec<String>,
    /// Whether there are more commands than are kept.
    pub is_cut: bool,
}

/// Events of Cursor, with the tools that they are for.
const ALIASES: &[(&str, HookEvent, Option<&str>)] = &[
    ("beforeShellExecution", HookEvent::PreToolUse, Some("Bash")),
    ("beforeReadFile", HookEvent::PreToolUse, Some("Read")),
    ("beforeMCPExecution", HookEvent::PreToolUse, Some("mcp__.*")),
    ("afterShellExecution", HookEvent::PostToolUse, Some("Bash")),
    ("afterFileEdit", HookEvent::PostToolUse, Some("Edit|MultiEdit|Write")),
    ("afterMCPExecution", HookEvent::PostToolUse, Some("mcp__.*")),
    ("beforeSubmitPrompt", HookEvent::UserPromptSubmit, None),
    ("stop", HookEvent::Stop, None),
    ("subagentStop", HookEvent::SubagentStop, None),
    ("sessionStart", HookEvent::SessionStart, None),
    ("sessionEnd", HookEvent::SessionEnd, None),
    ("preCompact", HookEvent::PreCompact, None),
];

/// Reads the hooks of a file: its member `hooks`. None if it has none.
///
/// # Errors
/// If `hooks` is no map.
pub fn parse(file: &Value) -> Result<Option<HookFile>, String> {
    let events = match file.get("hooks") {
        None | Some(Value::Null | Value::String(_)) => return Ok(None),
        Some(Value::Object(events)) => events,
        Some(_) => return Err("its hooks are no map".to_owned()),
    };
    let (mut read, mut unknown) = (HookFile::default(), BTreeSet::new());
    for (name, entries) in events {
        let known = HookEvent::from_word(name).map(|event| (event, None));
        let alias = ALIASES.iter().find(|(alias, ..)| alias == name);
        let known = known.or_else(|| alias.map(|(_, event, matcher)| (*event, *matcher)));
        let Some((event, matcher)) = known else {
            unknown.insert(name.chars().take(60).flat_map(char::escape_debug).collect());
            continue;
        };
        for entry in entries.as_array().into_iter().flatten() {
            read.add(event, matcher, entry);
        }
    }
    read.unknown_events = unknown.into_iter().take(HOOKS_LIMIT).collect();
    let is_empty = read.hooks.is_empty() && read.unknown_events.is_empty();
    Ok((!is_empty).then_some(read))
}

impl HookFile {
    /// Adds an entry: a group with a pattern and commands, or a command alone.
    fn add(&mut self, event: HookEvent, matcher: Option<&str>, entry: &Value) {
        let own = entry.get("matcher").and_then(Value::as_str).filter(|text| !text.is_empty());
        let matcher = own.or(matcher).filter(|text| *text != "*");
        let alone = std::slice::from_ref(entry);
        let group = entry.get("hooks").and_then(Value::as_array).map_or(alone, Vec::as_slice);
        for one in group {
            let kind = one.get("type").and_then(Value::as_str).unwrap_or("command");
            let command = one.get("command").and_then(Value::as_str).unwrap_or_default().trim();
            let is_usable = kind == "command"
                && !command.is_empty()
                && command.len() <= COMMAND_LIMIT
                && !command.contains('\0')
                && matcher.is_none_or(|text| text.len() <= MATCHER_LIMIT);
            if !is_usable {
                continue;
            }
            if self.hooks.len() == HOOKS_LIMIT {
                self.is_cut = true;
                return;
            }
            let seconds = one.get("timeout").and_then(Value::as_f64).filter(|s| *s > 0.0);
            let timeout = seconds.map_or(USUAL_TIMEOUT, |seconds| {
                USUAL_TIMEOUT.min(Duration::from_secs_f64(seconds.min(1e6)))
            });
            self.hooks.push(Hook {
                event,
                matcher: matcher.map(str::to_owned),
                command: command.to_owned(),
                timeout,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_and_single_commands_are_read() {
        let file = json!({"hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "check", "timeout": 5},
                {"type": "prompt", "prompt": "no"},
            ]}],
            "Stop": [{"hooks": [{"command": "done", "timeout": 9e99}]}],
            "stop": [{"command": "cursor"}],
            "beforeShellExecution": [{"command": "look"}],
            "TeammateIdle": [{"command": "never"}],
        }});
        let read = parse(&file).unwrap().unwrap();
        let shown: Vec<_> = read
            .hooks
            .iter()
            .map(|hook| (hook.event.word(), hook.matcher.as_deref(), hook.command.as_str()))
            .collect();
        assert_eq!(shown.len(), 4);
        assert!(shown.contains(&("PreToolUse", Some("Bash"), "check")));
        assert!(shown.contains(&("PreToolUse", Some("Bash"), "look")));
        assert!(
            shown.contains(&("Stop", None, "done")) && shown.contains(&("Stop", None, "cursor"))
        );
        assert_eq!(read.unknown_events, ["TeammateIdle"]);
        assert!(read.hooks.iter().all(|hook| hook.timeout <= USUAL_TIMEOUT));
    }

    #[test]
    fn patterns_fit_whole_names() {
        let hook = |matcher: Option<&str>| Hook {
            event: HookEvent::PreToolUse,
            matcher: matcher.map(str::to_owned),
            command: "c".into(),
            timeout: USUAL_TIMEOUT,
        };
        assert!(hook(None).is_for(&[]));
        assert!(hook(Some("Edit|Write")).is_for(&["write_file", "Write"]));
        assert!(!hook(Some("Edit|Write")).is_for(&["WriteAll"]));
        assert!(hook(Some("mcp__.*")).is_for(&["mcp__docs__search"]));
        assert!(hook(Some("(")).is_for(&["("]) && !hook(Some("(")).is_for(&["x"]));
    }

    #[test]
    fn files_without_hooks_are_no_error() {
        assert_eq!(parse(&json!({"permissions": {}})), Ok(None));
        assert_eq!(parse(&json!({"hooks": {}})), Ok(None));
        assert!(parse(&json!({"hooks": [1]})).is_err());
        assert_eq!(parse(&json!({"hooks": {"Stop": [{"command": " "}, 7, null]}})), Ok(None));
    }
}
