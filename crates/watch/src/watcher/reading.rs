//! What a plugin's judgement means for those who supervise: a dialog that can be decided, one that
//! has to be answered at the terminal, or nothing.

use rookery_core::SeenDialog;
use rookery_model::AgentState;
use rookery_plugins::State;
use serde_json::Value;

/// Characters of a title.
const MAX_TITLE: usize = 120;
/// Characters of what a dialog says.
const MAX_TEXT: usize = 4_000;

/// Options of a dialog at most.
const MAX_OPTIONS: usize = 32;
/// What stands before the option that is marked.
const MARKS: &[&str] = &["❯", "›", "▶", "●", ">"];

/// What a state of a plugin asks for, and with which intents it is answered.
struct Row {
    state: &'static str,
    title: &'static str,
    /// Yes and no; none if it takes more than that.
    intents: Option<(&'static str, &'static str)>,
    /// Where its words are.
    text: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        state: "waiting_for_permission",
        title: "Permission",
        intents: Some(("approve", "deny")),
        text: "/permission",
    },
    Row {
        state: "waiting_for_plan_approval",
        title: "Plan",
        intents: Some(("approve", "deny")),
        text: "/plan",
    },
    Row {
        state: "waiting_for_trust",
        title: "Trust this folder",
        intents: Some(("approve_trust", "deny_trust")),
        text: "/trust/path",
    },
    Row { state: "waiting_for_enter_plan_mode", title: "Enter plan mode", intents: None, text: "" },
    Row { state: "waiting_for_login", title: "Login needed", intents: None, text: "/login/url" },
    Row {
        state: "waiting_for_user_input",
        title: "Question",
        intents: None,
        text: "/question/text",
    },
];

/// A dialog, and how it is answered.
pub(super) struct Seen {
    pub(super) dialog: SeenDialog,
    intents: (&'static str, &'static str),
}

impl Seen {
    /// The intent that says yes, or no.
    pub(super) fn intent(&self, is_yes: bool) -> &'static str {
        if is_yes { self.intents.0 } else { self.intents.1 }
    }
}

/// What a screen shows.
pub(super) struct Reading {
    /// What the agent is at.
    pub(super) state: AgentState,
    /// The dialog that stands there, if one does.
    pub(super) seen: Option<Seen>,
}

/// States of plugins that are no dialog, and what an agent is at in them. In any other it runs.
const STATES: &[(&str, AgentState)] = &[
    ("ready", AgentState::Idle),
    ("completed_turn", AgentState::Idle),
    ("waiting_for_user_input", AgentState::Idle),
    ("prompt_submitted", AgentState::Working),
    ("thinking", AgentState::Working),
    ("cancelling", AgentState::Working),
    ("waiting_for_login", AgentState::Login),
    ("waiting_for_model_select", AgentState::Waiting),
    ("waiting_for_external_editor", AgentState::Waiting),
    ("error", AgentState::Failed),
];

/// What a state tells of.
pub(super) fn read(state: State) -> Reading {
    let named = STATES.iter().find(|(name, _)| *name == state.state).map(|(_, state)| *state);
    let seen = dialog(state);
    let is_login = named == Some(AgentState::Login);
    let asks = seen.is_some() && !is_login;
    let state = if asks { AgentState::Waiting } else { named.unwrap_or_default() };
    Reading { state, seen }
}

/// The dialog that a state tells of. A prompt that waits for its next text is none.
fn dialog(state: State) -> Option<Seen> {
    let row = ROWS.iter().find(|row| row.state == state.state)?;
    let metadata = state.metadata.unwrap_or_default();
    let id = metadata.get("dialog_id").and_then(Value::as_str);
    if id.is_none() && row.state == "waiting_for_user_input" {
        return None;
    }
    let said = |pointer: &str| metadata.pointer(pointer).and_then(Value::as_str);
    let (title, text) = match row.text {
        "/permission" => {
            let tool = said("/permission/tool").filter(|tool| *tool != "unknown");
            let words = said("/permission/detail").or(said("/permission/summary"));
            (tool.unwrap_or(row.title), words)
        }
        pointer => (row.title, said(pointer)),
    };
    let dialog = SeenDialog {
        id: id.unwrap_or(row.state).to_owned(),
        title: cut(title, MAX_TITLE),
        text: cut(text.unwrap_or(&state.evidence), MAX_TEXT),
        is_decidable: id.is_some() && row.intents.is_some(),
        options: options(&metadata, row),
        focus: None,
    };
    Some(Seen { dialog, intents: row.intents.unwrap_or_default() })
}

