//! The result of an import.

use serde::{Deserialize, Serialize};

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Where the files are.
    pub directory: String,
    /// Whether nothing was to be changed.
    pub dry_run: bool,
    /// Each file.
    pub files: Vec<ImportedFile>,
    /// The sessions that the records belong to; they are not opened again.
    pub sessions: Vec<ImportedSession>,
}

/// What came of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedFile {
    /// Its name.
    pub file: String,
    /// How many of its records were here already.
    pub known: usize,
    /// Why it was left alone, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `read`, `missing`, `newer`, `corrupt`, `unreachable` or `unused`.
    pub state: String,
    /// How many of its records there was no room for.
    pub surplus: usize,
    /// How many of its records were taken over.
    pub taken: usize,
    /// How many of its records cannot be understood.
    pub unreadable: usize,
}

/// A session of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSession {
    pub id: String,
    pub title: String,
}
