//! What lies between a checkpoint and something else, as files and as a patch.

use std::ffi::OsStr;
use std::path::Path;

use super::capture::take;
use super::commit::{StoredCheckpoint, load, load_book};
use super::scratch::Scratch;
use super::seen::compare;
use super::{CaptureOptions, ChangedFile, CheckpointError, CheckpointId, Stat};
use crate::End;
use crate::git::{GitError, Oid, Repository};

/// How much of a patch is given.
pub const PATCH_LIMIT: usize = 4 << 20;

const PATCH: &[&str] = &[
    "diff-tree",
    "-r",
    "-p",
    "--find-renames",
    "-l1000",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
];

/// What a checkpoint is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// What it stood on: from the head to the checkpoint.
    Head,
    /// Another one: from that to this.
    Checkpoint(CheckpointId),
    /// The work tree as it is: from the checkpoint to now.
    WorkTree,
}

/// What differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub files: Vec<ChangedFile>,
    /// The sum of it.
    pub stat: Stat,
    /// The patch, cut at the end of a line when it is longer than [`PATCH_LIMIT`].
    pub patch: Vec<u8>,
    /// Whether there is more of it.
    pub is_cut: bool,
}

/// Compares a checkpoint. Comparing with the work tree writes objects but keeps none of them. With `only`, the
/// patch is that of one file.
///
/// # Errors
/// If there is no such checkpoint, or git does not do its part.
pub async fn diff(
    repo: &Repository,
    id: &CheckpointId,
    against: &Against,
    only: Option<&Path>,
) -> Result<Difference, CheckpointError> {
    let kept = load(repo, id).await?;
    let (from, to) = match against {
        Against::Head => {
            let head = kept.meta.head.commit.clone().unwrap_or_else(|| repo.empty_tree());
            (head, seen(repo, &kept).await?)
        }
        Against::Checkpoint(other) => (load(repo, other).await?.tree, kept.tree),
        Against::WorkTree => {
            let scratch = Scratch::new(repo).await?;
            let now = take(repo, &scratch, &CaptureOptions::titled("")).await?;
            (kept.tree, now.tree)
        }
    };
    let (files, stat) = compare(repo, &from, &to).await?;
    let (patch, is_cut) = patch(repo, &from, &to, only).await?;
    Ok(Difference { files, stat, patch, is_cut })
}

async fn seen(repo: &Repository, kept: &StoredCheckpoint) -> Result<Oid, GitError> {
    Ok(load_book(repo, kept).await?.seen.unwrap_or_else(|| kept.tree.clone()))
}

async fn patch(
    repo: &Repository,
    from: &Oid,
    to: &Oid,
    only: Option<&Path>,
) -> Result<(Vec<u8>, bool), GitError> {
    let trees = [from.as_str(), to.as_str(), "--"];
    let words = PATCH.iter().chain(&trees).map(OsStr::new);
    let call = repo.git.call(words.chain(only.map(Path::as_os_str)));
    let call = call.output_limit(PATCH_LIMIT);
    let outcome = call.outcome().await;
    match outcome.end {
        End::Exited(0) => Ok((outcome.stdout, false)),
        End::TooMuchOutput => {
            let mut patch = outcome.stdout;
            patch.truncate(patch.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
            Ok((patch, true))
        }
        _ => Err(call.error(&outcome)),
    }
}
