//! Methods about terminals, places, panes, the palette and the inbox.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ClipTarget, Row, Style, is_false};
use crate::tile;

/// The result of a method that has nothing to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// Params of `view/scroll`: `by` rows, of which negative ones are older, or `to` a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scroll {
    pub t: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ScrollTo>,
    /// With `to: "row"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
}

/// Where to scroll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScrollTo {
    Top,
    Bottom,
    Row,
    /// To the row, or where it is now, and to stay there whatever is printed.
    Hold,
    PromptBefore,
    PromptAfter,
}

/// Params of `view/rows`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Rows {
    pub t: u64,
    pub epoch: u64,
    pub from: u64,
    pub count: u64,
}

/// Result of `view/rows`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RowsFound {
    pub epoch: u64,
    pub rows: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<Style>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(u32, String)>,
}

/// Params of `view/find`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Find {
    pub t: u64,
    pub text: String,
    #[serde(skip_serializing_if = "is_false")]
    pub regex: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
    /// Matches to return.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Whether capitals count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Case {
    /// They do if there is one in the pattern.
    #[default]
    Smart,
    /// They always do.
    Sensitive,
    /// They never do.
    Insensitive,
}

/// Params of `view/select`; both ends are included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Select {
    pub t: u64,
    /// Row number and column; absent takes the selection back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<(u64, u16)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<(u64, u16)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<SelectKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expand: Option<Expand>,
}

/// The shape of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SelectKind {
    #[default]
    Text,
    Lines,
    Block,
}

/// What the ends of a selection grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Expand {
    Word,
    Line,
}

/// Result of `view/select`: the ends, settled at whole characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Selected {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<(u64, u16)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<(u64, u16)>,
}

/// Params of `view/copy`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Copy {
    pub t: u64,
    pub to: Vec<ClipTarget>,
}

/// Result of `view/copy`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Copied {
    pub text: String,
    /// Whether there was more than could be copied.
    pub cut: bool,
}

/// Params of `view/linkAt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkAt {
    pub t: u64,
    /// Row number and column.
    pub at: (u64, u16),
}

/// Result of `view/linkAt`; without members where there is no link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LinkFound {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<(u64, u16)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<(u64, u16)>,
}

/// Params of `view/act`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Act {
    /// The id of an action.
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}

/// Params of `view/palette`: exactly one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaletteCall {
    /// Opens a frame: `commands`, `launcher`, `agents`, `providers`, `notifications`, …
    Open(String),
    Query(String),
    Move(i64),
    /// Selects a row by its index.
    Select(u32),
    /// Activates a row by its index, or the selected one.
    Activate(Option<u32>),
    Back(bool),
    Close(bool),
}

/// Params of `view/edit`: what a rename in place came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Edit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub cancel: bool,
}

/// Params of `view/confirm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confirm {
    pub yes: bool,
}

/// Params of `view/pane`: exactly one of `split`, `focus`, `zoom`, `resize`, `move` and `break`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "give one of split, focus, zoom, resize with by, move with to and side, and break"
)]
pub enum PaneCall {
    Split {
        split: SplitWord,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        t: Option<u64>,
    },
    Focus {
        focus: FocusWord,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        t: Option<u64>,
    },
    Zoom {
        zoom: bool,
    },
    Resize {
        /// The edge that moves.
        resize: EdgeWord,
        by: i32,
    },
    Move {
        #[serde(rename = "move")]
        moved: u64,
        to: u64,
        side: SideWord,
    },
    Break {
        #[serde(rename = "break")]
        broken: u64,
    },
}

/// Where the new pane of a split lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SplitWord {
    Right,
    Below,
}

impl From<SplitWord> for tile::Direction {
    fn from(word: SplitWord) -> Self {
        match word {
            SplitWord::Right => tile::Direction::Right,
            SplitWord::Below => tile::Direction::Below,
        }
    }
}

impl From<tile::Direction> for SplitWord {
    fn from(direction: tile::Direction) -> Self {
        match direction {
            tile::Direction::Right => SplitWord::Right,
            tile::Direction::Below => SplitWord::Below,
        }
    }
}

/// Which pane gets the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FocusWord {
    Left,
    Right,
    Up,
    Down,
    Next,
}

/// An edge of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EdgeWord {
    Left,
    Right,
    Up,
    Down,
}

impl From<EdgeWord> for tile::Edge {
    fn from(word: EdgeWord) -> Self {
        match word {
            EdgeWord::Left => tile::Edge::Left,
            EdgeWord::Right => tile::Edge::Right,
            EdgeWord::Up => tile::Edge::Up,
            EdgeWord::Down => tile::Edge::Down,
        }
    }
}

/// On which side of another pane a moved one lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SideWord {
    Left,
    Right,
    Above,
    Below,
}

impl From<SideWord> for tile::Side {
    fn from(word: SideWord) -> Self {
        match word {
            SideWord::Left => tile::Side::Left,
            SideWord::Right => tile::Side::Right,
            SideWord::Above => tile::Side::Above,
            SideWord::Below => tile::Side::Below,
        }
    }
}

/// Params of `view/inbox`: which rows the viewer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InboxWindow {
    pub from: u32,
    pub count: u32,
    /// Also what only informs.
    pub all: bool,
    /// Only rows in which this is read, whatever its case.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub query: String,
}

/// Params of `view/settings`: one line of the user's settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "give set and value, or bind")]
pub enum SettingsCall {
    /// A setting gets a value.
    Set { set: String, value: String },
    /// A chord of this kind of face gets an action, none with `unbind`, or, without `action`, what it
    /// has by default.
    Bind {
        bind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<String>,
    },
}

/// Params of `view/prefs`: `get` or `set`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Prefs {
    #[serde(skip_serializing_if = "is_false")]
    pub get: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<BTreeMap<String, Value>>,
}

impl Prefs {
    /// Keeps one setting.
    pub fn one(name: &str, value: impl Into<Value>) -> Prefs {
        Prefs { get: false, set: Some([(name.to_owned(), value.into())].into()) }
    }
}

/// Result of `view/prefs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PrefsFound {
    pub prefs: BTreeMap<String, Value>,
}
