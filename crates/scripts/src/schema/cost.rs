//! What it costs to hold a value against a schema, found out without doing it.
//!
//! A validator looks at what a reference leads to once for every reference, so that a short schema can
//! cost more steps than anyone waits for. Here the same steps are walked, and counted up to a bound.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Steps that a validation may take.
const MOST_STEPS: u64 = 1_000_000;
/// How deep steps may lead into each other.
const DEEPEST: usize = 1_000;
/// Bytes of a text that count as one step when something is searched in it.
const TEXT_PER_STEP: usize = 256;
/// Members that hold data, not schemas.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];
/// What stands for the name of a member where names are held against a schema.
const NAME: Value = Value::Null;

/// Refuses a schema that cannot be held against a value within bounds.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let mut walk = Walk { root: schema, left: MOST_STEPS };
    walk.schema(schema, value, 0)
}

/// Refuses what is not followed here: schemas in the schema that have an address of their own.
pub(super) fn check_addresses(schema: &Value) -> Result<(), String> {
    match schema {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| !DATA.contains(&name.as_str()))
            {
                if member.get("$id").is_some_and(Value::is_string) {
                    return Err(format!("the schema at {name} has an address of its own ($id)"));
                }
                check_addresses(member)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| {
            if item.get("$id").is_some_and(Value::is_string) {
                return Err("a schema of a list has an address of its own ($id)".to_owned());
            }
            check_addresses(item)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

struct Walk<'a> {
    root: &'a Value,
    left: u64,
}

impl<'a> Walk<'a> {
    fn step(&mut self, count: usize) -> Result<(), String> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(count).ok_or_else(|| {
            format!("the schema takes more than {MOST_STEPS} steps to be held against a value")
        })?;
        Ok(())
    }

    fn schema(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Result<(), String> {
        self.step(1)?;
        if depth > DEEPEST {
            return Err(format!("the schema leads more than {DEEPEST} steps deep"));
        }
        let Some(members) = schema.as_object() else { return Ok(()) };
        // Whatever looks for what is left over goes through all the others once more.
        let is_last = |name: &str| name.starts_with("unevaluated");
        let times = if members.keys().any(|name| is_last(name)) { 2 } else { 1 };
        for _ in 0..times {
            for (name, member) in members {
                self.step(1)?;
                self.keyword(members, name, member, (value, depth + 1))?;
            }
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        around: &'a Map<String, Value>,
        name: &str,
        member: &'a Value,
        (value, depth): (&Value, usize),
    ) -> Result<(), String> {
        match name {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                for target in self.targets(member.as_str().unwrap_or_default())? {
                    self.schema(target, value, depth)?;
                }
            }
            "not" | "if" | "then" | "else" => self.schema(member, value, depth)?,
            "allOf" | "anyOf" | "oneOf" => {
                for schema in member.as_array().into_iter().flatten() {
                    self.schema(schema, value, depth)?;
                }
            }
            "dependentSchemas" | "dependencies" => {
                for schema in member.as_object().into_iter().flat_map(Map::values) {
                    self.schema(schema, value, depth)?;
                }
            }
            "enum" => self.step(member.as_array().map_or(0, Vec::len))?,
            "pattern" | "format" => {
                self.step(value.as_str().map_or(0, str::len) / TEXT_PER_STEP)?;
            }
            _ => match value {
                Value::Object(values) => self.object(around, name, member, (values, depth))?,
                Value::Array(values) => self.array(name, member, (values, depth))?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            },
        }
        Ok(())
    }

    fn object(
        &mut self,
        around: &'a Map<String, Value>,
        name: &str,
        member: &'a Value,
        (values, depth): (&Map<String, Value>, usize),
    ) -> Result<(), String> {
        match name {
            "properties" => {
                for (name, schema) in member.as_object().into_iter().flatten() {
                    self.step(1)?;
                    if let Some(value) = values.get(name) {
                        self.schema(schema, value, depth)?;
                    }
                }
            }
            "patternProperties" => {
                for schema in member.as_object().into_iter().flat_map(Map::values) {
                    for value in values.values() {
                        self.schema(schema, value, depth)?;
                    }
                }
            }
            "propertyNames" => {
                for _ in values {
                    self.schema(member, &NAME, depth)?;
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                let named = around.get("properties").and_then(Value::as_object);
                for (name, value) in values {
                    self.step(1)?;
                    if !named.is_some_and(|named| named.contains_key(name)) {
                        self.schema(member, value, depth)?;
                    }
                }
            }
            "required" => self.step(member.as_array().map_or(0, Vec::len))?,
            _ => {}
        }
        Ok(())
    }

    fn array(
        &mut self,
        name: &str,
        member: &'a Value,
        (values, depth): (&[Value], usize),
    ) -> Result<(), String> {
        match (name, member) {
            ("items" | "prefixItems", Value::Array(schemas)) => {
                for (schema, value) in schemas.iter().zip(values) {
                    self.schema(schema, value, depth)?;
                }
            }
            ("items" | "additionalItems" | "contains" | "unevaluatedItems", schema) => {
                for value in values {
                    self.schema(schema, value, depth)?;
                }
            }
            ("uniqueItems", _) => self.step(values.len())?,
            _ => {}
        }
        Ok(())
    }

    /// What a reference may lead to; a dynamic one may mean any of several.
    fn targets(&mut self, reference: &str) -> Result<Vec<&'a Value>, String> {
        let outside = || format!("the schema refers to {reference}, which is not in it");
        let (base, place) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.root.get("$id").and_then(Value::as_str).unwrap_or_default();
        if !base.is_empty() && own.trim_end_matches('#') != base {
            return Err(outside());
        }
        let place = decoded(place);
        if place.is_empty() || place.starts_with('/') {
            return self.root.pointer(&place).map(|target| vec![target]).ok_or_else(outside);
        }
        let mut named = Vec::new();
        self.anchors(self.root, &place, &mut named)?;
        if named.is_empty() { Err(outside()) } else { Ok(named) }
    }

    fn anchors(
        &mut self,
        schema: &'a Value,
        name: &str,
        found: &mut Vec<&'a Value>,
    ) -> Result<(), String> {
        self.step(1)?;
        match schema {
            Value::Object(members) => {
                let is_named = |key: &str| members.get(key).and_then(Value::as_str) == Some(name);
                if is_named("$anchor") || is_named("$dynamicAnchor") {
                    found.push(schema);
                }
                members.values().try_for_each(|member| self.anchors(member, name, found))
            }
            Value::Array(items) => {
                items.iter().try_for_each(|item| self.anchors(item, name, found))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }
}

/// A place in a document without the escapes of addresses.
fn decoded(place: &str) -> Cow<'_, str> {
    if !place.contains('%') {
        return Cow::Borrowed(place);
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut at) = (place.as_bytes(), 0);
    let mut plain = Vec::with_capacity(bytes.len());
    while let Some(byte) = bytes.get(at) {
        let pair = digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)));
        let (byte, length) = match pair.filter(|_| *byte == b'%') {
            Some((high, low)) => (u8::try_from(high * 16 + low).unwrap_or(*byte), 3),
            None => (*byte, 1),
        };
        plain.push(byte);
        at += length;
    }
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_followed_by_any_name_of_a_place_in_the_schema() {
        let schema = json!({ "$id": "https://example.com/s", "$defs": {
            "List<A>": { "enum": [1, 2] }, "b": { "$anchor": "bee", "type": "string" } } });
        let mut walk = Walk { root: &schema, left: 100 };
        for reference in
            ["#", "#/$defs/b", "#bee", "https://example.com/s", "#/%24defs/List%3CA%3E"]
        {
            assert_eq!(walk.targets(reference).unwrap().len(), 1, "{reference}");
        }
        for reference in ["#/$defs/c", "#none", "https://example.com/t", "other.json", "#/%zz"] {
            assert!(walk.targets(reference).is_err(), "{reference}");
        }
    }

    #[test]
    fn trees_cost_no_more_than_they_are_large() {
        let tree = json!({ "properties": {
            "left": { "$ref": "#" }, "right": { "$ref": "#" }, "name": { "type": "string" } },
            "additionalProperties": false });
        let mut value = json!({ "name": "leaf" });
        for _ in 0..12 {
            value = json!({ "left": value, "right": value });
        }
        assert_eq!(check(&tree, &value), Ok(()));
        // The same place twice doubles with every level.
        let twice = json!({ "allOf": [{ "properties": { "a": { "$ref": "#" } } },
            { "properties": { "a": { "$ref": "#" } } }] });
        let mut value = json!({});
        for _ in 0..40 {
            value = json!({ "a": value });
        }
        assert!(check(&twice, &value).unwrap_err().contains("steps"));
    }

    #[test]
    fn addresses_inside_are_refused_and_data_is_not_read_as_schemas() {
        assert!(check_addresses(&json!({ "$defs": { "a": { "$id": "x" } } })).is_err());
        assert!(check_addresses(&json!({ "allOf": [{ "$id": "x" }] })).is_err());
        let fine = json!({ "$id": "x", "properties": { "$id": { "type": "string" } },
            "const": { "a": { "$id": "x" } } });
        assert_eq!(check_addresses(&fine), Ok(()));
    }
}
