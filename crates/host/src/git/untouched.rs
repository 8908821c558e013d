//! Files that only look changed because their filter does not run.
//!
//! Nothing that a repository names is run here, and filters are no exception. Where git cannot tell by
//! times alone whether a file changed, it compares the bytes that lie there with those that a filter
//! made of them, and without the filter it finds a change. Git looks at whole seconds; the index knows
//! more exactly when it saw a file, and a file that is still the one it saw has not changed.
//!
//! A file that was written since is given to the filters of the user's own settings, such as those of
//! LFS, away from the repository's settings (`own_filters`).

use futures_util::future::BoxFuture;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType};

use super::own_filters::{Touched, unchanged};
use super::run::{Git, blocking, fields, path};
use super::{GitError, Oid};

/// Those of these files that have a filter and were not written since git last saw them.
pub(super) fn untouched<'a>(
    git: &'a Git,
    top: &'a Path,
    index: &'a Path,
    names: &'a [&'a [u8]],
) -> BoxFuture<'a, Result<HashSet<Vec<u8>>, GitError>> {
    Box::pin(untouched_inner(git, top, index, names))
}

async fn untouched_inner(
    git: &Git,
    top: &Path,
    index: &Path,
    names: &[&[u8]],
) -> Result<HashSet<Vec<u8>>, GitError> {
    if names.is_empty() || !git.has_filters() {
        return Ok(HashSet::new());
    }
    let mut request = Vec::new();
    for name in names {
        request.extend([name, b"\0".as_slice()].concat());
    }
    let answer = git.call(["check-attr", "-z", "--stdin", "filter"]).stdin(request).run().await?;
    let answer: Vec<&[u8]> = fields(&answer).collect();
    let filtered = answer.chunks(3).filter_map(|parts| match parts {
        [_, _, b"unspecified" | b"unset"] => None,
        [name, _, _] => Some(name.to_vec()),
        _ => None,
    });
    let filtered: HashSet<Vec<u8>> = filtered.collect();
    if filtered.is_empty() {
        return Ok(filtered);
    }
    let listing = git.run(["ls-files", "--debug", "--stage", "-z"]).await?;
    let (top_of, index) = (top.to_owned(), index.to_owned());
    let (mut same, touched) = blocking(move || {
        let known = known(&listing).ok_or_else(|| GitError::Unreadable("ls-files".into()))?;
        let written = Stamp::of(&index).map(|index| index.mtime);
        let (mut same, mut touched) = (HashSet::new(), Vec::new());
        for name in filtered {
            let Some(known) = known.get(name.as_slice()) else { continue };
            let Some(now) = Stamp::of(&top_of.join(path(&name))) else { continue };
            // Written in the moment in which the index was, it may have changed right afterwards.
            match known.stamp == now && written.is_some_and(|written| now.mtime < written) {
                true => drop(same.insert(name)),
                false => touched.push(Touched { name, oid: known.oid.clone(), size: now.size }),
            }
        }
        Ok((same, touched))
    })
    .await?;
    // Without an answer they count as changed: better a change too many than one that gets lost.
    same.extend(unchanged(git, top, touched).await.unwrap_or_default());
    Ok(same)
}

/// What the index keeps of a file, each number as far as it keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    ctime: (u32, u32),
    mtime: (u32, u32),
    ino: u32,
    size: u32,
}

impl Stamp {
    /// The stamp of a file, if it is one.
    fn of(path: &Path) -> Option<Self> {
        let stat = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then_some(Self {
            ctime: (stat.st_ctime as u32, stat.st_ctime_nsec as u32),
            mtime: (stat.st_mtime as u32, stat.st_mtime_nsec as u32),
            ino: stat.st_ino as u32,
            size: stat.st_size as u32,
        })
    }
}

/// What the index has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    oid: Oid,
    stamp: Stamp,
}

