//! Which methods the vectors call, and how those calls end: read off the scripts, not run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::script::{Script, StepKind};

/// How a call is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// With a result.
    Good,
    /// With an error.
    Bad,
}

/// Which methods are called with which verdicts.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeSet<(String, Verdict)>);

/// Methods by the id as it is written, which tells numbers from strings.
type Calls = BTreeMap<String, String>;

fn add_call(calls: &mut Calls, message: &Value) {
    let name = message.get("method").or_else(|| message.get("op")).and_then(Value::as_str);
    if let (Some(id), Some(name)) = (message.get("id"), name) {
        calls.insert(id.to_string(), name.to_owned());
    }
    // One request per connection needs no id.
    if let Some(command) = message.get("command").and_then(Value::as_str) {
        calls.insert(String::new(), command.to_owned());
    }
}

/// The reply to a command of Roo Code, which names its command in both shapes.
fn task_reply(pattern: &Value) -> Option<(&str, Verdict)> {
    let payload = pattern.pointer("/data/data/payload")?;
    let reply = payload.get(0).unwrap_or(payload);
    let command = reply.get("commandName")?.as_str()?;
    let is_error = reply.pointer("/payload/error").is_some();
    Some((command, if is_error { Verdict::Bad } else { Verdict::Good }))
}

impl Coverage {
    /// Counts the calls of a script in.
    pub fn add(&mut self, script: &Script) {
        let mut connections: BTreeMap<usize, Calls> = BTreeMap::new();
        for step in &script.steps {
            let calls = connections.entry(step.on).or_default();
            match &step.kind {
                StepKind::Send(message) => add_call(calls, message),
                StepKind::Expect(pattern) => self.add_reply(calls, pattern),
                StepKind::ExpectUnordered(patterns) => {
                    patterns.iter().for_each(|pattern| self.add_reply(calls, pattern));
                }
                StepKind::Until { send, expect } => {
                    add_call(calls, send);
                    self.add_reply(calls, expect);
                }
                StepKind::ExpectEof(_) | StepKind::Disconnect(_) | StepKind::Comment(_) => {}
            }
        }
    }

    fn add_reply(&mut self, calls: &Calls, pattern: &Value) {
        if let Some((command, verdict)) = task_reply(pattern) {
            self.0.insert((command.to_owned(), verdict));
            return;
        }
        if let (Some(Value::Bool(success)), Some(command)) = (pattern.get("success"), calls.get(""))
        {
            let verdict = if *success { Verdict::Good } else { Verdict::Bad };
            self.0.insert((command.clone(), verdict));
            return;
        }
        let method = pattern.get("id").and_then(|id| calls.get(&id.to_string()));
        let verdict = match (pattern.get("result"), pattern.get("error")) {
            (Some(_), None) => Verdict::Good,
            (None, Some(_)) => Verdict::Bad,
            _ => return,
        };
        if let Some(method) = method {
            self.0.insert((method.clone(), verdict));
        }
    }

    /// Whether some vector calls this method and expects this.
    pub fn has(&self, method: &str, verdict: Verdict) -> bool {
        self.0.contains(&(method.to_owned(), verdict))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn replies_of_roo_code_name_their_commands() {
        let text = r#"{"name": "n", "endpoint": "roo"}
            {"expect": {"type": "message", "data": {"data": {"eventName": "commandResponse", "payload": [{"commandName": "a", "payload": 1}]}}}}
            {"expect": {"type": "message", "data": {"data": {"eventName": "CommandResponse", "payload": {"commandName": "b", "payload": {"error": {}}}}}}}"#;
        let mut coverage = Coverage::default();
        coverage.add(&Script::parse(Path::new("x"), text).unwrap());
        assert!(coverage.has("a", Verdict::Good) && coverage.has("b", Verdict::Bad));
    }

    #[test]
    fn calls_are_judged_by_the_replies_expected() {
        let text = r#"{"name": "n", "endpoint": "rookery"}
            {"send": {"id": 1, "method": "a"}}
            {"expect": {"id": 1, "result": 5}}
            {"send": {"id": "1", "method": "b"}}
            {"expect": {"method": "news", "params": {}}}
            {"expect_unordered": [{"id": "1", "error": {"code": 1}}]}
            {"send": {"id": 2, "method": "c"}}
            {"send": {"id": "5", "op": "d"}, "on": 1}
            {"expect": {"id": "5", "result": {}}}
            {"expect": {"id": "5", "error": {}}, "on": 1}"#;
        let mut coverage = Coverage::default();
        coverage.add(&Script::parse(Path::new("x"), text).unwrap());
        assert!(coverage.has("a", Verdict::Good) && !coverage.has("a", Verdict::Bad));
        assert!(coverage.has("b", Verdict::Bad) && !coverage.has("b", Verdict::Good));
        assert!(coverage.has("d", Verdict::Bad) && !coverage.has("d", Verdict::Good));
        assert!(!coverage.has("c", Verdict::Good) && !coverage.has("c", Verdict::Bad));
    }
}
