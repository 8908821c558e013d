//! JSON to Lua and back, with a bound on everything that comes back.
//!
//! Tables are read raw: no metamethod of the plugin runs while the host looks at what it got.

use std::collections::BTreeMap;

use mlua::{Lua, Table, Value as LuaValue};
use serde_json::{Map, Number, Value};

use crate::error::Failure;

/// How deep tables may be nested, in both directions.
const MAX_DEPTH: usize = 64;

/// How many values may come back from one call.
const MAX_NODES: usize = 100_000;

/// How many bytes of text may come back from one call.
const MAX_BYTES: usize = 4 << 20;

/// Makes a Lua value of JSON; `null` becomes `nil`.
pub(crate) fn to_lua(lua: &Lua, value: &Value) -> Result<LuaValue, Failure> {
    push(lua, value, 0)
}

fn push(lua: &Lua, value: &Value, depth: usize) -> Result<LuaValue, Failure> {
    if depth > MAX_DEPTH {
        return Err(Failure::message("params are nested too deeply"));
    }
    Ok(match value {
        Value::Null => LuaValue::Nil,
        Value::Bool(value) => LuaValue::Boolean(*value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => LuaValue::Integer(integer),
            None => LuaValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => LuaValue::String(lua.create_string(text)?),
        Value::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (index, item) in items.iter().enumerate() {
                table.raw_set(index + 1, push(lua, item, depth + 1)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(members) => {
            let table = lua.create_table_with_capacity(0, members.len())?;
            for (key, member) in members {
                table.raw_set(key.as_str(), push(lua, member, depth + 1)?)?;
            }
            LuaValue::Table(table)
        }
    })
}

/// Makes JSON of a Lua value.
///
/// A table with the keys 1 to n is an array, any other an object, and so is an empty one.
pub(crate) fn to_json(value: &LuaValue) -> Result<Value, Failure> {
    Reader { nodes: MAX_NODES, bytes: MAX_BYTES }.read(value, 0)
}

/// What may still be read.
struct Reader {
    nodes: usize,
    bytes: usize,
}

impl Reader {
    fn read(&mut self, value: &LuaValue, depth: usize) -> Result<Value, Failure> {
        self.nodes = self
            .nodes
            .checked_sub(1)
            .ok_or_else(|| Failure::message("result has too many values"))?;
        match value {
            LuaValue::Nil => Ok(Value::Null),
            LuaValue::Boolean(value) => Ok(Value::Bool(*value)),
            LuaValue::Integer(value) => Ok(Value::from(*value)),
            LuaValue::Number(value) => {
                Number::from_f64(*value).map(Value::Number).ok_or_else(|| {
                    Failure::message(format!("number {value} has no place in a result"))
                })
            }
            LuaValue::String(text) => Ok(Value::String(self.text(text)?)),
            LuaValue::Table(table) if depth < MAX_DEPTH => self.table(table, depth),
            LuaValue::Table(_) => {
                Err(Failure::message("result is nested too deeply, or contains itself"))
            }
            other => {
                Err(Failure::message(format!("a {} has no place in a result", other.type_name())))
            }
        }
    }

    /// A string; bytes that are not UTF-8 are replaced.
    fn text(&mut self, text: &mlua::String) -> Result<String, Failure> {
        let bytes = text.as_bytes();
        self.bytes = self
            .bytes
            .checked_sub(bytes.len())
            .ok_or_else(|| Failure::message("result is too long"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<Value, Failure> {
        let length = table.raw_len();
        if length > 0 && length <= self.nodes && self.is_array(table, length)? {
            let mut items = Vec::with_capacity(length);
            for index in 1..=length {
                items.push(self.read(&table.raw_get(index)?, depth + 1)?);
            }
            return Ok(Value::Array(items));
        }
        // Sorted: a table has no order of its own, and equal ones shall look equal.
        let mut members = BTreeMap::new();
        for pair in table.pairs::<LuaValue, LuaValue>() {
            let (key, value) = pair?;
            members.insert(self.key(&key)?, self.read(&value, depth + 1)?);
        }
        Ok(Value::Object(Map::from_iter(members)))
    }

    /// Whether the keys are exactly 1 to `length`, which is at least 1.
    fn is_array(&self, table: &Table, length: usize) -> Result<bool, Failure> {
        let mut found = 0;
        for pair in table.pairs::<LuaValue, LuaValue>() {
            let LuaValue::Integer(key) = pair?.0 else { return Ok(false) };
            if !usize::try_from(key).is_ok_and(|key| (1..=length).contains(&key)) {
                return Ok(false);
            }
            found += 1;
        }
        Ok(found == length)
    }

    fn key(&mut self, key: &LuaValue) -> Result<String, Failure> {
        match key {
            LuaValue::String(text) => self.text(text),
            LuaValue::Integer(key) => Ok(key.to_string()),
            other => {
                Err(Failure::message(format!("a {} is no key for a result", other.type_name())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(source: &str) -> Result<Value, String> {
        let lua = Lua::new();
        let value: LuaValue = lua.load(source).eval().unwrap();
        to_json(&value).map_err(|failure| failure.to_string())
    }

    #[test]
    fn tables_become_arrays_or_objects() {
        assert_eq!(read("return {}"), Ok(json!({})));
        assert_eq!(read("return {1, 2.5, 'x', {true}}"), Ok(json!([1, 2.5, "x", [true]])));
        assert_eq!(read("return {a = 1, [7] = 2}"), Ok(json!({"a": 1, "7": 2})));
        assert_eq!(read("return {1, 2, n = 2}"), Ok(json!({"1": 1, "2": 2, "n": 2})));
        assert_eq!(read("return {1, nil, 3}"), Ok(json!({"1": 1, "3": 3})));
        assert_eq!(read("return 9007199254740993"), Ok(json!(9_007_199_254_740_993_i64)));
        assert_eq!(read("return 3.0"), Ok(json!(3.0)));
        assert_eq!(read("return '\\xff'"), Ok(json!("\u{fffd}")));
    }

    #[test]
    fn what_has_no_json_is_an_error_that_says_so() {
        assert_eq!(read("return {print}").unwrap_err(), "a function has no place in a result");
        assert_eq!(read("return {[1.5] = 1}").unwrap_err(), "a number is no key for a result");
        assert_eq!(read("return {x = 0/0}").unwrap_err(), "number NaN has no place in a result");
        assert_eq!(read("return {x = 1/0}").unwrap_err(), "number inf has no place in a result");
    }

    #[test]
    fn depth_count_and_length_have_bounds() {
        let cycle = "local t = {} t.t = t return t";
        assert_eq!(read(cycle).unwrap_err(), "result is nested too deeply, or contains itself");
        let deep = |n: usize| format!("return {}1{}", "{".repeat(n), "}".repeat(n));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        assert!(read(&deep(MAX_DEPTH + 1)).is_err());
        let wide = "local t = {} for i = 1, 200000 do t[i] = i end return t";
        assert_eq!(read(wide).unwrap_err(), "result has too many values");
        let fan = "local t = {} for i = 1, 60 do t = {t, t} end return t";
        assert_eq!(read(fan).unwrap_err(), "result has too many values");
        let long =
            "local s = ('x'):rep(1 << 20) local t = {} for i = 1, 9 do t[i] = s end return t";
        assert_eq!(read(long).unwrap_err(), "result is too long");
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,6}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_survives_the_way_through_lua(value in json_value()) {
            let lua = Lua::new();
            let there = to_lua(&lua, &value).unwrap();
            prop_assert_eq!(to_json(&there).unwrap(), value);
        }
    }
}
