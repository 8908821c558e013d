//! Media: images and other files that are kept, each with a record beside it. They come from clients, from
//! what users send and tools return, from screenshots, and from servers that make images.
//!
//! What bytes are and how records look is [`rookery_media`]'s. A file is written before its record, and a
//! record before anything is said of it, so that what is listed is there.

mod attach;
mod capture;
mod change;
mod files;
mod generate;
mod load;
mod preview;
mod room;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_host::files as host_files;
use rookery_media::{Artifact, Generation, Kind, dimensions, is_id, sniff};
use rookery_model::{Error, ErrorKind, Result, ThreadId, TurnId};
use sha2::{Digest as _, Sha256};

pub use self::attach::MediaAttachment;
pub use self::change::MediaChange;
pub use self::generate::{
    ImageAction, ImageModel, ImageProvider, MadeArtifact, MadeArtifacts, NewImage, NewImageInput,
};
use self::room::ArtifactIndex;
pub(crate) use self::room::Room;
use crate::core::blocking;
use crate::log::NoticeBody;
use crate::rooms::Media;
use crate::{clock, secrets};

/// The largest file that is kept.
const LARGEST: u64 = 64 << 20;
/// Artifacts that there may be.
const MOST_ARTIFACTS: usize = 10_000;
/// What all of them may take together.
const MOST_BYTES: u64 = 8 << 30;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;
/// The most that is read at once, whatever a client allows: a line of a wire has a bound.
const LARGEST_READ: u64 = 32 << 20;

/// Where a file comes from that a client brings.
pub(crate) const IMPORTED: &str = "import";

/// A file to be kept.
#[derive(Clone, Debug, Default)]
pub struct NewArtifact {
    pub bytes: Vec<u8>,
    /// Where it comes from.
    pub provider: String,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// What it is called.
    pub title: Option<String>,
    /// SHA-256 of the prompt that it was made from.
    pub prompt_hash: String,
    /// What its provider said of it.
    pub generation: Option<Generation>,
}

/// What a client brings.
#[derive(Clone, Debug)]
pub enum MediaInput {
    /// A file of this machine, by its absolute path.
    Path(PathBuf),
    Bytes(Vec<u8>),
}

impl Media {
    /// Artifacts of a thread or of all, of one kind or of all, newest first.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub async fn list(
        &self,
        thread: Option<ThreadId>,
        kind: Option<Kind>,
    ) -> Result<Vec<Arc<Artifact>>> {
        let index = self.index().await?;
        let mut found = index.all();
        found.retain(|artifact| {
            thread.is_none_or(|thread| artifact.thread == Some(thread))
                && kind.is_none_or(|kind| artifact.kind == kind)
        });
        found.sort_by(|one, two| {
            two.created_at.cmp(&one.created_at).then_with(|| two.id.cmp(&one.id))
        });
        Ok(found)
    }

    /// An artifact by its id.
    ///
    /// # Errors
    /// If there is none, or the directory cannot be read.
    pub async fn get(&self, id: &str) -> Result<Arc<Artifact>> {
        self.index().await?.get(id).ok_or_else(|| unknown(id))
    }

    /// An artifact with its bytes, of which there may be at most `most`.
    ///
    /// # Errors
    /// If there is none, it has more bytes, or its file cannot be read.
    pub async fn read(&self, id: &str, most: u64) -> Result<(Arc<Artifact>, Vec<u8>)> {
        let index = self.index().await?;
        let artifact = index.get(id).ok_or_else(|| unknown(id))?;
        let (name, most) = (artifact.file.clone(), most.min(LARGEST_READ));
        let bytes = blocking(move || index.files.read(&name, most)).await?;
        match bytes {
            Ok(bytes) => Ok((artifact, bytes)),
            Err(host_files::ReadError::TooLarge { limit }) => Err(Error::failed(format!(
                "artifact {id} has {} bytes, over read limit of {limit}",
                artifact.byte_size
            ))),
            Err(host_files::ReadError::Io(error)) => {
                Err(Error::failed(format!("the file of artifact {id} cannot be read: {error}")))
            }
        }
    }

    /// Keeps what a client brings.
    ///
    /// # Errors
    /// If a part of it is wrong, there is no such thread, there are too many, or it cannot be kept.
    pub async fn import(
        &self,
        input: MediaInput,
        thread: Option<ThreadId>,
        title: Option<String>,
    ) -> Result<Arc<Artifact>> {
        if let Some(thread) = thread {
            self.core.threads().get(thread).ok_or_else(|| crate::world::no_thread(thread))?;
        }
        let (bytes, name) = match input {
            MediaInput::Bytes(bytes) => (bytes, None),
            MediaInput::Path(path) => {
                let roots = self.core.agents().fs_roots();
                blocking(move || read_file(&path, &roots)).await??
            }
        };
        if bytes.is_empty() {
            return Err(Error::invalid("bytes_base64", "bytes_base64 must not be empty"));
        }
        let (provider, title) = (IMPORTED.to_owned(), checked_title(title)?.or(name));
        let new = NewArtifact { bytes, provider, thread, title, ..NewArtifact::default() };
        self.keep(new).await
    }

    /// Keeps a file, and says so.
    pub(crate) async fn keep(&self, new: NewArtifact) -> Result<Arc<Artifact>> {
        if new.bytes.len() as u64 > LARGEST {
            return Err(too_large());
        }
        let index = self.index().await?;
        // One after the other, so that the bounds hold and no file is written twice.
        let _order = self.room().order.lock().await;
        if index.count() >= MOST_ARTIFACTS || index.bytes() >= MOST_BYTES {
            let message = format!(
                "there are {MOST_ARTIFACTS} artifacts or {} GiB of them already; delete some first",
                MOST_BYTES >> 30
            );
            return Err(Error::new(ErrorKind::Busy, message));
        }
        let made = Arc::clone(&index);
        let artifact = blocking(move || put(&made, new)).await?;
        let artifact = artifact.map_err(|why| Error::failed(format!("cannot be kept: {why}")))?;
        let artifact = index.insert(artifact);
        self.notify(MediaChange::Created(Arc::clone(&artifact)));
        Ok(artifact)
    }

    /// Writes an artifact's record anew.
    async fn replace(
        &self,
        index: &Arc<ArtifactIndex>,
        changed: Artifact,
    ) -> Result<Arc<Artifact>> {
        let (files, record) = (Arc::clone(index), changed.clone());
        let written = blocking(move || files.files.write_record(&record)).await?;
        written.map_err(|why| Error::failed(format!("the record cannot be written: {why}")))?;
        let changed = index.insert(changed);
        self.notify(MediaChange::Updated(Arc::clone(&changed)));
        Ok(changed)
    }

    /// Deletes an artifact with all its files. False if there is none.
    ///
    /// # Errors
    /// If it is not ours to delete, or cannot be deleted.
    pub async fn delete(&self, id: &str) -> Result<bool> {
        let index = self.index().await?;
        let _order = self.room().order.lock().await;
        let Some(artifact) = index.get(id) else { return Ok(false) };
        if !artifact.is_owned {
            return Err(Error::failed(format!(
                "artifact {id} was not created by Rookery and cannot be deleted"
            )));
        }
        let (files, gone) = (Arc::clone(&index), Arc::clone(&artifact));
        let removed = blocking(move || files.files.remove(&gone)).await?;
        removed.map_err(|error| Error::failed(format!("cannot be deleted: {error}")))?;
        index.remove(id);
        self.notify(MediaChange::Deleted(id.to_owned()));
        Ok(true)
    }

    /// Where a file of an artifact lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.room().dir().map_or_else(|| PathBuf::from(name), |dir| dir.join(name))
    }

    fn notify(&self, change: MediaChange) {
        let (thread, body) = (change.thread(), NoticeBody::Media(Box::new(change)));
        self.core.inner.log.spine().send(thread, [body]);
    }
}

