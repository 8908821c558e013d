//! Snapshots that belong to something else than a checkpoint: numbered references below a name of their own.

use super::{CaptureOptions, CheckpointError, CheckpointId, capture};
use crate::git::{Oid, Repository};

/// Where they are kept.
pub const SNAPSHOTS: &str = "refs/rookery/snapshots/";
/// How often a number is tried that another took meanwhile.
const ATTEMPTS: usize = 8;

/// Takes a snapshot of a work tree and keeps it under the next number of `owner`. Head, index, stash and
/// branches stay as they are. Gives the commit and the reference that keeps it.
///
/// # Errors
/// If the owner is no name, or git or the file system does not do its part. Then nothing is kept.
pub async fn pin(
    repo: &Repository,
    owner: &str,
    title: &str,
) -> Result<(Oid, String), CheckpointError> {
    // The owner becomes a part of a reference, so it has to be as plain as the id of a checkpoint.
    let owner: CheckpointId = owner.parse()?;
    let drawn: CheckpointId = format!("pin-{:016x}", fastrand::u64(..)).parse()?;
    let captured = capture(repo, &drawn, &CaptureOptions::titled(title)).await?;
    for _ in 0..ATTEMPTS {
        let number = pinned(repo, owner.as_str()).await?.last().map_or(1, |(number, _)| number + 1);
        let reference = format!("{SNAPSHOTS}{owner}/{number}");
        let commit = &captured.commit;
        let moved = format!("create {reference} {commit}\ndelete {} {commit}\n", drawn.reference());
        match repo.git.call(["update-ref", "--stdin"]).stdin(moved).run().await {
            Ok(_) => return Ok((captured.commit, reference)),
            Err(crate::git::GitError::Failed { message, .. })
                if message.contains("already exists") => {}
            Err(error) => {
                let _ = super::delete(repo, &drawn).await;
                return Err(error.into());
            }
        }
    }
    let _ = super::delete(repo, &drawn).await;
    Err(CheckpointError::Exists(drawn))
}

/// The snapshots of an owner by their numbers, the oldest first.
///
/// # Errors
/// If the owner is no name, or git cannot tell.
pub async fn pinned(repo: &Repository, owner: &str) -> Result<Vec<(u64, Oid)>, CheckpointError> {
    let owner: CheckpointId = owner.parse()?;
    let prefix = format!("{SNAPSHOTS}{owner}/");
    let list = ["for-each-ref", "--format=%(refname) %(objectname)", &prefix];
    let listed = String::from_utf8_lossy(&repo.git.run(list).await?).into_owned();
    let entry = |line: &str| {
        let (name, oid) = line.split_once(' ')?;
        Some((name.strip_prefix(&prefix)?.parse().ok()?, Oid::parse(oid)?))
    };
    let mut found: Vec<(u64, Oid)> = listed.lines().filter_map(entry).collect();
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::Place;

    #[tokio::test]
    async fn snapshots_are_numbered_and_leave_everything_as_it_was() {
        let place = Place::new().await;
        place.write("kept", "changed\n");
        place.write("new file", "untracked\n");
        let before = place.sight().await;
        let repo = place.repo().await;
        let (first, reference) = pin(&repo, "rs-1", "one").await.unwrap();
        assert_eq!(reference, "refs/rookery/snapshots/rs-1/1");
        place.write("kept", "changed again\n");
        let (second, reference) = pin(&repo, "rs-1", "two").await.unwrap();
        assert_eq!(reference, "refs/rookery/snapshots/rs-1/2");
        assert_eq!(pinned(&repo, "rs-1").await.unwrap(), [(1, first.clone()), (2, second)]);
        assert!(pinned(&repo, "rs-2").await.unwrap().is_empty());
        let shown = repo.git.run(["show", &format!("{first}:new file")]).await.unwrap();
        assert_eq!(shown, b"untracked\n");
        place.write("kept", "changed\n");
        assert_eq!(place.sight().await.files, before.files);
        assert_eq!(place.sight().await.index, before.index);
        // No checkpoint is left of it.
        assert!(super::super::list(&repo).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_owner_has_to_be_a_plain_name() {
        let place = Place::new().await;
        let repo = place.repo().await;
        for owner in ["", "../x", "a/b", "a b", "-c\nx"] {
            assert!(pin(&repo, owner, "t").await.is_err(), "{owner:?}");
        }
    }
}
