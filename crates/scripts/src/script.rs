//! A workflow script that was read: its form, what it says of itself, its text.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::literal::Reader;
use crate::sandbox::{LONGEST_STRETCH, Sandbox};
use crate::{ErrorKind, Limits, ScriptError, hash};

/// Longest script, in bytes.
pub const MAX_SOURCE: usize = 512 << 10;
/// Longest name and title, in characters.
const MAX_NAME: usize = 200;
/// Most phases that a script declares.
const MAX_PHASES: usize = 100;
/// The version of the functions that we give to scripts.
pub const HOST_API_VERSION: u64 = 1;

/// Which of the two ways a script is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `workflow.define(metadata, handler)`.
    Defined,
    /// `export const meta`, and functions that are simply there.
    Bare,
}

/// A phase that a script declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredPhase {
    /// Its name.
    pub title: String,
    /// What happens in it.
    pub detail: Option<String>,
    /// The model of its agents that name none.
    pub model: Option<String>,
}

/// A script that was read and may be run.
#[derive(Clone, PartialEq)]
pub struct Script {
    pub form: Form,
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    pub arguments_schema: Option<Value>,
    /// The phases it declares.
    pub phases: Vec<DeclaredPhase>,
    /// The limits it sets itself, as it writes them.
    pub limits: Option<Value>,
    /// Its text.
    pub source: String,
    /// SHA-256 of its text, in hexadecimal.
    pub hash: String,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = (self.form, &self.name, &self.hash);
        f.debug_tuple("Script").field(&short).finish()
    }
}

impl Script {
    /// Reads a script, without starting any agent.
    ///
    /// It blocks: what stands at the top of a script of the first form is run, for five seconds at most.
    ///
    /// # Errors
    /// If it does not compile, or what it says of itself is wrong.
    pub fn read(source: &str) -> Result<Script, ScriptError> {
        Script::read_within(source, LONGEST_STRETCH)
    }

    /// The same for whoever has less time: what stands at the top may run for as long at most.
    ///
    /// # Errors
    /// As for [`Script::read`], or if the time is over.
    pub fn read_within(source: &str, longest: Duration) -> Result<Script, ScriptError> {
        if source.len() > MAX_SOURCE {
            let message = format!("the script is longer than {MAX_SOURCE} bytes");
            return Err(ScriptError::new(ErrorKind::LimitExceeded, message));
        }
        let (form, metadata) = match bare(source)? {
            Some(bare) => {
                Sandbox::inspect(Form::Bare, &bare.body, longest)?;
                (Form::Bare, bare.metadata)
            }
            None if source.contains("workflow.define") => {
                let text = Sandbox::inspect(Form::Defined, source, longest)?;
                let text = text.ok_or_else(missing)?;
                (Form::Defined, serde_json::from_str(&text).unwrap_or(Value::Null))
            }
            None => return Err(missing()),
        };
        let Value::Object(metadata) = metadata else {
            return Err(invalid("the metadata must be an object"));
        };
        Script::from_metadata(form, &metadata, source)
    }

    fn from_metadata(
        form: Form,
        metadata: &Map<String, Value>,
        source: &str,
    ) -> Result<Script, ScriptError> {
        let name = text(metadata, "name")?;
        let name = name.ok_or_else(|| invalid("name must be a text that is not blank"))?;
        match metadata.get("hostApiVersion") {
            None | Some(Value::Null) => {}
            Some(version) if version.as_u64() == Some(HOST_API_VERSION) => {}
            Some(version) => {
                let message =
                    format!("hostApiVersion is {version}; this is version {HOST_API_VERSION}");
                return Err(ScriptError::new(ErrorKind::UnsupportedHostApiVersion, message));
            }
        }
        let limits = metadata.get("limits").filter(|limits| !limits.is_null()).cloned();
        Limits::default().lowered(limits.as_ref())?;
        let arguments_schema =
            metadata.get("argumentsSchema").filter(|schema| !schema.is_null()).cloned();
        if let Some(schema) = &arguments_schema {
            crate::schema::check(schema)
                .map_err(|why| invalid(format!("argumentsSchema: {why}")))?;
        }
        Ok(Script {
            form,
            name,
            description: text(metadata, "description")?,
            arguments_schema,
            phases: phases(metadata.get("phases"))?,
            limits,
            hash: hash(source.as_bytes()),
            source: source.to_owned(),
        })
    }

