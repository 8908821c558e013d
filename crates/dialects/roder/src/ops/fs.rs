//! Files and directories, read only: absolute paths, and within the roots where the user set some.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_host::files::{self, ReadError};
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

/// The path without links, if there are roots, and then only within one of them.
fn confined(path: PathBuf, roots: &[PathBuf]) -> Result<PathBuf, Error> {
    if roots.is_empty() {
        return Ok(path);
    }
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let is_inside = |real: &Path| roots.iter().any(|root| real.starts_with(root));
    let outside = || {
        let message = format!("{}: outside the directories that may be read", path.display());
        Error::io(message, IoKind::PermissionDenied)
    };
    match path.canonicalize() {
        Ok(real) if is_inside(&real) => Ok(real),
        Ok(_) => Err(outside()),
        Err(error) => {
            // What is not there is said only where one may look; elsewhere that would tell as well.
            let nearest = path.ancestors().find_map(|above| above.canonicalize().ok());
            match nearest.is_some_and(|above| is_inside(&above)) {
                true => Err(refused(&path, error.into())),
                false => Err(outside()),
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_hold_whatever_links_and_dots_say() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (inside, outside) = (base.join("in"), base.join("out"));
        for dir in [&inside, &outside] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("file"), "x").unwrap();
        }
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let linked_root = base.join("root");
        std::os::unix::fs::symlink(&inside, &linked_root).unwrap();
        let roots = [linked_root.clone()];
        let check = |path: PathBuf| confined(path, &roots);
        assert_eq!(check(inside.join("file")).unwrap(), inside.join("file"));
        assert_eq!(check(linked_root.join("file")).unwrap(), inside.join("file"));
        assert_eq!(check(inside.clone()).unwrap(), inside);
        let missing = check(inside.join("none")).unwrap_err().to_string();
        assert!(!missing.contains("outside"), "{missing}");
        for wrong in [
            outside.join("file"),
            outside.join("none"),
            inside.join("../out/file"),
            inside.join("link/file"),
            inside.join("link/none"),
            base.clone(),
        ] {
            let error = check(wrong.clone()).unwrap_err().to_string();
            assert!(error.contains("outside the directories"), "{}: {error}", wrong.display());
        }
        assert_eq!(confined(outside.clone(), &[]).unwrap(), outside);
        assert!(confined(outside, &[base.join("gone")]).is_err());
    }
}
