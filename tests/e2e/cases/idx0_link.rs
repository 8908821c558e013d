//! A client of the idx0 dialect, as strict as the original: one request a connection, and nothing but
//! strings in `data`.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use rookery_testkit::{Home, PATIENCE};
use serde_json::{Value, json};

/// One request and its reply.
#[track_caller]
pub(crate) fn ask(home: &Home, command: &str, payload: Value) -> Value {
    let mut stream = UnixStream::connect(home.join("run/idx0/idx0.sock")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = json!({ "command": command, "payload": payload });
    stream.write_all(request.to_string().as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let reply: Value = serde_json::from_str(&reply).unwrap();
    let data = reply["data"].as_object().into_iter().flatten();
    assert!(data.into_iter().all(|(_, value)| value.is_string()), "nothing but strings: {reply}");
    reply
}

/// A request that succeeds.
#[track_caller]
pub(crate) fn done(home: &Home, command: &str, payload: Value) -> Value {
    let reply = ask(home, command, payload);
    assert_eq!(reply["success"], true, "{command}: {reply}");
    reply
}

/// A list.
#[track_caller]
pub(crate) fn list(home: &Home, command: &str, payload: Value) -> Vec<Value> {
    let reply = done(home, command, payload);
    serde_json::from_str(reply["data"]["json"].as_str().unwrap()).unwrap()
}
