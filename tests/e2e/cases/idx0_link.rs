//! A client of the idx0 dialect, as strict as the original: one request a connection, and nothing but
//! strings in `data`.

use rookery_testkit::{Home, Lines};
use serde_json::{Value, json};

/// One request and its reply.
#[track_caller]
pub(crate) fn ask(home: &Home, command: &str, payload: Value) -> Value {
    let mut lines = Lines::connect(&home.join("run/idx0/idx0.sock")).unwrap();
    // Without an end of line, as the original sends it.
    let request = json!({ "command": command, "payload": payload });
    lines.send(request.to_string().as_bytes()).unwrap();
    let reply: Value = serde_json::from_slice(&lines.rest().unwrap()).unwrap();
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

#[track_caller]
pub(crate) fn list(home: &Home, command: &str, payload: Value) -> Vec<Value> {
    let reply = done(home, command, payload);
    serde_json::from_str(reply["data"]["json"].as_str().unwrap()).unwrap()
}
