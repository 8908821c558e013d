//! Numbers that travel as strings, bytes that travel as base64, and colors.

use std::{borrow::Cow, fmt, num::ParseIntError, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Reads a JSON string by `parse`; any other JSON type is refused.
struct Text<F>(&'static str, F);

impl<T, F: FnOnce(&str) -> Result<T, String>> de::Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).map_err(E::custom)
    }
}

/// Gives a scalar the JSON form of a string and a schema that says so.
macro_rules! string_scalar {
    ($name:ident, $expecting:literal, $schema:tt, $parse:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text($expecting, $parse))
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

/// A signed 64-bit number written as a decimal string, since JSON numbers lose precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Int64(pub i64);

impl FromStr for Int64 {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Int64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i64> for Int64 {
    fn from(number: i64) -> Self {
        Self(number)
    }
}

impl Serialize for Int64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

string_scalar!(
    Int64,
    "a string holding a 64-bit integer",
    { "type": "string", "pattern": "^[+-]?[0-9]+$", "format": "int64" },
    |text: &str| text.parse().map_err(|_| format!("`{}` is not a 64-bit integer", shortened(text)))
);

/// Bytes, as base64 in the standard alphabet with padding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

string_scalar!(
    Base64,
    "a base64 string",
    { "type": "string", "contentEncoding": "base64" },
    |text: &str| {
        STANDARD.decode(text).map(Base64).map_err(|error| format!("not base64: {error}"))
    }
);

/// A color, written `#rrggbb` in lower case; upper case is read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Color {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }
}

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

string_scalar!(
    Color,
    "a color as #rrggbb",
    { "type": "string", "pattern": "^#[0-9a-f]{6}$" },
    |text: &str| color(text).ok_or_else(|| format!("`{}` is not #rrggbb", shortened(text)))
);

fn color(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#')?;
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let [_, r, g, b] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
    Some(Color { r, g, b })
}

/// The beginning of a text that is quoted in a message.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((at, _)) => format!("{}…", &text[..at]).into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reads<T: serde::de::DeserializeOwned>(json: &str) -> Option<T> {
        serde_json::from_str(json).ok()
    }

    #[test]
    fn a_number_is_a_string_of_decimal_digits() {
        for (json, number) in [
            (r#""5""#, 5),
            (r#""+5""#, 5),
            (r#""-0""#, 0),
            (r#""007""#, 7),
            (r#""\u0035""#, 5),
            (r#""-9223372036854775808""#, i64::MIN),
            (r#""9223372036854775807""#, i64::MAX),
        ] {
            assert_eq!(reads(json), Some(Int64(number)), "{json}");
        }
        for json in ["5", "null", r#""""#, r#"" 5""#, r#""5.0""#, r#""9223372036854775808""#, "[]"]
        {
            assert_eq!(reads::<Int64>(json), None, "{json}");
        }
    }

    #[test]
    fn bytes_need_their_padding_and_the_standard_alphabet() {
        assert_eq!(reads(r#""bHMK""#), Some(Base64(b"ls\n".to_vec())));
        assert_eq!(reads(r#""""#), Some(Base64(Vec::new())));
        for json in [r#""aGk""#, r#""a===""#, r#""_-8=""#, r#""aGk=\n""#, "7"] {
            assert_eq!(reads::<Base64>(json), None, "{json}");
        }
        let all: Vec<u8> = (0..=255).collect();
        let json = serde_json::to_string(&Base64(all.clone())).unwrap();
        assert_eq!(reads(&json), Some(Base64(all)));
    }

    #[test]
    fn colors_are_written_in_lower_case() {
        let color = Color { r: 0x1c, g: 0xff, b: 0 };
        assert_eq!(serde_json::to_string(&color).unwrap(), r##""#1cff00""##);
        assert_eq!(reads(r##""#1CFF00""##), Some(color));
        for json in [r##""#1cff0""##, r#""1cff00""#, r##""#+cff00""##, r##""#éff0""##] {
            assert_eq!(reads::<Color>(json), None, "{json}");
        }
    }

    #[test]
    fn quoted_text_is_cut_at_a_character() {
        assert_eq!(shortened("é"), "é");
        assert_eq!(shortened(&"é".repeat(100)), format!("{}…", "é".repeat(64)));
    }

    proptest! {
        #[test]
        fn numbers_survive(number in any::<i64>()) {
            let json = serde_json::to_string(&Int64(number)).unwrap();
            prop_assert_eq!(&json, &format!("\"{number}\""));
            prop_assert_eq!(reads(&json), Some(Int64(number)));
        }

        #[test]
        fn bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let json = serde_json::to_string(&Base64(bytes.clone())).unwrap();
            prop_assert_eq!(reads(&json), Some(Base64(bytes)));
        }
    }
}
