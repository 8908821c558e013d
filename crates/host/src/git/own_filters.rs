//! What the user's own filters make of files.
//!
//! Filters of the user's global or system settings may run, those of a repository never. Programs such
//! as LFS have settings of their own, by which a repository could have other programs run. So git and
//! its filters are called for an empty repository of ours that has no settings, with the user's work
//! tree. What filters store is removed with it.

use std::fs;
use std::path::{Path, PathBuf};

use super::run::{Git, blocking, line, path};
use super::{GitError, Oid};

/// How many bytes are filtered for one answer; LFS makes a copy of them.
const MAX_BYTES: u64 = 256 << 20;
/// How many files.
const MAX_FILES: usize = 4096;
/// How long the repository's own file of attributes may be.
const MAX_ATTRIBUTES: u64 = 1 << 20;

/// A file that was written since git last saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    /// Its name below the top of the work tree.
    pub(super) name: Vec<u8>,
    /// What git has of it.
    pub(super) oid: Oid,
    /// How long it is now.
    pub(super) size: u32,
}

/// Those of these files that the user's filters turn into what git has of them.
pub(super) async fn unchanged(
    git: &Git,
    top: &Path,
    mut touched: Vec<Touched>,
) -> Result<Vec<Vec<u8>>, GitError> {
    // A name per line, and quotes mean that a name is quoted.
    touched.retain(|file| !file.name.contains(&b'\n') && !file.name.starts_with(b"\""));
    let bytes = touched.iter().map(|file| u64::from(file.size)).sum::<u64>();
    let Some(first) = touched.first() else { return Ok(Vec::new()) };
    if touched.len() > MAX_FILES || bytes > MAX_BYTES || !git.has_own_filters().await {
        return Ok(Vec::new());
    }
    let format = if first.oid.as_str().len() == 64 { "sha256" } else { "sha1" };
    let attributes = ["rev-parse", "--path-format=absolute", "--git-path", "info/attributes"];
    let attributes = path(&line(git.run(attributes).await?));
    let empty = blocking(move || Empty::new(format, &attributes)).await?;
    let names: Vec<u8> =
        touched.iter().flat_map(|file| [file.name.as_slice(), b"\n"].concat()).collect();
    let plain = git.without_repository();
    let mut call = plain.call(["hash-object", "--stdin-paths"]).stdin(names);
    call = call.env("GIT_DIR", empty.path()).env("GIT_WORK_TREE", top);
    let hashes = call.run().await;
    let remove = move || {
        drop(empty);
        Ok(())
    };
    blocking(remove).await?;
    let hashes = hashes?;
    let hashes: Vec<&[u8]> = hashes.split(|byte| *byte == b'\n').collect();
    let same =
        touched.iter().zip(hashes).filter(|(file, hash)| file.oid.as_str().as_bytes() == *hash);
    Ok(same.map(|(file, _)| file.name.clone()).collect())
}

/// A repository without anything, removed with this value. Blocking.
struct Empty(tempfile::TempDir);

impl Empty {
    /// One whose objects have names of this format, with the attributes in that file if it is there.
    /// Made by hand: the user's templates may hold hooks.
    fn new(format: &str, attributes: &Path) -> Result<Self, GitError> {
        let failed = |error| GitError::file(std::env::temp_dir(), error);
        let empty =
            Self(tempfile::Builder::new().prefix("rookery-git-").tempdir().map_err(failed)?);
        let make = || {
            for name in ["objects", "refs", "info"] {
                fs::create_dir(empty.file(name))?;
            }
            let config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = ";
            fs::write(empty.file("config"), format!("{config}{format}\n"))?;
            fs::write(empty.file("HEAD"), "ref: refs/heads/none\n")?;
            let is_fit = |meta: &fs::Metadata| meta.is_file() && meta.len() <= MAX_ATTRIBUTES;
            match fs::metadata(attributes).is_ok_and(|meta| is_fit(&meta)) {
                true => fs::copy(attributes, empty.file("info/attributes")).map(drop),
                false => Ok(()),
            }
        };
        make().map_err(failed)?;
        Ok(empty)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}
