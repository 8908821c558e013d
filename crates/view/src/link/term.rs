//! What a frame says of a terminal.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::Row;
use super::{given, is_false};
use crate::scene::Rgb;

/// What is new about one terminal in view. An absent member is as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Term {
    /// Which terminal.
    pub t: u64,
    /// Forget all that is known of it first.
    #[serde(skip_serializing_if = "is_false")]
    pub full: bool,
    /// Raised whenever row numbers lose their meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The screen's sequence number of this state.
    pub seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<TermSize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// The tables of styles and links were full and begin anew; the entry is `full`.
    #[serde(skip_serializing_if = "is_false")]
    pub styles_reset: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<Style>,
    /// Ids and targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(u32, String)>,
    /// Rows in view that changed or came into view.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// The color that the program gave the cursor; null if it is the theme's.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub cursor_color: Option<Option<Hex>>,
    /// The shape of the mouse that the program wants, by its W3C name; `default` is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// See [`modes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Whose size it has; null if no viewer's.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub owner: Option<Option<Owner>>,
    /// What a find came upon since it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
    /// With `check`: CRC-32 of the rows in view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<u32>,
}

/// Bits of [`Term::modes`].
pub mod modes {
    /// The program wants the mouse.
    pub const MOUSE: u32 = 1;
    /// It wants every motion of it.
    pub const MOTION: u32 = 2;
    /// Pastes are wanted in brackets.
    pub const BRACKETED_PASTE: u32 = 4;
    /// The alternate screen is shown.
    pub const ALTERNATE: u32 = 8;
    /// Changes of the focus are wanted.
    pub const FOCUS: u32 = 16;
    /// The kitty keyboard protocol is on.
    pub const KITTY: u32 = 32;

    /// The bits of a screen's modes.
    pub fn of(modes: &rookery_term::Modes) -> u32 {
        let bits = [
            (MOUSE, modes.mouse_clicks || modes.mouse_drag || modes.mouse_motion),
            (MOTION, modes.mouse_motion),
            (BRACKETED_PASTE, modes.bracketed_paste),
            (ALTERNATE, modes.alternate_screen),
            (FOCUS, modes.focus_events),
            (KITTY, modes.kitty_keyboard != 0),
        ];
        bits.into_iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum()
    }
}

/// `[rows, cols]` of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(u16, u16)", into = "(u16, u16)")]
#[schemars(with = "(u16, u16)")]
pub struct TermSize {
    pub rows: u16,
    pub cols: u16,
}

impl From<(u16, u16)> for TermSize {
    fn from((rows, cols): (u16, u16)) -> Self {
        TermSize { rows, cols }
    }
}

impl From<TermSize> for (u16, u16) {
    fn from(size: TermSize) -> Self {
        (size.rows, size.cols)
    }
}

/// `[top, first, oldest]`: numbers of the first row shown, of the screen's first row, of the oldest
/// kept row. It follows the output while `top == first`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
#[schemars(with = "(u64, u64, u64)")]
pub struct View {
    pub top: u64,
    pub first: u64,
    pub oldest: u64,
}

impl View {
    /// Whether it follows the output.
    pub fn follows(&self) -> bool {
        self.top == self.first
    }
}

impl From<(u64, u64, u64)> for View {
    fn from((top, first, oldest): (u64, u64, u64)) -> Self {
        View { top, first, oldest }
    }
}

impl From<View> for (u64, u64, u64) {
    fn from(view: View) -> Self {
        (view.top, view.first, view.oldest)
    }
}

/// `[number, col, shape, visible]`; shape 0 default, 1 block, 2 underline, 3 beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(u64, u16, u8, u8)", into = "(u64, u16, u8, u8)")]
#[schemars(with = "(u64, u16, u8, u8)")]
pub struct Cursor {
    /// The number of its row.
    pub row: u64,
    pub col: u16,
    pub shape: u8,
    pub is_visible: bool,
}

