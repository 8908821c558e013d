//! The files of artifacts: in a directory of our own, or in memory where nothing is kept.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rookery_host::Beneath;
use rookery_host::files::{self, ReadError};
use rookery_media::{Artifact, write_record};

/// Where files lie. Every call blocks.
pub(super) enum Files {
    Dir(PathBuf),
    Memory(Mutex<HashMap<String, Vec<u8>>>),
}

impl Files {
    pub(super) fn new(dir: Option<PathBuf>) -> Self {
        dir.map_or_else(|| Files::Memory(Mutex::default()), Files::Dir)
    }

    /// A file by its name, which is one of ours. No link leads out of the directory.
    pub(super) fn read(&self, name: &str, most: u64) -> Result<Vec<u8>, ReadError> {
        let bytes = match self {
            Files::Memory(kept) => {
                kept.lock().get(name).cloned().ok_or(io::Error::from(io::ErrorKind::NotFound))?
            }
            Files::Dir(dir) => {
                let limit = usize::try_from(most.saturating_add(1)).unwrap_or(usize::MAX);
                Beneath::new(dir)?.read_start(Path::new(name), limit)?
            }
        };
        match bytes.len() as u64 > most {
            true => Err(ReadError::TooLarge { limit: most }),
            false => Ok(bytes),
        }
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match self {
            Files::Memory(kept) => {
                kept.lock().insert(name.to_owned(), bytes.to_vec());
                Ok(())
            }
            Files::Dir(dir) => files::replace(&dir.join(name), bytes),
        }
    }

    /// Writes the record of an artifact.
    pub(super) fn write_record(&self, artifact: &Artifact) -> Result<(), String> {
        let dir = match self {
            Files::Memory(_) => Path::new(""),
            Files::Dir(dir) => dir,
        };
        let bytes = write_record(artifact, dir)?;
        self.write(&record_name(&artifact.id), &bytes).map_err(|error| error.to_string())
    }

    /// Removes all files of an artifact, the record first: what has none is no artifact any more.
    pub(super) fn remove(&self, artifact: &Artifact) -> io::Result<()> {
        let names = [record_name(&artifact.id), artifact.file.clone()];
        for name in names.iter().chain(&artifact.thumbnail) {
            match self {
                Files::Memory(kept) => drop(kept.lock().remove(name)),
                Files::Dir(dir) => files::remove(&dir.join(name))?,
            }
        }
        Ok(())
    }
}

/// The file with the record of an artifact.
pub(super) fn record_name(id: &str) -> String {
    format!("{id}.json")
}
