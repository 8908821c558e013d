//! What this dialect can be asked, for programs: a list of methods with their traits, and the schemas
//! of what goes in and out. Made from the table that is served, so that neither can be ahead.

mod traits;

use rookery_wire::rpc::Method;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

pub use traits::{Effect, Repeat, Stability, TRAITS, Traits};

use crate::METHODS;
use crate::context::Cx;

/// The version of the manifest's own shape.
const SCHEMA_VERSION: u32 = 1;
/// The name of params that are not looked at.
const NO_PARAMS: &str = "NoParams";

/// Every method with its types and traits, by name.
#[must_use]
pub fn manifest() -> Value {
    let mut generator = SchemaGenerator::default();
    let methods: Vec<Value> =
        sorted().into_iter().map(|method| entry(method, &mut generator)).collect();
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "unknownMethodsAllowed": true,
        "methods": methods,
    })
}

/// JSON Schema of the params and the result of every method.
#[must_use]
pub fn json_schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut described = Map::new();
    for method in sorted() {
        let params = (method.params_schema)(&mut generator);
        let result = (method.result_schema)(&mut generator);
        described.insert(method.name.to_owned(), json!({ "params": params, "result": result }));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Methods of the roder dialect",
        "methods": described,
        "$defs": generator.take_definitions(true),
    })
}

fn sorted() -> Vec<&'static Method<Cx>> {
    let mut methods: Vec<_> = METHODS.iter().collect();
    methods.sort_by_key(|method| method.name);
    methods
}

fn entry(method: &Method<Cx>, generator: &mut SchemaGenerator) -> Value {
    let params = (method.params_schema)(generator);
    let result = (method.result_schema)(generator);
    let mut entry = json!({
        "method": method.name,
        "paramsType": type_name(&params),
        "resultType": type_name(&result),
    });
    let traits = TRAITS.iter().find(|traits| traits.method == method.name);
    if let (Some(traits), Some(members)) = (traits, entry.as_object_mut()) {
        members.insert("stability".to_owned(), traits.stability.name().into());
        members.insert("featureGroup".to_owned(), traits.group.into());
        members.insert("idempotency".to_owned(), traits.repeat.name().into());
        members.insert("sideEffect".to_owned(), traits.effect.name().into());
        if !traits.notifications.is_empty() {
            members.insert("notifications".to_owned(), json!(traits.notifications.concat()));
        }
    }
    entry
}

