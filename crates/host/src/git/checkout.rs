//! Checkouts of repositories that belong to others, in a directory of ours: the exact reference is fetched, its
//! size is looked at, and the work tree is set to it. No hook, filter or submodule of it takes part.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::repo::Oid;
use super::run::{Git, GitError, blocking, fields, line};
use crate::files;
use crate::tree::TreeLimits;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(60);
/// What names of all files may take.
const LISTING_LIMIT: usize = 16 << 20;
/// How the other side is reached. What runs a program that an address names is not among them, whatever the
/// user's own settings allow.
const PROTOCOLS: &str = "file:https:ssh";
/// Where the fetched commit is kept.
const TIP: &str = "refs/rookery/tip";
const TIP_COMMIT: &str = "refs/rookery/tip^{commit}";

/// What is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The repository's address. It has to be checked before: it is given to git as it is.
    pub url: String,
    /// The branch or tag; the repository's own if none is named.
    pub reference: Option<String>,
    /// The commit, which may be shortened; it counts more than the reference.
    pub commit: Option<String>,
}

/// Brings a directory of ours to what another repository has, and gives the commit. What was there before is
/// replaced; a directory that is not there is made. What is fetched is beside it until it may come in, and nothing
/// of it is left if it may not.
///
/// # Errors
/// If the repository cannot be reached within a minute, has no such reference, or is too large. The directory is
/// as it was then.
pub async fn check_out(
    directory: &Path,
    wanted: &Wanted,
    limits: TreeLimits,
) -> Result<Oid, GitError> {
    let fetched = beside(directory);
    let work = within(directory, &fetched, wanted, limits);
    let late = |_| Err(GitError::TimedOut("fetch".to_owned()));
    let done = tokio::time::timeout(LIMIT, work).await.unwrap_or_else(late);
    let removed = blocking(move || remove(&fetched)).await;
    done.and_then(|commit| removed.map(|()| commit))
}

/// Where a repository is fetched to before anything of it is in its directory.
fn beside(directory: &Path) -> PathBuf {
    let mut name = directory.file_name().unwrap_or_default().to_owned();
    name.push(".fetched");
    directory.with_file_name(name)
}

fn remove(place: &Path) -> Result<(), GitError> {
    files::remove_tree(place).map_err(|error| GitError::file(place, error))
}

async fn within(
    directory: &Path,
    fetched: &Path,
    wanted: &Wanted,
    limits: TreeLimits,
) -> Result<Oid, GitError> {
    let places = [directory.to_owned(), fetched.to_owned()];
    blocking(move || {
        remove(&places[1])?;
        let make = |place: &PathBuf| {
            files::make_private_dir(place).map_err(|error| GitError::file(place, error))
        };
        places.iter().try_for_each(make)
    })
    .await?;
    let git = Git::bare_of(fetched, LIMIT);
    git.run(["init", "--quiet", "--template=", "--initial-branch=main", "."]).await?;
    fetch(&git, wanted, limits).await?;
    let commit = git.call(["rev-parse", "--verify", "--quiet", "--end-of-options", TIP_COMMIT]);
    let commit = line(commit.run().await?);
    let commit = Oid::read(&commit).ok_or_else(|| GitError::Unreadable("rev-parse".into()))?;
    check_size(&git, limits).await?;
    let (from, to) = (fetched.join(".git"), directory.join(".git"));
    blocking(move || {
        remove(&to)?;
        files::rename(&from, &to).map_err(|error| GitError::file(&to, error))
    })
    .await?;
    let git = git.moved_to(directory).disarmed().await?;
    git.run(["reset", "--quiet", "--hard", commit.as_str()]).await?;
    // What an earlier state ignored would be taken for a part of this one.
    git.run(["clean", "--quiet", "-ffdx"]).await?;
    Ok(commit)
}

/// Fetches what is wanted to [`TIP`].
async fn fetch(git: &Git, wanted: &Wanted, limits: TreeLimits) -> Result<(), GitError> {
    let Some(commit) = wanted.commit.as_deref() else {
        let name = wanted.reference.as_deref().unwrap_or("HEAD");
        return one(git, &wanted.url, &[&format!("+{name}:{TIP}")], true, limits).await;
    };
    if Oid::parse(commit).is_some()
        && one(git, &wanted.url, &[&format!("+{commit}:{TIP}")], true, limits).await.is_ok()
    {
        return Ok(());
    }
    // A server that gives only what has a name, or a name that is shortened: all of it, and a look inside.
    let all = ["+refs/heads/*:refs/rookery/heads/*", "+refs/tags/*:refs/rookery/tags/*"];
    one(git, &wanted.url, &all, false, limits).await?;
    let name = format!("{commit}^{{commit}}");
    let found = git.call(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]);
    let Some(found) = found.answer().await?.map(line).and_then(|found| Oid::read(&found)) else {
        let message = format!("the repository has no commit {commit}");
        return Err(GitError::Failed { command: "fetch".to_owned(), message });
    };
    git.run(["update-ref", TIP, found.as_str()]).await.map(drop)
}

async fn one(
    git: &Git,
    url: &str,
    refspecs: &[&str],
    is_shallow: bool,
    limits: TreeLimits,
) -> Result<(), GitError> {
    let options = [
        "fetch",
        "--quiet",
        "--force",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
    ];
    // The newest state alone: history is not looked at. What was fetched so before can be made whole.
    let depth = if is_shallow { "--depth=1" } else { "--depth=2147483647" };
    let call = git.call(options).args([depth, "--", url]).args(refspecs);
    let call = call.env("GIT_ALLOW_PROTOCOL", PROTOCOLS);
    // Its size is known once it is here; until then its pack is bounded.
    let call = call.file_limit(limits.bytes.saturating_mul(2)).fetching(LIMIT);
    call.run().await.map(drop).map_err(|error| match error {
        // The end of a sentence that git spreads over five lines.
        GitError::Failed { command, message } if message == "and the repository exists." => {
            let message = "there is no repository that can be read".to_owned();
            GitError::Failed { command, message }
        }
        other => other,
    })
}

