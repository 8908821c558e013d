//! Events of tasks for people: messages as lines, streamed ones as they grow.

use std::collections::HashMap;

use serde_json::Value;

use crate::failure::Outcome;
use crate::output::{self, Colors, Tone};

/// Where a task stands, as far as its events say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Works,
    Waits,
    Completed,
    Stopped,
}

/// Shows events one after the other.
pub(super) struct Show {
    colors: Colors,
    /// How much of each streamed message was printed.
    printed: HashMap<u64, usize>,
    /// The message whose last line is not ended.
    open: Option<u64>,
}

impl Show {
    pub(super) fn new() -> Show {
        Show { colors: Colors::of_stdout(), printed: HashMap::new(), open: None }
    }

    /// Prints what an event says to people, if it does.
    pub(super) fn event(&mut self, event: &Value) -> Outcome<()> {
        let payload = &event["data"]["payload"];
        match event["data"]["eventName"].as_str().unwrap_or_default() {
            "message" => self.message(&payload[0]["message"]),
            "taskModeSwitched" => self.note(Tone::Faint, &format!("mode: {}", text(&payload[1]))),
            "taskSpawned" => self.note(Tone::Faint, &format!("subtask: {}", text(&payload[1]))),
            _ => Ok(()),
        }
    }

    pub(super) fn message(&mut self, message: &Value) -> Outcome<()> {
        let said = message["say"].as_str();
        let body = text(&message["text"]);
        match (said, message["ask"].as_str()) {
            (Some("text" | "reasoning" | "command_output"), _) => self.grow(message, body),
            (Some("user_feedback"), _) => self.note(Tone::Strong, &format!("> {body}")),
            (Some("error" | "diff_error"), _) => self.note(Tone::Bad, &format!("error: {body}")),
            (Some("api_req_retry_delayed"), _) if message["partial"] == Value::Bool(false) => {
                self.note(Tone::Warning, "asking the provider again")
            }
            (_, Some("command_output" | "completion_result")) | (Some(_), _) => Ok(()),
            (_, Some(ask)) if message["partial"] != Value::Bool(true) => {
                let answered = message["isAnswered"] == Value::Bool(true);
                if answered { Ok(()) } else { self.note(Tone::Warning, &asked(ask, body)) }
            }
            _ => Ok(()),
        }
    }

    /// Prints what is new of a message that grows.
    fn grow(&mut self, message: &Value, body: &str) -> Outcome<()> {
        let ts = message["ts"].as_u64().unwrap_or_default();
        let printed = self.printed.get(&ts).copied().unwrap_or(0);
        if self.open.is_some_and(|open| open != ts) {
            output::line("")?;
        }
        let new = body.get(printed..).unwrap_or_default();
        let tone = match message["say"].as_str() {
            Some("text") => Tone::Plain,
            _ => Tone::Faint,
        };
        let shown: String =
            new.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect();
        output::write(self.colors.paint(tone, &shown).as_bytes())?;
        self.printed.insert(ts, body.len().max(printed));
        self.open = Some(ts);
        let is_final = message["partial"] != Value::Bool(true);
        if is_final {
            self.open = None;
            self.printed.remove(&ts);
            if !body.ends_with('\n') {
                output::line("")?;
            }
        }
        Ok(())
    }

    fn note(&mut self, tone: Tone, text: &str) -> Outcome<()> {
        if self.open.take().is_some() {
            output::line("")?;
        }
        let lines = text.lines().map(output::printable).collect::<Vec<_>>().join("\n");
        output::line(self.colors.paint(tone, &lines))
    }
}

/// What is asked, in a line or a few.
fn asked(ask: &str, body: &str) -> String {
    let inner: Value = serde_json::from_str(body).unwrap_or_default();
    match ask {
        "command" => format!("? run: {body}"),
        "tool" => {
            let path = text(&inner["path"]);
            let more = text(&inner["content"]);
            format!("? {} {path}\n{more}", text(&inner["tool"]))
        }
        "use_mcp_server" => {
            format!("? {} of {}", text(&inner["toolName"]), text(&inner["serverName"]))
        }
        "followup" => {
            let options = inner["suggest"].as_array().into_iter().flatten();
            let options: Vec<&str> = options.map(|option| text(&option["answer"])).collect();
            format!("? {} [{}]", text(&inner["question"]), options.join(" / "))
        }
        "resume_task" | "resume_completed_task" => "the task can be resumed".to_owned(),
        "api_req_failed" => format!("the provider failed: {body}"),
        other => format!("? {}: {body}", other.replace('_', " ")),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The task that an event is about.
pub(super) fn task_of(event: &Value) -> Option<&str> {
    let first = &event["data"]["payload"][0];
    first.as_str().or_else(|| first["taskId"].as_str())
}

/// Where a task stands after an event, if that says so.
pub(super) fn standing(event: &Value) -> Option<Standing> {
    Some(match event["data"]["eventName"].as_str()? {
        "taskCompleted" => Standing::Completed,
        "taskAborted" => Standing::Stopped,
        "taskInteractive" => Standing::Waits,
        "taskActive" | "taskStarted" => Standing::Works,
        "taskIdle" | "taskResumable" => Standing::Stopped,
        _ => return None,
    })
}