    /// What is compiled: the text itself, or what stands below the metadata.
    pub(crate) fn body(&self) -> String {
        match bare(&self.source) {
            Ok(Some(bare)) if self.form == Form::Bare => bare.body,
            _ => self.source.clone(),
        }
    }

    /// Whether these arguments fit the schema that the script declares. It blocks.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), String> {
        match &self.arguments_schema {
            Some(schema) => crate::schema::validate(schema, arguments),
            None => Ok(()),
        }
    }
}

/// A script of the second form, taken apart.
struct Bare {
    metadata: Value,
    /// The rest, on the lines where it stands.
    body: String,
}

fn bare(source: &str) -> Result<Option<Bare>, ScriptError> {
    let mut reader = Reader::new(source);
    let begins = ["export", "const", "meta"].iter().all(|word| reader.takes_word(word));
    if !begins || !reader.takes("=") {
        return Ok(None);
    }
    let metadata = reader.literal().map_err(|wrong| {
        let before = source.as_bytes().iter().take(wrong.at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        invalid(wrong.message).at(u32::try_from(line).ok())
    })?;
    let mut end = reader.clone();
    let is_ended = end.takes(";");
    let at = if is_ended { end.at() } else { reader.at() };
    let (head, body) = source.split_at(at);
    let lines: String = head.chars().filter(|c| *c == '\n').collect();
    Ok(Some(Bare { metadata, body: lines + body }))
}

fn text(metadata: &Map<String, Value>, member: &str) -> Result<Option<String>, ScriptError> {
    match metadata.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => {
            let length = text.chars().count();
            if member == "name" && length > MAX_NAME {
                return Err(invalid(format!("name is longer than {MAX_NAME} characters")));
            }
            Ok(Some(text.clone()))
        }
        Some(_) => Err(invalid(format!("{member} must be a text that is not blank"))),
    }
}

/// Phases are texts, or objects with a title.
fn phases(said: Option<&Value>) -> Result<Vec<DeclaredPhase>, ScriptError> {
    let wrong = || invalid("phases must be a list of titles");
    let said = match said {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(said)) if said.len() <= MAX_PHASES => said,
        Some(Value::Array(_)) => return Err(invalid(format!("more than {MAX_PHASES} phases"))),
        Some(_) => return Err(wrong()),
    };
    let phases = said.iter().map(|phase| match phase {
        Value::String(title) => Ok((title.clone(), None, None)),
        Value::Object(phase) => {
            let title = phase.get("title").or_else(|| phase.get("name"));
            let title = title.and_then(Value::as_str).ok_or_else(wrong)?;
            let detail = phase.get("detail").or_else(|| phase.get("description"));
            let detail = detail.and_then(Value::as_str).map(str::to_owned);
            let model = match phase.get("model") {
                None | Some(Value::Null) => None,
                Some(Value::String(model)) if is_name(model) => Some(model.clone()),
                Some(_) => return Err(invalid("the model of a phase must be a short text")),
            };
            Ok((title.to_owned(), detail, model))
        }
        _ => Err(wrong()),
    });
    let phases = phases.map(|phase| {
        let (title, detail, model) = phase?;
        match is_name(&title) {
            true => Ok(DeclaredPhase { title, detail, model }),
            false => Err(wrong()),
        }
    });
    phases.collect()
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME
}

fn invalid(message: impl Into<String>) -> ScriptError {
    ScriptError::new(ErrorKind::InvalidMetadata, message)
}

fn missing() -> ScriptError {
    let message = "the text calls no workflow.define(metadata, handler) and does not begin with export const meta";
    ScriptError::new(ErrorKind::MissingDefinition, message)
}
