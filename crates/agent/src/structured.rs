//! Answers that have to fit a JSON Schema: what the model is told about it, and how its answer is read.
//!
//! Pure: a schema that refers to files or pages is refused.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The longest schema, as text.
const SCHEMA_LIMIT: usize = 64 << 10;
/// The longest explanation of why an answer does not fit.
const REASON_LIMIT: usize = 300;

/// A schema that answers are held against.
pub struct Schema {
    text: String,
    validator: Validator,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// If it is none, is too long, or refers to something outside of itself.
    pub fn read(schema: &Value) -> Result<Self, String> {
        let text = schema.to_string();
        if text.len() > SCHEMA_LIMIT {
            return Err(format!("the schema is longer than {SCHEMA_LIMIT} bytes"));
        }
        // Patterns in time linear to what they are matched with: the schema is not ours.
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        let validator = options
            .build(schema)
            .map_err(|error| shortened(&format!("no JSON Schema: {error}")))?;
        Ok(Self { text, validator })
    }

    /// What the model is told.
    pub fn instructions(&self) -> String {
        format!(
            "Your last message has to be one JSON value that fits this JSON Schema, and nothing \
             else: no words around it.\n{}",
            self.text
        )
    }

    /// The value that a text has.
    ///
    /// # Errors
    /// If there is none, or it does not fit; in words for the model.
    pub fn value(&self, text: &str) -> Result<Value, String> {
        let value = json_in(text).ok_or("the answer is not one JSON value")?;
        match self.validator.validate(&value) {
            Ok(()) => Ok(value),
            Err(error) => {
                let place = error.instance_path().to_string();
                Err(shortened(&format!("the answer does not fit the schema at {place:?}: {error}")))
            }
        }
    }
}

/// The JSON value of a text: all of it, what a fence of three backticks holds, or what begins at the
/// first bracket.
fn json_in(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let fenced = text.split("```").nth(1).map(|block| {
        let (first, rest) = block.split_once('\n').unwrap_or(("", block));
        if first.trim().chars().all(char::is_alphanumeric) { rest } else { block }
    });
    if let Some(value) = fenced.and_then(|block| serde_json::from_str(block.trim()).ok()) {
        return Some(value);
    }
    let begin = text.find(['{', '['])?;
    serde_json::Deserializer::from_str(&text[begin..]).into_iter().next()?.ok()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(REASON_LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let shape = json!({
            "type": "object",
            "properties": { "n": { "type": "integer" }, "s": { "type": "string", "pattern": "^a+$" } },
            "required": ["n"],
        });
        Schema::read(&shape).unwrap()
    }

    #[test]
    fn the_value_is_found_in_what_models_write_around_it() {
        for text in [
            r#"{"n": 1}"#,
            "```json\n{\"n\": 1}\n```",
            "Here it is:\n```\n{\"n\": 1}\n```\nDone.",
            "The answer is {\"n\": 1}, as asked.",
        ] {
            assert_eq!(schema().value(text).unwrap(), json!({"n": 1}), "{text}");
        }
        for text in ["", "one", "{\"n\": ", r#"{"n": "x"}"#, r#"{"n": 1, "s": "b"}"#] {
            assert!(schema().value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn attack_a_schema_reaches_nothing_outside_of_itself() {
        for wrong in [
            json!({"$ref": "file:///etc/passwd"}),
            json!({"$ref": "http://127.0.0.1:9/x"}),
            json!({"type": "nonsense"}),
            json!({"type": "string", "pattern": "("}),
            json!({"description": "x".repeat(SCHEMA_LIMIT)}),
        ] {
            assert!(Schema::read(&wrong).is_err(), "{}", shortened(&wrong.to_string()));
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_read_or_refused(text in "[\\PC\n`{}\\[\\]\":,]{0,120}") {
            let _ = schema().value(&text);
        }
    }
}
