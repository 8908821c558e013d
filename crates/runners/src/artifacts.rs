//! Files that are handed out of a session: copied whole into a folder of our own, unless the provider keeps
//! them itself. What fails leaves nothing behind.

use std::path::{Path, PathBuf};

use rookery_host::files;
use serde_json::{Value, json};

use crate::RunnerError;
use crate::local::{below, blocking};
use crate::session::Session;

/// How many files an artifact may have, how large one may be, and all of them.
const MAX_FILES: usize = 10_000;
const MAX_FILE: u64 = 64 << 20;
const MAX_BYTES: u64 = 256 << 20;
/// What the name of a folder ends with that is not whole.
const PARTIAL: &str = ".part";

/// Files of a session that are had without it.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// What was handed out, as it was asked for.
    pub path: String,
    /// What it is called.
    pub id: String,
    /// Where it is.
    pub url: Option<String>,
    /// Details; no secret is in it.
    pub metadata: Value,
}

/// Copies a file, or a directory with all its files if that was asked for, into a folder of its own below
/// `target`. Links are not followed.
pub(crate) async fn copy_out<S: Session + ?Sized>(
    session: &S,
    path: &str,
    recursive: bool,
    target: &Path,
) -> Result<Artifact, RunnerError> {
    let is_dir = match session.list(path).await {
        Ok(_) => true,
        Err(error @ (RunnerError::Outside(_) | RunnerError::Closed)) => return Err(error),
        Err(_) => false,
    };
    if is_dir && !recursive {
        let message = format!("{path} is a directory; set recursive to export it");
        return Err(RunnerError::invalid("recursive", message));
    }
    let id = format!("ra-{}", uuid::Uuid::new_v4().simple());
    let mut staged = Staged { partial: target.join(format!("{id}{PARTIAL}")), is_kept: false };
    let (files, bytes, name) = match is_dir {
        true => copy_dir(session, path, &staged.partial).await?,
        false => copy_file(session, path, &staged.partial).await?,
    };
    let whole = target.join(&id);
    let (partial, kept) = (staged.partial.clone(), whole.clone());
    blocking(move || files::rename(&partial, &kept).map_err(failed)).await?;
    staged.is_kept = true;
    let place = name.map_or_else(|| whole.clone(), |name| whole.join(name));
    let url = url::Url::from_file_path(&place).ok().map(String::from);
    let metadata = json!({"path": place, "files": files, "bytes": bytes});
    Ok(Artifact { path: path.to_owned(), id, url, metadata })
}

async fn copy_file<S: Session + ?Sized>(
    session: &S,
    path: &str,
    partial: &Path,
) -> Result<(usize, u64, Option<PathBuf>), RunnerError> {
    let bytes = session.read_file(path, MAX_FILE).await?;
    let name = Path::new(path).file_name().map(PathBuf::from);
    let name = name.ok_or_else(|| RunnerError::invalid("path", "path names no file"))?;
    let size = bytes.len() as u64;
    write(partial.join(&name), bytes).await?;
    Ok((1, size, Some(name)))
}

async fn copy_dir<S: Session + ?Sized>(
    session: &S,
    path: &str,
    partial: &Path,
) -> Result<(usize, u64, Option<PathBuf>), RunnerError> {
    let names = session.find(path, MAX_FILES + 1).await?;
    let too_much = || {
        let message = format!("{path} has more than {MAX_FILES} files or {MAX_BYTES} bytes");
        RunnerError::invalid("path", message)
    };
    if names.len() > MAX_FILES {
        return Err(too_much());
    }
    let folder = partial.to_owned();
    blocking(move || files::make_private_dir(&folder).map_err(failed)).await?;
    let mut left = MAX_BYTES;
    for name in &names {
        // What is copied lands below the folder, whatever the other side calls it.
        let within = below(Path::new("/"), name)?;
        let bytes = session.read_file(&format!("{path}/{name}"), MAX_FILE).await?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(too_much)?;
        write(partial.join(within), bytes).await?;
    }
    Ok((names.len(), MAX_BYTES - left, None))
}

async fn write(path: PathBuf, bytes: Vec<u8>) -> Result<(), RunnerError> {
    blocking(move || files::replace(&path, &bytes).map_err(failed)).await
}

fn failed(error: std::io::Error) -> RunnerError {
    RunnerError::failed(format!("the artifact cannot be kept: {error}"))
}

/// A folder that is being filled; it goes unless it is kept.
struct Staged {
    partial: PathBuf,
    is_kept: bool,
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let partial = std::mem::take(&mut self.partial);
        let remove = move || {
            if let Err(error) = files::remove_tree(&partial) {
                tracing::warn!(%error, "a part of an artifact is left");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// Removes what the copies of a daemon that was killed left in the folder of artifacts. Blocks.
pub fn sweep_artifacts(target: &Path) {
    // There is none before the first artifact.
    for entry in files::read_dir(target).unwrap_or_default() {
        let is_ours = entry.name.starts_with("ra-") && entry.name.ends_with(PARTIAL);
        if is_ours
            && entry.is_dir
            && let Err(error) = files::remove_tree(&target.join(&entry.name))
        {
            tracing::warn!(%error, "a part of an artifact is left");
        }
    }
}
