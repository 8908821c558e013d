//! The parts of a value: members, elements, keys, and what a variant carries.

use std::{borrow::Cow, fmt, vec};

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer as _,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
    value::{BorrowedStrDeserializer, CowStrDeserializer},
};
use serde_json::value::RawValue;

use super::{
    Fault, Place,
    node::{Node, RAW},
};

type Member<'de> = (Cow<'de, str>, &'de RawValue);

/// The members of an object, in their order, each as often as it is there.
pub(super) struct Members<'de, 'p> {
    left: vec::IntoIter<Member<'de>>,
    next: Option<Member<'de>>,
    place: &'p Place<'p>,
    depth: u8,
}

impl<'de, 'p> Members<'de, 'p> {
    pub(super) fn of(node: Node<'de, 'p>) -> Result<Self, Fault> {
        let List(members) = serde_json::from_str(node.text).map_err(|error| Fault::of(&error))?;
        let depth = node.inner()?;
        Ok(Self { left: members.into_iter(), next: None, place: node.place, depth })
    }

    pub(super) fn none(place: &'p Place<'p>) -> Self {
        Self { left: Vec::new().into_iter(), next: None, place, depth: 0 }
    }
}

/// What [`Members`] are read into.
struct List<'de>(Vec<Member<'de>>);

impl<'de> Deserialize<'de> for List<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = List<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key_seed(NameSeed)? {
            members.push((name, map.next_value()?));
        }
        Ok(List(members))
    }
}

/// A name, borrowed unless something in it is escaped.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

impl<'de> MapAccess<'de> for Members<'de, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        self.next = self.left.next();
        let Some((name, _)) = &self.next else { return Ok(None) };
        let key = seed.deserialize(Key(name.clone()));
        key.map(Some).map_err(|fault| fault.at(&Place::Member(self.place, name)))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (name, value) = self.next.take().ok_or_else(out_of_order)?;
        let place = Place::Member(self.place, &name);
        let node = Node { text: value.get(), place: &place, depth: self.depth };
        seed.deserialize(node).map_err(|fault| fault.at(&place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

#[cold]
fn out_of_order() -> Fault {
    Fault::new("a value was asked for before its name")
}

/// The elements of an array.
pub(super) struct Elements<'de, 'p> {
    left: vec::IntoIter<&'de RawValue>,
    index: usize,
    place: &'p Place<'p>,
    depth: u8,
}

impl<'de, 'p> Elements<'de, 'p> {
    pub(super) fn of(node: Node<'de, 'p>) -> Result<Self, Fault> {
        let elements: Vec<&RawValue> =
            serde_json::from_str(node.text).map_err(|error| Fault::of(&error))?;
        let depth = node.inner()?;
        Ok(Self { left: elements.into_iter(), index: 0, place: node.place, depth })
    }

    /// That all have been taken.
    pub(super) fn end(&self) -> Result<(), Fault> {
        match self.left.len() {
            0 => Ok(()),
            _ => Err(Fault::new("trailing characters")),
        }
    }
}

impl<'de> SeqAccess<'de> for Elements<'de, '_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some(value) = self.left.next() else { return Ok(None) };
        let place = Place::Element(self.place, self.index);
        self.index += 1;
        let node = Node { text: value.get(), place: &place, depth: self.depth };
        seed.deserialize(node).map(Some).map_err(|fault| fault.at(&place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// The name of a member as a value: a text, or what is written in it.
struct Key<'de>(Cow<'de, str>);

macro_rules! numeric_keys {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.0.parse::<serde_json::Number>() {
                Ok(number) => number.$method(visitor).map_err(|error| Fault::of(&error)),
                Err(_) => Err(Fault::new("invalid value: expected key to be a number in quotes")),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    numeric_keys!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64);

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &*self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            text => Err(Fault::invalid_type(Unexpected::Str(text), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let name: CowStrDeserializer<'_, Fault> = self.0.into_deserializer();
        visitor.visit_enum(name)
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// The name of a variant, and what it carries.
pub(super) struct Variant<'de, 'p> {
    name: Cow<'de, str>,
    content: Option<&'de RawValue>,
    /// Whether there is nothing beside it.
    pub(super) is_alone: bool,
    place: &'p Place<'p>,
    depth: u8,
}

impl<'de, 'p> Variant<'de, 'p> {
    /// A text is a variant that carries nothing, an object of one member one that does.
    pub(super) fn of(node: Node<'de, 'p>) -> Result<Self, Fault> {
        let (place, depth) = (node.place, node.depth);
        if node.is_string() {
            return Ok(Self { name: node.string()?, content: None, is_alone: true, place, depth });
        }
        let Members { left: mut members, depth, .. } = match node.is_object() {
            true => Members::of(node)?,
            false => return Err(Fault::new("expected value")),
        };
        let (name, content) = members.next().ok_or_else(|| Fault::new("expected value"))?;
        let is_alone = members.len() == 0;
        Ok(Self { name, content: Some(content), is_alone, place, depth })
    }
}

impl<'de, 'p> EnumAccess<'de> for Variant<'de, 'p> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let value = seed.deserialize(Key(self.name.clone()));
        Ok((value.map_err(|fault| fault.at(self.place))?, self))
    }
}

impl<'de> Variant<'de, '_> {
    /// Hands over what is carried.
    fn content<T>(
        self,
        expected: &'static str,
        take: impl FnOnce(Node<'de, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let place = Place::Member(self.place, &self.name);
        let Some(content) = self.content else {
            return Err(Fault::invalid_type(Unexpected::UnitVariant, &expected).at(&place));
        };
        let node = Node { text: content.get(), place: &place, depth: self.depth };
        take(node).map_err(|fault| fault.at(&place))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de, '_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            None => Ok(()),
            Some(_) => self.content("unit", |node| <()>::deserialize(node)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        self.content("newtype variant", |node| seed.deserialize(node))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.content("tuple variant", |node| node.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.content("struct variant", |node| node.deserialize_struct("", fields, visitor))
    }
}

/// The text of a value as it stands, in the shape in which serde_json takes it.
pub(super) struct Raw<'de> {
    text: &'de str,
    is_named: bool,
}

impl<'de> Raw<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self { text, is_named: false }
    }
}

impl<'de> MapAccess<'de> for Raw<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        if std::mem::replace(&mut self.is_named, true) {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}
