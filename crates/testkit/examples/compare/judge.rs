//! Whether a message meets a pattern, and if not, whether leaving out members that are known to differ helps.

use rookery_testkit::vectors::pattern::{Bindings, matches};
use serde_json::Value;

use crate::rules::Rules;

/// Binds what the pattern names, and gives the rows of members without which it would not fit.
pub(crate) fn judge(
    pattern: &Value,
    message: &Value,
    request: Option<&Value>,
    rules: &Rules,
    bindings: &mut Bindings,
) -> Result<Vec<usize>, String> {
    let mut tried = bindings.clone();
    let Err(strict) = matches(pattern, message, &mut tried) else {
        *bindings = tried;
        return Ok(Vec::new());
    };
    bind_what_is_there(pattern, message, bindings);
    let rows = || {
        let rows = rules.members.iter().enumerate();
        rows.filter(|(_, row)| row.is_about(request)).map(|(index, _)| index)
    };
    let fits = |left_out: &[usize], bindings: &Bindings| {
        let names: Vec<&str> = left_out
            .iter()
            .flat_map(|row| rules.members[*row].members.iter().map(String::as_str))
            .collect();
        let (pattern, message) = (without(pattern, &names), without(message, &names));
        matches(&pattern, &message, &mut bindings.clone())
    };
    let mut needed: Vec<usize> = rows().collect();
    if let Err(reason) = fits(&needed, bindings) {
        return Err(if needed.is_empty() { strict } else { reason });
    }
    for row in rows() {
        let fewer: Vec<usize> = needed.iter().copied().filter(|own| *own != row).collect();
        if fits(&fewer, bindings).is_ok() {
            needed = fewer;
        }
    }
    Ok(needed)
}

fn without(value: &Value, names: &[&str]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| without(item, names)).collect(),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, member)| (name.clone(), without(member, names)))
            .collect(),
        other => other.clone(),
    }
}

/// Later steps may make sense even though this one does not fit.
fn bind_what_is_there(pattern: &Value, message: &Value, bindings: &mut Bindings) {
    match (pattern, message) {
        (Value::Object(wanted), _) if wanted.contains_key("$bind") => {
            if let Some(name) = wanted["$bind"].as_str() {
                bindings.insert(name.to_owned(), message.clone());
            }
        }
        (Value::Object(wanted), Value::Object(got)) => {
            for (name, member) in wanted {
                if let Some(found) = got.get(name) {
                    bind_what_is_there(member, found, bindings);
                }
            }
        }
        (Value::Array(wanted), Value::Array(got)) => {
            wanted.iter().zip(got).for_each(|(one, other)| {
                bind_what_is_there(one, other, bindings);
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules() -> Rules {
        let row = |name: &str| {
            format!(
                "[[member]]\nmembers = [\"{name}\"]\nptywright = \"\"\nrookery = \"\"\nruling = \"addition\"\nreason = \"\"\n"
            )
        };
        toml::from_str(&(row("process") + &row("cells"))).unwrap()
    }

    #[test]
    fn only_rows_that_are_needed_count() {
        let pattern = json!({"a": 1, "process": {"pid": 7}});
        let mut bindings = Bindings::new();
        let mut judge = |message: Value| judge(&pattern, &message, None, &rules(), &mut bindings);
        assert_eq!(judge(json!({"a": 1, "process": {"pid": 7}})), Ok(vec![]));
        assert_eq!(judge(json!({"a": 1})), Ok(vec![0]));
        assert_eq!(judge(json!({"a": 1, "cells": []})), Ok(vec![0, 1]));
        assert!(judge(json!({"a": 2})).is_err());
    }

    #[test]
    fn what_can_be_bound_is_bound_in_spite_of_a_difference() {
        let pattern = json!({"id": 1, "result": {"session": {"$bind": "s"}, "more": 1}});
        let mut bindings = Bindings::new();
        let message = json!({"id": 1, "result": {"session": "s1"}});
        assert!(judge(&pattern, &message, None, &rules(), &mut bindings).is_err());
        assert_eq!(bindings["s"], json!("s1"));
    }
}
