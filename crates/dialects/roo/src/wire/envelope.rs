//! Frames as messages: the wrapper of node-ipc, the envelope inside it, and the server's first message.

use serde::Serialize;
use serde_json::{Map, Value};

/// A command as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    /// Its name; empty if it has none.
    pub name: String,
    /// What it says.
    pub data: Option<Value>,
    /// What the client calls the request.
    pub request: Option<String>,
    /// Whether it has the shape of a command at all.
    pub is_formed: bool,
}

/// What a frame holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A command, wrapped or not.
    Command(Box<Incoming>, bool),
    /// A token, wrapped or not.
    Auth(String, bool),
    /// Nothing that is acted upon, and why.
    Ignored(&'static str),
}

/// Reads a frame. Without `takes_bare` a message has to be wrapped, as node-ipc does it.
#[must_use]
pub fn parse(frame: &[u8], takes_bare: bool) -> Received {
    let Ok(Value::Object(mut outer)) = serde_json::from_slice::<Value>(frame) else {
        return Received::Ignored("a frame is no JSON object");
    };
    // The channel of a frame never chooses anything here: there is one.
    if outer.get("type").and_then(Value::as_str) == Some("message") {
        return match outer.remove("data") {
            Some(Value::Object(message)) => read(message, true),
            _ => Received::Ignored("a frame holds no message"),
        };
    }
    if takes_bare {
        return read(outer, false);
    }
    Received::Ignored("a frame is not for the channel of messages")
}

fn read(mut message: Map<String, Value>, is_wrapped: bool) -> Received {
    if message.get("origin").and_then(Value::as_str) != Some("client") {
        return Received::Ignored("a message does not come from a client");
    }
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let data = message.remove("data");
    match kind.as_str() {
        "TaskCommand" => Received::Command(Box::new(command(data)), is_wrapped),
        "Auth" => {
            let token = data.as_ref().and_then(|data| data.get("token")).and_then(Value::as_str);
            Received::Auth(token.unwrap_or_default().to_owned(), is_wrapped)
        }
        _ => Received::Ignored("a message is of no kind that clients send"),
    }
}

fn command(data: Option<Value>) -> Incoming {
    let Some(Value::Object(mut members)) = data else {
        return Incoming { name: String::new(), data: None, request: None, is_formed: false };
    };
    let name = members.get("commandName").and_then(Value::as_str).map(str::to_owned);
    let request = match members.remove("requestId") {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let data = members.remove("data").filter(|data| !data.is_null());
    let is_formed = name.as_ref().is_some_and(|name| !name.is_empty());
    Incoming { name: name.unwrap_or_default(), data, request, is_formed }
}

/// The first message of a server: who the client is to it.
#[must_use]
pub fn ack(client: &str, pid: u32, ppid: u32) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        client_id: &'a str,
        pid: u32,
        ppid: u32,
        server_version: &'static str,
    }
    #[derive(Serialize)]
    struct Ack<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        origin: &'static str,
        data: Data<'a>,
    }
    let data = Data { client_id: client, pid, ppid, server_version: env!("CARGO_PKG_VERSION") };
    let ack = Ack { kind: "Ack", origin: "server", data };
    // Texts and numbers always can be written.
    serde_json::to_vec(&ack).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(value: &Value, takes_bare: bool) -> Received {
        parse(value.to_string().as_bytes(), takes_bare)
    }

    fn named(name: &str) -> Incoming {
        Incoming { name: name.into(), data: None, request: None, is_formed: true }
    }

    #[test]
    fn a_command_comes_wrapped_and_bare_where_that_is_taken() {
        let bare =
            json!({"type": "TaskCommand", "origin": "client", "data": {"commandName": "IsReady"}});
        let wrapped = json!({"type": "message", "data": bare});
        let is_ready = |is_wrapped| Received::Command(Box::new(named("IsReady")), is_wrapped);
        assert_eq!(parsed(&wrapped, false), is_ready(true));
        assert_eq!(parsed(&wrapped, true), is_ready(true));
        assert_eq!(parsed(&bare, true), is_ready(false));
        assert!(matches!(parsed(&bare, false), Received::Ignored(_)));
    }

    #[test]
    fn frames_that_are_no_messages_are_ignored() {
        let texts = [
            "",
            "nonsense",
            "[]",
            "\"message\"",
            "{}",
            r#"{"type":"connect"}"#,
            r#"{"type":"message"}"#,
            r#"{"type":"message","data":null}"#,
            r#"{"type":"message","data":[]}"#,
            r#"{"type":"message","data":{}}"#,
            r#"{"type":"message","data":{"type":"TaskCommand","origin":"server","data":{}}}"#,
            r#"{"type":"message","data":{"type":"Ack","origin":"client","data":{}}}"#,
            r#"{"type":"disconnect","data":{"type":"TaskCommand","origin":"client"}}"#,
        ];
        for text in texts {
            for takes_bare in [false, true] {
                let received = parse(text.as_bytes(), takes_bare);
                assert!(matches!(received, Received::Ignored(_)), "{text}: {received:?}");
            }
        }
    }

    #[test]
    fn a_command_without_a_name_is_still_to_be_answered() {
        for data in [json!(null), json!("IsReady"), json!({}), json!({"commandName": 5})] {
            let message = json!({"type": "message", "data": {"type": "TaskCommand", "origin": "client", "data": data}});
            let Received::Command(command, _) = parsed(&message, false) else { panic!("{data}") };
            assert!(!command.is_formed, "{data}");
            assert_eq!(command.name, "");
        }
    }

    #[test]
    fn requests_keep_their_names() {
        let data = json!({"commandName": "GetModes", "requestId": "r", "data": null});
        let message = json!({"type": "message", "data": {"type": "TaskCommand", "origin": "client", "data": data}});
        let expected = Incoming { request: Some("r".into()), ..named("GetModes") };
        assert_eq!(parsed(&message, false), Received::Command(Box::new(expected), true));
    }
}
