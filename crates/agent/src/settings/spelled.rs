//! Values that have two spellings, and are told back in the one that was used.

use rookery_model::Mode;

/// A value, and how whoever set it spelled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled<T> {
    /// The value.
    pub value: T,
    /// Its spelling, one of those that are told to clients.
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

/// Accepted spelling, value, and what is told to clients.
const MODES: [(&str, Mode, &str); 8] = [
    ("default", Mode::Default, "default"),
    ("ask", Mode::Default, "ask"),
    ("accept_all", Mode::AcceptAll, "accept_all"),
    ("accept-all", Mode::AcceptAll, "accept_all"),
    ("accept_edits", Mode::AcceptAll, "accept_all"),
    ("accept-edits", Mode::AcceptAll, "accept_all"),
    ("plan", Mode::Plan, "plan"),
    ("bypass", Mode::Bypass, "bypass"),
];

const WEB_SEARCH: [(&str, WebSearchMode, &str); 4] = [
    ("disabled", WebSearchMode::Disabled, "disabled"),
    ("cached", WebSearchMode::Cached, "cached"),
    ("auto", WebSearchMode::Cached, "auto"),
    ("live", WebSearchMode::Live, "live"),
];

impl Spelled<Mode> {
    /// The mode of a spelling, as it stands in the file or on a wire.
    pub fn from_name(name: &str) -> Option<Self> {
        find(&MODES, name)
    }

    /// The mode of a spelling on a command line, which has one more.
    pub fn from_flag(name: &str) -> Option<Self> {
        Self::from_name(if name == "yolo" { "bypass" } else { name })
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

/// The id that a provider is known by: trimmed, in lower case, without an alias.
pub fn normalize_provider(id: &str) -> String {
    let id = id.trim().to_lowercase();
    match id.as_str() {
        "x-ai" => "xai".to_owned(),
        _ => id,
    }
}
