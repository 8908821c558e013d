//! What holds for every dialect that is in the table.

use std::collections::HashSet;
use std::path::Path;

use rookery_wire::ids;
use serde_json::Value;

use super::*;

#[test]
fn names_endpoints_and_paths_are_unique() {
    let mut seen = HashSet::new();
    for dialect in listening() {
        let endpoint = &dialect.endpoint;
        for word in [dialect.name, endpoint.name].into_iter().collect::<HashSet<_>>() {
            assert!(seen.insert(word), "{word} is there twice");
        }
        assert!(seen.insert(endpoint.path), "{} is there twice", endpoint.path);
        assert!(std::ptr::eq(Dialect::named(dialect.name).unwrap(), dialect));
        assert!(std::ptr::eq(Dialect::at(endpoint.name).unwrap(), dialect));
    }
    assert_eq!(listening().filter(|dialect| dialect.endpoint.always).count(), 1);
}

#[test]
fn the_methods_of_our_own_socket_are_disjoint() {
    let mut seen = HashSet::new();
    for dialect in
        ["native", "link", "ptywright", "roder"].map(|name| Dialect::named(name).unwrap())
    {
        for op in dialect.ops().0 {
            assert!(seen.insert(op.name), "{} is in two tables", op.name);
        }
    }
}

#[test]
fn rows_name_the_members_that_carry_ids() {
    let mut wrong = Vec::new();
    for dialect in DIALECTS {
        let (ops, defs) = dialect.ops();
        for op in ops {
            let Some((params, _)) = &op.schemas else { continue };
            let complaints = ids::complaints(params, &defs, &op.names);
            wrong.extend(
                complaints.iter().map(|said| format!("{} {}: {said}", dialect.name, op.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dialect_names_ids_of_its_own() {
    for dialect in DIALECTS {
        assert!(dialect.ops().0.iter().any(|op| !op.names.is_empty()), "{}", dialect.name);
    }
}

#[test]
fn every_dialect_has_vectors_and_a_page() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for dialect in DIALECTS {
        let page = top.join(format!("docs/dialects/{}.md", dialect.name));
        assert!(page.is_file(), "{}", page.display());
        let vectors = top.join("tests/vectors").join(dialect.name);
        assert!(vectors.is_dir(), "{}", vectors.display());
    }
}

#[test]
fn a_refusal_is_a_line_of_json() {
    for dialect in DIALECTS {
        let line = dialect.refusal.strip_suffix(['\n', '\u{c}']).unwrap();
        assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{}", dialect.name);
    }
}

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
fn everything_is_described_and_every_reference_leads_somewhere() {
    for dialect in DIALECTS {
        let document = dialect.schema();
        let methods = document["methods"].as_object().unwrap();
        for op in dialect.ops().0 {
            assert_eq!(methods.contains_key(op.name), op.schemas.is_some(), "{}", op.name);
        }
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{}: {reference}", dialect.name);
        }
    }
}

#[test]
fn requests_are_read_without_a_world() {
    for (name, request, asked) in [
        ("native", r#"{"jsonrpc":"2.0","id":1,"method":"rookery/status"}"#, "rookery/status"),
        (
            "ptywright",
            r#"{"jsonrpc":"2.0","id":1,"method":"session.kill","params":{"session":"s1"}}"#,
            "session.kill",
        ),
        ("roost", r#"{"id":"1","op":"tab.close","params":{"tab_id":"3"}}"#, "tab.close"),
        (
            "roder",
            r#"{"jsonrpc":"2.0","id":1,"method":"thread/read","params":{"thread_id":"x"}}"#,
            "thread/read",
        ),
        ("idx0", r#"{"command":"listQueue","payload":{}}"#, "listQueue"),
        (
            "roo",
            r#"{"type":"TaskCommand","origin":"client","data":{"commandName":"IsReady"}}"#,
            "IsReady",
        ),
        (
            "roo-code",
            r#"{"type":"message","data":{"type":"TaskCommand","origin":"client","data":{"commandName":"CancelTask","data":"x"}}}"#,
            "CancelTask",
        ),
    ] {
        let dialect = Dialect::named(name).unwrap();
        assert_eq!(dialect.read(request.as_bytes()), Ok(asked));
        for bad in ["", "{", "[]", r#"{"jsonrpc":"2.0","method":7}"#, "\u{c}"] {
            assert!(dialect.read(bad.as_bytes()).is_err(), "{name}: {bad}");
        }
    }
    let native = Dialect::named("native").unwrap();
    let bad = br#"{"jsonrpc":"2.0","id":1,"method":"rookery/terminals/get","params":{}}"#;
    assert_eq!(native.read(bad), Err("missing field `terminal`".to_owned()));
}

/// What the link tells faces without being asked.
const NOTIFICATIONS: &[&str] = &["rookery/view/frame"];

/// The files of a directory and of those below, without tests.
fn sources(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        match path.extension().and_then(|ending| ending.to_str()) {
            None if path.is_dir() && !is_test => sources(&path, found),
            Some("rs" | "js") if !is_test => found.push(path),
            _ => {}
        }
    }
}

/// The methods that a source names: whole literals, and names behind the prefix of the link.
fn named(text: &str) -> Vec<String> {
    let whole = text.split("\"rookery/").skip(1).map(|rest| ("rookery/", rest, '"'));
    let behind = text.split("${VIEW}").skip(1).map(|rest| ("rookery/view/", rest, '`'));
    let ends = |(prefix, rest, end): (&str, &str, char)| {
        let name = rest.split(end).next()?;
        let is_name = !name.is_empty() && !name.ends_with('/') && !name.contains(['$', ' ', '{']);
        is_name.then(|| format!("{prefix}{name}"))
    };
    whole.chain(behind).filter_map(ends).collect()
}

/// Faces call methods by name; one that is misspelled would only be found by whoever presses the key.
#[test]
fn faces_call_only_what_is_served() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let served: HashSet<&str> = ["native", "link", "ptywright", "roder"]
        .into_iter()
        .flat_map(|name| Dialect::named(name).unwrap().ops().0)
        .map(|op| op.name)
        .chain(NOTIFICATIONS.iter().copied())
        .collect();
    for (face, least) in
        [("crates/view/src/link", 20), ("crates/face/src", 15), ("crates/web/assets", 40)]
    {
        let mut files = Vec::new();
        sources(&top.join(face), &mut files);
        let mut calls = 0;
        for file in files {
            for name in named(&std::fs::read_to_string(&file).unwrap()) {
                assert!(served.contains(&name[..]), "{}: {name}", file.display());
                calls += 1;
            }
        }
        assert!(calls >= least, "{face} names {calls} methods");
    }
}

#[test]
fn names_of_methods_are_found() {
    let text =
        "call(\"rookery/a/b\", `${VIEW}go`, `${VIEW}${other}`); const VIEW = \"rookery/view/\";";
    assert_eq!(named(text), ["rookery/a/b", "rookery/view/go"]);
}
