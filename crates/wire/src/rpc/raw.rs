//! JSON that is serialized once and inserted into any number of replies as it is.

use std::{borrow::Cow, fmt, marker::PhantomData, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// A shared, already serialized JSON document, described by the schema of `T`.
///
/// It may be a whole result or a member of one; either way its bytes are copied verbatim into the
/// reply. Cloning copies a pointer.
pub struct RawJson<T: ?Sized = serde_json::Value> {
    json: Arc<RawValue>,
    shape: PhantomData<fn() -> Box<T>>,
}

impl<T: ?Sized> RawJson<T> {
    /// Serializes `value` once.
    ///
    /// # Errors
    /// If `value` cannot be written as JSON.
    pub fn of(value: &T) -> serde_json::Result<Self>
    where
        T: Serialize,
    {
        to_raw_value(value).map(Self::from)
    }

    /// Takes JSON text after checking that it is one document.
    ///
    /// # Errors
    /// If it is not.
    pub fn parse(text: String) -> serde_json::Result<Self> {
        RawValue::from_string(text).map(Self::from)
    }

    /// The document as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.json.get()
    }
}

impl<T: ?Sized> From<Box<RawValue>> for RawJson<T> {
    fn from(json: Box<RawValue>) -> Self {
        Self { json: json.into(), shape: PhantomData }
    }
}

impl<T: ?Sized> Clone for RawJson<T> {
    fn clone(&self) -> Self {
        Self { json: Arc::clone(&self.json), shape: PhantomData }
    }
}

impl<T: ?Sized> fmt::Debug for RawJson<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawJson").field(&self.as_str()).finish()
    }
}

impl<T: ?Sized> Serialize for RawJson<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<T: JsonSchema + ?Sized> JsonSchema for RawJson<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Outer {
        inner: RawJson<[u8]>,
    }

    #[test]
    fn inserted_verbatim_at_any_depth() {
        let inner = RawJson::parse("[1,  2.50, 1e400]".into()).unwrap();
        assert_eq!(serde_json::to_string(&inner).unwrap(), "[1,  2.50, 1e400]");
        let outer = serde_json::to_string(&Outer { inner }).unwrap();
        assert_eq!(outer, r#"{"inner":[1,  2.50, 1e400]}"#);
        assert_eq!(RawJson::of("a\n").unwrap().as_str(), r#""a\n""#);
        assert!(RawJson::<str>::parse("1 2".into()).is_err());
    }

    #[test]
    fn described_by_what_it_holds() {
        let mut generator = SchemaGenerator::default();
        let raw = RawJson::<bool>::json_schema(&mut generator);
        assert_eq!(raw, bool::json_schema(&mut generator));
    }
}
