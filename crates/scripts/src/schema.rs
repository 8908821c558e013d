//! JSON Schemas: of what a script is given, and of the answers it asks for.
//!
//! A schema is not ours. It reaches nothing outside of itself, its patterns take time linear to what they
//! are matched with, and one that would take too many steps is refused. What remains is done on a thread
//! with room for it, which is let go after a while.

mod cost;

use std::sync::mpsc;
use std::time::Duration;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Largest schema, in bytes.
const MAX_SCHEMA: usize = 64 << 10;
/// Longest reason that is given, in characters.
const MAX_REASON: usize = 300;
/// Bytes that a pattern may take once it is compiled.
const MAX_PATTERN: usize = 256 << 10;
/// Stack of the thread: as deep as a chain of references that fits into a schema.
const STACK: usize = 64 << 20;
/// How long a validation is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether this is a schema. It blocks.
///
/// # Errors
/// Why it is none.
pub fn check(schema: &Value) -> Result<(), String> {
    check_size(schema)?;
    let schema = schema.clone();
    on_thread(move || compile(&schema).map(drop))
}

/// Whether a value fits a schema. It blocks.
///
/// # Errors
/// What does not fit, and where.
pub fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    check_size(schema)?;
    let (schema, value) = (schema.clone(), value.clone());
    on_thread(move || {
        cost::check(&schema, &value)?;
        compile(&schema)?.validate(&value).map_err(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            short(&format!("{place}{error}"))
        })
    })
}

fn check_size(schema: &Value) -> Result<(), String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err("a schema is an object".to_owned());
    }
    if schema.to_string().len() > MAX_SCHEMA {
        return Err(format!("the schema is larger than {MAX_SCHEMA} bytes"));
    }
    cost::check_addresses(schema)
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).map_err(|error| short(&format!("no JSON Schema: {error}")))
}

fn on_thread(work: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
    let (done, result) = mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("schema".to_owned()).stack_size(STACK);
    let started = thread.spawn(move || {
        // Whoever waited too long does not want it any more.
        let _ = done.send(work());
    });
    started.map_err(|error| format!("no schema can be read: {error}"))?;
    match result.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(_) => Err("the schema takes too long".to_owned()),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn values_are_held_against_schemas() {
        let schema = json!({ "type": "object", "required": ["question"],
            "properties": { "question": { "type": "string" } } });
        assert_eq!(validate(&schema, &json!({ "question": "why" })), Ok(()));
        assert!(validate(&schema, &json!({})).unwrap_err().contains("question"));
        let wrong = validate(&schema, &json!({ "question": 1 })).unwrap_err();
        assert!(wrong.starts_with("/question: "), "{wrong}");
        assert!(check(&json!({ "type": 7 })).is_err() && check(&json!("x")).is_err());
        // Nothing is fetched.
        assert!(validate(&json!({ "$ref": "http://127.0.0.1:1/x" }), &json!(1)).is_err());
    }

    /// Definitions each of which refers to the next one by some references.
    fn chain(length: usize, link: impl Fn(String) -> Value) -> Value {
        let mut definitions = Map::new();
        definitions.insert("a0".to_owned(), json!({ "type": "null" }));
        for number in 1..=length {
            let below = format!("#/$defs/a{}", number - 1);
            definitions.insert(format!("a{number}"), link(below));
        }
        json!({ "$defs": definitions, "$ref": format!("#/$defs/a{length}") })
    }

    #[test]
    fn attack_references_that_double_are_refused() {
        let doubling =
            chain(40, |below| json!({ "allOf": [{ "$ref": below }, { "$ref": below }] }));
        assert!(validate(&doubling, &Value::Null).unwrap_err().contains("steps"));
        let few = chain(8, |below| json!({ "allOf": [{ "$ref": below }, { "$ref": below }] }));
        assert_eq!(validate(&few, &Value::Null), Ok(()));
    }

    #[test]
    fn attack_long_chains_and_circles_end() {
        let long = chain(1_500, |below| json!({ "$ref": below }));
        assert_eq!(check(&long), Ok(()));
        assert!(validate(&long, &Value::Null).unwrap_err().contains("deep"));
        assert!(validate(&json!({ "$ref": "#" }), &Value::Null).is_err());
    }

    #[test]
    fn attack_patterns_stay_small() {
        assert!(check(&json!({ "pattern": "((a{100}){100}){100}" })).is_err());
        assert!(check(&json!({ "pattern": "(a+)+$" })).is_ok());
    }
}
