//! What a terminal shows: read, waited for, and followed.

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Base64, Empty, Exit, Size};
use crate::ids::TerminalRef;

/// Params of `rookery/terminals/dump`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dump {
    pub terminal: TerminalRef,
    /// Rows of history before the screen.
    #[serde(default)]
    pub history: usize,
    /// Hide secrets; true unless given.
    #[serde(default = "yes")]
    pub redact: bool,
}

call!("rookery/terminals/dump" Dump -> Dumped);

fn yes() -> bool {
    true
}

/// Where the cursor is, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    /// Row from the top.
    pub row: u16,
    /// Column from the left; the width while a wrap is pending.
    pub col: u16,
    /// Whether the program wants it shown.
    pub visible: bool,
}

/// Result of `rookery/terminals/dump`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dumped {
    /// The text, lines ended by a newline but the last, trailing blank lines left out.
    pub text: String,
    /// Whether anything was hidden.
    pub redacted: bool,
    /// Rows and columns.
    pub size: Size,
    /// Where the cursor is.
    pub cursor: Cursor,
    /// Whether a program shows the alternate screen.
    pub alternate_screen: bool,
    /// Raised by every chunk of output and every resize.
    pub sequence: u64,
}

/// Params of `rookery/terminals/wait`: a terminal and exactly one condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    pub terminal: TerminalRef,
    /// The screen contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// This expression is found on the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// The tail of the output contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_text: Option<String>,
    /// The child ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<bool>,
    /// No output for this time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stable_ms: Option<u64>,
    /// Its agent or program needs input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_input: Option<bool>,
    /// How long to wait, 30000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Give the text of the screen at that moment.
    #[serde(default)]
    pub include_text: bool,
    /// Hide secrets in that text; true unless given.
    #[serde(default = "yes")]
    pub redact: bool,
}

call!("rookery/terminals/wait" Wait -> Waited);

impl Wait {
    /// A wait without a condition yet.
    #[must_use]
    pub fn new(terminal: TerminalRef) -> Self {
        Self {
            terminal,
            text: None,
            regex: None,
            transcript_text: None,
            exit: None,
            stable_ms: None,
            needs_input: None,
            timeout_ms: None,
            include_text: false,
            redact: true,
        }
    }
}

/// The condition that came true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitKind {
    /// The text is on the screen.
    Text,
    /// The expression was found.
    Regex,
    /// The text is in the output.
    TranscriptText,
    /// The child ended.
    Exit,
    /// There was no output.
    Stable,
    NeedsInput,
}

/// Result of `rookery/terminals/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// What came true.
    pub matched: WaitKind,
    /// How long it took.
    pub elapsed_ms: u64,
    /// What the expression captured: its first group, else the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
    /// How the child ended, if it is known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// The screen at that moment, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Params of `rookery/terminals/attach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attach {
    pub terminal: TerminalRef,
    /// Rows to give it first; together with `cols`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// Columns to give it first; together with `rows`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Whether it is shown in the terminal that the client runs in, which must not be the same.
    #[serde(default)]
    pub shown: bool,
}

call!("rookery/terminals/attach" Attach -> Attached);

/// Result of `rookery/terminals/attach`; `rookery/output` notifications follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attached {
    /// Its number on this connection.
    pub attachment: u64,
    /// Bytes that draw the screen as it is.
    pub redraw: Base64,
    /// Rows and columns.
    pub size: Size,
}

/// Params of `rookery/terminals/detach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detach {
    /// Which attachment of this connection.
    pub attachment: u64,
}

call!("rookery/terminals/detach" Detach -> Empty);

/// Params of the notification `rookery/output`: what the program wrote, unredacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputNotification {
    /// Which attachment it belongs to.
    pub attachment: u64,
    /// What happened.
    #[serde(flatten)]
    pub output: Output,
}

/// What an attachment receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Output {
    /// The program wrote these bytes.
    Data(Base64),
    /// The peer did not keep up: these bytes draw the screen as it is now.
    Redraw(Base64),
    /// The terminal got another size.
    Resized(Size),
    /// The child ended; nothing is written any more.
    Exited(Exit),
    /// The terminal was closed, and with it this attachment.
    Closed(bool),
}