/// What `ls-files --debug --stage -z` says: mode, object, stage and name, a zero byte, and five lines
/// about the file. Files with a conflict have no single object and are left out.
fn known(mut listing: &[u8]) -> Option<HashMap<&[u8], Known>> {
    let mut all = HashMap::new();
    while !listing.is_empty() {
        let end = listing.iter().position(|byte| *byte == 0)?;
        let (entry, mut rest) = (&listing[..end], &listing[end + 1..]);
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let mut words = entry[..tab].split(|byte| *byte == b' ').skip(1);
        let (oid, stage, name) = (Oid::read(words.next()?)?, words.next()?, &entry[tab + 1..]);
        let mut next = || {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let line = str::from_utf8(&rest[..end]).ok()?;
            rest = &rest[end + 1..];
            Some(line)
        };
        let (ctime, mtime) = (time(next()?, "ctime")?, time(next()?, "mtime")?);
        let ino = number(next()?, "ino")?;
        next()?;
        let size = number(next()?, "size")?;
        if stage == b"0" {
            all.insert(name, Known { oid, stamp: Stamp { ctime, mtime, ino, size } });
        }
        listing = rest;
    }
    Some(all)
}

/// `  mtime: SECONDS:NANOSECONDS`.
fn time(line: &str, key: &str) -> Option<(u32, u32)> {
    let value = line.trim_start().strip_prefix(key)?.strip_prefix(": ")?;
    let (seconds, nanos) = value.split_once(':')?;
    Some((seconds.parse().ok()?, nanos.parse().ok()?))
}

/// The value of a key in `  dev: NUMBER\tino: NUMBER`.
fn number(line: &str, key: &str) -> Option<u32> {
    let mut pairs = line.trim_start().split('\t').filter_map(|pair| pair.split_once(": "));
    pairs.find(|(name, _)| *name == key)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::git::metrics;
    use crate::git::testing::Place;
    use crate::git::worktree::{State, inspect};

    #[tokio::test]
    async fn a_filter_does_not_make_a_clean_repository_look_changed() {
        let place = Place::filtered().await;
        assert_eq!(place.says(["status", "--porcelain"]).await, "");
        assert_eq!(inspect(&place.top).await.unwrap(), State::Clean);
        assert_eq!(metrics::changes(&place.top).await, None);
    }

    #[tokio::test]
    async fn what_really_changed_looks_changed() {
        let place = Place::filtered().await;
        place.write("a.up", "more\n");
        assert_eq!(inspect(&place.top).await.unwrap(), State::Dirty);
        assert_eq!(metrics::changes(&place.top).await.map(|changes| changes.files), Some(1));
        // Also when it was put into the index and not touched since.
        place.git(["add", "--all"]).await;
        assert_eq!(inspect(&place.top).await.unwrap(), State::Dirty);
        assert_eq!(metrics::changes(&place.top).await.map(|changes| changes.files), Some(1));
        place.commit("changed").await;
        place.write("plain", "more\n");
        assert_eq!(inspect(&place.top).await.unwrap(), State::Dirty);
        assert_eq!(metrics::changes(&place.top).await.map(|changes| changes.files), Some(1));
    }

    #[tokio::test]
    async fn what_a_filter_of_the_repository_made_is_changed_once_it_is_touched() {
        let place = Place::filtered().await;
        let traps = crate::git::testing::Traps::set(&place);
        place.git(["config", "filter.up.clean", "tr a-z A-Z"]).await;
        place.write("a.up", "text\n");
        assert_eq!(inspect(&place.top).await.unwrap(), State::Dirty);
        assert_eq!(traps.sprung(), "");
    }

    #[test]
    fn a_listing_is_read() {
        let rest =
            "  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: 0\n";
        let oid = "a".repeat(40);
        let entry = |stage: u8, name: &str| format!("100644 {oid} {stage}\t{name}\0{rest}");
        let listing = [entry(0, "a\nb"), entry(0, "c"), entry(1, "d"), entry(2, "d")].concat();
        let all = known(listing.as_bytes()).unwrap();
        let stamp = Stamp { ctime: (1, 2), mtime: (3, 4), ino: 6, size: 9 };
        let first = Known { oid: Oid::parse(&oid).unwrap(), stamp };
        assert_eq!((all.len(), all.get(&b"a\nb"[..])), (2, Some(&first)));
        assert_eq!(known(format!("100644 {oid} 0\ta\0  ctime: 1:2\n").as_bytes()), None);
        assert_eq!(known(b"").map(|all| all.len()), Some(0));
    }

    proptest! {
        #[test]
        fn nonsense_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let oid = "a".repeat(40);
            let begin = format!("100644 {oid} 0\ta\0  ctime: 1:2\n");
            let _ = known(&[begin.as_bytes(), &bytes].concat());
        }
    }
}
