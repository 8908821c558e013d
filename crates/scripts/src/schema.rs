//! JSON Schemas: of what a script is given.

use serde_json::Value;

/// Largest schema, in bytes.
const MAX_SCHEMA: usize = 256 << 10;
/// Longest reason that is given.
const MAX_REASON: usize = 300;

/// Whether this is a schema.
///
/// # Errors
/// Why it is none.
pub fn check(schema: &Value) -> Result<(), String> {
    compile(schema).map(|_| ())
}

/// Whether a value fits a schema.
///
/// # Errors
/// What does not fit, and where.
pub fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    let schema = compile(schema)?;
    let Err(error) = schema.validate(value) else { return Ok(()) };
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    Err(short(format!("{place}{error}")))
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err("a schema is an object".to_owned());
    }
    if schema.to_string().len() > MAX_SCHEMA {
        return Err(format!("the schema is larger than {MAX_SCHEMA} bytes"));
    }
    jsonschema::validator_for(schema).map_err(|error| short(error.to_string()))
}

fn short(text: String) -> String {
    text.chars().take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
}