/// What can be chosen in a dialog, in order.
fn options(metadata: &Value, row: &Row) -> Vec<String> {
    let block = row.text.split('/').nth(1).unwrap_or_default();
    let found = metadata.pointer(&format!("/{block}/options")).or(metadata.pointer("/options"));
    let labels = found.and_then(Value::as_array).into_iter().flatten();
    labels.filter_map(Value::as_str).take(MAX_OPTIONS).map(|label| cut(label, MAX_TITLE)).collect()
}

/// Which option is marked on a screen, from 1: the last row that begins with a mark and a number.
pub(super) fn focus(screen: &str) -> Option<usize> {
    let number = |line: &str| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || "│┃|".contains(c));
        let rest = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        rest[end..].starts_with(['.', ')']).then(|| rest[..end].parse().ok())?
    };
    screen.lines().rev().find_map(number)
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(state: &str, metadata: Value) -> Option<SeenDialog> {
        let metadata = Some(metadata);
        let evidence = "seen".to_owned();
        let state = State { state: state.to_owned(), metadata, evidence, ..State::default() };
        read(state).seen.map(|seen| seen.dialog)
    }

    #[test]
    fn a_permission_can_be_decided_and_says_what_for() {
        let permission = json!({ "tool": "Bash", "summary": "cargo test" });
        let dialog = json!({ "dialog_id": "115803ed", "permission": permission });
        let seen = seen("waiting_for_permission", dialog).unwrap();
        assert_eq!((seen.id.as_str(), seen.is_decidable), ("115803ed", true));
        assert_eq!((seen.title.as_str(), seen.text.as_str()), ("Bash", "cargo test"));
    }

    #[test]
    fn what_has_no_id_cannot_be_distinguished_from_the_next_and_is_not_decided() {
        let seen = seen("waiting_for_permission", json!({})).unwrap();
        assert!(!seen.is_decidable);
        assert_eq!((seen.title.as_str(), seen.text.as_str()), ("Permission", "seen"));
    }

    #[test]
    fn questions_are_reported_and_idle_prompts_are_not() {
        let question = json!({ "dialog_id": "1", "question": { "text": "Which?" } });
        let asked = seen("waiting_for_user_input", question).unwrap();
        assert_eq!((asked.text.as_str(), asked.is_decidable), ("Which?", false));
        assert_eq!(seen("waiting_for_user_input", json!({})), None);
        assert_eq!(seen("thinking", json!({ "dialog_id": "1" })), None);
    }

    #[test]
    fn a_state_says_what_the_agent_is_at() {
        let at = |state: &str, metadata: Value| {
            let state = state.to_owned();
            read(State { state, metadata: Some(metadata), ..State::default() }).state
        };
        for (state, expected) in STATES {
            assert_eq!(at(state, json!({})), *expected, "{state}");
        }
        assert_eq!(at("starting", json!({})), AgentState::Running);
        assert_eq!(at("waiting_for_trust", json!({ "dialog_id": "1" })), AgentState::Waiting);
        assert_eq!(at("waiting_for_user_input", json!({ "dialog_id": "1" })), AgentState::Waiting);
    }

    #[test]
    fn options_and_the_marked_one_are_read() {
        let permission = json!({ "tool": "Bash", "options": ["Yes", "No"] });
        let dialog = json!({ "dialog_id": "1", "permission": permission });
        let with_options = seen("waiting_for_permission", dialog).unwrap();
        assert_eq!(with_options.options, ["Yes", "No"]);
        let plan = json!({ "dialog_id": "1", "plan": "x", "options": ["Yes", "No"] });
        assert_eq!(seen("waiting_for_plan_approval", plan).unwrap().options.len(), 2);
        assert_eq!(focus("> do it\n❯ 1. Yes\n  2. No\n"), Some(1));
        assert_eq!(focus("│   1. Yes │\n│ ❯ 2. No  │"), Some(2));
        assert_eq!(focus("› 3) No"), Some(3));
        assert_eq!(focus("1. Yes\n> text\n2. No"), None);
    }

    #[test]
    fn each_answer_has_its_intent() {
        let metadata = Some(json!({ "dialog_id": "1", "trust": { "path": "/w" } }));
        let state = State { state: "waiting_for_trust".into(), metadata, ..State::default() };
        let seen = read(state).seen.unwrap();
        assert_eq!((seen.intent(true), seen.intent(false)), ("approve_trust", "deny_trust"));
        assert_eq!(seen.dialog.text, "/w");
    }
}
