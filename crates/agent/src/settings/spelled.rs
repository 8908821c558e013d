//! Values that have two spellings, and are returned in the one that was used.

use rookery_model::Mode;

use crate::policy::{FLAG_ONLY, mode_name, parse_mode};

/// The other word for the default mode, which is returned to clients that use it.
const ASK: &str = "ask";

/// A value, and how the user spelled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled<T> {
    pub value: T,
    /// Its spelling, one of those that clients see.
    pub spelling: &'static str,
}

/// Whether models search the web.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebSearchMode {
    /// They do not.
    #[default]
    Disabled,
    /// In what the provider has stored, if it can; otherwise they do not.
    Cached,
    /// As it is now.
    Live,
}

/// Accepted spelling, value, and the spelling that clients see.
const WEB_SEARCH: [(&str, WebSearchMode, &str); 4] = [
    ("disabled", WebSearchMode::Disabled, "disabled"),
    ("cached", WebSearchMode::Cached, "cached"),
    ("auto", WebSearchMode::Cached, "auto"),
    ("live", WebSearchMode::Live, "live"),
];

impl Spelled<Mode> {
    /// The mode of a spelling, as it stands in the file or on a wire.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == FLAG_ONLY { None } else { Self::from_flag(name) }
    }

    /// The mode of a spelling on a command line, which has one more.
    pub fn from_flag(name: &str) -> Option<Self> {
        let value = parse_mode(name)?;
        // Of all the others clients are sent the canonical one.
        let spelling = if name == ASK { ASK } else { mode_name(value) };
        Some(Self { value, spelling })
    }
}

impl Spelled<WebSearchMode> {
    /// The mode of a spelling.
    pub fn from_name(name: &str) -> Option<Self> {
        find(&WEB_SEARCH, name)
    }
}

fn find<T: Copy>(table: &[(&str, T, &'static str)], name: &str) -> Option<Spelled<T>> {
    let row = table.iter().find(|(accepted, ..)| *accepted == name)?;
    Some(Spelled { value: row.1, spelling: row.2 })
}

impl Default for Spelled<Mode> {
    fn default() -> Self {
        Self { value: Mode::Default, spelling: "default" }
    }
}

impl Default for Spelled<WebSearchMode> {
    fn default() -> Self {
        Self { value: WebSearchMode::Disabled, spelling: "disabled" }
    }
}
