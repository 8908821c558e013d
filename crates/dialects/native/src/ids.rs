//! Spellings of ids: a number, its decimal text, ptywright's `s3` or a UUID. Ours is the number.

use std::{borrow::Cow, fmt, str::FromStr};

use rookery_core::Core;
use rookery_model as model;
use rookery_wire::ids::IdKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// A terminal as a request names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalRef {
    /// By its number: `3`, `"3"` or `"s3"`.
    Number(model::TerminalId),
    /// By its universally unique name.
    Uuid(model::TerminalUuid),
}

/// A project as a request names it: `1` or `"1"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectRef(pub model::ProjectId);

/// Why a text names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnId {
    text: String,
    expected: &'static str,
}

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an id: expected {}", self.text, self.expected)
    }
}

impl std::error::Error for NotAnId {}

/// A number written in digits only; `FromStr` of integers would also take a plus sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Keeps error messages short whatever was sent.
fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}

impl TerminalRef {
    const EXPECTED: &'static str = "a number, s and a number, or a UUID";

    /// The terminal meant, if there is one.
    pub(crate) fn resolve(self, core: &Core) -> model::Result<model::TerminalId> {
        match self {
            Self::Number(id) => Ok(id),
            Self::Uuid(uuid) => core
                .terminals()
                .list()
                .into_iter()
                .find(|terminal| terminal.uuid == uuid)
                .map(|terminal| terminal.id)
                .ok_or_else(|| model::Error::not_found(format!("no terminal {self}"))),
        }
    }
}

impl fmt::Display for TerminalRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(id) => id.fmt(f),
            Self::Uuid(uuid) => Uuid::from_bytes(uuid.0).fmt(f),
        }
    }
}

impl FromStr for TerminalRef {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if let Some(number) = digits(text.strip_prefix('s').unwrap_or(text)) {
            return Ok(Self::Number(model::TerminalId::new(number)));
        }
        // Only the usual form with dashes: 32 bare digits could also be meant as a number.
        if text.len() == 36
            && let Ok(uuid) = Uuid::try_parse(text)
        {
            return Ok(Self::Uuid(model::TerminalUuid(uuid.into_bytes())));
        }
        Err(NotAnId { text: shorten(text), expected: Self::EXPECTED })
    }
}

impl FromStr for ProjectRef {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        digits(text)
            .map(|number| Self(model::ProjectId::new(number)))
            .ok_or_else(|| NotAnId { text: shorten(text), expected: "a number" })
    }
}

/// Reads a number or a text that parses.
struct RefVisitor<T>(&'static str, fn(u64) -> T);

impl<T: FromStr<Err = NotAnId>> de::Visitor<'_> for RefVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Ok((self.1)(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for TerminalRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = |number| Self::Number(model::TerminalId::new(number));
        deserializer.deserialize_any(RefVisitor(Self::EXPECTED, number))
    }
}

impl<'de> Deserialize<'de> for ProjectRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = |number| Self(model::ProjectId::new(number));
        deserializer.deserialize_any(RefVisitor("a number", number))
    }
}

impl Serialize for TerminalRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(id) => serializer.serialize_u64(id.get()),
            Self::Uuid(_) => serializer.collect_str(self),
        }
    }
}

impl Serialize for ProjectRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.get())
    }
}

impl JsonSchema for TerminalRef {
    fn schema_name() -> Cow<'static, str> {
        "TerminalRef".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A terminal by its number (3, \"3\" or \"s3\") or its UUID",
            "x-id": IdKind::Terminal.word(),
            "oneOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^(s?[0-9]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$" },
            ],
        })
    }
}

impl JsonSchema for ProjectRef {
    fn schema_name() -> Cow<'static, str> {
        "ProjectRef".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A project by its number",
            "x-id": IdKind::Project.word(),
            "oneOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^[0-9]+$" }],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(raw: u64) -> TerminalRef {
        TerminalRef::Number(model::TerminalId::new(raw))
    }

    fn read(json: &str) -> Result<TerminalRef, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn all_spellings_of_a_number_are_one() {
        for json in ["3", r#""3""#, r#""s3""#, r#""s03""#] {
            assert_eq!(read(json), Ok(number(3)), "{json}");
        }
        assert_eq!(serde_json::to_string(&number(3)).unwrap(), "3");
    }

    #[test]
    fn a_uuid_is_kept() {
        let text = "0191d3c4-5a6b-7c8d-9e0f-a1b2c3d4e5f6";
        let uuid = read(&format!("\"{text}\"")).unwrap();
        assert!(matches!(uuid, TerminalRef::Uuid(_)));
        assert_eq!(uuid.to_string(), text);
        assert_eq!(serde_json::to_string(&uuid).unwrap(), format!("\"{text}\""));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for json in [
            r#""""#,
            r#""s""#,
            r#""S3""#,
            r#""+3""#,
            r#"" 3""#,
            r#""-1""#,
            r#""t3""#,
            "-1",
            "1.5",
            "null",
            "[3]",
            r#""99999999999999999999""#,
            r#""0191d3c45a6b7c8d9e0fa1b2c3d4e5f6""#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
        let error = read(r#""main""#).unwrap_err();
        assert!(
            error.starts_with(
                r#""main" is not an id: expected a number, s and a number, or a UUID"#
            ),
            "{error}"
        );
    }

    #[test]
    fn projects_are_numbers() {
        let project = |json: &str| serde_json::from_str::<ProjectRef>(json);
        assert_eq!(project("7").unwrap(), ProjectRef(model::ProjectId::new(7)));
        assert_eq!(project(r#""7""#).unwrap(), ProjectRef(model::ProjectId::new(7)));
        assert!(project(r#""s7""#).is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(raw in any::<u64>(), bytes in any::<[u8; 16]>()) {
            for id in [number(raw), TerminalRef::Uuid(model::TerminalUuid(bytes))] {
                prop_assert_eq!(id.to_string().parse(), Ok(id));
                prop_assert_eq!(read(&serde_json::to_string(&id).unwrap()), Ok(id));
            }
        }

        #[test]
        fn any_text_is_an_id_or_an_error(text in "\\PC{0,80}") {
            let error = text.parse::<TerminalRef>().err();
            prop_assert!(error.is_none_or(|error| error.to_string().len() < 1000));
        }
    }
}
