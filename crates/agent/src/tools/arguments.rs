//! Arguments of tools: decoded strictly, and described to models by a schema of the same types.

use std::future::Future;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::{Running, ToolContext, ToolOutput};

/// What every complaint about arguments begins with.
const INVALID: &str = "invalid tool call arguments";

/// Reads the text of a call's arguments. A text that was cut off is an error, never an empty object.
pub fn parse(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => format!("{INVALID}: the JSON is incomplete"),
        false => format!("{INVALID}: {error}"),
    })?;
    object(value).map(Value::Object)
}

/// Decodes arguments into what a tool wants, and names the member that does not fit.
pub(super) fn decode<A: DeserializeOwned>(arguments: Value) -> Result<A, String> {
    let object = Value::Object(object(arguments)?);
    serde_path_to_error::deserialize(object).map_err(|error| {
        let path = error.path().to_string();
        match path.as_str() {
            "." => format!("{INVALID}: {}", error.inner()),
            _ => format!("{INVALID}: {path}: {}", error.inner()),
        }
    })
}

/// The object of arguments. Some models send it as a string that contains the object.
fn object(arguments: Value) -> Result<Map<String, Value>, String> {
    let wrong = || format!("{INVALID}: expected an object");
    match arguments {
        Value::Object(object) => Ok(object),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(wrong()),
            Err(error) if error.is_eof() => Err(format!("{INVALID}: the JSON is incomplete")),
            Err(error) => Err(format!("{INVALID}: {error}")),
        },
        _ => Err(wrong()),
    }
}

/// A complaint about one member, for rules that a schema cannot say.
pub(super) fn invalid(member: &str, why: &str) -> String {
    format!("{INVALID}: {member}: {why}")
}

/// Fails if a text says nothing.
pub(super) fn not_blank(member: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(invalid(member, "must not be blank")) } else { Ok(()) }
}

/// Whether arguments decode.
pub(super) fn check<A: DeserializeOwned>(arguments: &Value) -> Result<(), String> {
    decode::<A>(arguments.clone()).map(drop)
}

/// Decodes arguments and runs a tool that waits for things.
pub(super) fn run<A, F>(
    context: ToolContext,
    arguments: Value,
    body: impl FnOnce(ToolContext, A) -> F + Send + 'static,
) -> Running
where
    A: DeserializeOwned + Send + 'static,
    F: Future<Output = Result<ToolOutput, String>> + Send + 'static,
{
    Box::pin(async move {
        let decoded = match decode(arguments) {
            Ok(decoded) => decoded,
            Err(why) => return ToolOutput::error(why),
        };
        body(context, decoded).await.unwrap_or_else(ToolOutput::error)
    })
}

/// Decodes arguments and runs a tool that works on files, off the runtime's threads.
pub(super) fn run_blocking<A>(
    context: ToolContext,
    arguments: Value,
    body: impl FnOnce(&ToolContext, A) -> Result<ToolOutput, String> + Send + 'static,
) -> Running
where
    A: DeserializeOwned + Send + 'static,
{
    run(context, arguments, move |context, decoded| async move {
        let work: Box<dyn FnOnce() -> Result<ToolOutput, String> + Send> =
            Box::new(move || body(&context, decoded));
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|_| Err("the tool did not come to an end".into()))
    })
}

/// The schema of arguments, without what only costs tokens.
pub(super) fn schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    tidy(&mut schema);
    if let Value::Object(schema) = &mut schema {
        schema.remove("description");
        // Some providers insist on the member even if there is nothing in it.
        schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Removes titles and formats, and the `null` that stands for an absent member.
fn tidy(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    schema.remove("title");
    schema.remove("format");
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if schema.get("minimum") == Some(&Value::from(0)) {
        schema.remove("minimum");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if types.len() == 1 {
            let only = types.remove(0);
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
        if choices.len() == 1
            && let Value::Object(only) = choices.remove(0)
        {
            schema.remove("anyOf");
            for (name, value) in only {
                schema.entry(name).or_insert(value);
            }
            return tidy_again(schema);
        }
    }
    for name in ["items", "additionalProperties"] {
        schema.get_mut(name).map(tidy);
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.iter_mut().for_each(tidy);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(tidy);
    }
}

/// What came out of a choice of one has not been looked at yet.
fn tidy_again(schema: &mut Map<String, Value>) {
    let mut whole = Value::Object(std::mem::take(schema));
    tidy(&mut whole);
    if let Value::Object(whole) = whole {
        *schema = whole;
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Color {
        Red,
        DarkBlue,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// How it is called.
        name: String,
        color: Option<Color>,
        count: Option<usize>,
        parts: Option<Vec<Part>>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Part {
        title: String,
    }

    #[test]
    fn schemas_say_what_decodes_and_no_more() {
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "How it is called."},
                "color": {"type": "string", "enum": ["red", "dark_blue"]},
                "count": {"type": "integer"},
                "parts": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"title": {"type": "string"}},
                    "required": ["title"],
                    "additionalProperties": false
                }}
            },
            "required": ["name"],
            "additionalProperties": false
        });
        assert_eq!(schema::<Sample>(), expected);
    }

    fn complaint(arguments: Value) -> String {
        decode::<Sample>(arguments).unwrap_err()
    }

    #[test]
    fn arguments_are_strict_and_complaints_name_the_member() {
        let sample: Sample = decode(json!({"name": "a", "count": null})).unwrap();
        assert_eq!(sample.name, "a");
        let text = complaint(json!({"name": "a", "size": 1}));
        assert!(text.starts_with("invalid tool call arguments: "), "{text}");
        assert!(text.contains("unknown field `size`"), "{text}");
        assert!(complaint(json!({})).contains("missing field `name`"));
        assert!(complaint(json!({"name": 3})).contains(": name: invalid type"));
        let deep = complaint(json!({"name": "a", "parts": [{"title": "b"}, {"title": 1}]}));
        assert!(deep.contains("parts[1].title"), "{deep}");
        assert!(
            complaint(json!({"name": "a", "color": "green"})).contains("color: unknown variant")
        );
        assert!(complaint(json!([])).contains("expected an object"));
        assert!(complaint(Value::Null).contains("expected an object"));
    }

    #[test]
    fn an_object_in_a_string_is_unwrapped_once() {
        let sample: Sample = decode(json!("{\"name\": \"x\"}")).unwrap();
        assert_eq!(sample.name, "x");
        assert!(complaint(json!("\"{}\"")).contains("expected an object"));
        assert!(complaint(json!("{\"name\": \"x")).contains("the JSON is incomplete"));
        assert!(complaint(json!("nonsense")).starts_with(INVALID));
    }

    #[test]
    fn a_text_that_was_cut_off_is_an_error() {
        assert_eq!(parse("{\"a\": 1}"), Ok(json!({"a": 1})));
        assert_eq!(parse("\"{}\""), Ok(json!({})));
        for cut in ["", "{", "{\"path\": \"src", "{\"a\": 1"] {
            assert_eq!(parse(cut), Err(format!("{INVALID}: the JSON is incomplete")), "{cut}");
        }
        assert!(parse("[]").unwrap_err().contains("expected an object"));
        assert!(parse("{} {}").unwrap_err().starts_with(INVALID));
    }
}
