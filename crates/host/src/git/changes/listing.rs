//! The files that differ, from what git lists: differences from the base with their lines, and what
//! lies in the index, in the work tree and outside of both.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::run::{Git, fields, numbers};
use super::super::untouched::untouched;
use super::super::{GitError, Head, Oid, Repository};
use super::base::Base;
use super::{Area, COMPARE, FileChange, Status, untracked};

/// The files that differ from the base, by path.
pub(super) async fn files(
    repo: &Repository,
    head: &Head,
    base: &Base,
) -> Result<Vec<FileChange>, GitError> {
    let git = &repo.git;
    let tree = base.tree.as_str();
    let to_work_tree = [tree];
    let (tracked, areas, committed) = tokio::try_join!(
        compared(git, &to_work_tree),
        states(git),
        committed(git, base, head.commit.as_ref()),
    )?;
    let seeming = seeming(repo, &tracked, &areas).await?;
    let in_index = match seeming.is_empty() {
        true => Vec::new(),
        false => compared(git, &["--cached", tree]).await?,
    };
    let mut files: BTreeMap<Vec<u8>, FileChange> = BTreeMap::new();
    for row in tracked {
        // Without its filter only its bytes in the index can be compared.
        let row = match seeming.contains(&row.path) {
            true => match in_index.iter().find(|known| known.path == row.path) {
                Some(known) => known.clone(),
                None => continue,
            },
            false => row,
        };
        files.insert(row.path.clone(), row.into_change(&areas, &committed));
    }
    let unknown: Vec<Vec<u8>> = areas.untracked.into_iter().collect();
    for file in untracked::counted(repo.top(), unknown).await? {
        match files.entry(file.path.clone()) {
            // Gone from the index, and still there.
            std::collections::btree_map::Entry::Occupied(mut known) => {
                known.get_mut().areas.push(Area::Untracked);
            }
            std::collections::btree_map::Entry::Vacant(entry) => drop(entry.insert(file)),
        }
    }
    Ok(files.into_values().collect())
}

/// One difference between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) path: Vec<u8>,
    pub(super) old_path: Option<Vec<u8>>,
    pub(super) status: Status,
    /// Lines added and deleted; none for what is not text.
    pub(super) lines: Option<(u64, u64)>,
}

impl Row {
    fn into_change(self, areas: &States, committed: &HashSet<Vec<u8>>) -> FileChange {
        let (path, old_path) = (self.path, self.old_path);
        let is_in = |set: &HashSet<Vec<u8>>| {
            set.contains(&path) || old_path.as_ref().is_some_and(|old| set.contains(old))
        };
        let mut found = Vec::new();
        for (area, set) in [
            (Area::Committed, committed),
            (Area::Staged, &areas.staged),
            (Area::Unstaged, &areas.unstaged),
        ] {
            if is_in(set) {
                found.push(area);
            }
        }
        let (additions, deletions) = self.lines.unwrap_or_default();
        FileChange {
            status: self.status,
            areas: found,
            additions,
            deletions,
            is_binary: self.lines.is_none(),
            is_too_large: false,
            path,
            old_path,
        }
    }
}

/// The differences between two states: a tree and the work tree, a tree and the index (`--cached`), two
/// trees, or without a tree the index and the work tree.
pub(super) async fn compared(git: &Git, states: &[&str]) -> Result<Vec<Row>, GitError> {
    let format = ["diff", "--raw", "--numstat", "-z"];
    let call = git.call(format).args(COMPARE).args(states).args(["--"]);
    let listing = call.run().await?;
    rows(&listing).ok_or_else(|| GitError::Unreadable("diff".into()))
}

/// Reads what `diff --raw --numstat -z` says.
pub(super) fn rows(listing: &[u8]) -> Option<Vec<Row>> {
    let mut fields = fields(listing).peekable();
    let mut raw = Vec::new();
    while let Some(first) = fields.next_if(|field| field.starts_with(b":")) {
        let head = str::from_utf8(first.strip_prefix(b":")?).ok()?;
        let words: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, _, _, letter] = words[..] else { return None };
        let (path, letter) = (fields.next()?.to_vec(), letter.chars().next()?);
        let (path, old_path) = match letter {
            'R' | 'C' => (fields.next()?.to_vec(), Some(path)),
            _ => (path, None),
        };
        raw.push((path, old_path.filter(|_| letter == 'R'), letter, old_mode != new_mode));
    }
    let mut lines: HashMap<Vec<u8>, Option<(u64, u64)>> = HashMap::new();
    while let Some(field) = fields.next() {
        let (added, deleted, name) = numbers(field, &mut fields)?;
        lines.insert(name.to_vec(), added.zip(deleted));
    }
    let row = |(path, old_path, letter, has_other_mode): (Vec<u8>, _, char, bool)| {
        let known = lines.get(&path);
        // Listed for its times alone: git found the same content when it counted lines.
        if letter == 'M' && known.is_none() && !has_other_mode {
            return None;
        }
        let status = match letter {
            'A' | 'C' => Status::Added,
            'D' => Status::Deleted,
            'R' => Status::Renamed,
            _ => Status::Modified,
        };
        let lines = known.copied().unwrap_or(Some((0, 0)));
        Some(Row { path, old_path, status, lines })
    };
    let mut found: Vec<Row> = raw.into_iter().filter_map(row).collect();
    // A file with a conflict is listed once for that and once for what differs.
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Some(found)
}

