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
        Some("object") if schema.get("properties").is_none() => json!({}),
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
fn all_tools_together_are_reported_in_sixteen_kibibytes() {
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
        ("memory_save", ToolKind::State, &["text"], &["scope", "metadata"]),
        ("memory_query", Read, &["text"], &["scope", "limit"]),
        ("memory_read", Read, &["memory_id"], &[]),
        ("memory_update", ToolKind::State, &["memory_id", "text"], &["metadata"]),
        ("memory_delete", ToolKind::State, &["memory_id"], &[]),
        ("echo", Read, &["text"], &[]),
        ("skill", Read, &["name"], &[]),
        ("task", ToolKind::Agents, &["description", "prompt"], &["subagent_type", "model", "lane"]),
        ("new_task", Internal, &["mode", "message"], &[]),
        ("switch_mode", Internal, &["mode_slug"], &["reason"]),
        ("attempt_completion", Internal, &["result"], &[]),
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

#[tokio::test]
async fn calls_by_name_are_shortened() {
    let bench = Bench::new();
    let unknown = call(bench.context(), "no_such_tool", json!({})).await;
    assert_eq!((unknown.is_error, unknown.text.as_str()), (true, "tool not found"));
    let long = call(bench.context(), "shell", json!({"command": "seq 1 5000"})).await;
    let id = long.data["artifact"]["id"].as_str().unwrap();
    assert!(long.text.starts_with("Exit code: 0\n") && long.text.contains(id), "{}", long.text);
    assert_eq!((long.exit_code, long.is_error), (Some(0), false));
    let tail = call(bench.context(), "tail_artifact", json!({"artifact_id": id, "lines": 1})).await;
    assert_eq!(tail.text, " 5003: 5000");
}

#[tokio::test]
async fn calls_can_be_shown_before_they_are_allowed() {
    let bench = Bench::new();
    bench.file("a.txt", "1\n2\n3\n");
    let shown =
        async |tool: &str, arguments: Value| preview(bench.context(), tool, arguments).await;
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    let edit = json!({"path": "a.txt", "old_string": "2", "new_string": "two"});
    assert_eq!(shown("edit", edit.clone()).await.as_deref(), Some(diff));
    let edits = json!({"path": "a.txt", "edits": [{"old_string": "2", "new_string": "two"}]});
    assert_eq!(shown("multi_edit", edits).await.as_deref(), Some(diff));
    let write = json!({"path": "a.txt", "content": "1\ntwo\n3\n"});
    assert_eq!(shown("write_file", write).await.as_deref(), Some(diff));
    assert_eq!(shown("apply_patch", json!({"patch": diff})).await.as_deref(), Some(diff));
    let made = shown("write_file", json!({"path": "b", "content": "x\n"})).await;
    assert_eq!(made.as_deref(), Some("--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n"));
    let moved = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: c\n*** End Patch";
    let moved = shown("apply_patch", json!({"patch": moved})).await;
    assert_eq!(moved.as_deref(), Some("--- a/a.txt\n+++ b/c\n"));
    let command = shown("shell", json!({"command": "make all"})).await;
    assert_eq!(command.as_deref(), Some("make all"));
    assert_eq!(shown("exec_command", json!({"cmd": "ls"})).await.as_deref(), Some("ls"));
    assert_eq!(shown("unified_exec", json!({"input": "ls"})).await.as_deref(), Some("ls"));
    assert_eq!(shown("write_stdin", json!({"session_id": 1, "chars": "y\n"})).await, None);
    assert_eq!(shown("read_file", json!({"path": "a.txt"})).await, None);
    assert_eq!(shown("edit", json!({"path": "none"})).await, None);
    let long = shown("write_file", json!({"path": "b", "content": "x\n".repeat(20_000)})).await;
    assert!(long.unwrap().chars().count() < 6_200);
    assert_eq!(bench.read("a.txt"), "1\n2\n3\n");
    assert_eq!(bench.names(), ["a.txt"]);
    let started = bench.run("unified_exec", json!({"input": "read x", "timeout_ms": 0})).await;
    let typing = json!({"session_id": started.data["session_id"], "input": "y\n"});
    assert_eq!(shown("unified_exec", typing).await.as_deref(), Some("read x\n< \"y\\n\""));
}
