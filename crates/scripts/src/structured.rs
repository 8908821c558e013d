//! Answers that have to fit a JSON Schema: what the model is informed about it, and how its answer is read.

use serde_json::Value;

use crate::schema;

/// A schema that answers are held against.
#[derive(Clone, Debug)]
pub struct Schema(Value);

impl Schema {
    /// Reads a schema. It blocks.
    ///
    /// # Errors
    /// If it is none, is too long, or refers to something outside of itself.
    pub fn read(schema: &Value) -> Result<Self, String> {
        schema::check(schema)?;
        Ok(Self(schema.clone()))
    }

    /// What the model is told.
    pub fn instructions(&self) -> String {
        format!(
            "Your last message has to be one JSON value that fits this JSON Schema, and nothing \
             else: no words around it.\n{}",
            self.0
        )
    }

    /// The value that a text has. It blocks.
    ///
    /// # Errors
    /// If there is none, or it does not fit; in words for the model.
    pub fn value(&self, text: &str) -> Result<Value, String> {
        let value = json_in(text).ok_or("the answer is not one JSON value")?;
        match schema::validate(&self.0, &value) {
            Ok(()) => Ok(value),
            Err(why) => Err(format!("the answer does not fit the schema: {why}")),
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
            json!({"description": "x".repeat(64 << 10)}),
        ] {
            assert!(Schema::read(&wrong).is_err(), "{:.300}", wrong.to_string());
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_read_or_refused(text in "[\\PC\n`{}\\[\\]\":,]{0,120}") {
            let _ = schema().value(&text);
        }
    }
}
