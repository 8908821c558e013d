//! What a hook's command reads and answers, as Claude Code defines it. Pure.

use std::path::Path;

use serde_json::{Value, json};

use crate::hooks::HookEvent;

/// The longest answer that is handed on.
const TEXT_LIMIT: usize = 16 << 10;
/// The status with which a command prevents what it was asked about.
const BLOCKS: i32 = 2;

/// What happens when a hook runs.
#[derive(Clone, Copy, Debug)]
pub struct HookCall<'a> {
    pub event: HookEvent,
    /// The conversation.
    pub session: &'a str,
    /// Where it works.
    pub cwd: &'a Path,
    /// The tool, if the event is about one.
    pub tool: Option<HookTool<'a>>,
    /// What the user said, if the event is about that.
    pub prompt: Option<&'a str>,
    /// What the event says of itself: why a thread ended, what made a conversation shorter, what is waited for.
    pub detail: Option<&'a str>,
    /// Whether the turn goes on because a hook wanted it to.
    pub is_repeated: bool,
}

/// A tool that is called.
#[derive(Clone, Copy, Debug)]
pub struct HookTool<'a> {
    /// Its name, as the author of the hook knows it.
    pub name: &'a str,
    /// What it is called with.
    pub input: &'a Value,
    /// What came of it, and whether that is a failure.
    pub response: Option<(&'a str, bool)>,
}

/// What a hook's command said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// Why it prevents what it was asked about.
    pub blocked: Option<String>,
    /// What the model is to know.
    pub context: Option<String>,
    /// What went wrong with it.
    pub problem: Option<String>,
}

/// What the command reads.
pub fn hook_input(call: HookCall<'_>) -> Value {
    let mut input = json!({
        "session_id": call.session,
        "cwd": call.cwd.to_string_lossy(),
        "hook_event_name": call.event.word(),
    });
    if let Some(tool) = call.tool {
        input["tool_name"] = json!(tool.name);
        input["tool_input"] = with_their_names(tool.input);
        if let Some((text, is_error)) = tool.response {
            input["tool_response"] = json!({ "text": text, "is_error": is_error });
        }
    }
    if let Some(prompt) = call.prompt.filter(|_| call.event != HookEvent::PreCompact) {
        input["prompt"] = json!(prompt);
    }
    match call.event {
        HookEvent::Stop | HookEvent::SubagentStop => {
            input["stop_hook_active"] = json!(call.is_repeated);
        }
        HookEvent::SessionStart => input["source"] = json!("startup"),
        HookEvent::SessionEnd => input["reason"] = json!(call.detail.unwrap_or("other")),
        HookEvent::PreCompact => {
            input["trigger"] = json!(call.detail.unwrap_or("auto"));
            input["custom_instructions"] = json!(call.prompt.unwrap_or_default());
        }
        HookEvent::Notification => input["message"] = json!(call.detail.unwrap_or_default()),
        HookEvent::PreToolUse | HookEvent::PostToolUse | HookEvent::UserPromptSubmit => {}
    }
    input
}

/// Arguments with the names beside ours that authors of hooks look for.
fn with_their_names(input: &Value) -> Value {
    let mut input = input.clone();
    if let Value::Object(members) = &mut input {
        for (theirs, ours) in [("file_path", "path"), ("command", "cmd"), ("content", "contents")] {
            if let Some(value) = members.get(ours).filter(|_| !members.contains_key(theirs)) {
                let value = value.clone();
                members.insert(theirs.to_owned(), value);
            }
        }
    }
    input
}

/// What the command's end means: its status if it ended by itself, and what it wrote.
pub fn hook_answer(
    event: HookEvent,
    code: Option<i32>,
    stdout: &[u8],
    stderr: &[u8],
) -> HookAnswer {
    let (stdout, stderr) = (text(stdout), text(stderr));
    match code {
        Some(0) => answer_of(event, &stdout),
        Some(BLOCKS) => {
            let reason = if stderr.is_empty() { "it gave no reason".to_owned() } else { stderr };
            HookAnswer { blocked: Some(reason), ..HookAnswer::default() }
        }
        Some(code) => {
            let line = stderr.lines().last().unwrap_or_default();
            let problem = format!("it ended with status {code}: {line}");
            HookAnswer { problem: Some(problem), ..HookAnswer::default() }
        }
        None => HookAnswer { problem: Some("it did not end".to_owned()), ..HookAnswer::default() },
    }
}

