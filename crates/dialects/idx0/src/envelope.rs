//! Requests and replies: a command with a map of strings, and a word with a map of strings.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// What every answer to a malformed request begins with.
pub const INVALID: &str = "Invalid IPC request: ";

/// A request as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    /// The command; capitals count.
    pub command: String,
    /// What it is about.
    pub payload: BTreeMap<String, String>,
}

/// A reply as it is sent. Strict clients read nothing but strings in `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Whether the command was carried out.
    pub success: bool,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Further facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<BTreeMap<String, String>>,
}

impl Reply {
    /// It worked.
    pub fn ok(message: impl Into<String>) -> Reply {
        Reply { success: true, message: Some(message.into()), data: None }
    }

    /// It did not.
    pub fn failure(message: impl Into<String>) -> Reply {
        Reply { success: false, message: Some(message.into()), data: None }
    }

    /// The request cannot be read.
    pub fn invalid(reason: impl fmt::Display) -> Reply {
        Reply::failure(format!("{INVALID}{reason}"))
    }

    /// The same with one more fact.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Reply {
        self.data.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_else(|_| {
            br#"{"success":false,"message":"Failed to encode IPC response"}"#.to_vec()
        })
    }
}

/// Reads a request.
///
/// # Errors
/// In words that name the member and what was expected.
pub fn parse(bytes: &[u8]) -> Result<Request, String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("the request is empty".to_owned());
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let read: RequestJson = serde_path_to_error::deserialize(&mut json).map_err(explain)?;
    json.end().map_err(|error| format!("unexpected bytes behind the request: {error}"))?;
    let command = read.command.ok_or("command is missing: expected a string")?;
    Ok(Request { command, payload: read.payload.unwrap_or_default().0 })
}

fn explain(error: serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let error = error.into_inner();
    // Where the bytes themselves are wrong, no member is.
    let known = path.trim_end_matches('?').trim_end_matches('.');
    match known {
        "" => error.to_string(),
        path => format!("{path}: {error}"),
    }
}

/// Nothing but an object will do, though a sequence could be read as one.
struct RequestJson {
    command: Option<String>,
    payload: Option<Payload>,
}

#[derive(Default)]
struct Payload(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Strings;

        impl<'de> Visitor<'de> for Strings {
            type Value = Payload;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload, A::Error> {
                let mut payload = Payload::default();
                while let Some((key, value)) = map.next_entry::<String, Text>()? {
                    payload.0.insert(key, value.0);
                }
                Ok(payload)
            }
        }

        deserializer.deserialize_map(Strings)
    }
}

/// A string, and an error that says what else it was.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Text)
    }
}

impl<'de> Deserialize<'de> for RequestJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = RequestJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with command and payload")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestJson, A::Error> {
                let mut read = RequestJson { command: None, payload: None };
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "command" if read.command.is_some() => {
                            return Err(A::Error::duplicate_field("command"));
                        }
                        "command" => read.command = Some(map.next_value::<Text>()?.0),
                        "payload" if read.payload.is_some() => {
                            return Err(A::Error::duplicate_field("payload"));
                        }
                        "payload" => {
                            read.payload =
                                Some(map.next_value::<Option<Payload>>()?.unwrap_or_default());
                        }
                        _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                    }
                }
                Ok(read)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrong(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_request_is_a_command_and_strings() {
        let read =
            parse(b" {\"payload\": {\"a\": \"1\"}, \"command\": \"open\", \"x\": [1]}\n").unwrap();
        assert_eq!(read.command, "open");
        assert_eq!(read.payload, BTreeMap::from([("a".to_owned(), "1".to_owned())]));
        for text in [r#"{"command":"open"}"#, r#"{"command":"open","payload":null}"#] {
            assert!(parse(text.as_bytes()).unwrap().payload.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(wrong("\n"), "the request is empty");
        assert_eq!(wrong(r#"{"payload":{}}"#), "command is missing: expected a string");
        assert!(wrong(r#"{"command":7}"#).starts_with("command: invalid type: integer `7`"));
        assert!(
            wrong(r#"{"command":"a","payload":[]}"#).starts_with("payload: invalid type: sequence")
        );
        for value in ["1", "true", "null", "[]", "{}"] {
            let text = format!(r#"{{"command":"a","payload":{{"title":{value}}}}}"#);
            assert!(wrong(&text).starts_with("payload.title: invalid type"), "{}", wrong(&text));
        }
        assert!(wrong(r#"{"command":"a"} x"#).starts_with("unexpected bytes behind the request"));
        assert!(wrong("[]").contains("expected an object with command and payload"));
        assert!(wrong(r#"{"command":"a","command":"b"}"#).contains("duplicate field"));
    }

    #[test]
    fn replies_leave_out_what_they_do_not_say() {
        assert_eq!(Reply::ok("OK").to_bytes(), br#"{"success":true,"message":"OK"}"#);
        let reply = Reply::ok("OK").with("json", "[]");
        assert_eq!(reply.to_bytes(), br#"{"success":true,"message":"OK","data":{"json":"[]"}}"#);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn requests_come_back_as_they_were(
            command: String,
            payload in prop::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        ) {
            let request = Request { command, payload };
            prop_assert_eq!(parse(&serde_json::to_vec(&request).unwrap()).unwrap(), request);
        }
    }
}
