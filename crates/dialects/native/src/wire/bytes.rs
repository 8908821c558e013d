//! Bytes inside JSON: standard base64 with padding.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that travel as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Base64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a base64 string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Base64, E> {
                let decoded = STANDARD.decode(text);
                decoded.map(Base64).map_err(|error| E::custom(format!("invalid base64: {error}")))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for Base64 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Base64".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_that_is_no_base64_is_refused() {
        for json in [r#""a""#, r#""a===""#, r#""ä""#, "7", r#""aGk""#] {
            assert!(serde_json::from_str::<Base64>(json).is_err(), "{json}");
        }
        assert_eq!(serde_json::from_str::<Base64>(r#""aGk=""#).unwrap().0, b"hi");
    }

    proptest! {
        #[test]
        fn bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let json = serde_json::to_string(&Base64(bytes.clone())).unwrap();
            prop_assert_eq!(serde_json::from_str::<Base64>(&json).unwrap().0, bytes);
        }
    }
}
