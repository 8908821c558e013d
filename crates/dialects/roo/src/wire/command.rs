//! What commands say: one type per shape of their data, read by hand, since a member that is missing and
//! one that does not fit are two errors.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::settings::Settings;
use crate::errors::{Code, Failure};

/// What a command says.
pub trait Data: Sized + Send + 'static {
    /// Reads it.
    ///
    /// # Errors
    /// The member that is missing or does not fit.
    fn read(data: Option<Value>) -> Result<Self, Failure>;

    /// Describes it.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Nothing; whatever comes is ignored.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Data for Nothing {
    fn read(_: Option<Value>) -> Result<Self, Failure> {
        Ok(Nothing)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}

/// A task.
#[derive(Clone, Debug)]
pub struct OneTask(pub String);

impl Data for OneTask {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        text(data, "task id").map(OneTask)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-id": "thread" })
    }
}

/// A task, or the current one.
#[derive(Clone, Debug)]
pub struct SomeTask(pub Option<String>);

impl Data for SomeTask {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        match data {
            None => Ok(SomeTask(None)),
            Some(Value::String(task)) if task.is_empty() => Ok(SomeTask(None)),
            Some(Value::String(task)) => Ok(SomeTask(Some(task))),
            Some(_) => Err(Failure::invalid("data", "must be a task id, or absent")),
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"], "x-id": "thread" })
    }
}

/// A text: a name, a line of a log, an id of a message.
#[derive(Clone, Debug)]
pub struct OneText(pub String);

impl Data for OneText {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        text(data, "text").map(OneText)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// A text that may be left out.
#[derive(Clone, Debug)]
pub struct SomeText(pub Option<String>);

impl Data for SomeText {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        match data {
            None => Ok(SomeText(None)),
            Some(Value::String(text)) => Ok(SomeText(Some(text))),
            Some(_) => Err(Failure::invalid("data", "must be a text, or absent")),
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

/// A task to be started.
#[derive(Clone, Debug)]
pub struct StartNewTask {
    /// Settings of the task.
    pub configuration: Settings,
    /// Assignment: what the task should do.
    pub text: String,
    /// Images, as `data:` addresses.
    pub images: Vec<String>,
    /// Whether the current task goes on.
    pub new_tab: bool,
    /// Its id, if the client chose one.
    pub task: Option<String>,
}

impl Data for StartNewTask {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        let mut fields = Fields::of(data)?;
        let configuration = fields.settings("configuration")?.unwrap_or_default();
        let (text, images) = (fields.text("text")?.unwrap_or_default(), fields.images("images")?);
        let (new_tab, task) = (fields.flag("newTab")?, fields.text("taskId")?);
        if text.trim().is_empty() && images.is_empty() {
            return Err(Failure::missing("text", "a task needs a text or images"));
        }
        Ok(StartNewTask { configuration, text, images, new_tab, task })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "configuration": { "type": "object" },
                "text": { "type": "string" },
                "images": { "type": "array", "items": { "type": "string" } },
                "newTab": { "type": "boolean" },
                "taskId": { "type": "string" },
            },
        })
    }
}

/// A message to a task.
#[derive(Clone, Debug, Default)]
pub struct SendMessage {
    /// What is said.
    pub text: String,
    /// Images, as `data:` addresses.
    pub images: Vec<String>,
    /// The task; the current one if none is named.
    pub task: Option<String>,
}

impl Data for SendMessage {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        let mut fields = Fields::of(data)?;
        let text = match fields.text("text")? {
            Some(text) => Some(text),
            None => fields.text("message")?,
        };
        let mut images = fields.images("images")?;
        images.extend(fields.text("imageUrl")?);
        let task = fields.text("taskId")?;
        Ok(SendMessage { text: text.unwrap_or_default().trim().to_owned(), images, task })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "text": { "type": "string" },
                "message": { "type": "string" },
                "images": { "type": "array", "items": { "type": "string" } },
                "imageUrl": { "type": "string" },
                "taskId": { "type": "string" },
            },
        })
    }
}

/// A button that is pressed, with what is said to it.
#[derive(Clone, Debug, Default)]
pub struct Press(pub SendMessage);

impl Data for Press {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        match data {
            None => Ok(Press::default()),
            Some(Value::String(task)) => {
                let task = Some(task).filter(|task| !task.is_empty());
                Ok(Press(SendMessage { task, ..SendMessage::default() }))
            }
            data => SendMessage::read(data).map(Press),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        SendMessage::schema(generator)
    }
}

/// Settings for tasks to come.
#[derive(Clone, Debug)]
pub struct SetConfiguration(pub Settings);

