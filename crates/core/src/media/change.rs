//! What happens to artifacts, for all who follow it.

use std::sync::Arc;

use rookery_media::{Artifact, Preview};
use rookery_model::ThreadId;

/// Something that happened to an artifact.
#[derive(Clone, Debug)]
pub enum MediaChange {
    /// It is kept from now on.
    Created(Arc<Artifact>),
    /// Its record changed.
    Updated(Arc<Artifact>),
    Deleted(String),
    /// It can be shown.
    PreviewReady(Arc<Artifact>, Preview),
}

impl MediaChange {
    /// The thread that it belongs to.
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        match self {
            MediaChange::Created(artifact)
            | MediaChange::Updated(artifact)
            | MediaChange::PreviewReady(artifact, _) => artifact.thread,
            MediaChange::Deleted(_) => None,
        }
    }

    /// About how much memory it takes beside itself.
    pub(crate) fn size(&self) -> usize {
        match self {
            MediaChange::Created(_) | MediaChange::Updated(_) => size_of::<Artifact>() + 512,
            MediaChange::PreviewReady(..) => size_of::<Artifact>() + 1024,
            MediaChange::Deleted(id) => id.len(),
        }
    }
}
