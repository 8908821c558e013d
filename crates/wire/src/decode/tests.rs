//! The decoder says what serde_json says, and names the place that serde_path_to_error names.

use std::{borrow::Cow, collections::BTreeMap};

use proptest::prelude::*;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};

use super::from_str;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Strict {
    name: String,
    #[serde(default)]
    count: Option<u16>,
    #[serde(default)]
    offset: i8,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    is_on: bool,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    list: Vec<Small>,
    #[serde(default)]
    by_name: BTreeMap<String, Small>,
    #[serde(default)]
    by_number: BTreeMap<u8, bool>,
    #[serde(default)]
    pair: Option<(u8, String)>,
    #[serde(default)]
    any: Value,
    #[serde(default)]
    none: (),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Small {
    a: Wrapped,
    #[serde(default)]
    b: Option<Box<Small>>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(i64);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    One,
    Two(Wrapped),
    Three { x: u8 },
    Four(u8, u8),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tagged {
    Plain { a: u8 },
    Deep { small: Small },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Rest {
    a: Option<u8>,
    b: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(u32),
    Text(String),
    Small(Small),
}

/// What the other decoder makes of it: a value, or the path and the words.
fn other<T: DeserializeOwned>(text: &str) -> Result<T, (String, String)> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let (line, column) = (error.inner().line(), error.inner().column());
        let words = error.into_inner().to_string();
        let position = format!(" at line {line} column {column}");
        let words = words.strip_suffix(&position).unwrap_or(&words);
        (if path == "." { String::new() } else { path }, words.to_owned())
    })
}

#[track_caller]
fn same<T: DeserializeOwned + PartialEq + std::fmt::Debug>(text: &str) {
    let own =
        from_str::<T>(text).map_err(|fault| (fault.path().to_owned(), fault.message().to_owned()));
    assert_eq!(own, other::<T>(text), "{text}");
}

fn same_for_all(text: &str) {
    same::<Strict>(text);
    same::<Small>(text);
    same::<Kind>(text);
    same::<Tagged>(text);
    same::<Flat>(text);
    same::<Either>(text);
    same::<Vec<Option<bool>>>(text);
    same::<BTreeMap<String, BTreeMap<i8, Kind>>>(text);
    same::<Value>(text);
}

#[test]
fn values_and_faults_are_those_of_the_other_decoder() {
    let wrong = [
        json!({}),
        json!({"name": 1}),
        json!({"name": null, "count": -1}),
        json!({"name": "n", "count": 70_000}),
        json!({"name": "n", "count": 1.0}),
        json!({"name": "n", "offset": 1e300}),
        json!({"name": "n", "offset": "x\ny"}),
        json!({"name": "n", "isOn": []}),
        json!({"name": "n", "kind": "none"}),
        json!({"name": "n", "kind": {"two": "x"}}),
        json!({"name": "n", "kind": {"three": {"x": 300}}}),
        json!({"name": "n", "kind": {"four": [1]}}),
        json!({"name": "n", "kind": "two"}),
        json!({"name": "n", "kind": 7}),
        json!({"name": "n", "list": [{"a": 1}, {"a": true}]}),
        json!({"name": "n", "list": [{"a": 1, "c": 2}]}),
        json!({"name": "n", "list": [{"a": 1, "b": {"a": 2, "b": {"b": null}}}]}),
        json!({"name": "n", "byName": {"x.y": {"a": "no"}}}),
        json!({"name": "n", "byNumber": {"7": 1}}),
        json!({"name": "n", "byNumber": {"300": true}}),
        json!({"name": "n", "pair": [1]}),
        json!({"name": "n", "pair": [1, "x", 2]}),
        json!({"name": "n", "none": 0}),
        json!({"type": "deep", "small": {"a": "x"}}),
        json!({"type": "other"}),
        json!({"id": 1, "a": 400}),
        json!(3.5),
        json!("text"),
        json!(null),
        json!(false),
    ];
    for document in &wrong {
        same_for_all(&document.to_string());
    }
    let right = json!({
        "name": "\u{1F600} \"q\" \\ \n", "count": 65_535, "offset": -128, "ratio": 1, "isOn": true,
        "kind": {"three": {"x": 1}}, "list": [{"a": -1, "b": {"a": 0}}], "byName": {"": {"a": 1}},
        "byNumber": {"0": false, "255": true}, "pair": [1, "x"], "any": {"deep": [[1.5e-3]]},
        "none": null, "unknown": {"is": ["ignored"]},
    });
    for text in [right.to_string(), serde_json::to_string_pretty(&right).unwrap()] {
        assert!(from_str::<Strict>(&text).is_ok());
        same_for_all(&text);
    }
}

