//! Frames: the newest state of all that changed, and their acknowledgment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Block, Page, Scene, Term, is_false};

/// `rookery/view/frame`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Frame {
    /// Counted from 1 without gaps.
    pub n: u64,
    /// The highest input number whose bytes the kernel had accepted before this state was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<Box<Scene>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadNews>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<CardNews>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Clip>,
    /// Asks the newest window to come to the front.
    #[serde(skip_serializing_if = "is_false")]
    pub raise: bool,
    /// Asks a viewer that draws for a picture of what it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shoot: Option<Shoot>,
    /// Asks a window to be this large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<WindowPoints>,
    /// The connection closes after this frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bye: Option<Bye>,
}

impl Frame {
    /// Whether there is anything in it but its number.
    pub fn is_empty(&self) -> bool {
        *self == Frame { n: self.n, ..Frame::default() }
    }
}

/// A picture that a viewer is asked for, of what it shows with this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shoot {
    /// Which one; counted by the daemon.
    pub ask: u64,
    /// Pixels of a point: 1 or 2.
    pub scale: u32,
}

/// A window's size in logical points. Once it has that, or another that its desktop allows, it says so with
/// `view/resize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WindowPoints {
    pub width: u32,
    pub height: u32,
}

/// Params of `view/picture`: what was asked for, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Picture {
    pub ask: u64,
    /// PNG in base64.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub png: String,
    /// Width and height in pixels.
    pub width: u32,
    pub height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Result of `view/picture`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PictureTaken {
    /// Whether it was waited for.
    pub taken: bool,
}

/// Params of `view/ack`: a frame was applied and painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {
    pub n: u64,
}

/// Params of `view/resync`: what shall come in full with the next frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Resync {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<u64>,
    #[serde(skip_serializing_if = "is_false")]
    pub scene: bool,
}

impl Resync {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && !self.scene
    }
}

/// An item of the open thread that is being written: its blocks from `from` on are replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadNews {
    pub thread: String,
    pub item: String,
    pub from: u32,
    pub blocks: Vec<Block>,
    /// The whole item where more than its blocks changed, and one that was not there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<Box<super::ThreadItem>>,
    /// The head of the thread, where that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Box<super::ThreadHead>>,
}

/// How the card stands that a viewer has open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CardNews {
    pub request: String,
    /// `pending`, or how it was settled.
    pub state: String,
    /// Who settled it.
    pub by: Option<String>,
    /// When it was settled.
    pub at: Option<i64>,
}

/// Something that a viewer which does not look should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Notice {
    /// It is settled, or was seen.
    Gone {
        gone: u64,
    },
    New(NewNotice),
}

/// A notice to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewNotice {
    pub id: u64,
    #[serde(default)]
    pub urgency: Urgency,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    #[serde(default)]
    pub at: i64,
}

/// How loud a notice is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    Low,
    High,
    #[default]
    #[serde(other)]
    Normal,
}

/// A program set a clipboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clip {
    pub target: ClipTarget,
    pub text: String,
}

/// One of the two clipboards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClipTarget {
    Clipboard,
    Selection,
}

/// Why the daemon closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bye {
    /// A clean stop.
    Stopping,
    Restarting,
    Revoked,
    Stalled,
    Replaced,
}

impl Bye {
    /// The close code of a WebSocket.
    pub fn close_code(self) -> u16 {
        match self {
            Bye::Stopping => 1001,
            Bye::Restarting => 1012,
            Bye::Revoked => 4401,
            Bye::Stalled => 1013,
            Bye::Replaced => 4409,
        }
    }
}
