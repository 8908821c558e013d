//! What a person does: numbered input, and what belongs to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClipTarget, Fit, Pixels, Size, is_false};

/// Params of `view/key`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Key {
    /// Counted by the viewer from 1.
    pub n: u64,
    pub t: u64,
    /// One unshifted character, or the name of a key.
    pub k: String,
    /// Bits of the kitty protocol: 1 shift, 2 alt, 4 ctrl, 8 super, 16 hyper, 32 meta, 64 caps, 128 num.
    #[serde(skip_serializing_if = "is_none_held")]
    pub mods: u8,
    #[serde(skip_serializing_if = "is_press")]
    pub kind: KeyKind,
    /// What it types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The character that shift makes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shifted: Option<char>,
    /// The key at this place of a US keyboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<char>,
}

fn is_none_held(mods: &u8) -> bool {
    *mods == 0
}

fn is_press(kind: &KeyKind) -> bool {
    *kind == KeyKind::Press
}

/// What happened to a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    #[default]
    Press,
    Repeat,
    Release,
}

/// Params of `view/text`: committed by an input method, dictation, or a text field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Text {
    pub n: u64,
    pub t: u64,
    pub text: String,
}

/// Params of `view/preedit`; an empty text ends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Preedit {
    pub n: u64,
    pub t: u64,
    pub text: String,
    /// Where the cursor is in it, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u32>,
}

/// Params of `view/mouse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mouse {
    #[serde(default)]
    pub n: u64,
    pub t: u64,
    pub kind: MouseKind,
    #[serde(default)]
    pub button: MouseButton,
    /// Cells of the view.
    pub row: u16,
    pub col: u16,
    #[serde(default, skip_serializing_if = "is_none_held")]
    pub mods: u8,
    /// 1, or 2 and 3 for double and triple clicks; 0 if the face does not count.
    #[serde(default)]
    pub clicks: u8,
}

/// What the mouse does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MouseKind {
    Press,
    Release,
    Move,
    Wheel,
}

/// With what the mouse does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
    WheelUp,
    WheelDown,
    #[default]
    None,
}

/// Params of `view/focus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Focus {
    #[serde(default)]
    pub n: u64,
    /// Whether the face has the keyboard.
    pub has: bool,
    /// A hidden face gets `status` and notices only.
    #[serde(default = "yes")]
    pub visible: bool,
}

fn yes() -> bool {
    true
}

/// Params of `view/resize`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Resize {
    pub n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels: Option<Pixels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single: Option<bool>,
}

/// Params of `view/paste`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Paste {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    pub t: u64,
    pub text: String,
    /// What lies on this clipboard of the daemon's machine is pasted in place of `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<ClipTarget>,
    /// The user was asked.
    #[serde(skip_serializing_if = "is_false")]
    pub sure: bool,
    /// Nothing is pasted yet: the user is to be asked whatever the text is.
    #[serde(skip_serializing_if = "is_false")]
    pub ask: bool,
}

/// Result of `view/paste`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pasted {
    pub pasted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<PasteDoubt>,
    /// Lines of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// The text, if it came from a clipboard and must be asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Why a paste must be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PasteDoubt {
    /// It has a line end before its last character.
    Lines,
    /// It has control characters.
    Controls,
}
