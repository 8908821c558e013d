//! What `chat --json` and `threads --json` print has the members that scripts parse, as recorded before these
//! commands spoke our own dialect.

use std::fs;

use rookery_testkit::{Finished, Home, TestDaemon, rookery_binary};
use serde_json::Value;

const RECORDED: &str = include_str!("../recorded/json_of_threads.txt");

/// Which members a value has, without their values; kinds of elements are listed once.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let parts = members.iter().map(|(name, value)| format!("{name}{}", shape(value)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(" "))
        }
        Value::Array(elements) => {
            let mut kinds: Vec<String> = Vec::new();
            for kind in elements.iter().map(shape).filter(|kind| !kind.is_empty()) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            format!("[{}]", kinds.join("|"))
        }
        _ => String::new(),
    }
}

/// The lines of a stream by their names, in an order that does not depend on timing.
fn stream(output: &str) -> Vec<String> {
    let mut lines: Vec<String> = output
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            match value["method"].as_str() {
                Some(method) => format!("{method} {}", shape(&value["params"])),
                None => format!("{} {}", value["type"].as_str().unwrap(), shape(&value)),
            }
        })
        .collect();
    assert!(lines.last().unwrap().starts_with("done "), "{output}");
    lines.sort();
    lines
}

#[test]
fn what_programs_parse_is_as_it_was() {
    let home = Home::new();
    let work = home.join("work");
    fs::create_dir_all(work.join(".roder/commands")).unwrap();
    fs::write(work.join(".roder/commands/script.md"), "MOCK_SCRIPT:{{arguments}}").unwrap();
    let daemon = TestDaemon::start_in(home);
    let run = |args: &[&str]| {
        let mut command = daemon.home().command(rookery_binary());
        command.args(args).current_dir(&work);
        Finished::of(command).stdout
    };
    let mut seen: Vec<String> = Vec::new();
    let mut chat = |title: &str, args: &[&str]| {
        seen.push(format!("## chat: {title}"));
        seen.extend(stream(&run(&[&["chat", "--json"], args].concat())));
    };
    let hello =
        r#"MOCK_SCRIPT:[{"reasoning":"hm","text":"hello","usage":{"prompt":7,"completion":2}}]"#;
    chat("a thread and a turn", &["--provider", "mock", "--name", "first", hello]);
    let touch = r#"MOCK_SCRIPT:[{"tool":"shell","args":{"command":"touch x"}},{"text":"done"}]"#;
    chat("a tool that is approved", &["--last", "--yes", touch]);
    chat("a command that fails", &["--last", r#"/script [{"error":"no"}]"#]);
    let listed: Value = serde_json::from_str(&run(&["threads", "--json"])).unwrap();
    let id = listed["threads"][0]["id"].as_str().unwrap().to_owned();
    seen.extend(["## threads".to_owned(), shape(&listed)]);
    for action in ["show", "rename", "fork", "archive", "unarchive", "delete"] {
        let mut args = vec!["threads", action, &id, "--json"];
        args.extend((action == "rename").then_some("new name"));
        let printed: Value = serde_json::from_str(&run(&args)).unwrap();
        seen.extend([format!("## threads {action}"), shape(&printed)]);
    }
    assert_eq!(seen.join("\n"), RECORDED.trim_end());
}
