//! What git lists: entries of an index, of a tree, and differences between two trees. Parsers only.

use super::{ChangedFile, Stat};
use crate::git::Oid;
use crate::git::run::{fields, numbers, path};

/// The mode of a submodule.
pub(super) const GITLINK: u32 = 0o160_000;
/// The mode of a link.
pub(super) const LINK: u32 = 0o120_000;

/// An entry of an index, from `ls-files -v --stage -z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) tag: u8,
    pub(super) mode: u32,
    pub(super) oid: Oid,
    pub(super) stage: u8,
    pub(super) path: Vec<u8>,
}

impl Entry {
    /// Whether git leaves it out of the work tree.
    pub(super) fn is_sparse(&self) -> bool {
        self.tag.eq_ignore_ascii_case(&b'S')
    }

    /// Whether git is configured not to look whether it changed.
    pub(super) fn is_assumed(&self) -> bool {
        self.tag.is_ascii_lowercase()
    }
}

/// Entries of an index. None if the listing makes no sense.
pub(super) fn entries(listing: &[u8]) -> Option<Vec<Entry>> {
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let head = str::from_utf8(&line[..tab]).ok()?;
        let mut words = head.split(' ');
        let tag = *words.next()?.as_bytes().first()?;
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        let oid = Oid::parse(words.next()?)?;
        let stage = words.next()?.parse().ok()?;
        Some(Entry { tag, mode, oid, stage, path: line[tab + 1..].to_vec() })
    };
    fields(listing).map(entry).collect()
}

/// One difference between two trees, from `diff-tree -r -z --raw`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old_mode: u32,
    pub(super) new_mode: u32,
    pub(super) old: Oid,
    pub(super) new: Oid,
    pub(super) letter: char,
    pub(super) path: Vec<u8>,
}

/// Takes differences off the front of fields, up to the first that is none.
fn take_change<'o>(first: &[u8], rest: &mut impl Iterator<Item = &'o [u8]>) -> Option<Change> {
    let head = str::from_utf8(first.strip_prefix(b":")?).ok()?;
    let words: Vec<&str> = head.split(' ').collect();
    let [old_mode, new_mode, old, new, letter] = words[..] else { return None };
    let letter = letter.chars().next()?;
    let mut path = rest.next()?;
    if matches!(letter, 'R' | 'C') {
        path = rest.next()?;
    }
    Some(Change {
        old_mode: u32::from_str_radix(old_mode, 8).ok()?,
        new_mode: u32::from_str_radix(new_mode, 8).ok()?,
        old: Oid::parse(old)?,
        new: Oid::parse(new)?,
        letter,
        path: path.to_vec(),
    })
}

/// Differences between two trees. None if the listing makes no sense.
pub(super) fn changes(listing: &[u8]) -> Option<Vec<Change>> {
    let mut fields = fields(listing);
    let mut changes = Vec::new();
    while let Some(first) = fields.next() {
        changes.push(take_change(first, &mut fields)?);
    }
    Some(changes)
}

/// Changed files with their lines, from `diff-tree -r -z --raw --numstat`.
pub(super) fn changed_files(listing: &[u8]) -> Option<(Vec<ChangedFile>, Stat)> {
    let mut fields = fields(listing).peekable();
    let mut files: Vec<ChangedFile> = Vec::new();
    while let Some(first) = fields.next_if(|field| field.starts_with(b":")) {
        let change = take_change(first, &mut fields)?;
        let path = path(&change.path);
        files.push(ChangedFile { path, additions: None, deletions: None, status: change.letter });
    }
    // Both parts list the same files in the same order.
    for file in &mut files {
        let counted = fields.next().and_then(|first| numbers(first, &mut fields));
        let Some((added, deleted, name)) = counted else { break };
        (file.path == path(name)).then_some(())?;
        (file.additions, file.deletions) = (added, deleted);
    }
    let mut stat = Stat { files: files.len() as u64, ..Stat::default() };
    for file in &files {
        stat.additions += file.additions.unwrap_or(0);
        stat.deletions += file.deletions.unwrap_or(0);
    }
    Some((files, stat))
}

/// An entry for `update-index -z --index-info` or `mktree -z`-like input.
pub(super) fn index_line(out: &mut Vec<u8>, mode: u32, oid: &str, stage: u8, path: &[u8]) {
    out.extend(format!("{mode:06o} {oid} {stage}\t").bytes());
    out.extend(path);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn an_index_is_read() {
        let listing = format!("H 100644 {A} 0\ta\tb\nc\0s 120000 {A} 2\tx\0");
        let read = entries(listing.as_bytes()).unwrap();
        assert_eq!(read[0].path, b"a\tb\nc");
        assert_eq!((read[1].mode, read[1].stage), (LINK, 2));
        assert!(read[1].is_sparse() && read[1].is_assumed() && !read[0].is_assumed());
        assert_eq!(entries(b"H 100644 zz 0\ta\0"), None);
        assert_eq!(entries(b""), Some(Vec::new()));
    }

    #[test]
    fn renames_keep_their_new_name_and_binaries_have_no_lines() {
        let listing = format!(
            ":100644 100644 {A} {A} R090\0old\0new\0:000000 100644 {A} {A} A\0bin\0\
             2\t1\t\0old\0new\0-\t-\tbin\0"
        );
        let (files, stat) = changed_files(listing.as_bytes()).unwrap();
        let seen: Vec<_> =
            files.iter().map(|f| (f.path.to_str().unwrap(), f.status, f.additions)).collect();
        assert_eq!(seen, [("new", 'R', Some(2)), ("bin", 'A', None)]);
        assert_eq!(stat, Stat { files: 2, additions: 2, deletions: 1 });
    }

    proptest! {
        #[test]
        fn nonsense_does_not_panic(bytes in prop::collection::vec(
            prop_oneof![Just(b':'), Just(b'\t'), Just(0), Just(b' '), Just(b'1'), any::<u8>()], 0..80,
        )) {
            let _ = (entries(&bytes), changes(&bytes), changed_files(&bytes));
        }
    }
}
