//! `memory_save`, `memory_query`, `memory_read`, `memory_update` and `memory_delete`: what is to be known in
//! other threads as well. Those that change memories are asked for where changes of files are: what is
//! written there is sent to agents that work elsewhere.

use rookery_model::{Memory, ScopeName, ToolKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value, json};

use super::arguments;
use crate::tool::{Tool, ToolContext, ToolOutput};

pub(super) const SAVE: Tool = Tool {
    name: "memory_save",
    kind: ToolKind::State,
    description: "Remember a fact for later threads, in one or two sentences. Never secrets.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<SaveArgs>,
    check: arguments::check::<SaveArgs>,
    run: |context, value| arguments::run(context, value, save),
};

pub(super) const QUERY: Tool = Tool {
    name: "memory_query",
    kind: ToolKind::Read,
    description: "Search memories by words. Looks in all scopes unless one is named.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<QueryArgs>,
    check: arguments::check::<QueryArgs>,
    run: |context, value| arguments::run(context, value, query),
};

pub(super) const READ: Tool = Tool {
    name: "memory_read",
    kind: ToolKind::Read,
    description: "Read a memory.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<IdArgs>,
    check: arguments::check::<IdArgs>,
    run: |context, value| arguments::run(context, value, read),
};

pub(super) const UPDATE: Tool = Tool {
    name: "memory_update",
    kind: ToolKind::State,
    description: "Replace the text of a memory that is not true any more.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<UpdateArgs>,
    check: arguments::check::<UpdateArgs>,
    run: |context, value| arguments::run(context, value, update),
};

pub(super) const DELETE: Tool = Tool {
    name: "memory_delete",
    kind: ToolKind::State,
    description: "Delete a memory.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<IdArgs>,
    check: arguments::check::<IdArgs>,
    run: |context, value| arguments::run(context, value, delete),
};

/// What a tool wants of memories.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryCall {
    /// To keep one.
    Save {
        /// Whom it is for.
        scope: ScopeName,
        text: String,
        /// What is kept beside it.
        metadata: Value,
    },
    /// To find some.
    Query {
        /// Where; everywhere if it is not said.
        scope: Option<ScopeName>,
        /// By which words.
        text: String,
        /// How many.
        limit: usize,
    },
    /// To read one.
    Read(String),
    /// To change one.
    Update {
        /// Which.
        id: String,
        /// Its text from now on.
        text: String,
        /// What is kept beside it from now on; what was kept before if it is not said.
        metadata: Option<Value>,
    },
    /// To delete one.
    Delete(String),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryAnswer {
    /// It is kept, under this id; whether its text was known before.
    Saved(Box<Memory>, bool),
    /// These were found, each with its score.
    Found(Vec<(Memory, f64)>),
    /// It is this one, or there is none.
    Read(Option<Box<Memory>>),
    /// It was changed.
    Updated(Box<Memory>),
    /// Whether there was one.
    Deleted(bool),
}

