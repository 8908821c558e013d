//! Parts of the scene that lie over or beside the workspace: palette, inbox, dialog, toasts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Mood, bound, is_false};
use crate::scene;

/// The palette over everything else: of more rows than fit a frame, those around the selected one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Palette {
    pub frame: String,
    pub placeholder: String,
    pub query: String,
    pub rows: Vec<PaletteRow>,
    /// Index of the selected row among these.
    pub selected: u32,
}

/// One row of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PaletteRow {
    pub id: String,
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subtitle: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mood: Option<Mood>,
    /// Which characters of the title the query matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<u32>,
    /// The keys that do the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

impl From<&scene::PaletteOverlay> for Palette {
    fn from(open: &scene::PaletteOverlay) -> Self {
        let row = |row: &scene::PaletteRow| PaletteRow {
            id: row.id.clone(),
            title: row.title.clone(),
            subtitle: row.subtitle.clone(),
            mood: row.mood.map(Mood::from),
            matched: row.matched.iter().filter_map(|at| u32::try_from(*at).ok()).collect(),
            keys: Vec::new(),
        };
        let selected = open.selected();
        let from = Palette::first_row(selected);
        Palette {
            frame: open.frame.clone(),
            placeholder: open.placeholder.clone(),
            query: open.query.clone(),
            rows: open.rows.iter().skip(from).take(bound::PALETTE_ROWS).map(row).collect(),
            selected: u32::try_from(selected - from).unwrap_or(0),
        }
    }
}

impl Palette {
    /// The place among all rows of the first that a viewer has, while this one is selected.
    pub fn first_row(selected: usize) -> usize {
        selected - selected % bound::PALETTE_ROWS
    }
}

/// What waits for a person, as much of it as the viewer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Inbox {
    pub total: u32,
    /// Items of each category.
    pub categories: BTreeMap<String, u32>,
    /// Index of the first row.
    pub from: u32,
    pub rows: Vec<InboxRow>,
}

/// One item that asks for attention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InboxRow {
    pub item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    pub category: String,
    /// What it is, in a word: `approval`, `question`, `review`, …
    pub kind: String,
    pub session: String,
    pub session_title: String,
    /// The terminal that the session runs in; a session without one is a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    pub title: String,
    pub subtitle: String,
    /// Who says so: `protocol`, `report`, `screen` or `program`.
    pub source: String,
    pub at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<i64>,
    pub deferred: bool,
    /// What it is about, if that is no request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
}

impl InboxRow {
    /// Whether this is read in it; `query` is in lower case.
    pub fn reads(&self, query: &str) -> bool {
        [&self.kind, &self.session_title, &self.title, &self.subtitle]
            .iter()
            .any(|text| text.to_lowercase().contains(query))
    }
}

/// Subject of an inbox item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct About {
    /// `review`, `checkpoint` or `handoff`.
    pub kind: String,
    pub id: String,
}

/// A question of the daemon over everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dialog {
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Labels of the two buttons.
    pub confirm: String,
    pub cancel: String,
    /// Whether doing it destroys something.
    #[serde(skip_serializing_if = "is_false")]
    pub destructive: bool,
}

impl From<&scene::Dialog> for Dialog {
    fn from(dialog: &scene::Dialog) -> Self {
        Dialog {
            title: dialog.title.clone(),
            body: dialog.body.clone(),
            confirm: dialog.confirm.clone(),
            cancel: dialog.cancel.clone(),
            destructive: dialog.is_destructive,
        }
    }
}

/// A short message at the edge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Toast {
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
    pub mood: Mood,
}

impl From<&scene::Toast> for Toast {
    fn from(toast: &scene::Toast) -> Self {
        Toast { title: toast.title.clone(), body: toast.body.clone(), mood: toast.mood.into() }
    }
}
