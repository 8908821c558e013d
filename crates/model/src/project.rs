//! Projects: named groups of terminals.

use std::path::PathBuf;

use crate::{ProjectId, Timestamp};

/// A named group of terminals with a directory that new terminals start in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its id, never reused.
    pub id: ProjectId,
    /// What users call it.
    pub name: String,
    /// Where its terminals start; absolute.
    pub root: PathBuf,
    /// When it was created.
    pub created_at: Timestamp,
}
