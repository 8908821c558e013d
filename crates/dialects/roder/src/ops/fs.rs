//! Files and directories, read only: absolute paths, and within the roots where the user set some.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_host::files::{self, ConfinedError, ReadError};
use tokio::sync::Semaphore;

use super::threads::absolute;
use crate::context::Cx;
use crate::errors::{Error, IoKind};
use crate::wire::fs::{
    DirectoryEntry, FsReadDirectoryParams, FsReadDirectoryResult, FsReadFileParams,
    FsReadFileResult,
};

/// The most that is read at once.
const LIMIT: u64 = 64 << 20;

/// Reads at work at the same time; the others wait.
static READS: Semaphore = Semaphore::const_new(8);

pub(crate) async fn read_file(cx: Cx, params: FsReadFileParams) -> Result<FsReadFileResult, Error> {
    let path = absolute(&params.path)?.to_owned();
    let roots = cx.core.agents().fs_roots();
    let data_base64 = blocking(move || {
        let path = confined(path, &roots)?;
        let offset = params.offset.unwrap_or(0);
        let bytes = files::read_range(&path, offset, params.limit, LIMIT);
        Ok(STANDARD.encode(bytes.map_err(|error| refused(&path, error))?))
    })
    .await?;
    Ok(FsReadFileResult { data_base64 })
}

pub(crate) async fn read_directory(
    cx: Cx,
    params: FsReadDirectoryParams,
) -> Result<FsReadDirectoryResult, Error> {
    let path = absolute(&params.path)?.to_owned();
    let roots = cx.core.agents().fs_roots();
    let entry = |entry: files::DirEntry| DirectoryEntry {
        file_name: entry.name,
        is_directory: entry.is_dir,
        is_file: entry.is_file,
    };
    let entries = blocking(move || {
        let path = confined(path, &roots)?;
        let listed = files::read_dir(&path).map_err(|error| refused(&path, error.into()))?;
        Ok(listed.into_iter().map(entry).collect())
    })
    .await?;
    Ok(FsReadDirectoryResult { entries })
}

/// Works on a thread that may block, a few at a time.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::runtime(error.to_string());
    let permit = READS.acquire().await.map_err(|error| failed(&error))?;
    let done = tokio::task::spawn_blocking(move || {
        // Released when the work is over, even if the caller has gone.
        let _permit = permit;
        work()
    });
    done.await.map_err(|error| failed(&error))?
}

/// The path, if one may look there.
fn confined(path: PathBuf, roots: &[PathBuf]) -> Result<PathBuf, Error> {
    files::confined(&path, roots).map_err(unconfined)
}

/// Why one may not look somewhere.
pub(super) fn unconfined(error: ConfinedError) -> Error {
    match error {
        ConfinedError::Outside(_) => Error::io(error.to_string(), IoKind::PermissionDenied),
        ConfinedError::Io(path, why) => refused(&path, why.into()),
    }
}

fn refused(path: &Path, error: ReadError) -> Error {
    match error {
        ReadError::Io(error) => io_error(path, &error),
        ReadError::TooLarge { limit } => {
            Error::too_large(format!("{}: more than {limit} bytes", path.display()))
        }
    }
}

fn io_error(path: &Path, error: &io::Error) -> Error {
    Error::io(format!("{}: {error}", path.display()), error.kind().into())
}