/// How many memories are shown unless it is said.
const USUAL_LIMIT: usize = 10;
/// The most that are shown.
const MOST: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveArgs {
    text: String,
    /// project (default), global, user, or project:ID.
    scope: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QueryArgs {
    text: String,
    scope: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IdArgs {
    memory_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateArgs {
    memory_id: String,
    text: String,
    metadata: Option<Metadata>,
}

/// A scope as models write it.
fn read_scope(text: &str) -> Result<ScopeName, String> {
    let why = "must be global, project, user, project:ID, user:ID or thread:ID";
    ScopeName::parse(text).ok_or_else(|| arguments::invalid("scope", why))
}

/// Plain values by their names.
struct Metadata(Map<String, Value>);

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        match members.values().any(|value| value.is_object() || value.is_array()) {
            true => Err(de::Error::custom("values must be texts, numbers, true or false")),
            false => Ok(Metadata(members)),
        }
    }
}

impl JsonSchema for Metadata {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metadata".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl From<Metadata> for Value {
    fn from(metadata: Metadata) -> Value {
        Value::Object(metadata.0)
    }
}

/// What would be kept, for those who are asked.
pub(super) fn preview_save(_context: &ToolContext, arguments: Value) -> Result<String, String> {
    let args: SaveArgs = arguments::decode(arguments)?;
    let scope = args.scope.unwrap_or_else(|| "project".to_owned());
    Ok(format!("remember in {scope}:\n{}", args.text))
}

/// What would be changed.
pub(super) fn preview_update(_context: &ToolContext, arguments: Value) -> Result<String, String> {
    let args: UpdateArgs = arguments::decode(arguments)?;
    Ok(format!("change memory {} to:\n{}", args.memory_id, args.text))
}

async fn save(context: ToolContext, args: SaveArgs) -> Result<ToolOutput, String> {
    arguments::not_blank("text", &args.text)?;
    let scope = args.scope.as_deref().map_or(Ok(ScopeName::Here), read_scope)?;
    let metadata = args.metadata.map_or(Value::Null, Value::from);
    let call = MemoryCall::Save { scope, text: args.text, metadata };
    match context.world.memory(&context, call).await? {
        MemoryAnswer::Saved(memory, is_known) => {
            let (id, scope) = (&memory.id, memory.scope.id());
            let text = match is_known {
                true => format!("{id} in {scope} says that already"),
                false => format!("saved {id} in {scope}"),
            };
            Ok(ToolOutput::new(text, json!({"memory": shown(&memory), "deduplicated": is_known})))
        }
        _ => Err(unexpected()),
    }
}

async fn query(context: ToolContext, args: QueryArgs) -> Result<ToolOutput, String> {
    let scope = args.scope.as_deref().map(read_scope).transpose()?;
    let limit = args.limit.unwrap_or(USUAL_LIMIT).clamp(1, MOST);
    let call = MemoryCall::Query { scope, text: args.text, limit };
    let MemoryAnswer::Found(found) = context.world.memory(&context, call).await? else {
        return Err(unexpected());
    };
    let lines: Vec<String> = found
        .iter()
        .map(|(memory, score)| {
            format!("{} ({}, score {score:.2}): {}", memory.id, memory.scope.id(), memory.text)
        })
        .collect();
    let text = if lines.is_empty() { "no memories found".to_owned() } else { lines.join("\n") };
    let results: Vec<Value> = found
        .iter()
        .map(|(memory, score)| json!({"memory": shown(memory), "score": score}))
        .collect();
    Ok(ToolOutput::new(text, json!({ "results": results })))
}

async fn read(context: ToolContext, args: IdArgs) -> Result<ToolOutput, String> {
    match context.world.memory(&context, MemoryCall::Read(args.memory_id)).await? {
        MemoryAnswer::Read(Some(memory)) => {
            Ok(ToolOutput::new(memory.text.clone(), json!({ "memory": shown(&memory) })))
        }
        MemoryAnswer::Read(None) => Err("no such memory".to_owned()),
        _ => Err(unexpected()),
    }
}

async fn update(context: ToolContext, args: UpdateArgs) -> Result<ToolOutput, String> {
    arguments::not_blank("text", &args.text)?;
    let metadata = args.metadata.map(Value::from);
    let call = MemoryCall::Update { id: args.memory_id, text: args.text, metadata };
    match context.world.memory(&context, call).await? {
        MemoryAnswer::Updated(memory) => {
            let text = format!("changed {}", memory.id);
            Ok(ToolOutput::new(text, json!({ "memory": shown(&memory) })))
        }
        _ => Err(unexpected()),
    }
}

async fn delete(context: ToolContext, args: IdArgs) -> Result<ToolOutput, String> {
    let id = args.memory_id.clone();
    match context.world.memory(&context, MemoryCall::Delete(args.memory_id)).await? {
        MemoryAnswer::Deleted(true) => {
            Ok(ToolOutput::new(format!("deleted {id}"), json!({ "deleted": true })))
        }
        MemoryAnswer::Deleted(false) => Err("no such memory".to_owned()),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> String {
    "internal error: memories answered something else".to_owned()
}

fn shown(memory: &Memory) -> Value {
    json!({
        "id": memory.id,
        "scopeId": memory.scope.id(),
        "text": memory.text,
        "metadata": serde_json::from_str::<Value>(&memory.metadata).unwrap_or_default(),
        "updatedAt": memory.updated_at.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn a_memory_is_saved_found_changed_and_deleted() {
        let bench = Bench::new();
        let saved = bench.run("memory_save", json!({"text": "tests need a display"})).await;
        assert_eq!((saved.is_error, saved.text.as_str()), (false, "saved mem-1 in project:/here"));
        let again = json!({"text": "tests need a display", "metadata": {"pr": 7}});
        let again = bench.run("memory_save", again).await;
        assert_eq!(again.text, "mem-1 in project:/here says that already");
        assert_eq!(again.data["deduplicated"], true);
        let found = bench.run("memory_query", json!({"text": "display"})).await;
        let line = "mem-1 (project:/here, score 1.00): tests need a display";
        assert_eq!(found.text, line);
        assert_eq!(found.data["results"][0]["memory"]["id"], "mem-1");
        let none = bench.run("memory_query", json!({"text": "x", "scope": "global"})).await;
        assert_eq!(none.text, "no memories found");
        let update = json!({"memory_id": "mem-1", "text": "tests need none"});
        assert_eq!(bench.run("memory_update", update).await.text, "changed mem-1");
        let read = bench.run("memory_read", json!({"memory_id": "mem-1"})).await;
        assert_eq!(read.text, "tests need none");
        let gone = bench.run("memory_delete", json!({"memory_id": "mem-1"})).await;
        assert_eq!(gone.text, "deleted mem-1");
        for tool in ["memory_delete", "memory_read"] {
            let missing = bench.run(tool, json!({"memory_id": "mem-1"})).await;
            assert_eq!((missing.is_error, missing.text.as_str()), (true, "no such memory"));
        }
    }

    #[tokio::test]
    async fn bad_arguments_are_errors_that_name_them() {
        let bench = Bench::new();
        for (tool, arguments, why) in [
            ("memory_save", json!({"text": " "}), "text: must not be blank"),
            ("memory_save", json!({"text": "x", "scope": "thread"}), "scope: must be global"),
            ("memory_save", json!({"text": "x", "metadata": {"a": [1]}}), "metadata"),
            ("memory_update", json!({"memory_id": "m", "text": ""}), "text: must not be blank"),
            ("memory_query", json!({"text": "x", "scope": "here"}), "scope: must be global"),
            ("memory_read", json!({}), "memory_id"),
        ] {
            let output = bench.run(tool, arguments).await;
            assert!(output.is_error && output.text.contains(why), "{}", output.text);
        }
    }
}