/// Writes the file and then the record of a new artifact. Blocks.
fn put(index: &ArtifactIndex, new: NewArtifact) -> std::result::Result<Artifact, String> {
    let NewArtifact { bytes, provider, thread, turn, title, prompt_hash, generation } = new;
    let known = sniff(&bytes);
    let id = format!("media-{}", uuid::Uuid::now_v7());
    let artifact = Artifact {
        kind: known.kind,
        mime_type: known.mime_type.to_owned(),
        dimensions: dimensions(&bytes),
        duration_millis: None,
        byte_size: bytes.len() as u64,
        provider,
        prompt_hash,
        file: format!("{id}.{}", known.ending),
        thumbnail: None,
        generation,
        created_at: clock::wall(),
        is_owned: true,
        thread,
        turn,
        title,
        sha256: digest(&bytes),
        id,
    };
    let written = index.files.write(&artifact.file, &bytes).map_err(|error| error.to_string());
    let recorded = written.and_then(|()| index.files.write_record(&artifact));
    if let Err(why) = recorded {
        // Nothing is left of what could not be finished.
        let _ = index.files.remove(&artifact);
        return Err(why);
    }
    Ok(artifact)
}

/// A file of the user with its name, if clients may read it. Blocks.
fn read_file(path: &Path, roots: &[PathBuf]) -> Result<(Vec<u8>, Option<String>)> {
    let wrong = |why: String| Error::invalid("path", format!("path {why}"));
    if !path.is_absolute() {
        return Err(wrong("must be absolute".to_owned()));
    }
    let real = path.canonicalize().map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut inside = roots.iter().filter_map(|root| root.canonicalize().ok());
    if !roots.is_empty() && !inside.any(|root| real.starts_with(root)) {
        return Err(wrong("is outside the directories that may be read".to_owned()));
    }
    let bytes = host_files::read_range(&real, 0, None, LARGEST).map_err(|error| match error {
        host_files::ReadError::TooLarge { limit } => wrong(format!("has more than {limit} bytes")),
        host_files::ReadError::Io(error) => wrong(format!("cannot be read: {error}")),
    })?;
    if bytes.is_empty() {
        return Err(wrong("names an empty file".to_owned()));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.map(|name| name.chars().take(LONGEST_TITLE).collect());
    Ok((bytes, name))
}

/// A title as it is kept: short, of one line, and without secrets.
fn checked_title(title: Option<String>) -> Result<Option<String>> {
    let Some(mut title) = title.filter(|title| !title.trim().is_empty()) else { return Ok(None) };
    if title.chars().count() > LONGEST_TITLE || title.chars().any(char::is_control) {
        let message = format!("title must have at most {LONGEST_TITLE} characters, on one line");
        return Err(Error::invalid("title", message));
    }
    secrets::hide(&mut title);
    Ok(Some(title))
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    match is_id(id) {
        true => Error::invalid("artifact_id", format!("unknown artifact_id: {shown}")),
        false => Error::invalid("artifact_id", format!("artifact_id is not an id: {shown}")),
    }
}

fn too_large() -> Error {
    Error::invalid("bytes_base64", format!("bytes_base64 must have at most {LARGEST} bytes"))
}

/// SHA-256 in hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
