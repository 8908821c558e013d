//! Patterns: JSON that must be equal to what came, with these exceptions.
//!
//! - The strings `"<any>"`, `"<int>"`, `"<num>"`, `"<str>"` and `"<bool>"` stand for anything of that kind.
//! - An object with the member `"...": true` allows members it does not name.
//! - `{"$bind": "x"}` takes anything and calls it `x`; `{"$bind": "x", "$is": PATTERN}` only what fits.
//! - `{"$json": PATTERN}` takes a string that is JSON and fits.
//! - `"$x"`, as a whole string or inside one, is what was bound to `x` before.

use std::collections::BTreeMap;

use serde_json::Value;

/// What was bound so far.
pub type Bindings = BTreeMap<String, Value>;

/// Puts bound values in the place of their names.
pub fn substitute(value: &Value, bindings: &Bindings) -> Value {
    match value {
        Value::String(text) => substitute_text(text, bindings),
        Value::Array(items) => items.iter().map(|item| substitute(item, bindings)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), substitute(member, bindings)))
            .collect(),
        other => other.clone(),
    }
}

fn substitute_text(text: &str, bindings: &Bindings) -> Value {
    if let Some(bound) = text.strip_prefix('$').and_then(|name| bindings.get(name)) {
        return bound.clone();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &after[..end.unwrap_or(after.len())];
        match bindings.get(name) {
            Some(Value::String(bound)) => out.push_str(bound),
            Some(bound) => out.push_str(&bound.to_string()),
            // Not ours: a variable of a shell, perhaps.
            None => out.extend(["$", name]),
        }
        rest = &after[name.len()..];
    }
    Value::String(out + rest)
}

/// Compares a value with a pattern and binds what the pattern names.
///
/// # Errors
/// Where they differ, and how.
pub fn matches(pattern: &Value, value: &Value, bindings: &mut Bindings) -> Result<(), String> {
    compare(&substitute(pattern, bindings), value, bindings, "$")
}