impl Data for SetConfiguration {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        settings(object(data)?, "").map(SetConfiguration)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// A profile with what it holds.
#[derive(Clone, Debug)]
pub struct ProfileData {
    /// Its name, trimmed.
    pub name: String,
    /// What it holds; none if that was not said.
    pub profile: Option<Settings>,
    /// Whether it becomes the active one.
    pub activate: bool,
}

impl Data for ProfileData {
    fn read(data: Option<Value>) -> Result<Self, Failure> {
        let (name, profile, activate) = match data {
            Some(Value::Object(members)) => {
                let mut fields = Fields(members);
                let name = fields.text("name")?;
                let name = name.ok_or_else(|| Failure::missing("name", "a profile has a name"))?;
                (name, fields.settings("profile")?, fields.flag("activate")?)
            }
            data => (text(data, "name of a profile")?, None, false),
        };
        let name = name.trim().to_owned();
        if name.is_empty() {
            return Err(Failure::missing("name", "the name of a profile must not be empty"));
        }
        Ok(ProfileData { name, profile, activate })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "profile": { "type": "object" },
                        "activate": { "type": "boolean" },
                    },
                    "required": ["name"],
                },
            ],
        })
    }
}

/// What a command that only does something answers.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct Done {
    /// Always true: failures are errors.
    pub success: bool,
}

impl Done {
    /// It was done.
    pub const YES: Done = Done { success: true };
}

fn text(data: Option<Value>, what: &str) -> Result<String, Failure> {
    match data {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::String(_)) => {
            Err(Failure::missing("data", format!("a {what} is needed")))
        }
        Some(_) => Err(Failure::invalid("data", format!("must be a {what}"))),
    }
}

fn object(data: Option<Value>) -> Result<Map<String, Value>, Failure> {
    match data {
        Some(Value::Object(members)) => Ok(members),
        None => Err(Failure::missing("data", "an object is needed")),
        Some(_) => Err(Failure::new(Code::InvalidCommand, "`data` must be an object")),
    }
}

fn settings(members: Map<String, Value>, prefix: &str) -> Result<Settings, Failure> {
    Settings::check(members).map_err(|(name, reason)| {
        let dot = if prefix.is_empty() { "" } else { "." };
        Failure::invalid(&format!("{prefix}{dot}{name}"), reason)
    })
}

/// The members of an object, taken one by one. Null is as good as absent.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(data: Option<Value>) -> Result<Fields, Failure> {
        object(data).map(Fields)
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Failure::invalid(name, "must be a text")),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(is_on)) => Ok(is_on),
            Some(_) => Err(Failure::invalid(name, "must be true or false")),
        }
    }

    fn images(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        let wrong = || Failure::invalid(name, "must be a list of data: addresses");
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        let Value::Array(list) = value else { return Err(wrong()) };
        let texts = list.into_iter().map(|one| match one {
            Value::String(text) => Ok(text),
            _ => Err(wrong()),
        });
        texts.collect()
    }

    fn settings(&mut self, name: &str) -> Result<Option<Settings>, Failure> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(members)) => settings(members, name).map(Some),
            Some(_) => Err(Failure::invalid(name, "must be an object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code<T: Data>(data: Value) -> Option<(Code, String)> {
        let data = Some(data).filter(|data| !data.is_null());
        T::read(data).err().map(|failure| (failure.code, failure.message))
    }

    #[test]
    fn what_is_missing_is_not_what_does_not_fit() {
        let cases = [
            (code::<OneTask>(json!(null)), Code::MissingParameter),
            (code::<OneTask>(json!("")), Code::MissingParameter),
            (code::<OneTask>(json!(5)), Code::InvalidParameter),
            (code::<SomeTask>(json!({})), Code::InvalidParameter),
            (code::<StartNewTask>(json!(null)), Code::MissingParameter),
            (code::<StartNewTask>(json!("x")), Code::InvalidCommand),
            (code::<StartNewTask>(json!({})), Code::MissingParameter),
            (code::<StartNewTask>(json!({"text": " "})), Code::MissingParameter),
            (code::<StartNewTask>(json!({"text": 5})), Code::InvalidParameter),
            (code::<StartNewTask>(json!({"text": "x", "images": [1]})), Code::InvalidParameter),
            (code::<StartNewTask>(json!({"text": "x", "newTab": 1})), Code::InvalidParameter),
            (code::<SendMessage>(json!({"text": []})), Code::InvalidParameter),
            (code::<ProfileData>(json!("  ")), Code::MissingParameter),
            (code::<SetConfiguration>(json!([])), Code::InvalidCommand),
        ];
        for (at, (got, expected)) in cases.into_iter().enumerate() {
            assert_eq!(got.map(|(code, _)| code), Some(expected), "case {at}");
        }
    }

    #[test]
    fn a_setting_that_does_not_fit_is_named() {
        let data = json!({"text": "x", "configuration": {"autoApprovalEnabled": "yes"}});
        let (code, message) = code::<StartNewTask>(data).unwrap();
        assert_eq!(code, Code::InvalidParameter);
        assert!(message.contains("`configuration.autoApprovalEnabled`"), "{message}");
    }

    #[test]
    fn both_spellings_of_a_message_are_read() {
        for data in [json!({"text": " hi "}), json!({"message": "hi"})] {
            assert_eq!(SendMessage::read(Some(data)).unwrap().text, "hi");
        }
        let Press(said) = Press::read(Some(json!("t"))).unwrap();
        assert_eq!(said.task.as_deref(), Some("t"));
        assert!(Press::read(None).unwrap().0.task.is_none());
    }
}
