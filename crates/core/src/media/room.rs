//! Which artifacts there are. Their records are read when they are first asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_media::Artifact;
use rookery_model::Result;
use tokio::sync::{OnceCell, Semaphore};

use super::files::Files;
use super::load;
use crate::core::blocking;
use crate::rooms::Media;

/// Images that are decoded at the same time: each may take some hundred megabytes.
const DECODERS: usize = 2;
/// Images that are made at the same time.
const MAKERS: usize = 4;

/// Artifacts and their files.
pub(crate) struct Room {
    dir: Option<PathBuf>,
    index: OnceCell<Arc<ArtifactIndex>>,
    /// Held while artifacts are added, changed or removed.
    pub(super) order: tokio::sync::Mutex<()>,
    pub(super) decoders: Semaphore,
    pub(super) makers: Semaphore,
}

impl Room {
    pub(crate) fn new(dir: Option<PathBuf>) -> Room {
        Room {
            dir,
            index: OnceCell::new(),
            order: tokio::sync::Mutex::default(),
            decoders: Semaphore::new(DECODERS),
            makers: Semaphore::new(MAKERS),
        }
    }

    /// Where files lie; none if they are in memory only.
    pub(super) fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }
}

/// All artifacts, by their ids.
pub(super) struct ArtifactIndex {
    pub(super) files: Files,
    artifacts: Mutex<HashMap<String, Arc<Artifact>>>,
}

impl ArtifactIndex {
    pub(super) fn get(&self, id: &str) -> Option<Arc<Artifact>> {
        self.artifacts.lock().get(id).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Artifact>> {
        self.artifacts.lock().values().cloned().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.artifacts.lock().len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.artifacts.lock().values().map(|artifact| artifact.byte_size).sum()
    }

    pub(super) fn insert(&self, artifact: Artifact) -> Arc<Artifact> {
        let artifact = Arc::new(artifact);
        self.artifacts.lock().insert(artifact.id.clone(), Arc::clone(&artifact));
        artifact
    }

    pub(super) fn remove(&self, id: &str) {
        self.artifacts.lock().remove(id);
    }
}

impl Media {
    pub(super) fn room(&self) -> &Room {
        &self.core.inner.media
    }

    /// The artifacts, once their records were read.
    pub(super) async fn index(&self) -> Result<Arc<ArtifactIndex>> {
        let room = self.room();
        let index = room.index.get_or_try_init(async || {
            let dir = room.dir.clone();
            let found = match dir.clone() {
                Some(dir) => blocking(move || load::records(&dir)).await?,
                None => Vec::new(),
            };
            let artifacts =
                found.into_iter().map(|found| (found.id.clone(), Arc::new(found))).collect();
            let files = Files::new(dir);
            Ok::<_, rookery_model::Error>(Arc::new(ArtifactIndex {
                files,
                artifacts: Mutex::new(artifacts),
            }))
        });
        index.await.cloned()
    }
}