/// Which files lie where, apart from what was committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct States {
    pub(super) staged: HashSet<Vec<u8>>,
    pub(super) unstaged: HashSet<Vec<u8>>,
    pub(super) untracked: HashSet<Vec<u8>>,
}

/// How `status` lists everything, apart from branches.
pub(super) const STATUS: &[&str] = &[
    // It has no option for that.
    "-c",
    "diff.orderFile=/dev/null",
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=dirty",
];

async fn states(git: &Git) -> Result<States, GitError> {
    let listing = git.run(STATUS).await?;
    read_states(&listing).ok_or_else(|| GitError::Unreadable("status".into()))
}

/// Reads what `status --porcelain=v2 -z` says of changed, unmerged and unknown files.
fn read_states(listing: &[u8]) -> Option<States> {
    let mut states = States::default();
    for entry in fields(listing) {
        // What comes before the path: the letters, and other words that are of no interest.
        let (words, path) = match entry.first()? {
            b'1' => (8, None),
            b'u' => (10, None),
            b'?' => (1, Some(entry.get(2..)?)),
            _ => continue,
        };
        if let Some(path) = path {
            // A repository of its own is a directory here.
            states.untracked.insert(path.strip_suffix(b"/").unwrap_or(path).to_vec());
            continue;
        }
        let mut parts = entry.splitn(words + 1, |byte| *byte == b' ');
        let letters = parts.nth(1)?;
        let path = parts.nth(words - 2)?.to_vec();
        let [staged, unstaged] = letters else { return None };
        if *staged != b'.' {
            states.staged.insert(path.clone());
        }
        if *unstaged != b'.' {
            states.unstaged.insert(path);
        }
    }
    Some(states)
}

/// The files that differ between the base and the head.
async fn committed(
    git: &Git,
    base: &Base,
    head: Option<&Oid>,
) -> Result<HashSet<Vec<u8>>, GitError> {
    let Some(head) = head.filter(|head| **head != base.tree) else { return Ok(HashSet::new()) };
    let names = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-commit-id"];
    let call = git.call(names).args([base.tree.as_str(), head.as_str(), "--"]);
    Ok(fields(&call.run().await?).map(<[u8]>::to_vec).collect())
}

/// Files that differ from the index only because their filter does not run.
async fn seeming(
    repo: &Repository,
    tracked: &[Row],
    areas: &States,
) -> Result<HashSet<Vec<u8>>, GitError> {
    let names = tracked.iter().filter(|row| areas.unstaged.contains(&row.path));
    let names: Vec<&[u8]> = names.map(|row| row.path.as_slice()).collect();
    untouched(&repo.git, repo.top(), repo.index(), &names).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn files_of_equal_content_are_left_out_and_names_are_kept() {
        let listing = format!(
            ":100644 100644 {A} {A} M\0touched\0:100644 100755 {A} {A} M\0mode\0\
             :100644 100644 {A} {A} R090\0d/old é\0d/new\nline\0:000000 100644 {A} {A} A\0bin\0\
             0\t0\tmode\02\t1\t\0d/old é\0d/new\nline\0-\t-\tbin\0"
        );
        let rows = rows(listing.as_bytes()).unwrap();
        let seen: Vec<_> = rows
            .iter()
            .map(|row| (str::from_utf8(&row.path).unwrap(), row.status, row.lines))
            .collect();
        assert_eq!(
            seen,
            [
                ("bin", Status::Added, None),
                ("d/new\nline", Status::Renamed, Some((2, 1))),
                ("mode", Status::Modified, Some((0, 0))),
            ]
        );
        assert_eq!(rows[1].old_path.as_deref(), Some("d/old é".as_bytes()));
    }

    #[test]
    fn letters_say_where_a_change_lies() {
        let o = A;
        let listing = format!(
            "1 M. N... 100644 100644 100644 {o} {o} a b\01 .M N... 100644 100644 100644 {o} {o} c\0\
             u UU N... 100644 100644 100644 100644 {o} {o} {o} both ways\0? new file\0? repo/\0"
        );
        let states = read_states(listing.as_bytes()).unwrap();
        let names = |set: &HashSet<Vec<u8>>| {
            let mut names: Vec<_> =
                set.iter().map(|name| String::from_utf8(name.clone()).unwrap()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(&states.staged), ["a b", "both ways"]);
        assert_eq!(names(&states.unstaged), ["both ways", "c"]);
        assert_eq!(names(&states.untracked), ["new file", "repo"]);
    }

    proptest! {
        #[test]
        fn nonsense_does_not_panic(bytes in prop::collection::vec(
            prop_oneof![Just(b':'), Just(b'\t'), Just(0), Just(b' '), Just(b'1'), any::<u8>()], 0..80,
        )) {
            let _ = (rows(&bytes), read_states(&bytes));
        }
    }
}