fn compare(
    pattern: &Value,
    value: &Value,
    bindings: &mut Bindings,
    path: &str,
) -> Result<(), String> {
    let differ = || Err(format!("at {path}: expected {pattern}, got {value}"));
    match (pattern, value) {
        (Value::String(kind), _) if is_kind(kind) => {
            if is_of_kind(value, kind) {
                Ok(())
            } else {
                differ()
            }
        }
        (Value::Object(members), _) if members.contains_key("$bind") => {
            let name = members["$bind"].as_str().ok_or("$bind needs a name")?;
            if let Some(inner) = members.get("$is") {
                compare(inner, value, bindings, path)?;
            }
            bindings.insert(name.to_owned(), value.clone());
            Ok(())
        }
        (Value::Object(members), Value::String(text)) if members.contains_key("$json") => {
            let inner = serde_json::from_str(text)
                .map_err(|error| format!("at {path}: {error} in {text}"))?;
            compare(&members["$json"], &inner, bindings, &format!("{path}>"))
        }
        (Value::Object(wanted), Value::Object(got)) => {
            let is_open = wanted.get("...") == Some(&Value::Bool(true));
            let named = wanted.iter().filter(|(name, _)| *name != "...");
            for (name, member) in named {
                let found =
                    got.get(name).ok_or(format!("at {path}: {name} is missing in {value}"))?;
                compare(member, found, bindings, &format!("{path}.{name}"))?;
            }
            match got.keys().find(|name| !wanted.contains_key(*name)) {
                Some(name) if !is_open => Err(format!("at {path}: unexpected {name} in {value}")),
                _ => Ok(()),
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            let pairs = wanted.iter().zip(got).enumerate();
            for (index, (wanted, got)) in pairs {
                compare(wanted, got, bindings, &format!("{path}[{index}]"))?;
            }
            Ok(())
        }
        _ if pattern == value => Ok(()),
        _ => differ(),
    }
}

fn is_kind(text: &str) -> bool {
    matches!(text, "<any>" | "<int>" | "<num>" | "<str>" | "<bool>")
}

fn is_of_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "<int>" => value.is_i64() || value.is_u64(),
        "<num>" => value.is_number(),
        "<str>" => value.is_string(),
        "<bool>" => value.is_boolean(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(pattern: Value, value: Value) -> Result<Bindings, String> {
        let mut bindings = Bindings::new();
        matches(&pattern, &value, &mut bindings).map(|()| bindings)
    }

    #[test]
    fn equal_is_equal_and_nothing_else() {
        assert!(check(json!({"a": [1, null]}), json!({"a": [1, null]})).is_ok());
        for (pattern, value) in [
            (json!(1), json!(2)),
            (json!(1), json!("1")),
            (json!([1]), json!([1, 1])),
            (json!({"a": 1}), json!({})),
            (json!({}), json!({"a": 1})),
            (json!({"a": 1}), json!({"b": 1})),
            (json!(null), json!(false)),
        ] {
            assert!(check(pattern.clone(), value.clone()).is_err(), "{pattern} {value}");
        }
    }

    #[test]
    fn kinds_stand_for_their_values() {
        for (kind, good, bad) in [
            ("<int>", json!(7), json!(7.5)),
            ("<num>", json!(7.5), json!("7")),
            ("<str>", json!(""), json!(null)),
            ("<bool>", json!(false), json!(0)),
        ] {
            assert!(check(json!([kind]), json!([good])).is_ok(), "{kind}");
            assert!(check(json!([kind]), json!([bad])).is_err(), "{kind}");
        }
        assert!(check(json!("<any>"), json!({"a": []})).is_ok());
    }

    #[test]
    fn open_objects_allow_more_but_not_less() {
        assert!(check(json!({"a": 1, "...": true}), json!({"a": 1, "b": 2})).is_ok());
        assert!(check(json!({"a": 1, "...": true}), json!({"b": 2})).is_err());
        let inner = json!({"a": {"b": 1}, "...": true});
        assert!(check(inner, json!({"a": {"b": 1, "c": 2}})).is_err());
    }

    #[test]
    fn bound_values_are_put_in_later() {
        let pattern = json!({"id": {"$bind": "n"}, "name": {"$bind": "s", "$is": "<str>"}});
        let bindings = check(pattern.clone(), json!({"id": 3, "name": "s3"})).unwrap();
        let sent = substitute(&json!(["$n", "$s", "x$n.$s$unbound $", "$$n"]), &bindings);
        assert_eq!(sent, json!([3, "s3", "x3.s3$unbound $", "$3"]));
        assert!(check(pattern, json!({"id": 3, "name": 4})).is_err());
        let mut bindings = bindings;
        assert!(matches(&json!({"x": "$n"}), &json!({"x": 3}), &mut bindings).is_ok());
        assert!(matches(&json!({"x": "$n"}), &json!({"x": 4}), &mut bindings).is_err());
    }

    #[test]
    fn json_within_a_string_is_looked_into() {
        let pattern = json!({"$json": [{"a": {"$bind": "x"}}]});
        assert_eq!(check(pattern.clone(), json!("[{\"a\":1}]")).unwrap()["x"], 1);
        assert!(check(pattern.clone(), json!("[]")).is_err());
        assert!(check(pattern, json!("[")).is_err());
    }

    #[test]
    fn a_difference_is_located() {
        let error = check(json!({"a": [{"b": 1}]}), json!({"a": [{"b": 2}]})).unwrap_err();
        assert_eq!(error, "at $.a[0].b: expected 1, got 2");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z$ ]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..4)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_its_own_pattern(value in any_json()) {
            prop_assert!(check(value.clone(), value).is_ok());
        }

        #[test]
        fn any_pattern_meets_any_value(pattern in any_json(), value in any_json()) {
            let matched = check(pattern.clone(), value.clone()).is_ok();
            prop_assert_eq!(matched, pattern == value);
        }
    }
}
