//! Decoding params in passes, so that the error reported is the one that wins: unknown keys, then
//! missing ones, then wrong ones. Knows no operation.

use std::{borrow::Cow, fmt};

use rookery_wire::decode;
use schemars::generate::SchemaSettings;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    errors::{Code, Error},
    wire::{Call, scalar::shortened},
};

/// The keys an operation knows, and which of them it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fields {
    known: Vec<String>,
    required: Vec<String>,
}

impl Fields {
    /// The fields of a params type, as its schema tells them.
    #[must_use]
    pub fn of<P: Call>() -> Self {
        let generator = SchemaSettings::default().for_deserialize().into_generator();
        let schema = generator.into_root_schema_for::<P>();
        let properties = schema.get("properties").and_then(|value| value.as_object());
        let required = schema.get("required").and_then(|value| value.as_array());
        Self {
            known: properties.into_iter().flatten().map(|(key, _)| key.clone()).collect(),
            required: required
                .into_iter()
                .flatten()
                .filter_map(|key| key.as_str().map(str::to_owned))
                .collect(),
        }
    }

    /// Decodes and checks params.
    ///
    /// # Errors
    /// The error that wins.
    pub fn decode<P: Call>(&self, params: Option<&RawValue>) -> Result<P, Error> {
        let text = params.map_or("{}", RawValue::get);
        self.check_keys(text)?;
        let params: P = decode::from_str(text).map_err(|fault| {
            let path = if fault.depth() == 0 { "params" } else { fault.path() };
            Error::invalid(path, fault.message())
        })?;
        params.check()?;
        Ok(params)
    }

    fn check_keys(&self, text: &str) -> Result<(), Error> {
        if !text.trim_ascii_start().starts_with('{') {
            return Err(Error::new(Code::InvalidParam, "params must be an object"));
        }
        let keys: Keys<'_> = serde_json::from_str(text)
            .map_err(|error| Error::invalid("params", message(&error)))?;
        let known = |key: &str| self.known.iter().any(|known| known == key);
        if let Some(key) = keys.unique.iter().find(|key| !known(key)) {
            let message = format!("unknown field `{}`", shortened(key));
            return Err(Error::new(Code::UnknownField, message));
        }
        if let Some(key) = self.required.iter().find(|&key| !keys.unique.iter().any(|it| it == key))
        {
            return Err(Error::new(Code::MissingParam, format!("missing param `{key}`")));
        }
        match keys.twice {
            Some(key) => Err(Error::invalid(&key, "is there twice")),
            None => Ok(()),
        }
    }
}

/// The decoder's own words without its position, which is not that in the peer's line.
fn message(error: &serde_json::Error) -> String {
    let full = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    full.strip_suffix(&position).unwrap_or(&full).to_owned()
}

/// Different keys looked at. More than any operation knows, so one of them is unknown then.
const MOST_KEYS: usize = 64;

/// The keys of an object, in order.
#[derive(Default)]
struct Keys<'a> {
    unique: Vec<Cow<'a, str>>,
    /// The first one that came again.
    twice: Option<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    fn put(&mut self, key: Cow<'a, str>) {
        if self.unique.contains(&key) {
            self.twice.get_or_insert(key);
        } else if self.unique.len() < MOST_KEYS {
            self.unique.push(key);
        }
    }
}

