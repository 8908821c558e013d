//! What holds for all built-in tools.

use std::collections::BTreeSet;

use rookery_model::ToolKind;
use serde_json::{Map, Value, json};

use super::test_world::Bench;
use super::*;

/// A value that fits a schema, made from nothing else.
fn example(schema: &Value) -> Value {
    if let Some(choice) = schema["enum"].get(0).or_else(|| schema.get("const")) {
        return choice.clone();
    }
    if let Some(choice) = schema["anyOf"].get(0) {
        return example(choice);
    }
    match schema["type"].as_str() {
        Some("string") => json!("text"),
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(1);
            (0..count).map(|_| example(&schema["items"])).collect()
        }
        Some("object") => {
            properties(schema).iter().map(|(name, of)| (name.clone(), example(of))).collect()
        }
        other => panic!("no example for {other:?} in {schema}"),
    }
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().unwrap().clone()
}

#[test]
fn schemas_say_exactly_what_decodes() {
    for tool in TOOLS {
        let schema = (tool.parameters)();
        let name = tool.name;
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{name}"
        );
        let whole = example(&schema);
        assert_eq!((tool.check)(&whole), Ok(()), "{name}: {whole}");
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap())
            .collect();
        for property in properties(&schema).keys() {
            let mut without = whole.clone();
            without.as_object_mut().unwrap().remove(property);
            let is_required = required.contains(&property.as_str());
            assert_eq!((tool.check)(&without).is_err(), is_required, "{name}: {property}");
            // Whatever it is, it is not this.
            let mut wrong = whole.clone();
            wrong[property] = json!({"odd": [1.5]});
            let told = (tool.check)(&wrong).unwrap_err();
            assert!(
                told.starts_with("invalid tool call arguments: ") && told.contains(property),
                "{name}: {told}"
            );
        }
        let mut more = whole.clone();
        more["no_such_member"] = json!(1);
        let told = (tool.check)(&more).unwrap_err();
        assert!(told.contains("no_such_member"), "{name}: {told}");
    }
}

#[test]
fn all_tools_together_are_told_in_sixteen_kibibytes() {
    let specs: Vec<Value> = TOOLS
        .iter()
        .map(|tool| tool.spec())
        .map(|spec| json!({"type": "function", "name": spec.name, "description": spec.description, "parameters": spec.parameters}))
        .collect();
    let size = serde_json::to_string(&specs).unwrap().len();
    assert!(size <= 16 << 10, "{size} bytes");
}

#[test]
fn the_table_is_the_contract() {
    use ToolKind::{Exec, Internal, Read, Write};
    let expected: &[(&str, ToolKind, &[&str], &[&str])] = &[
        ("read_file", Read, &["path"], &["start_line", "limit", "response_format"]),
        ("list_files", Read, &[], &["path", "offset", "limit"]),
        (
            "grep",
            Read,
            &["query"],
            &["path", "regex", "case_sensitive", "word_boundary", "mode", "offset", "limit"],
        ),
        ("glob", Read, &["pattern"], &["offset", "limit"]),
        ("view_image", Read, &["path"], &[]),
        ("write_file", Write, &["path", "content"], &[]),
        ("edit", Write, &["path", "old_string", "new_string"], &[]),
        ("multi_edit", Write, &["path", "edits"], &[]),
        ("apply_patch", Write, &["patch"], &[]),
        ("shell", Exec, &["command"], &["workdir", "timeout_seconds"]),
        (
            "exec_command",
            Exec,
            &["cmd"],
            &[
                "workdir",
                "shell",
                "tty",
                "yield_time_ms",
                "max_output_tokens",
                "login",
                "timeout_ms",
            ],
        ),
        ("write_stdin", Exec, &["session_id"], &["chars", "yield_time_ms", "max_output_tokens"]),
        ("unified_exec", Exec, &["input"], &["session_id", "timeout_ms"]),
        ("update_plan", Internal, &["plan"], &["explanation"]),
        ("request_user_input", Internal, &["questions"], &[]),
        ("exit_plan_mode", Internal, &["summary"], &["next_steps", "target_mode"]),
        ("task_ledger.update", Internal, &["tasks"], &["requireCompletionEvidence"]),
        ("get_goal", Internal, &[], &[]),
        ("create_goal", Internal, &["objective"], &["token_budget"]),
        ("update_goal", Internal, &["status"], &[]),
        ("read_artifact", Read, &["artifact_id"], &["start_line", "limit"]),
        ("grep_artifact", Read, &["artifact_id", "query"], &["offset", "limit"]),
        ("tail_artifact", Read, &["artifact_id"], &["lines"]),
        ("echo", Read, &["text"], &[]),
    ];
    assert_eq!(TOOLS.len(), expected.len());
    for (name, kind, required, optional) in expected {
        let tool = find(name).unwrap();
        assert_eq!(tool.kind, *kind, "{name}");
        let schema = (tool.parameters)();
        let names: BTreeSet<String> = properties(&schema).keys().cloned().collect();
        let all: BTreeSet<String> =
            required.iter().chain(*optional).map(|name| (*name).to_owned()).collect();
        assert_eq!(names, all, "{name}");
        let needed: BTreeSet<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(needed, required.iter().copied().collect(), "{name}");
    }
    assert!(find("no_such_tool").is_none());
}

#[tokio::test]
async fn every_tool_refuses_what_is_no_object() {
    let bench = Bench::new();
    for tool in TOOLS.iter().filter(|tool| !tool.needs_turn) {
        for wrong in [json!([]), Value::Null, json!("{\"cut"), json!({"no_such_member": 1})] {
            let output = bench.run(tool.name, wrong).await;
            assert!(output.is_error, "{}", tool.name);
            assert!(output.text.starts_with("invalid tool call arguments: "), "{}", output.text);
        }
    }
}

#[tokio::test]
async fn echo_says_the_same() {
    let bench = Bench::new();
    let output = bench.run("echo", json!({"text": "hällo\n"})).await;
    assert_eq!((output.text.as_str(), output.is_error), ("hällo\n", false));
    let wrapped = bench.run("echo", json!("{\"text\": \"in a string\"}")).await;
    assert_eq!(wrapped.text, "in a string");
}
