//! What changed since a commit as git sees it. Where git stores other bytes than lie in the work
//! tree (line ends, keywords, filters), trees of plain bytes must not be compared with it.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::listing::{changed_files, entries, index_line};
use super::scan::converting;
use super::scratch::{Scratch, copy_with_time};
use super::{ChangedFile, Stat};
use crate::git::run::blocking;
use crate::git::untouched::untouched;
use crate::git::{GitError, Oid, Repository};

const DIFF: &[&str] = &[
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "--numstat",
    "--find-renames",
    "-l1000",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "-O/dev/null",
];

/// How many files are tried one by one when they cannot be converted together.
const ONE_BY_ONE: usize = 64;

/// The files that differ between two trees or commits, and the sum of it.
pub(super) async fn compare(
    repo: &Repository,
    from: &Oid,
    to: &Oid,
) -> Result<(Vec<ChangedFile>, Stat), GitError> {
    let trees = [from.as_str(), to.as_str(), "--"];
    let listing = repo.git.run(DIFF.iter().chain(&trees)).await?;
    changed_files(&listing).ok_or_else(|| GitError::Unreadable("diff-tree".into()))
}

/// What changed since a base as git sees it, and the tree that git would make of the work tree
/// where that is not the tree of plain bytes. Filters are not run for it.
///
/// `scratch` holds a copy of the user's index as `index`, and the index of `raw` as `tree-index`.
pub(super) async fn changed(
    repo: &Repository,
    scratch: &Scratch,
    base: &Oid,
    raw: &Oid,
) -> Result<(Option<Oid>, Vec<ChangedFile>, Stat), GitError> {
    let (files, stat) = compare(repo, base, raw).await?;
    let names = files.iter().filter(|file| file.status != 'D');
    let names: Vec<&[u8]> = names.map(|file| file.path.as_os_str().as_bytes()).collect();
    let Some(seen) = seen_tree(repo, scratch, raw, names).await? else {
        return Ok((None, files, stat));
    };
    let (files, stat) = compare(repo, base, &seen).await?;
    Ok((Some(seen), files, stat))
}

/// The tree with those of the named files that are converted as git would store them.
async fn seen_tree(
    repo: &Repository,
    scratch: &Scratch,
    raw: &Oid,
    names: Vec<&[u8]>,
) -> Result<Option<Oid>, GitError> {
    let converts_all = repo.git.core("autocrlf").is_some_and(|value| value != b"false");
    let converting = converting(repo, names.iter().copied()).await?;
    let converted: Vec<&[u8]> =
        names.into_iter().filter(|name| converts_all || converting.contains(*name)).collect();
    if converted.is_empty() {
        return Ok(None);
    }
    let (from, clean) = (scratch.file("index"), scratch.file("clean-index"));
    let copy = clean.clone();
    blocking(move || copy_with_time(&from, &copy)).await?;
    // What the index has seen as it lies there is in it as git stores it.
    let seen = untouched(&repo.git, repo.top(), repo.index(), &converted).await?;
    let unseen = converted.iter().copied().filter(|name| !seen.contains(*name));
    let unseen: Vec<&[u8]> = unseen.collect();
    convert(repo, &clean, &unseen).await?;
    let listing = ["ls-files", "-v", "--stage", "-z"];
    let listing = repo.git.call(listing).index(&clean).run().await?;
    let listing = entries(&listing).ok_or_else(|| GitError::Unreadable("ls-files".into()))?;
    let wanted: std::collections::HashSet<&[u8]> = converted.into_iter().collect();
    let mut lines = Vec::new();
    for entry in listing.iter().filter(|entry| wanted.contains(entry.path.as_slice())) {
        index_line(&mut lines, entry.mode, entry.oid.as_str(), entry.stage, &entry.path);
    }
    let index = scratch.file("tree-index");
    repo.git.call(["update-index", "-z", "--index-info"]).index(&index).stdin(lines).run().await?;
    let tree = repo.git.call(["write-tree"]).index(&index).line().await?;
    let tree = Oid::parse(&tree).ok_or_else(|| GitError::Unreadable("write-tree".into()))?;
    Ok(Some(tree).filter(|tree| tree != raw))
}

/// Puts files into an index as git stores them. What it cannot convert stays as it is there.
async fn convert(repo: &Repository, index: &Path, names: &[&[u8]]) -> Result<(), GitError> {
    let update = |names: &[&[u8]]| {
        let request: Vec<u8> =
            names.iter().flat_map(|name| [name, b"\0".as_slice()].concat()).collect();
        let update = ["update-index", "--add", "--remove", "-z", "--stdin"];
        repo.git.call(update).index(index).stdin(request)
    };
    match update(names).run().await {
        // One file in a form that its attributes deny spoils it for all.
        Err(GitError::Failed { .. }) if names.len() <= ONE_BY_ONE => {
            for name in names {
                let _ = update(&[name]).run().await;
            }
            Ok(())
        }
        Err(GitError::Failed { .. }) => Ok(()),
        other => other.map(drop),
    }
}