impl<'de> Deserialize<'de> for Keys<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Keys<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys<'de>, A::Error> {
                let mut keys = Keys::default();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.put(key);
                }
                Ok(keys)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{
        agent::AgentReport,
        app::{AppScreenshot, WindowResize},
        clipboard::ClipboardDump,
        events::EventsSubscribe,
        palette::{PaletteOpen, PalettePresent},
        selection::SelectionSet,
        tab::{TabList, TabOpen, TabReorder, TabResize, TabSetState, TabWrite},
    };

    fn decode<P: Call>(text: &str) -> Result<P, Error> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        Fields::of::<P>().decode(Some(raw))
    }

    fn refusal<P: Call + std::fmt::Debug>(text: &str) -> String {
        let error = decode::<P>(text).unwrap_err();
        format!("{}: {}", error.code().as_str(), error.message())
    }

    #[test]
    fn fields_are_those_of_the_type() {
        let fields = Fields::of::<TabOpen>();
        assert_eq!(fields.required, Vec::<String>::new());
        assert_eq!(fields.known.len(), 6);
        let fields = Fields::of::<TabResize>();
        assert_eq!(fields.required, ["tab_id", "cols", "rows"]);
        assert_eq!(Fields::of::<TabList>().known, Vec::<String>::new());
        let fields = Fields::of::<AgentReport>();
        assert_eq!(fields.required, ["tab_id", "source", "ownership_action"]);
    }

    #[test]
    fn absent_params_are_an_empty_object() {
        let open: TabOpen = Fields::of::<TabOpen>().decode(None).unwrap();
        assert_eq!(open, decode("{}").unwrap());
        for text in ["null", "[]", "7", r#""{}""#, "true"] {
            assert_eq!(refusal::<TabList>(text), "invalid-param: params must be an object");
        }
    }

    #[test]
    fn an_unknown_key_wins_over_a_missing_one_and_that_over_a_wrong_one() {
        for (text, want) in [
            (r#"{"cols":"x","what":1}"#, "unknown-field: unknown field `what`"),
            (r#"{"cols":"x","rows":1}"#, "missing-param: missing param `tab_id`"),
            (r#"{"tab_id":"1","cols":1}"#, "missing-param: missing param `rows`"),
            (
                r#"{"tab_id":"1","cols":70000,"rows":1}"#,
                "invalid-param: cols: invalid value: integer `70000`, expected a nonzero u16",
            ),
            (r#"{"tab_id":"1","cols":2,"rows":1,"cols":2}"#, "invalid-param: cols: is there twice"),
        ] {
            assert_eq!(refusal::<TabResize>(text), want, "{text}");
        }
        assert_eq!(refusal::<TabList>(r#"{"x":1}"#), "unknown-field: unknown field `x`");
    }

    #[test]
    fn a_wrong_param_is_named() {
        for (error, want) in [
            (refusal::<TabWrite>(r#"{"tab_id":3,"data":""}"#), "tab_id: invalid type: integer `3`"),
            (refusal::<TabWrite>(r#"{"tab_id":"3","data":"aGk"}"#), "data: not base64"),
            (refusal::<TabSetState>(r#"{"tab_id":"3","state":"busy"}"#), "state: unknown variant"),
            (refusal::<TabReorder>(r#"{"project_id":"1","tab_ids":["1",2]}"#), "tab_ids[1]: "),
            (refusal::<TabResize>(r#"{"tab_id":"1","cols":0,"rows":1}"#), "cols: invalid value"),
            (refusal::<TabOpen>(r#"{"cols":65536}"#), "cols: invalid value"),
            (refusal::<TabOpen>(r#"{"title":null}"#), "title: invalid type: null"),
            (refusal::<AppScreenshot>(r#"{"scale":3}"#), "scale: must be 1 or 2"),
            (refusal::<AppScreenshot>(r#"{"scale":1.5}"#), "scale: invalid type"),
            (refusal::<WindowResize>(r#"{"width":0,"height":1}"#), "width: must be finite"),
            (
                refusal::<WindowResize>(r#"{"width":1,"height":1e999}"#),
                "height: number out of range",
            ),
            (refusal::<PalettePresent>(r#"{"items":[]}"#), "items: must not be empty"),
            (
                refusal::<PaletteOpen>(r#"{"kind":"x"}"#),
                r#"unknown palette kind "x" (want "commands", "launcher", "custom", or "agents")"#,
            ),
            (refusal::<ClipboardDump>(r#"{"target":"primary"}"#), "target: unknown variant"),
            (refusal::<EventsSubscribe>(r#"{"since":"-2"}"#), "since: must be"),
            (
                refusal::<AgentReport>(r#"{"tab_id":"1","source":"","ownership_action":"claim"}"#),
                "source: must not be empty",
            ),
        ] {
            assert!(error.starts_with(&format!("invalid-param: {want}")), "{error}");
        }
    }

    #[test]
    fn nested_objects_are_lenient() {
        let text = r#"{"tab_id":"1","anchor":{"col":3,"row":0,"x":1},"cursor":{"col":17,"row":0}}"#;
        assert_eq!(decode::<SelectionSet>(text).unwrap().cursor.col, 17);
        let text = r#"{"items":[{"id":"a","title":"A","actionable":false}]}"#;
        assert_eq!(decode::<PalettePresent>(text).unwrap().items[0].id, "a");
    }

    proptest! {
        #[test]
        fn random_params_never_panic(text in r#"\{("(tab_id|cols|rows|x)":("-?[0-9]{0,3}"|[0-9]{1,6}|null|\[\]|\{\}),?){0,4}\}"#) {
            if let Ok(raw) = serde_json::from_str::<&RawValue>(&text) {
                let _ = Fields::of::<TabResize>().decode::<TabResize>(Some(raw));
            }
        }
    }
}
