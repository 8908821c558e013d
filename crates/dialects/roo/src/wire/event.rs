//! Events, in the two shapes that clients know: as the published client validates them (names of values,
//! lists of arguments) and as the schema document writes them (names of members, objects).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::message::{Action, ClineMessage};
use super::usage::{TokenUsage, ToolUsage};
use super::words::ToolName;

/// Which shape events have on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// As the published client validates them.
    #[default]
    Published,
    /// As the schema document writes them.
    Seed,
}

/// Something that happened to a task, or that a client asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something happened to a task that its name says.
    Task(Change, String),
    /// Something happened between a task and one that works for it.
    Family(Bond, String, String),
    /// A task came to a result.
    Completed {
        /// The task.
        task: String,
        /// Its tokens.
        usage: TokenUsage,
        /// Its tools.
        tools: ToolUsage,
        /// Whether another task waits for the result.
        is_subtask: bool,
    },
    /// A task that worked for another came to a result.
    DelegationCompleted {
        /// The task that waited.
        task: String,
        /// The one that worked.
        child: String,
        /// The result.
        summary: String,
    },
    /// A message is new or has changed.
    Message {
        /// The task.
        task: String,
        /// Whether it is new.
        action: Action,
        /// All of it.
        message: Box<ClineMessage>,
    },
    /// A task works in another mode.
    ModeSwitched {
        /// The task.
        task: String,
        /// The mode.
        slug: String,
    },
    /// The messages that wait for a task are others.
    Queued {
        /// The task.
        task: String,
        /// All of them.
        messages: Vec<QueuedMessage>,
    },
    /// A tool failed.
    ToolFailed {
        /// The task.
        task: String,
        /// The tool.
        tool: ToolName,
        /// What went wrong.
        error: String,
    },
    /// Tokens or tools were counted.
    Usage {
        /// The task.
        task: String,
        /// Its tokens.
        usage: TokenUsage,
        /// Its tools.
        tools: ToolUsage,
    },
    /// The slash commands that there are.
    Commands(Vec<CommandEntry>),
    /// The modes that there are.
    Modes(Vec<ModeEntry>),
    /// The models that there are.
    Models(BTreeMap<String, ModelInfo>),
    /// What a command came to.
    Reply {
        /// The command.
        command: String,
        /// What the client calls the request; empty if it does not.
        request: String,
        /// What it came to.
        payload: Value,
    },
}

