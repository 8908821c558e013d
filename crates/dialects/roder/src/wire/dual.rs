//! Members in both spellings: what the contract calls dual is written once in snake_case and once in
//! camelCase, with the same value. Only members of ours are; what is not ours (metadata of a provider,
//! arguments of a script) is below a member that is not wrapped, and passes as it is.

use std::borrow::Cow;

use rookery_model::spelling::camel;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::Error as _,
};
use serde_json::{Map, Value};

/// A value whose own members, written in snake_case, come in camelCase as well. Members of members are
/// dual only if they are wrapped themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Dual<T>(pub T);

impl<T: Serialize> Serialize for Dual<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serde_json::to_value(&self.0).map_err(S::Error::custom)?;
        if let Value::Object(members) = &mut value {
            let twins = members.iter().filter(|(name, _)| name.contains('_'));
            let twins: Vec<(String, Value)> =
                twins.map(|(name, value)| (camel(name), value.clone())).collect();
            members.extend(twins);
        }
        value.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Dual<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        serde_json::from_value(value).map(Dual).map_err(serde::de::Error::custom)
    }
}

impl<T: JsonSchema> JsonSchema for Dual<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A value whose members, and theirs in turn, come in both spellings, whichever it has. Used where what is
/// not ours has one of the names in [`FOREIGN`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeepDual<T>(pub(crate) T);

/// Members whose value is not ours, or whose own members are no names: kinds of scopes.
const FOREIGN: [&str; 2] = ["metadata", "scope"];

impl<T: Serialize> Serialize for DeepDual<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = serde_json::to_value(&self.0).map_err(S::Error::custom)?;
        twice(value).serialize(serializer)
    }
}

/// The same value with members in both spellings, the one that it has first.
fn twice(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut both = Map::new();
            for (name, value) in members {
                let value = match FOREIGN.contains(&name.as_str()) {
                    true => value,
                    false => twice(value),
                };
                let other = other_spelling(&name);
                if other != name {
                    both.insert(other, value.clone());
                }
                both.insert(name, value);
            }
            Value::Object(both)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(twice).collect()),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

fn other_spelling(name: &str) -> String {
    let mut other = String::with_capacity(name.len() + 4);
    let mut after_blank = false;
    for letter in name.chars() {
        match letter {
            '_' => after_blank = true,
            letter if after_blank => {
                other.push(letter.to_ascii_uppercase());
                after_blank = false;
            }
            letter if letter.is_ascii_uppercase() => {
                other.push('_');
                other.push(letter.to_ascii_lowercase());
            }
            letter => other.push(letter),
        }
    }
    other
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
    struct Inner {
        exit_code: i32,
        name: String,
        payload: Value,
    }

    #[test]
    fn multi_word_members_are_written_twice_and_the_rest_once() {
        let inner = Inner { exit_code: 1, name: "n".into(), payload: json!({ "a_b": 1 }) };
        let written = serde_json::to_value(Dual(inner.clone())).unwrap();
        let wanted = json!({ "exit_code": 1, "exitCode": 1, "name": "n", "payload": { "a_b": 1 } });
        assert_eq!(written, wanted);
        assert_eq!(serde_json::from_value::<Dual<Inner>>(written).unwrap(), Dual(inner));
        assert_eq!(serde_json::to_value(Dual(json!([1]))).unwrap(), json!([1]));
    }

    #[test]
    fn members_of_members_are_written_twice_but_for_what_is_not_ours() {
        let value = json!({"session_id": 1, "ports": [{"localPort": 2}], "metadata": {"a_b": 3}});
        let both = serde_json::to_value(DeepDual(value)).unwrap();
        assert_eq!(
            both,
            json!({"session_id": 1, "sessionId": 1, "ports": [{"localPort": 2, "local_port": 2}],
                   "metadata": {"a_b": 3}})
        );
    }
}