/// The name of a type, as the schemas call it.
fn type_name(schema: &Schema) -> String {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let name = reference.and_then(|reference| reference.rsplit('/').next());
    name.unwrap_or(NO_PARAMS).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_its_traits_and_no_other_has() {
        let mut served: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        served.sort_unstable();
        let described: Vec<&str> = TRAITS.iter().map(|traits| traits.method).collect();
        assert_eq!(described, served);
    }

    #[test]
    fn aliases_have_the_traits_of_what_they_stand_for() {
        for (name, alias) in [
            ("session/get", "thread/state"),
            ("session/set_mode", "thread/set_mode"),
            ("session/exit_plan", "thread/exit_plan"),
            ("session/resolve_approval", "thread/resolve_approval"),
            ("session/resolve_user_input", "thread/resolve_user_input"),
        ] {
            let manifest = manifest();
            let found = |wanted: &str| {
                let methods = manifest["methods"].as_array().unwrap();
                let mut it = methods.iter().find(|it| it["method"] == wanted).unwrap().clone();
                it.as_object_mut().unwrap().remove("method");
                it
            };
            assert_eq!(found(name), found(alias));
        }
    }

    /// What the manifest in `@roderai/sdk` 0.1.0, the client in TypeScript, names of children, runners,
    /// tasks, teams and workflows: methods, and the notifications that they may cause.
    const OF_THE_CLIENT: &[(&str, &[&str])] = &[
        ("agents/list", &[]),
        ("extensions/list", &[]),
        ("runners/delete", &[]),
        ("runners/list", &[]),
        ("runners/ports", &[]),
        ("runners/select", &[]),
        ("runners/session", &[]),
        ("runners/snapshot", &[]),
        ("tasks/cancel", &[]),
        ("tasks/get", &[]),
        ("tasks/list", &[]),
        ("tasks/submit", &[]),
        (
            "tasks/subscribe",
            &["task.started", "task.output", "task.completed", "task.failed", "task.cancelled"],
        ),
        ("team/cleanup", &[]),
        ("team/list", &[]),
        ("team/member/focus", &[]),
        ("team/member/interrupt", &[]),
        ("team/member/message", &[]),
        ("team/member/start", &[]),
        ("team/pane/cleanup", &[]),
        ("team/pane/focus", &[]),
        ("team/read", &[]),
        ("team/start", &[]),
        ("turn/subagentTrace/read", &[]),
        ("turn/subagentTraces/list", &[]),
        (
            "workflows/approve",
            &["workflows/approved", "workflows/denied", "workflows/queued", "workflows/started"],
        ),
        ("workflows/get", &[]),
        ("workflows/list", &[]),
        ("workflows/pause", &["workflows/paused"]),
        ("workflows/plan", &["workflows/drafted", "workflows/approvalRequested"]),
        (
            "workflows/restartAgent",
            &[
                "workflows/agentQueued",
                "workflows/agentStarted",
                "workflows/agentCompleted",
                "workflows/agentFailed",
            ],
        ),
        ("workflows/resume", &["workflows/resumed"]),
        ("workflows/save", &[]),
        ("workflows/scripts/delete", &[]),
        ("workflows/scripts/list", &[]),
        ("workflows/scripts/read", &[]),
        ("workflows/stop", &["workflows/stopped"]),
    ];

    #[test]
    fn what_the_client_in_typescript_names_is_in_the_manifest() {
        let (manifest, schema) = (manifest(), json_schema());
        let methods = manifest["methods"].as_array().unwrap();
        for (name, notifications) in OF_THE_CLIENT {
            let method = methods.iter().find(|method| method["method"] == *name);
            let method = method.unwrap_or_else(|| panic!("{name} is not served"));
            assert!(schema["methods"][name].is_object(), "{name}");
            let caused = method["notifications"].as_array().cloned().unwrap_or_default();
            for notification in *notifications {
                assert!(caused.contains(&json!(notification)), "{name}: {notification}");
            }
        }
    }

    #[test]
    fn the_manifest_names_types_that_the_schemas_define() {
        let (manifest, schema) = (manifest(), json_schema());
        let methods = manifest["methods"].as_array().unwrap();
        assert_eq!(methods.len(), METHODS.len());
        for method in methods {
            for (member, part) in [("paramsType", "params"), ("resultType", "result")] {
                let name = method[member].as_str().unwrap();
                let described = &schema["methods"][method["method"].as_str().unwrap()][part];
                match name {
                    NO_PARAMS => assert_eq!(described["type"], "object", "{method}"),
                    _ => assert!(schema["$defs"][name].is_object(), "{method}"),
                }
            }
            for member in ["stability", "featureGroup", "idempotency", "sideEffect"] {
                assert!(method[member].is_string(), "{method}");
            }
        }
    }

    #[test]
    fn results_are_named_and_every_reference_leads_somewhere() {
        let (manifest, schema) = (manifest(), json_schema());
        for method in manifest["methods"].as_array().unwrap() {
            assert_ne!(method["resultType"], NO_PARAMS, "{method}");
        }
        let text = schema.to_string();
        let references = text.split("\"$ref\":\"#").skip(1);
        let mut count = 0;
        for pointer in references.map(|rest| rest.split('"').next().unwrap()) {
            assert!(schema.pointer(pointer).is_some(), "{pointer}");
            count += 1;
        }
        assert!(count > METHODS.len());
    }
}