/// Refuses trees that are larger than they may be before any of it is on disk.
async fn check_size(git: &Git, limits: TreeLimits) -> Result<(), GitError> {
    let call = git.call(["ls-tree", "-r", "-l", "-z", TIP_COMMIT]).output_limit(LISTING_LIMIT);
    let listing = call.run().await?;
    let (mut files, mut bytes) = (0_usize, 0_u64);
    for entry in fields(&listing) {
        files += 1;
        let head = entry.split(|byte| *byte == b'\t').next().unwrap_or_default();
        let size = head.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let size = str::from_utf8(size).ok().and_then(|text| text.trim().parse::<u64>().ok());
        bytes = bytes.saturating_add(size.unwrap_or(0));
    }
    if files > limits.files || bytes > limits.bytes {
        let message = format!(
            "the repository has more than {} files or {} MiB",
            limits.files,
            limits.bytes >> 20
        );
        return Err(GitError::Failed { command: "fetch".to_owned(), message });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Place, Traps};
    use super::*;

    const LIMITS: TreeLimits = TreeLimits { files: 100, bytes: 1 << 20 };

    fn wanted(place: &Place, reference: Option<&str>, commit: Option<&str>) -> Wanted {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let url = format!("file://{}", place.top.display());
        Wanted { url, reference: text(reference), commit: text(commit) }
    }

    /// The size of the largest file below a directory.
    fn largest(dir: &Path) -> u64 {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let size = |path: PathBuf| match path.is_dir() {
            true => largest(&path),
            false => path.metadata().unwrap().len(),
        };
        entries.map(size).max().unwrap_or(0)
    }

    #[tokio::test]
    async fn the_exact_reference_is_there_and_moves_with_it() {
        let place = Place::new().await;
        let first = place.says(["rev-parse", "HEAD"]).await;
        place.git(["tag", "v1"]).await;
        place.write("kept", "changed\n");
        place.write("new", "x");
        place.commit("second").await;
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("a/b");
        let read = |name: &str| std::fs::read_to_string(to.join(name)).ok();
        check_out(&to, &wanted(&place, None, None), LIMITS).await.unwrap();
        assert_eq!(read("kept").as_deref(), Some("changed\n"));
        for by in [
            wanted(&place, Some("v1"), None),
            wanted(&place, None, Some(&first)),
            wanted(&place, Some("main"), Some(&first[..10])),
        ] {
            check_out(&to, &wanted(&place, None, None), LIMITS).await.unwrap();
            let commit = check_out(&to, &by, LIMITS).await.unwrap();
            assert_eq!((commit.as_str(), read("new")), (first.as_str(), None), "{by:?}");
        }
        place.write("kept", "third\n");
        place.commit("third").await;
        check_out(&to, &wanted(&place, Some("main"), None), LIMITS).await.unwrap();
        assert_eq!(read("kept").as_deref(), Some("third\n"));
        let none = check_out(&to, &wanted(&place, Some("none"), None), LIMITS).await;
        assert!(matches!(none, Err(GitError::Failed { .. })), "{none:?}");
        assert_eq!(read("kept").as_deref(), Some("third\n"));
    }

    #[tokio::test]
    async fn attack_a_pack_that_is_too_large_is_cut_off_and_nothing_of_it_stays() {
        let place = Place::new().await;
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("c");
        check_out(&to, &wanted(&place, None, None), LIMITS).await.unwrap();
        // What does not get smaller in a pack.
        let mut state = 1_u64;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u8
        });
        place.write("noise", noise.take(5 << 20).collect::<Vec<u8>>());
        place.commit("noise").await;
        let refused = check_out(&to, &wanted(&place, None, None), LIMITS).await.unwrap_err();
        // The size of its files was never looked at.
        assert!(!refused.to_string().contains("more than"), "{refused}");
        assert!(!dir.path().join("c.fetched").exists());
        assert!(largest(&to) < 1 << 20);
        assert!(to.join("kept").exists() && !to.join("noise").exists());
    }

    #[tokio::test]
    async fn attack_nothing_of_it_runs_and_nothing_is_too_large() {
        let place = Place::new().await;
        place.write(".gitattributes", "* filter=f merge=m diff=d\n*.p filter=p\n");
        place.write("a.p", "x\n");
        place.write(".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c 'touch sprung'\n\tupdate = !touch sprung\n");
        place.commit("attributes").await;
        let traps = Traps::set(&place);
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("c");
        check_out(&to, &wanted(&place, None, None), LIMITS).await.unwrap();
        assert_eq!(traps.sprung(), "");
        assert!(!to.join("sprung").exists());
        let small = TreeLimits { files: 2, bytes: 1 << 20 };
        let error = check_out(&dir.path().join("d"), &wanted(&place, None, None), small).await;
        assert!(error.unwrap_err().to_string().contains("more than 2 files"));
        assert!(!dir.path().join("d/.git").exists() && !dir.path().join("d.fetched").exists());
        let ext = Wanted {
            url: format!("ext::touch {}/sprung", dir.path().display()),
            ..Wanted::default()
        };
        assert!(check_out(&dir.path().join("e"), &ext, LIMITS).await.is_err());
        let option = Wanted {
            url: format!("--upload-pack=touch {}/sprung", dir.path().display()),
            ..Wanted::default()
        };
        assert!(check_out(&dir.path().join("f"), &option, LIMITS).await.is_err());
        assert!(!dir.path().join("sprung").exists());
    }
}
