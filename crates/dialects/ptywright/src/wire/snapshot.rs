//! The screen on the wire. Members are in alphabetical order, as the original writes them.

use std::{borrow::Cow, fmt, sync::Arc};

#[cfg(test)]
use rookery_term::{Color, Style as CellStyle, Underline};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::process::Process;

/// A screen at one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScreenSnapshot {
    /// The alternate screen is shown.
    pub alternate_screen: bool,
    /// Cursor keys send application sequences.
    pub application_cursor: bool,
    /// The keypad sends application sequences.
    pub application_keypad: bool,
    /// Row by row, exactly rows × cols of them; none if the request said so.
    pub cells: Cells,
    /// Where the cursor is.
    pub cursor: Cursor,
    /// The visible screen as text.
    pub plain_text: String,
    /// Grows with every output and every resize.
    pub sequence: u64,
    /// Its size as last set.
    pub size: ScreenSize,
    /// The title; null until a program sets one.
    pub title: Option<String>,
    /// The process that draws it, where a session is read; an addition of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// Where the cursor is, from 0.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cursor {
    /// Column; equals the number of columns while a wrap is pending.
    pub col: u16,
    pub row: u16,
    /// Whether it is shown.
    pub visible: bool,
}

/// A size.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScreenSize {
    /// Columns.
    pub cols: u16,
    /// Height in pixels, 0 when unknown.
    pub pixel_height: u16,
    /// Width in pixels, 0 when unknown.
    pub pixel_width: u16,
    pub rows: u16,
}

/// One cell. It serves as description and in tests: cells are written by hand, many at a time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cell {
    /// Column from 0.
    pub col: u16,
    /// Row from 0.
    pub row: u16,
    /// How it looks.
    pub style: Style,
    /// Its text; empty if nothing was written there.
    pub text: String,
    /// The first half of a wide character.
    pub wide: bool,
    /// The second half of a wide character.
    pub wide_continuation: bool,
}

/// How a cell looks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Style {
    /// `default`, `idx:N` or `rgb:R:G:B`.
    pub background: String,
    pub bold: bool,
    pub dim: bool,
    /// `default`, `idx:N` or `rgb:R:G:B`.
    pub foreground: String,
    /// Foreground and background exchanged.
    pub inverse: bool,
    pub italic: bool,
    /// Underlined in whatever way.
    pub underline: bool,
}

#[cfg(test)]
impl From<&CellStyle> for Style {
    fn from(style: &CellStyle) -> Self {
        Self {
            background: color(style.bg),
            bold: style.bold,
            dim: style.dim,
            foreground: color(style.fg),
            inverse: style.inverse,
            italic: style.italic,
            underline: style.underline != Underline::None,
        }
    }
}

#[cfg(test)]
fn color(color: Color) -> String {
    match color {
        Color::Default => "default".to_owned(),
        Color::Indexed(index) => format!("idx:{index}"),
        Color::Rgb(r, g, b) => format!("rgb:{r}:{g}:{b}"),
    }
}

/// The cells of a screen, serialized already; a clone is a pointer.
#[derive(Clone)]
pub struct Cells(Arc<Box<RawValue>>);

impl Cells {
    /// No cells at all.
    pub(crate) fn none() -> Self {
        Self::from(RawValue::from_string("[]".to_owned()).expect("an empty array is JSON"))
    }

    /// The cells as JSON.
    pub(crate) fn as_json(&self) -> &str {
        self.0.get()
    }
}

impl From<Box<RawValue>> for Cells {
    fn from(json: Box<RawValue>) -> Self {
        Self(Arc::new(json))
    }
}

impl fmt::Debug for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cells({} bytes)", self.as_json().len())
    }
}

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Cells {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Cells".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Cell>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_spelled_in_decimal() {
        assert_eq!(color(Color::Default), "default");
        assert_eq!(color(Color::Indexed(255)), "idx:255");
        assert_eq!(color(Color::Rgb(0, 16, 255)), "rgb:0:16:255");
    }

    #[test]
    fn members_are_in_alphabetical_order() {
        let screen = ScreenSnapshot {
            process: None,
            alternate_screen: false,
            application_cursor: true,
            application_keypad: false,
            cells: Cells::none(),
            cursor: Cursor { col: 3, row: 0, visible: true },
            plain_text: "A\"".into(),
            sequence: 1,
            size: ScreenSize { cols: 4, pixel_height: 0, pixel_width: 0, rows: 1 },
            title: None,
        };
        assert_eq!(
            serde_json::to_string(&screen).unwrap(),
            concat!(
                r#"{"alternate_screen":false,"application_cursor":true,"application_keypad":false,"cells":[],"#,
                r#""cursor":{"col":3,"row":0,"visible":true},"plain_text":"A\"","sequence":1,"#,
                r#""size":{"cols":4,"pixel_height":0,"pixel_width":0,"rows":1},"title":null}"#
            )
        );
    }
}
