//! A server for tests that answers as it was told to.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use super::link::Link;

/// What is answered to one request.
pub(super) struct Step {
    op: &'static str,
    before: Vec<String>,
    /// With `ID` where the id of the request goes.
    line: String,
    after: Vec<String>,
}

impl Step {
    pub(super) fn raw(op: &'static str, line: &str) -> Self {
        Self { op, before: Vec::new(), line: line.to_owned(), after: Vec::new() }
    }

    pub(super) fn answer(op: &'static str, result: &str) -> Self {
        Self::raw(op, &format!(r#"{{"id":"ID","ok":true,"result":{result}}}"#))
    }

    pub(super) fn refuse(op: &'static str, code: &str, message: &str) -> Self {
        let error = format!(r#"{{"code":"{code}","message":"{message}"}}"#);
        Self::raw(op, &format!(r#"{{"id":"ID","ok":false,"error":{error}}}"#))
    }

    /// Lines sent before the answer.
    pub(super) fn before(mut self, lines: &[&str]) -> Self {
        self.before = lines.iter().map(|line| (*line).to_owned()).collect();
        self
    }

    /// Lines sent after the answer.
    pub(super) fn after(mut self, lines: &[&str]) -> Self {
        self.after = lines.iter().map(|line| (*line).to_owned()).collect();
        self
    }
}

/// What the server was asked.
#[derive(Clone, Default)]
pub(super) struct Fake(Arc<Mutex<Vec<(String, Value)>>>);

impl Fake {
    /// A connection to a server that takes these steps and then closes it.
    pub(super) fn link(steps: Vec<Step>) -> Link {
        Self::default().serve(steps)
    }

    /// A connection to a server that remembers what it was asked.
    pub(super) fn serve(&self, steps: Vec<Step>) -> Link {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let asked = self.clone();
        tokio::spawn(asked.run(theirs, steps));
        Link::over(ours)
    }

    /// The operations asked for, with their params.
    pub(super) fn asked(&self) -> Vec<(String, Value)> {
        self.0.lock().unwrap().clone()
    }

    async fn run(self, stream: UnixStream, steps: Vec<Step>) {
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        for step in steps {
            let Ok(Some(line)) = lines.next_line().await else { return };
            let request: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(request["op"], step.op);
            self.0.lock().unwrap().push((step.op.to_owned(), request["params"].clone()));
            let answer = step.line.replace("ID", request["id"].as_str().unwrap());
            for line in step.before.iter().chain([&answer]).chain(&step.after) {
                writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            }
        }
    }
}
