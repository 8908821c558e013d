//! A client of the Roo Code dialect, as tests use it: frames that end with a form feed, in either shape.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rookery_testkit::{PATIENCE, TestDaemon};
use serde_json::{Value, json};

/// A client, with all events that it was told and that were not asked for yet.
pub(crate) struct Roo {
    stream: UnixStream,
    messages: Receiver<Value>,
    last_request: u64,
    pub(crate) told: Vec<Value>,
}

impl Drop for Roo {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Roo {
    /// In the shape of the published client.
    #[track_caller]
    pub(crate) fn to(daemon: &TestDaemon) -> Roo {
        Roo::at(&daemon.home().join("run/roo/roo-code.sock"))
    }

    /// At any socket; the Ack was read.
    #[track_caller]
    pub(crate) fn at(path: &Path) -> Roo {
        let stream = UnixStream::connect(path).unwrap();
        let messages = read_frames(stream.try_clone().unwrap());
        let mut roo = Roo { stream, messages, last_request: 0, told: Vec::new() };
        let ack = roo.next("the Ack");
        assert_eq!(ack["type"], "Ack", "{ack}");
        roo
    }

    /// Sends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The same; false if the server does not take them any more.
    pub(crate) fn try_raw(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends a command without waiting for anything.
    pub(crate) fn send(&mut self, name: &str, data: Value) {
        self.frame(&json!({ "commandName": name, "data": data }));
    }

    fn frame(&mut self, command: &Value) {
        let message =
            json!({ "type": "TaskCommand", "origin": "client", "clientId": "x", "data": command });
        let wrapped = json!({ "type": "message", "data": message });
        self.raw(format!("{wrapped}\u{c}").as_bytes());
    }

    /// Sends a command and waits for its reply; events in between are kept.
    #[track_caller]
    pub(crate) fn ask(&mut self, name: &str, data: Value) -> Value {
        self.last_request += 1;
        let request = format!("r{}", self.last_request);
        self.frame(&json!({ "commandName": name, "data": data, "requestId": request }));
        loop {
            let event = self.next(name);
            let reply = &event["data"]["payload"];
            let reply = if reply.is_array() { &reply[0] } else { reply };
            if reply["requestId"] == request.as_str() {
                return reply["payload"].clone();
            }
            self.told.push(event["data"].clone());
        }
    }

    /// The same for a command that works.
    #[track_caller]
    pub(crate) fn done(&mut self, name: &str, data: Value) {
        assert_eq!(self.ask(name, data), json!({ "success": true }), "{name}");
    }

    /// The code of the error of a command that fails.
    #[track_caller]
    pub(crate) fn refused(&mut self, name: &str, data: Value) -> String {
        let reply = self.ask(name, data);
        let code = reply["error"]["code"].as_str();
        code.unwrap_or_else(|| panic!("{name} worked: {reply}")).to_owned()
    }

    /// Starts a task of the mock, and gives its id.
    #[track_caller]
    pub(crate) fn start(&mut self, steps: &Value) -> String {
        let configuration = json!({ "apiProvider": "fake-ai" });
        let data = json!({ "configuration": configuration, "text": script(steps) });
        self.ask("StartNewTask", data).as_str().expect("an id").to_owned()
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next(&mut self, what: &str) -> Value {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(error) => panic!("no {what} ({error}); told: {}", self.short()),
        }
    }

    /// Whether the server hung up without another message.
    pub(crate) fn is_cut_off(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            match self.messages.recv_timeout(Duration::from_millis(100)) {
                Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) | Ok(_) => {}
            }
        }
        false
    }

    /// Waits for an event that fits; those before it are dropped.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.told.iter().position(&fits) {
            let found = self.told[at].clone();
            self.told.drain(..=at);
            return found;
        }
        self.told.clear();
        loop {
            let event = self.next(what)["data"].clone();
            if fits(&event) {
                return event;
            }
        }
    }

    /// Waits for an event of this name.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        self.until(name, |event| event["eventName"] == name)
    }

    /// Waits for an ask of this kind that can be answered.
    #[track_caller]
    pub(crate) fn asked(&mut self, kind: &str) -> Value {
        let event = self.until(kind, |event| {
            let message = &event["payload"][0]["message"];
            message["ask"] == kind && message["partial"] != true && message["isAnswered"] != true
        });
        event["payload"][0]["message"].clone()
    }

    fn short(&self) -> String {
        let names = self.told.iter().map(|event| event["eventName"].to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// A prompt that scripts the mock.
pub(crate) fn script(steps: &Value) -> String {
    format!("MOCK_SCRIPT:{steps}")
}

/// Messages out of their frames, until the server hangs up.
fn read_frames(mut stream: UnixStream) -> Receiver<Value> {
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        let (mut buffer, mut chunk) = (Vec::new(), [0; 65536]);
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            buffer.extend_from_slice(&chunk[..count]);
            while let Some(end) = buffer.iter().position(|byte| *byte == 0x0c) {
                let frame: Vec<u8> = buffer.drain(..=end).collect();
                let wrapper: Value = serde_json::from_slice(&frame[..end]).unwrap();
                if sender.send(wrapper["data"].clone()).is_err() {
                    return;
                }
            }
        }
    });
    messages
}
