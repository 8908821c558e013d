//! Taking a request line apart, as far as it goes: a broken one is still answered under its id if
//! that can be read. Pure, so that it can be fuzzed.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::wire::{Int64, scalar::shortened};

/// A request as it came.
#[derive(Debug)]
pub struct Request<'a> {
    pub id: i64,
    /// The operation.
    pub op: Cow<'a, str>,
    /// Its params, undecoded; absent means `{}`.
    pub params: Option<&'a RawValue>,
}

/// A line that is no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The id to answer under: the request's if it can be read, else 0.
    pub id: i64,
    /// What is wrong, for people.
    pub message: String,
}

/// Takes a line apart.
///
/// # Errors
/// If it is no request.
pub fn parse(line: &[u8]) -> Result<Request<'_>, Malformed> {
    let broken = |message: String| Malformed { id: 0, message };
    let text = std::str::from_utf8(line).map_err(|_| broken("not UTF-8".to_owned()))?;
    let parts: Parts<'_> = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
    let Parts { id, op, params, fault } = parts;
    let readable = id.and_then(readable_id);
    let wrong =
        |message: &str| Malformed { id: readable.unwrap_or(0), message: message.to_owned() };
    if let Some(fault) = fault {
        return Err(wrong(&fault));
    }
    let id = id.ok_or_else(|| wrong("missing key `id`"))?;
    let id = serde_json::from_str::<Int64>(id.get())
        .map_err(|_| wrong("`id` must be a string holding a 64-bit integer"))?;
    let op = op.ok_or_else(|| wrong("missing key `op`"))?;
    let op = string(op).ok_or_else(|| wrong("`op` must be a string"))?;
    Ok(Request { id: id.0, op, params })
}

/// The id of a broken request: a string or, unlike in a sound one, a bare number.
fn readable_id(raw: &RawValue) -> Option<i64> {
    match string(raw) {
        Some(text) => text.parse().ok(),
        None => raw.get().parse().ok(),
    }
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// The members of a request, the last of each name, and the first thing wrong with their names.
#[derive(Default)]
struct Parts<'a> {
    id: Option<&'a RawValue>,
    op: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    fault: Option<String>,
}

impl<'a> Parts<'a> {
    fn put(&mut self, key: &str, value: &'a RawValue) {
        let place = match key {
            "id" => &mut self.id,
            "op" => &mut self.op,
            "params" => &mut self.params,
            _ => return self.blame(|| format!("unknown key `{}`", shortened(key))),
        };
        if place.replace(value).is_some() {
            self.blame(|| format!("key `{key}` is there twice"));
        }
    }

    fn blame(&mut self, fault: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(fault);
    }
}

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Parts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with `id` and `op`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Parts::default();
                while let Some((key, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    parts.put(&key, value);
                }
                Ok(parts)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn broken_id(line: &str) -> i64 {
        parse(line.as_bytes()).unwrap_err().id
    }

    #[test]
    fn a_sound_request_in_any_order_of_keys() {
        let request = parse(br#" {"params":{"a":[1 ]},"op":"tab.list","id":"+5"} "#).unwrap();
        assert_eq!((request.id, &*request.op), (5, "tab.list"));
        assert_eq!(request.params.unwrap().get(), r#"{"a":[1 ]}"#);
        let request = parse(br#"{"id":"-9223372036854775808","op":"a\u0062"}"#).unwrap();
        assert_eq!((request.id, &*request.op), (i64::MIN, "ab"));
        assert!(request.params.is_none());
        let null = parse(br#"{"id":"1","op":"x","params":null}"#).unwrap();
        assert_eq!(null.params.unwrap().get(), "null");
        assert_eq!(parse(b"{\"id\":\"1\",\"op\":\"x\"}\r").unwrap().id, 1);
    }

    #[test]
    fn the_id_of_a_broken_request_is_kept_if_it_can_be_read() {
        assert_eq!(broken_id(r#"{"id":"7"}"#), 7);
        assert_eq!(broken_id(r#"{"id":7,"op":"x"}"#), 7);
        assert_eq!(broken_id(r#"{"id":-7,"op":"x"}"#), -7);
        assert_eq!(broken_id(r#"{"extra":1,"id":"7","op":"x"}"#), 7);
        assert_eq!(broken_id(r#"{"id":"7","op":"x","op":"y"}"#), 7);
        assert_eq!(broken_id(r#"{"id":"+7","op":3}"#), 7);
    }

    #[test]
    fn an_id_that_cannot_be_read_is_answered_as_0() {
        for line in [
            "",
            " ",
            "x",
            "[]",
            "null",
            r#""id""#,
            r#"{"op":"x"}"#,
            r#"{"id":7.5,"op":"x"}"#,
            r#"{"id":1e2,"op":"x"}"#,
            r#"{"id":9223372036854775808,"op":"x"}"#,
            r#"{"id":"9223372036854775808","op":"x"}"#,
            r#"{"id":"seven","op":"x"}"#,
            r#"{"id":null,"op":"x"}"#,
            r#"{"id":"7","op":"x""#,
            r#"{"id":"7","op":"x"} x"#,
            r#"{"id":"\ud800","op":"x"}"#,
        ] {
            assert_eq!(broken_id(line), 0, "{line}");
        }
        assert_eq!(parse(b"{\"id\":\"7\",\"op\":\"\xff\"}").unwrap_err().id, 0);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |line: &str| parse(line.as_bytes()).unwrap_err().message;
        assert_eq!(message(r#"{"id":"1","op":"x","x":0}"#), "unknown key `x`");
        assert_eq!(message(r#"{"id":"1","op":"x","id":"2"}"#), "key `id` is there twice");
        assert_eq!(message(r#"{"op":"x"}"#), "missing key `id`");
        assert_eq!(message(r#"{"id":"1"}"#), "missing key `op`");
        assert_eq!(message(r#"{"id":"1","op":null}"#), "`op` must be a string");
        let number = "`id` must be a string holding a 64-bit integer";
        assert_eq!(message(r#"{"id":1,"op":"x"}"#), number);
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let deep = "[".repeat(100_000);
        assert_eq!(broken_id(&deep), 0);
        let params = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let line = format!(r#"{{"id":"1","op":"x","params":{params}}}"#);
        assert_eq!(parse(line.as_bytes()).unwrap().id, 1);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }

        #[test]
        fn almost_requests_never_panic(line in r#"[{}\[\]":,\\ud0-9a-f+\-. idop]{0,60}"#) {
            let _ = parse(line.as_bytes());
        }

        #[test]
        fn ids_round_trip(id in any::<i64>(), op in ".{0,20}") {
            let line = serde_json::json!({"id": id.to_string(), "op": op}).to_string();
            let request = parse(line.as_bytes()).unwrap();
            prop_assert_eq!((request.id, &*request.op), (id, op.as_str()));
        }
    }
}
