//! The two clipboards.

use super::{Empty, calls, shapes, words};

words! {
    /// Which clipboard.
    Target {
        /// What copy and paste use.
        System,
        /// What was selected last.
        Selection,
    }
}

calls! {
    /// Reads a clipboard.
    "clipboard.dump" ClipboardDump -> ClipboardText {
        /// Which one.
        target: Target,
    }
    /// Writes a clipboard.
    "clipboard.write" ClipboardWrite -> Empty {
        /// Which one.
        target: Target,
        /// What it holds from now on.
        text: String,
    }
}

shapes! {
    /// What a clipboard holds.
    ClipboardText {
        /// Absent when it holds no text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
}