/// What a command said that ended well: JSON with a decision, or words.
fn answer_of(event: HookEvent, stdout: &str) -> HookAnswer {
    let is_context = matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart);
    let Ok(Value::Object(answer)) = serde_json::from_str::<Value>(stdout) else {
        let context = (is_context && !stdout.is_empty()).then(|| stdout.to_owned());
        return HookAnswer { context, ..HookAnswer::default() };
    };
    let own = answer.get("hookSpecificOutput");
    let member = |name: &str| own.and_then(|own| own.get(name)).and_then(Value::as_str);
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let is_denied = member("permissionDecision") == Some("deny");
    let is_blocked = is_denied
        || text("decision") == Some("block")
        || answer.get("continue") == Some(&Value::Bool(false));
    let reason = || {
        let reasons = [member("permissionDecisionReason"), text("reason"), text("stopReason")];
        reasons.into_iter().flatten().next().unwrap_or("it gave no reason").to_owned()
    };
    let context = member("additionalContext").filter(|_| is_context).map(str::to_owned);
    HookAnswer { blocked: is_blocked.then(reason), context, problem: None }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut text: String = text.chars().filter(plain).collect();
    text.truncate(text.floor_char_boundary(TEXT_LIMIT));
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_says_what_it_is_about() {
        let input_of = |event, prompt, detail| {
            let (session, cwd) = ("s", Path::new("/w"));
            let call =
                HookCall { event, session, cwd, tool: None, prompt, detail, is_repeated: true };
            hook_input(call)
        };
        let input = input_of(HookEvent::SubagentStop, None, None);
        assert_eq!(
            (&input["hook_event_name"], &input["stop_hook_active"]),
            (&json!("SubagentStop"), &json!(true))
        );
        let input = input_of(HookEvent::PreCompact, Some("the tests"), Some("manual"));
        assert_eq!(
            (&input["trigger"], &input["custom_instructions"]),
            (&json!("manual"), &json!("the tests"))
        );
        assert!(input.get("prompt").is_none());
        assert_eq!(input_of(HookEvent::SessionEnd, None, None)["reason"], "other");
        assert_eq!(input_of(HookEvent::Notification, None, Some("look"))["message"], "look");
    }

    #[test]
    fn commands_get_what_they_were_written_for() {
        let input = json!({"cmd": "ls", "path": "a"});
        let tool = HookTool { name: "Bash", input: &input, response: Some(("out", false)) };
        let read = hook_input(HookCall {
            event: HookEvent::PostToolUse,
            session: "t1",
            cwd: Path::new("/w"),
            tool: Some(tool),
            prompt: None,
            detail: None,
            is_repeated: false,
        });
        assert_eq!(read["hook_event_name"], "PostToolUse");
        assert_eq!(
            (&read["tool_name"], &read["tool_input"]["command"]),
            (&json!("Bash"), &json!("ls"))
        );
        assert_eq!(read["tool_input"]["file_path"], "a");
        assert_eq!(read["tool_response"], json!({"text": "out", "is_error": false}));
    }

    #[test]
    fn two_blocks_with_what_it_says_and_json_can_as_well() {
        let pre = HookEvent::PreToolUse;
        let blocked = |answer: HookAnswer| answer.blocked;
        assert_eq!(
            blocked(hook_answer(pre, Some(2), b"x", b"no\nrm\x1b\n")),
            Some("no\nrm".into())
        );
        let json = br#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}"#;
        assert_eq!(blocked(hook_answer(pre, Some(0), json, b"")), Some("r".into()));
        let allow = br#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#;
        assert_eq!(hook_answer(pre, Some(0), allow, b""), HookAnswer::default());
        assert_eq!(
            blocked(hook_answer(pre, Some(0), br#"{"decision": "block"}"#, b"")),
            Some("it gave no reason".into())
        );
        assert!(hook_answer(pre, Some(1), b"", b"a\nb").problem.unwrap().ends_with(": b"));
        assert!(hook_answer(pre, None, b"", b"").problem.is_some());
    }

    #[test]
    fn words_are_context_where_a_turn_begins() {
        let context = |event| hook_answer(event, Some(0), b" now \n", b"").context;
        assert_eq!(context(HookEvent::UserPromptSubmit).as_deref(), Some("now"));
        assert_eq!(context(HookEvent::Stop), None);
    }
}
