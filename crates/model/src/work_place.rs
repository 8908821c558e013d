//! What checkpoints, reviews and handoffs belong to.

use std::path::{Path, PathBuf};

use crate::SessionId;

/// A place where work is done: a work tree, named by itself or by the session that works in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WorkPlace {
    /// Where this session works.
    Session(SessionId),
    /// The git work tree with this top level, an absolute path without links, whatever session works in it.
    Tree(PathBuf),
}

impl WorkPlace {
    /// The session that names it, under which queue and timeline have it.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            WorkPlace::Session(id) => Some(*id),
            WorkPlace::Tree(_) => None,
        }
    }

    /// The work tree, if it is named by itself.
    pub fn tree(&self) -> Option<&Path> {
        match self {
            WorkPlace::Session(_) => None,
            WorkPlace::Tree(top) => Some(top),
        }
    }
}

impl From<SessionId> for WorkPlace {
    fn from(id: SessionId) -> Self {
        WorkPlace::Session(id)
    }
}
