//! A vector's file: its header and its steps, read strictly so that a typing mistake is no silence.

use std::path::{Path, PathBuf};

use rookery_issuer::Person;
use serde::Deserialize;
use serde_json::Value;

/// A conversation to be held.
#[derive(Clone, Debug)]
pub struct Script {
    /// Where it was read from.
    pub path: PathBuf,
    /// What it shows.
    pub name: String,
    /// The endpoint to speak to.
    pub endpoint: String,
    /// Whether operations for tests are allowed.
    pub test_mode: bool,
    /// What the person does at the issuer of accounts, if there is one.
    pub issuer: Option<Person>,
    /// What a device is called that was paired before; its id is bound to `$device`.
    pub device: Option<String>,
    /// What is said, in order.
    pub steps: Vec<Step>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its number in the file, from 1.
    pub line: usize,
    /// What to do.
    pub kind: StepKind,
    /// The connection to do it on; the first one is 0, others are made when they are first named.
    pub on: usize,
}

/// What to do.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Send a message; a string goes out as it is.
    Send(Value),
    /// The next message must match.
    Expect(Value),
    /// As many next messages must match, in any order.
    ExpectUnordered(Vec<Value>),
    /// Send a message again and again until its reply matches.
    Until {
        /// The message.
        send: Value,
        /// What its reply must match.
        expect: Value,
    },
    /// The server must close the connection without another message.
    ExpectEof(bool),
    /// Hang up.
    Disconnect(bool),
    /// For readers.
    Comment(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    endpoint: String,
    #[serde(default)]
    test_mode: bool,
    #[serde(default)]
    issuer: Option<String>,
    #[serde(default)]
    device: Option<String>,
    #[serde(default, rename = "comment")]
    _comment: Option<String>,
}

impl Script {
    /// Reads a file.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read(path: &Path) -> Result<Script, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Script::parse(path, &text)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn parse(path: &Path, text: &str) -> Result<Script, String> {
        let at = |line: usize, error: String| format!("{}:{line}: {error}", path.display());
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (_, first) = lines.next().ok_or_else(|| at(1, "the file is empty".to_owned()))?;
        let header: Header =
            serde_json::from_str(first).map_err(|error| at(1, error.to_string()))?;
        let mut steps = Vec::new();
        for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
            let (kind, on) = parse_step(text).map_err(|error| at(line, error))?;
            steps.push(Step { line, kind, on });
        }
        let Header { name, endpoint, test_mode, issuer, device, .. } = header;
        let issuer = issuer.map(|word| person(&word)).transpose().map_err(|error| at(1, error))?;
        let path = path.to_owned();
        Ok(Script { path, name, endpoint, test_mode, issuer, device, steps })
    }

    /// All files below `dir` that end in `.jsonl`, in the order of their paths.
    pub fn files(dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let entries = std::fs::read_dir(dir).into_iter().flatten();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                found.extend(Script::files(&path));
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
        found.sort();
        found
    }
}

/// What the person does at the issuer, by its word.
fn person(word: &str) -> Result<Person, String> {
    match word {
        "waits" => Ok(Person::Waits),
        "allows" => Ok(Person::Allows),
        "refuses" => Ok(Person::Refuses),
        _ => Err(format!("issuer: {word} is none of waits, allows and refuses")),
    }
}

fn parse_step(text: &str) -> Result<(StepKind, usize), String> {
    let mut step: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let on = match step.as_object_mut().and_then(|members| members.remove("on")) {
        None => 0,
        Some(on) => serde_json::from_value(on).map_err(|error| format!("on: {error}"))?,
    };
    let kind = serde_json::from_value(step).map_err(|error| error.to_string())?;
    Ok((kind, on))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Script, String> {
        Script::parse(Path::new("a.jsonl"), text)
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let text = r#"{"name": "n", "endpoint": "rookery"}
            {"comment": "why"}
            {"send": {"id": 1}}
            {"send": "raw"}

            {"expect": {"id": 1, "...": true}}
            {"expect_unordered": [1, 2]}
            {"expect_eof": true}
            {"until": {"send": {"id": 2}, "expect": {"id": 2}}, "on": 1}
            {"disconnect": true, "on": 1}"#;
        let script = parse(text).unwrap();
        assert_eq!((script.name.as_str(), script.endpoint.as_str()), ("n", "rookery"));
        let kinds: Vec<_> = script.steps.iter().map(|step| (step.line, &step.kind)).collect();
        assert_eq!(kinds[1], (3, &StepKind::Send(json!({"id": 1}))));
        assert_eq!(kinds[2], (4, &StepKind::Send(json!("raw"))));
        assert_eq!(kinds[5], (8, &StepKind::ExpectEof(true)));
        assert_eq!((kinds[7], script.steps[7].on), ((10, &StepKind::Disconnect(true)), 1));
        assert!(!script.test_mode);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let header = r#"{"name": "n", "endpoint": "rookery"}"#;
        let error = parse(&format!("{header}\n{{\"sned\": 1}}")).unwrap_err();
        assert!(error.starts_with("a.jsonl:2: unknown variant `sned`"), "{error}");
        assert!(parse("").unwrap_err().contains("empty"));
        assert!(parse(r#"{"name": "n"}"#).unwrap_err().starts_with("a.jsonl:1: missing field"));
        assert!(parse(&format!("{header}\n{{\"send\": 1, \"expect\": 2}}")).is_err());
    }
}
