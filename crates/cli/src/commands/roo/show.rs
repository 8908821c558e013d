//! Events of tasks for people: messages as lines, streamed ones as they grow.

use std::collections::HashMap;

use serde_json::Value;

use crate::failure::Outcome;
use crate::output::{self, Colors, Tone};
use crate::talk::show::short_id;

/// Where a task stands, as far as its events say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Works,
    Waits,
    Completed,
    /// It cannot go on by itself, and can be asked to.
    Failed,
    Stopped,
}

/// Shows events one after the other.
pub(super) struct Show {
    colors: Colors,
    /// How much of each streamed message of the task was printed.
    printed: HashMap<u64, usize>,
    /// The message whose last line is not ended.
    open: Option<u64>,
    /// The task that was shown last, where there are several.
    task: Option<String>,
    names_tasks: bool,
}

impl Show {
    /// With `names_tasks`, what is said is headed by the task that says it.
    pub(super) fn new(names_tasks: bool) -> Show {
        let (printed, open, task) = (HashMap::new(), None, None);
        Show { colors: Colors::of_stdout(), printed, open, task, names_tasks }
    }

    /// Prints what an event says to people, if it does.
    pub(super) fn event(&mut self, event: &Value) -> Outcome<()> {
        let payload = &event["data"]["payload"];
        let name = event["data"]["eventName"].as_str().unwrap_or_default();
        if matches!(name, "message" | "taskModeSwitched" | "taskSpawned") {
            self.head(task_of(event).unwrap_or_default())?;
        }
        match name {
            "message" => self.message(&payload[0]["message"], false),
            "taskModeSwitched" => self.note(Tone::Faint, &format!("mode: {}", text(&payload[1]))),
            "taskSpawned" => self.note(Tone::Faint, &format!("subtask: {}", text(&payload[1]))),
            _ => Ok(()),
        }
    }

    /// Prints a message of the past.
    pub(super) fn record(&mut self, message: &Value) -> Outcome<()> {
        self.message(message, true)
    }

    /// Names the task if it is another one than before.
    fn head(&mut self, task: &str) -> Outcome<()> {
        if self.task.as_deref() == Some(task) {
            return Ok(());
        }
        // Messages are known by numbers that are unique in their task only.
        self.end_line()?;
        self.printed.clear();
        self.task = Some(task.to_owned());
        match self.names_tasks {
            true => self.note(Tone::Faint, &format!("task {}", short_id(task))),
            false => Ok(()),
        }
    }

    fn message(&mut self, message: &Value, is_past: bool) -> Outcome<()> {
        let said = message["say"].as_str();
        let body = text(&message["text"]);
        match (said, message["ask"].as_str()) {
            // Only what the user said is not streamed.
            (Some("text"), _) if message.get("partial").is_none() => {
                self.note(Tone::Strong, &format!("> {body}"))
            }
            (Some("text" | "reasoning" | "command_output"), _) => self.grow(message, body),
            (Some("user_feedback"), _) => self.note(Tone::Strong, &format!("> {body}")),
            (Some("error" | "diff_error"), _) => self.note(Tone::Bad, &format!("error: {body}")),
            (Some("api_req_retry_delayed"), _) if message["partial"] == Value::Bool(false) => {
                self.note(Tone::Warning, "asking the provider again")
            }
            (_, Some("command_output" | "completion_result")) | (Some(_), _) => Ok(()),
            (_, Some(ask)) if message["partial"] != Value::Bool(true) => {
                let is_news = is_past || message["isAnswered"] != Value::Bool(true);
                if is_news { self.note(Tone::Warning, &asked(ask, body)) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Prints what is new of a message that grows.
    fn grow(&mut self, message: &Value, body: &str) -> Outcome<()> {
        let ts = message["ts"].as_u64().unwrap_or_default();
        let printed = self.printed.get(&ts).copied().unwrap_or(0);
        if self.open.is_some_and(|open| open != ts) {
            self.end_line()?;
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

    /// Ends the line of a message that is not whole.
    pub(super) fn end_line(&mut self) -> Outcome<()> {
        match self.open.take() {
            Some(_) => output::line(""),
            None => Ok(()),
        }
    }

    fn note(&mut self, tone: Tone, text: &str) -> Outcome<()> {
        self.end_line()?;
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

/// What an event asks, once that can be answered.
pub(super) fn ask_of(event: &Value) -> Option<&str> {
    let message = &event["data"]["payload"][0]["message"];
    message["ask"].as_str().filter(|_| message["partial"] != Value::Bool(true))
}

/// Where a task stands after an event, if that says so; what it asked last says what it is idle for.
pub(super) fn standing(event: &Value, last_ask: Option<&str>) -> Option<Standing> {
    const ANSWERABLE: &[&str] = &["auto_approval_max_req_reached", "mistake_limit_reached"];
    Some(match event["data"]["eventName"].as_str()? {
        "taskCompleted" => Standing::Completed,
        "taskAborted" => Standing::Stopped,
        "taskInteractive" => Standing::Waits,
        "taskActive" | "taskStarted" => Standing::Works,
        "taskIdle" if last_ask.is_some_and(|ask| ANSWERABLE.contains(&ask)) => Standing::Waits,
        "taskIdle" => Standing::Failed,
        "taskResumable" => Standing::Stopped,
        _ => return None,
    })
}