impl Cursor {
    /// Where a screen has its cursor.
    pub fn of(cursor: rookery_term::Cursor, first_row: u64, cols: u16) -> Cursor {
        use rookery_term::CursorShape::{Beam, Block, Default, Underline};
        Cursor {
            row: first_row + u64::from(cursor.row),
            // While a wrap is pending the cursor stands on the last column.
            col: cursor.col.min(cols.saturating_sub(1)),
            shape: match cursor.shape {
                Default => 0,
                Block => 1,
                Underline => 2,
                Beam => 3,
            },
            is_visible: cursor.visible,
        }
    }
}

impl From<(u64, u16, u8, u8)> for Cursor {
    fn from((row, col, shape, visible): (u64, u16, u8, u8)) -> Self {
        Cursor { row, col, shape, is_visible: visible != 0 }
    }
}

impl From<Cursor> for (u64, u16, u8, u8) {
    fn from(cursor: Cursor) -> Self {
        (cursor.row, cursor.col, cursor.shape, u8::from(cursor.is_visible))
    }
}

/// `[id, raw, ink, ground]`: what a program asked for, and the colors that it comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(u32, RawStyle, Hex, Hex)", into = "(u32, RawStyle, Hex, Hex)")]
#[schemars(with = "(u32, RawStyle, Hex, Hex)")]
pub struct Style {
    /// From 1; 0 is the default style and never sent.
    pub id: u32,
    pub raw: RawStyle,
    /// Color of the text.
    pub ink: Hex,
    /// Color behind it.
    pub ground: Hex,
}

impl From<(u32, RawStyle, Hex, Hex)> for Style {
    fn from((id, raw, ink, ground): (u32, RawStyle, Hex, Hex)) -> Self {
        Style { id, raw, ink, ground }
    }
}

impl From<Style> for (u32, RawStyle, Hex, Hex) {
    fn from(style: Style) -> Self {
        (style.id, style.raw, style.ink, style.ground)
    }
}

/// A style as the program asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RawStyle {
    /// Color of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f: Option<Tint>,
    /// Color behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Tint>,
    /// See [`attr`].
    #[serde(skip_serializing_if = "is_zero")]
    pub a: u8,
    /// Underline: 1 single, 2 double, 3 curl, 4 dotted, 5 dashed.
    #[serde(skip_serializing_if = "is_zero")]
    pub u: u8,
    /// Color of the underline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uc: Option<Tint>,
    /// The link that it is part of, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l: Option<u32>,
}

fn is_zero(value: &u8) -> bool {
    *value == 0
}

/// Bits of [`RawStyle::a`].
pub mod attr {
    pub const BOLD: u8 = 1;
    pub const DIM: u8 = 2;
    pub const ITALIC: u8 = 4;
    pub const INVERSE: u8 = 8;
    pub const HIDDEN: u8 = 16;
    pub const STRIKEOUT: u8 = 32;
    pub const OVERLINE: u8 = 64;
}

/// A color as a program asked for it: an index of the palette, or `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Tint {
    Index(u8),
    Rgb(Hex),
}

/// A color as `#rrggbb`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Hex(pub Rgb);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (red, green, blue) = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl From<Hex> for String {
    fn from(color: Hex) -> Self {
        color.to_string()
    }
}

/// A text is no color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a color is written `#rrggbb`")]
pub struct NoColor;

impl FromStr for Hex {
    type Err = NoColor;

    fn from_str(text: &str) -> Result<Self, NoColor> {
        let digits = text.strip_prefix('#').ok_or(NoColor)?;
        let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or(NoColor)?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(Hex((red, green, blue)))
    }
}

impl TryFrom<String> for Hex {
    type Error = NoColor;

    fn try_from(text: String) -> Result<Self, NoColor> {
        text.parse()
    }
}

/// How a child ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ended {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// The viewer whose size a terminal has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Owner {
    pub viewer: u64,
    pub name: String,
    /// Whether it is the viewer that is informed.
    pub mine: bool,
}

/// Further matches of a find.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Found {
    pub epoch: u64,
    /// Row number, column and cells, newest first; they come after those that were sent before.
    pub matches: Vec<(u64, u16, u32)>,
    /// Matches so far, those included that are not sent.
    pub total: u32,
    /// Whether the search goes on.
    pub more: bool,
}
