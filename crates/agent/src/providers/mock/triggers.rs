//! Words in what the user said that make the mock do one thing once.

use std::time::Duration;

use serde_json::{Value, json};

use super::plan::{Action, Attempt, End};
use crate::provider::{Entry, EntryBody};

/// A word that makes it call a tool.
struct Trigger {
    word: &'static str,
    id: &'static str,
    tool: &'static str,
    arguments: fn() -> Value,
}

const TRIGGERS: [Trigger; 6] = [
    Trigger {
        word: "FAKE_REQUEST_USER_INPUT",
        id: "fake-user-input",
        tool: "request_user_input",
        arguments: || {
            let options = json!([
                { "label": "A", "description": "The first way" },
                { "label": "B", "description": "The second way" },
            ]);
            json!({ "questions": [
                { "header": "Choice", "id": "choice", "question": "Which way shall it be?", "options": options },
            ] })
        },
    },
    Trigger {
        word: "FAKE_EXTERNAL_TOOL",
        id: "fake-external-tool",
        tool: "acme_lookup",
        arguments: || json!({ "query": "thread status" }),
    },
    Trigger {
        word: "FAKE_TASK_LEDGER_UPDATE",
        id: "fake-task-ledger-update",
        tool: "task_ledger.update",
        arguments: || {
            json!({ "tasks": [
                { "id": "inspect", "content": "Inspect the workspace", "status": "in_progress" },
                { "id": "report", "content": "Report what was found", "status": "pending" },
            ] })
        },
    },
    Trigger {
        word: "FAKE_TASK_LEDGER_COMPLETE",
        id: "fake-task-ledger-complete",
        tool: "task_ledger.update",
        arguments: || {
            let (status, evidence) = ("completed", "seen by the mock");
            json!({ "tasks": [
                { "id": "inspect", "content": "Inspect the workspace", "status": status, "evidence": evidence },
                { "id": "report", "content": "Report what was found", "status": status, "evidence": evidence },
            ] })
        },
    },
    Trigger {
        word: "FAKE_WRITE_FILE",
        id: "fake-write-file",
        tool: "write_file",
        arguments: || json!({ "path": "src/lib.rs", "content": "pub fn answer() -> u32 {\n    42\n}\n" }),
    },
    Trigger {
        word: "FAKE_GREP_INDEXED",
        id: "fake-grep-indexed",
        tool: "grep",
        arguments: || json!({ "query": "BUG_ROOT_CAUSE_TOKEN" }),
    },
];

/// The word that makes it answer with a review.
const REVIEW_WORD: &str = "FAKE_REVIEW_FINDINGS";

/// Whether a text has one of the words.
pub(super) fn is_word_in(text: &str) -> bool {
    text.contains(REVIEW_WORD) || TRIGGERS.iter().any(|trigger| text.contains(trigger.word))
}

/// What the conversation triggers next, if anything.
pub(super) fn fire(entries: &[Entry]) -> Option<Attempt> {
    let is_said = |word: &str| {
        entries
            .iter()
            .any(|entry| matches!(&entry.body, EntryBody::User { text, .. } if text.contains(word)))
    };
    let is_answered = |name: &str| {
        entries
            .iter()
            .any(|entry| matches!(&entry.body, EntryBody::ToolResult { id, .. } if id == name))
    };
    let tool =
        TRIGGERS.iter().find(|trigger| is_said(trigger.word) && !is_answered(trigger.id)).map(call);
    tool.or_else(|| {
        is_said(REVIEW_WORD).then(review).filter(|text| !is_given(entries, text)).map(reply)
    })
}

fn is_given(entries: &[Entry], review: &str) -> bool {
    entries.iter().any(|entry| matches!(&entry.body, EntryBody::Agent { text } if text == review))
}

fn call(trigger: &Trigger) -> Attempt {
    let action = Action::Call {
        tool: trigger.tool.to_owned(),
        arguments: (trigger.arguments)().to_string(),
        id: Some(trigger.id.to_owned()),
        delay: Duration::ZERO,
    };
    Attempt { actions: vec![action], end: End::Done(None) }
}

fn reply(text: String) -> Attempt {
    Attempt {
        actions: vec![Action::Text { pieces: vec![text], delay: Duration::ZERO }],
        end: End::Done(None),
    }
}

fn review() -> String {
    let location =
        json!({ "absolute_file_path": "src/lib.rs", "line_range": { "start": 1, "end": 1 } });
    json!({
        "findings": [{
            "title": "Check the result before it is used",
            "body": "The first line takes a result for granted that may be an error.",
            "priority": 1,
            "confidence_score": 0.9,
            "code_location": location,
        }],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "One finding should be mended first.",
        "overall_confidence_score": 0.9,
    })
    .to_string()
}
