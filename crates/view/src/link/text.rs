//! A terminal's row as it travels: `[number, text, runs?, flags?]`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One row of a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its number, which holds until the epoch changes.
    pub number: u64,
    /// What it shows, without default blanks at the end.
    pub text: RowText,
    /// Cells and style in turn, from the left; the rest of the row has style 0.
    pub runs: Vec<u32>,
    /// See [`Row::RUNS_ON`].
    pub flags: u32,
}

impl Row {
    /// Flag: the line runs on in the next row.
    pub const RUNS_ON: u32 = 1;

    /// A blank row.
    pub fn blank(number: u64) -> Row {
        Row { number, ..Row::default() }
    }

    /// The styles it uses.
    pub fn styles(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().skip(1).step_by(2).copied()
    }

    /// What checksums are made of: compact JSON of `[text, runs, flags]`.
    pub fn push_sum(&self, out: &mut Vec<u8>) {
        // Writing into memory cannot fail, and text of rows is always valid JSON.
        let _ = serde_json::to_writer(out, &(&self.text, &self.runs, self.flags));
    }

    /// Bytes that it takes on the wire, about.
    pub fn weight(&self) -> usize {
        let text = match &self.text {
            RowText::Plain(text) => text.len(),
            RowText::Parts(parts) => parts.iter().map(|part| part.text().len() + 6).sum(),
        };
        text + self.runs.len() * 4 + 16
    }
}

/// The CRC-32 of rows in view, joined by line feeds.
pub fn sum<'a>(rows: impl IntoIterator<Item = &'a Row>) -> u32 {
    let mut bytes = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        if index > 0 {
            bytes.push(b'\n');
        }
        row.push_sum(&mut bytes);
    }
    crc32fast::hash(&bytes)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowText {
    /// Every scalar is one cell.
    Plain(String),
    /// Pieces of which some take other room.
    Parts(Vec<RowPart>),
}

/// A piece of a row's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowPart {
    /// Every scalar is one cell.
    Plain(String),
    /// One cluster and the cells it takes.
    Cluster(String, u16),
}

impl RowPart {
    pub fn text(&self) -> &str {
        match self {
            RowPart::Plain(text) | RowPart::Cluster(text, _) => text,
        }
    }

    /// Cells it takes.
    pub fn cells(&self) -> usize {
        match self {
            RowPart::Plain(text) => text.chars().count(),
            RowPart::Cluster(_, cells) => usize::from(*cells),
        }
    }
}

impl Default for RowText {
    fn default() -> Self {
        RowText::Plain(String::new())
    }
}

impl RowText {
    /// Cells it takes.
    pub fn cells(&self) -> usize {
        match self {
            RowText::Plain(text) => text.chars().count(),
            RowText::Parts(parts) => parts.iter().map(RowPart::cells).sum(),
        }
    }

    /// Clusters from the left with the cells that each takes.
    pub fn clusters(&self) -> impl Iterator<Item = (&str, u16)> {
        let (whole, parts) = match self {
            RowText::Plain(text) => (text.as_str(), &[][..]),
            RowText::Parts(parts) => ("", parts.as_slice()),
        };
        fn of_part(part: &RowPart) -> (&str, Option<(&str, u16)>) {
            match part {
                RowPart::Plain(text) => (text, None),
                RowPart::Cluster(text, cells) => ("", Some((text, *cells))),
            }
        }
        let pieces = std::iter::once((whole, None)).chain(parts.iter().map(of_part));
        pieces.flat_map(|(text, cluster)| scalars(text).chain(cluster))
    }
}

/// Scalars of a text, each of which is one cell.
fn scalars(text: &str) -> impl Iterator<Item = (&str, u16)> {
    text.char_indices().map(|(at, c)| (&text[at..at + c.len_utf8()], 1))
}

impl fmt::Display for RowText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowText::Plain(text) => f.write_str(text),
            RowText::Parts(parts) => parts.iter().try_for_each(|part| f.write_str(part.text())),
        }
    }
}

impl Serialize for RowPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RowPart::Plain(text) => serializer.serialize_str(text),
            RowPart::Cluster(text, cells) => (text, cells).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RowPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Part;
        impl<'de> Visitor<'de> for Part {
            type Value = RowPart;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a cluster and its cells")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<RowPart, E> {
                Ok(RowPart::Plain(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RowPart, A::Error> {
                let text =
                    seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let cells =
                    seq.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
                skip_rest(seq)?;
                Ok(RowPart::Cluster(text, cells))
            }
        }
        deserializer.deserialize_any(Part)
    }
}

impl Serialize for RowText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RowText::Plain(text) => serializer.serialize_str(text),
            RowText::Parts(parts) => parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RowText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = RowText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the text of a row")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<RowText, E> {
                Ok(RowText::Plain(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RowText, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(RowText::Parts(parts))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (runs, flags) = (!self.runs.is_empty(), self.flags != 0);
        let count = 2 + usize::from(runs || flags) + usize::from(flags);
        let mut seq = serializer.serialize_seq(Some(count))?;
        seq.serialize_element(&self.number)?;
        seq.serialize_element(&self.text)?;
        if runs || flags {
            seq.serialize_element(&self.runs)?;
        }
        if flags {
            seq.serialize_element(&self.flags)?;
        }
        seq.end()
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Row;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row: number, text, runs, flags")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Row, A::Error> {
                let number =
                    seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let text =
                    seq.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
                let runs = seq.next_element()?.unwrap_or_default();
                let flags = seq.next_element()?.unwrap_or_default();
                skip_rest(seq)?;
                Ok(Row { number, text, runs, flags })
            }
        }
        deserializer.deserialize_seq(Parts)
    }
}

/// A newer side may have more to say.
fn skip_rest<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<de::IgnoredAny>()?.is_some() {}
    Ok(())
}

impl JsonSchema for RowText {
    fn schema_name() -> Cow<'static, str> {
        "RowText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text in which every scalar is one cell, or pieces of such text and `[cluster, cells]`.",
            "oneOf": [
                {"type": "string"},
                {"type": "array", "items": {"oneOf": [
                    {"type": "string"},
                    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
                ]}},
            ],
        })
    }
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        "Row".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<RowText>();
        json_schema!({
            "description": "`[number, text, runs?, flags?]`.",
            "type": "array",
            "prefixItems": [
                {"type": "integer"},
                text,
                {"type": "array", "items": {"type": "integer"}},
                {"type": "integer"},
            ],
            "minItems": 2,
        })
    }
}