#[test]
fn an_empty_list_has_no_members_and_others_are_refused() {
    #[derive(Debug, PartialEq, Default, Deserialize)]
    #[serde(default)]
    struct Optional {
        a: Option<u8>,
    }
    assert_eq!(from_str::<Optional>(" [ ] ").unwrap(), Optional::default());
    let fault = from_str::<Optional>("[1]").unwrap_err();
    assert_eq!(fault.message(), "invalid type: sequence, expected struct Optional");
    assert_eq!(from_str::<Small>("[]").unwrap_err().message(), "missing field `a`");
}

#[test]
fn texts_are_borrowed_and_raw_values_are_kept_as_they_stand() {
    #[derive(Debug, Deserialize)]
    struct Borrowing<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
        plain: &'a str,
        raw: Box<RawValue>,
        #[serde(borrow)]
        shared: Option<&'a RawValue>,
    }
    let text = r#"{"text":"a","plain":"b","raw": { "z" : 1.50, "a":1e2 } ,"shared":[1, 2]}"#;
    let read: Borrowing<'_> = from_str(text).unwrap();
    assert!(matches!(read.text, Cow::Borrowed("a") | Cow::Owned(_)));
    assert_eq!(read.plain, "b");
    assert_eq!(read.raw.get(), r#"{ "z" : 1.50, "a":1e2 }"#);
    assert_eq!(read.shared.unwrap().get(), "[1, 2]");
}

#[test]
fn what_is_no_json_or_too_deep_is_refused() {
    for text in ["", "{", "{\"a\":}", "[1,]", "nul", "1 2", "\"\\x\""] {
        assert!(from_str::<Value>(text).is_err(), "{text}");
        assert!(from_str::<Strict>(text).is_err(), "{text}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let any = format!(r#"{{"name":"n","any":{deep}}}"#);
    assert_eq!(from_str::<Strict>(&any).unwrap_err().message(), "recursion limit exceeded");
    let ignored = format!(r#"{{"name":"n","unknown":{deep}}}"#);
    assert!(from_str::<Strict>(&ignored).is_ok());
}

#[test]
fn a_type_that_contains_itself_is_bounded() {
    let nested = |depth: usize| {
        format!("{}{}{}", r#"{"a":1,"b":"#.repeat(depth), r#"{"a":1}"#, "}".repeat(depth))
    };
    assert!(from_str::<Small>(&nested(100)).is_ok());
    let fault = from_str::<Small>(&nested(50_000)).unwrap_err();
    assert_eq!(fault.message(), "recursion limit exceeded");
}

/// Documents made of names and values that the types know, and others.
fn document() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("name"),
        Just("count"),
        Just("kind"),
        Just("list"),
        Just("byName"),
        Just("byNumber"),
        Just("pair"),
        Just("a"),
        Just("b"),
        Just("type"),
        Just("small"),
        Just("id"),
        Just("one"),
        Just("two"),
        Just("three"),
        Just("x"),
        Just("7"),
        Just("300"),
        Just("any"),
        Just("none"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i16>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f32>().prop_map(|number| json!(number)),
        "[a-c\"\\\\\u{e9}]{0,3}".prop_map(Value::from),
        prop_oneof![Just("one"), Just("deep"), Just("plain")].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// Whether two verdicts are one. A list in place of an object of members is where the decoders differ on purpose, and
/// within values that are read before it is known what they are (tagged, flattened) only the whole is named.
fn is_alike<T: PartialEq>(
    own: &Result<T, (String, String)>,
    other: &Result<T, (String, String)>,
    has_lists: bool,
) -> bool {
    match (own, other) {
        (Err((place, words)), Err((exactly, others))) if words == others => {
            match exactly.strip_suffix('?') {
                // The other one does not know the names of members that are no texts.
                Some(known) => place.starts_with(known),
                None => exactly.starts_with(place.as_str()),
            }
        }
        (Err((_, words)), _) if has_lists => {
            words.contains("invalid type: sequence, expected struct")
                || words.contains("missing field")
        }
        _ => own == other,
    }
}

proptest! {
    #[test]
    fn any_document_is_judged_alike(document in document(), pretty: bool) {
        let text = match pretty {
            true => serde_json::to_string_pretty(&document).unwrap(),
            false => document.to_string(),
        };
        fn check<T: DeserializeOwned + PartialEq + std::fmt::Debug>(text: &str) -> Result<(), TestCaseError> {
            let own = from_str::<T>(text)
                .map_err(|fault| (fault.path().to_owned(), fault.message().to_owned()));
            let other = other::<T>(text);
            prop_assert!(is_alike(&own, &other, text.contains('[')), "{text}: {own:?}, {other:?}");
            Ok(())
        }
        check::<Strict>(&text)?;
        check::<Small>(&text)?;
        check::<Kind>(&text)?;
        check::<Tagged>(&text)?;
        check::<Flat>(&text)?;
        check::<Either>(&text)?;
        check::<Value>(&text)?;
    }

    #[test]
    fn any_text_is_judged_without_a_panic(text: String) {
        let _ = from_str::<Strict>(&text);
        let _ = from_str::<Kind>(&text);
        let _ = from_str::<Vec<Value>>(&text);
    }
}
