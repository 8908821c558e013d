//! Projects: named groups of terminals.

use std::path::PathBuf;

use crate::{ProjectId, TerminalId, Timestamp};

/// A named group of terminals with a directory that new terminals start in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its id, never reused.
    pub id: ProjectId,
    /// What users call it.
    pub name: String,
    /// Where its terminals start, as the user wrote it.
    pub root: PathBuf,
    /// Its place among all projects; unique, with gaps.
    pub position: i32,
    /// The terminal last selected in it.
    pub selected: Option<TerminalId>,
    /// When it was created.
    pub created_at: Timestamp,
}
