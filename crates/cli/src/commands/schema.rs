//! `rookery schema`: JSON Schema of every method, made from the types that serve them.

use rookery_wire::rpc::Method;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::{args::Dialect, commands::done, failure::Outcome, output};

pub(super) fn run(dialect: Dialect) -> Outcome {
    output::json(&of(dialect))?;
    done()
}

fn of(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Native => document("native", rookery_native::METHODS),
        Dialect::Ptywright => document("ptywright", rookery_ptywright::METHODS),
        Dialect::Roost => roost(),
        Dialect::Roder => document("roder", rookery_roder::METHODS),
        Dialect::Idx0 => idx0(),
    }
}

fn roost() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut described = Map::new();
    for op in rookery_roost::OPS {
        if let Some(schemas) = op.schemas {
            let (params, result) = schemas(&mut generator);
            described.insert(op.name.to_owned(), json!({ "params": params, "result": result }));
        }
    }
    finished("roost", described, generator)
}

/// Payloads are strings under known keys; so are the facts of a reply.
fn idx0() -> Value {
    let reply = json!({ "$ref": "#/$defs/Reply" });
    let described = rookery_idx0::COMMANDS.iter().map(|command| {
        let payload = rookery_idx0::keys::schema(command.keys);
        (command.name.to_owned(), json!({ "params": payload, "result": reply }))
    });
    let methods: Map<String, Value> = described.collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Methods of the idx0 dialect",
        "methods": methods,
        "$defs": { "Reply": {
            "type": "object",
            "properties": {
                "success": { "type": "boolean" },
                "message": { "type": "string" },
                "data": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["success"],
        } },
    })
}

fn document<C>(dialect: &str, methods: &[Method<C>]) -> Value {
    let mut generator = SchemaGenerator::default();
    let mut described = Map::new();
    for method in methods {
        let params = (method.params_schema)(&mut generator);
        let result = (method.result_schema)(&mut generator);
        described.insert(method.name.to_owned(), json!({ "params": params, "result": result }));
    }
    finished(dialect, described, generator)
}

fn finished(dialect: &str, described: Map<String, Value>, mut generator: SchemaGenerator) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Methods of the {dialect} dialect"),
        "methods": described,
        "$defs": generator.take_definitions(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `$ref` of a document.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    found.push(reference.clone());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_method_is_described_and_every_reference_leads_somewhere() {
        for dialect in
            [Dialect::Native, Dialect::Ptywright, Dialect::Roost, Dialect::Roder, Dialect::Idx0]
        {
            let document = of(dialect);
            assert!(document["methods"].as_object().is_some_and(|methods| !methods.is_empty()));
            let mut found = Vec::new();
            references(&document, &mut found);
            assert!(!found.is_empty());
            for reference in found {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{dialect:?}: {reference}");
            }
        }
    }
}