/// Declares events that have a name and a task only, with the names of both shapes.
macro_rules! named {
    ($(#[$doc:meta])* $Type:ident { $( $(#[$vdoc:meta])* $Variant:ident = $published:literal, $seed:literal; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Type { $( $(#[$vdoc])* $Variant, )* }

        impl $Type {
            fn names(self) -> (&'static str, &'static str) {
                match self { $( $Type::$Variant => ($published, $seed), )* }
            }
        }
    };
}

named! {
    /// What happens to a task and says no more.
    Change {
        /// It is there.
        Created = "taskCreated", "TaskCreated";
        /// Its agent begins to work.
        Started = "taskStarted", "TaskStarted";
        /// It was stopped.
        Aborted = "taskAborted", "TaskAborted";
        /// It is the one that its client looks at.
        Focused = "taskFocused", "TaskFocused";
        /// It no longer is.
        Unfocused = "taskUnfocused", "TaskUnfocused";
        /// It works again.
        Active = "taskActive", "TaskActive";
        /// It waits for an answer.
        Interactive = "taskInteractive", "TaskInteractive";
        /// It can be resumed.
        Resumable = "taskResumable", "TaskResumable";
        /// It has nothing to do.
        Idle = "taskIdle", "TaskIdle";
        /// It waits for a task that works for it.
        Paused = "taskPaused", "TaskPaused";
        /// It no longer does.
        Unpaused = "taskUnpaused", "TaskUnpaused";
        /// What it asked was answered.
        AskResponded = "taskAskResponded", "TaskAskResponded";
    }
}

named! {
    /// What happens between a task and one that works for it.
    Bond {
        /// The other is there.
        Spawned = "taskSpawned", "TaskSpawned";
        /// The other works for it.
        Delegated = "taskDelegated", "TaskDelegated";
        /// It goes on after the other.
        Resumed = "taskDelegationResumed", "TaskDelegationResumed";
    }
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedMessage {
    /// When it was sent, in milliseconds.
    pub timestamp: u64,
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandEntry {
    /// Its name.
    pub name: String,
    /// Where it comes from: `global`, `project` or `built-in`.
    pub source: String,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What may follow its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
}

/// A mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeEntry {
    /// Its name in commands.
    pub slug: String,
    /// Its name for people.
    pub name: String,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// Tokens that a conversation may have.
    pub context_window: u64,
    /// Whether it reads the same beginning cheaper the second time.
    pub supports_prompt_cache: bool,
    /// Tokens that an answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Whether it sees images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_images: Option<bool>,
    /// Whether its reasoning effort can be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_reasoning_effort: Option<bool>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Event {
    /// The task that it is about, if it is about one.
    #[must_use]
    pub fn task(&self) -> Option<&str> {
        match self {
            Event::Task(_, task)
            | Event::Family(_, task, _)
            | Event::Completed { task, .. }
            | Event::DelegationCompleted { task, .. }
            | Event::Message { task, .. }
            | Event::ModeSwitched { task, .. }
            | Event::Queued { task, .. }
            | Event::ToolFailed { task, .. }
            | Event::Usage { task, .. } => Some(task),
            Event::Commands(_) | Event::Modes(_) | Event::Models(_) | Event::Reply { .. } => None,
        }
    }

    /// The name in a shape.
    #[must_use]
    pub fn name(&self, shape: Shape) -> &'static str {
        let (published, seed) = match self {
            Event::Task(change, _) => change.names(),
            Event::Family(bond, _, _) => bond.names(),
            Event::Completed { .. } => ("taskCompleted", "TaskCompleted"),
            Event::DelegationCompleted { .. } => {
                ("taskDelegationCompleted", "TaskDelegationCompleted")
            }
            Event::Message { .. } => ("message", "Message"),
            Event::ModeSwitched { .. } => ("taskModeSwitched", "TaskModeSwitched"),
            Event::Queued { .. } => ("queuedMessagesUpdated", "QueuedMessagesUpdated"),
            Event::ToolFailed { .. } => ("taskToolFailed", "TaskToolFailed"),
            Event::Usage { .. } => ("taskTokenUsageUpdated", "TaskTokenUsageUpdated"),
            Event::Commands(_) => ("commandsResponse", "CommandsResponse"),
            Event::Modes(_) => ("modesResponse", "ModesResponse"),
            Event::Models(_) => ("modelsResponse", "ModelsResponse"),
            Event::Reply { .. } => ("commandResponse", "CommandResponse"),
        };
        match shape {
            Shape::Published => published,
            Shape::Seed => seed,
        }
    }

    /// What it says, with the names that the schema document has for it.
    fn parts(&self) -> Vec<(&'static str, Part<'_>)> {
        match self {
            Event::Task(_, task) => vec![("taskId", Part::Text(task))],
            Event::Family(_, task, child) => {
                vec![("taskId", Part::Text(task)), ("childTaskId", Part::Text(child))]
            }
            Event::Completed { task, usage, tools, is_subtask } => vec![
                ("taskId", Part::Text(task)),
                ("usage", Part::Usage(usage)),
                ("toolUsage", Part::Tools(tools)),
                ("isSubtask", Part::Subtask(*is_subtask)),
            ],
            Event::DelegationCompleted { task, child, summary } => vec![
                ("taskId", Part::Text(task)),
                ("childTaskId", Part::Text(child)),
                ("summary", Part::Text(summary)),
            ],
            Event::Message { task, action, message } => vec![
                ("taskId", Part::Text(task)),
                ("action", Part::Action(*action)),
                ("message", Part::Message(message)),
            ],
            Event::ModeSwitched { task, slug } => {
                vec![("taskId", Part::Text(task)), ("modeSlug", Part::Text(slug))]
            }
            Event::Queued { task, messages } => {
                vec![("taskId", Part::Text(task)), ("messages", Part::Queued(messages))]
            }
            Event::ToolFailed { task, tool, error } => vec![
                ("taskId", Part::Text(task)),
                ("toolName", Part::Tool(*tool)),
                ("error", Part::Text(error)),
            ],
            Event::Usage { task, usage, tools } => vec![
                ("taskId", Part::Text(task)),
                ("usage", Part::Usage(usage)),
                ("toolUsage", Part::Tools(tools)),
            ],
            Event::Commands(commands) => vec![("commands", Part::Commands(commands))],
            Event::Modes(modes) => vec![("modes", Part::Modes(modes))],
            Event::Models(models) => vec![("models", Part::Models(models))],
            Event::Reply { command, request, payload } => vec![
                ("commandName", Part::Text(command)),
                ("requestId", Part::Text(request)),
                ("payload", Part::Json(payload)),
            ],
        }
    }

    /// Whether the published shape has one object with everything instead of a list of arguments.
    fn is_one_object(&self) -> bool {
        matches!(self, Event::Message { .. } | Event::Reply { .. })
    }

    /// The message that carries it, for one client or for all; `number` is the task's own number.
    #[must_use]
    pub fn to_bytes(&self, shape: Shape, relay: Option<&str>, number: Option<u64>) -> Vec<u8> {
        let data = EventData {
            event_name: self.name(shape),
            payload: Payload { event: self, shape },
            task_id: number.filter(|_| shape == Shape::Seed),
        };
        let envelope =
            Envelope { kind: "TaskEvent", origin: "server", relay_client_id: relay, data };
        // Texts, numbers and maps with text keys always can be written.
        serde_json::to_vec(&envelope).unwrap_or_default()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    relay_client_id: Option<&'a str>,
    data: EventData<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventData<'a> {
    event_name: &'static str,
    payload: Payload<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<u64>,
}

/// A part of what an event says.
#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Text(&'a str),
    Usage(&'a TokenUsage),
    Tools(&'a ToolUsage),
    Subtask(bool),
    Action(Action),
    Message(&'a ClineMessage),
    Queued(&'a [QueuedMessage]),
    Tool(ToolName),
    Commands(&'a [CommandEntry]),
    Modes(&'a [ModeEntry]),
    Models(&'a BTreeMap<String, ModelInfo>),
    Json(&'a Value),
}

struct Payload<'a> {
    event: &'a Event,
    shape: Shape,
}

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.event.parts();
        match self.shape {
            Shape::Seed => Object(&parts).serialize(serializer),
            Shape::Published if self.event.is_one_object() => {
                let mut list = serializer.serialize_seq(Some(1))?;
                list.serialize_element(&Object(&parts))?;
                list.end()
            }
            Shape::Published => {
                let mut list = serializer.serialize_seq(Some(parts.len()))?;
                for part in &parts {
                    match part {
                        (_, Part::Subtask(_)) => {
                            list.serialize_element(&Object(std::slice::from_ref(part)))?;
                        }
                        (_, part) => list.serialize_element(part)?,
                    }
                }
                list.end()
            }
        }
    }
}

struct Object<'a>(&'a [(&'static str, Part<'a>)]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, part) in self.0 {
            map.serialize_entry(name, part)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::Say;
    use super::*;

    fn text(event: &Event, shape: Shape, number: Option<u64>) -> String {
        String::from_utf8(event.to_bytes(shape, None, number)).unwrap()
    }

    #[test]
    fn a_change_is_a_list_or_an_object() {
        let event = Event::Task(Change::Created, "t".into());
        assert_eq!(
            text(&event, Shape::Published, Some(3)),
            r#"{"type":"TaskEvent","origin":"server","data":{"eventName":"taskCreated","payload":["t"]}}"#
        );
        assert_eq!(
            text(&event, Shape::Seed, Some(3)),
            r#"{"type":"TaskEvent","origin":"server","data":{"eventName":"TaskCreated","payload":{"taskId":"t"},"taskId":3}}"#
        );
    }

    #[test]
    fn a_completion_says_whether_it_is_of_a_subtask() {
        let usage = TokenUsage::default();
        let tools = ToolUsage::default();
        let event = Event::Completed { task: "t".into(), usage, tools, is_subtask: false };
        let published = text(&event, Shape::Published, None);
        assert!(
            published.contains(
                r#"["t",{"totalTokensIn":0,"totalTokensOut":0,"totalCost":0.0,"contextTokens":0},{},{"isSubtask":false}]"#
            ),
            "{published}"
        );
        let seed = text(&event, Shape::Seed, None);
        assert!(seed.ends_with(r#""toolUsage":{},"isSubtask":false}}}"#), "{seed}");
    }

    #[test]
    fn a_message_is_one_object_in_both() {
        let message = Box::new(ClineMessage { ts: 1, ..ClineMessage::say(Say::Text, "hi") });
        let event = Event::Message { task: "t".into(), action: Action::Created, message };
        let inner = r#"{"taskId":"t","action":"created","message":{"ts":1,"type":"say","say":"text","text":"hi"}}"#;
        let published = text(&event, Shape::Published, None);
        assert!(published.contains(&format!("\"payload\":[{inner}]")), "{published}");
        let seed = text(&event, Shape::Seed, None);
        assert!(seed.contains(&format!("\"eventName\":\"Message\",\"payload\":{inner}")), "{seed}");
    }

    #[test]
    fn a_reply_names_its_client() {
        let payload = Value::Bool(true);
        let event = Event::Reply { command: "IsReady".into(), request: String::new(), payload };
        let bytes = event.to_bytes(Shape::Published, Some("c"), None);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"type":"TaskEvent","origin":"server","relayClientId":"c","data":{"eventName":"commandResponse","payload":[{"commandName":"IsReady","requestId":"","payload":true}]}}"#
        );
    }
}
