//! One value of a document, and how a type takes it.

use std::borrow::Cow;

use serde::de::{Deserializer, Error as _, Unexpected, Visitor};
use serde_json::Number;

use super::{
    Fault, Place,
    access::{Elements, Members, Raw, Variant},
};

/// The name by which serde_json asks for the text of a value as it stands.
pub(super) const RAW: &str = "$serde_json::private::RawValue";

/// How many objects and arrays may lie in each other; as in serde_json.
const MOST_DEPTH: u8 = 127;
/// How deep values that may be anything are followed by their places.
const EXACT_DEPTH: u8 = 8;

/// A value: its text, which is JSON without blanks around it, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'de, 'p> {
    pub(super) text: &'de str,
    pub(super) place: &'p Place<'p>,
    /// How many objects and arrays it lies in.
    pub(super) depth: u8,
}

/// What a value is, told by its first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

impl<'de> Node<'de, '_> {
    fn kind(self) -> Kind {
        match self.text.as_bytes().first() {
            Some(b'n') | None => Kind::Null,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            Some(b'"') => Kind::String,
            Some(b'[') => Kind::Array,
            Some(b'{') => Kind::Object,
            Some(_) => Kind::Number,
        }
    }

    /// The depth of what lies in it.
    pub(super) fn inner(self) -> Result<u8, Fault> {
        match self.depth < MOST_DEPTH {
            true => Ok(self.depth + 1),
            false => Err(Fault::new("recursion limit exceeded")),
        }
    }

    fn number(self) -> Result<Number, Fault> {
        serde_json::from_str(self.text).map_err(|error| Fault::of(&error))
    }

    /// The text between the quotes; borrowed unless something in it is escaped.
    pub(super) fn string(self) -> Result<Cow<'de, str>, Fault> {
        match self.text.get(1..self.text.len().saturating_sub(1)) {
            Some(inner) if !inner.contains('\\') => Ok(Cow::Borrowed(inner)),
            _ => serde_json::from_str(self.text).map(Cow::Owned).map_err(|error| Fault::of(&error)),
        }
    }

    /// That this is not what the visitor takes.
    #[cold]
    fn unexpected(self, expected: &dyn serde::de::Expected) -> Fault {
        let text;
        let unexpected = match self.kind() {
            Kind::Null => Unexpected::Unit,
            Kind::True => Unexpected::Bool(true),
            Kind::False => Unexpected::Bool(false),
            Kind::Array => Unexpected::Seq,
            Kind::Object => Unexpected::Map,
            Kind::String => match self.string() {
                Ok(found) => {
                    text = found;
                    Unexpected::Str(&text)
                }
                Err(fault) => return fault,
            },
            Kind::Number => match self.number() {
                Ok(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(number), ..) => Unexpected::Unsigned(number),
                    (_, Some(number), _) => Unexpected::Signed(number),
                    (.., number) => Unexpected::Float(number.unwrap_or_default()),
                },
                Err(fault) => return fault,
            },
        };
        Fault::invalid_type(unexpected, expected)
    }

    /// A number, or why it is none.
    fn visit_number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.kind() != Kind::Number {
            return Err(self.unexpected(&visitor));
        }
        let number = self.number()?;
        match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => visitor.visit_u64(number),
            (_, Some(number)) => visitor.visit_i64(number),
            _ => visitor.visit_f64(number.as_f64().unwrap_or_default()),
        }
    }

    fn visit_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.kind() != Kind::String {
            return Err(self.unexpected(&visitor));
        }
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn visit_members<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(Members::of(self)?)
    }

    fn visit_elements<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let mut elements = Elements::of(self)?;
        let value = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        Ok(value)
    }

    /// As what it is. Far inside, where places are no longer worth their price (each level is looked through
    /// once more), serde_json reads all of it at once.
    fn visit_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.depth >= EXACT_DEPTH {
            let mut json = serde_json::Deserializer::from_str(self.text);
            return json.deserialize_any(visitor).map_err(|error| Fault::of(&error));
        }
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::True => visitor.visit_bool(true),
            Kind::False => visitor.visit_bool(false),
            Kind::Number => self.visit_number(visitor),
            Kind::String => self.visit_string(visitor),
            Kind::Array => self.visit_elements(visitor),
            Kind::Object => self.visit_members(visitor),
        }
    }
}

macro_rules! forward {
    ($with:ident: $($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.$with(visitor)
        }
    )* };
}

impl<'de> Deserializer<'de> for Node<'de, '_> {
    type Error = Fault;

    forward!(visit_any: deserialize_any);
    forward!(visit_number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64);
    forward!(visit_string: deserialize_char deserialize_str deserialize_string deserialize_identifier);

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::True => visitor.visit_bool(true),
            Kind::False => visitor.visit_bool(false),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Array => self.visit_elements(visitor),
            _ => self.visit_string(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match name {
            RAW => visitor.visit_map(Raw::new(self.text)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Array => self.visit_elements(visitor),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Object => self.visit_members(visitor),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    /// An empty array has no members either: that is how some clients write that there are no params. Members
    /// by their order are not taken; no client sends them, and every type would have the code for it.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Object => self.visit_members(visitor),
            Kind::Array if self.is_empty_array() => visitor.visit_map(Members::none(self.place)),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let variant = Variant::of(self)?;
        let is_alone = variant.is_alone;
        let value = visitor.visit_enum(variant)?;
        match is_alone {
            true => Ok(value),
            false => Err(Fault::new("expected value")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }
}

impl Node<'_, '_> {
    fn is_empty_array(self) -> bool {
        let inner = self.text.get(1..self.text.len().saturating_sub(1));
        inner.is_some_and(|inner| inner.trim_ascii().is_empty())
    }

    pub(super) fn is_string(self) -> bool {
        self.kind() == Kind::String
    }

    pub(super) fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }
}
