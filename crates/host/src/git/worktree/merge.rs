//! Merges inside of the object store: no checkout, no index, nothing changed. Either a tree comes
//! out, or a list of what is in conflict.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::WorktreeError;
use crate::End;
use crate::git::run::path;
use crate::git::{GitError, Oid, Repository};

/// A file that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub path: PathBuf,
    /// How, in the words of git: `contents`, `modify/delete`, `add/add`, `rename/rename` …
    pub kinds: Vec<String>,
}

/// The tree of a merge of two commits, from their own base or the given one.
pub(super) async fn merge_trees(
    repo: &Repository,
    base: Option<&str>,
    ours: &str,
    theirs: &str,
) -> Result<Oid, WorktreeError> {
    let mut call = repo.git.call(["merge-tree", "--write-tree", "-z", "--messages"]);
    if let Some(base) = base {
        call = call.args([format!("--merge-base={base}")]);
    }
    let call = call.args(["--", ours, theirs]);
    let outcome = call.outcome().await;
    let broken = || WorktreeError::Git(GitError::Unreadable("merge-tree".into()));
    match outcome.end {
        End::Exited(0) => {
            let tree = outcome.stdout.split(|byte| *byte == 0).next().and_then(Oid::read);
            tree.ok_or_else(broken)
        }
        End::Exited(1) => {
            let conflicts = read_conflicts(&outcome.stdout).ok_or_else(broken)?;
            Err(WorktreeError::Conflicts(conflicts))
        }
        _ => Err(call.error(&outcome).into()),
    }
}

/// Reads what follows the tree: files in conflict, an empty field, and messages about paths.
fn read_conflicts(output: &[u8]) -> Option<Vec<Conflict>> {
    let mut fields = output.split(|byte| *byte == 0);
    Oid::read(fields.next()?)?;
    let mut found: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    for entry in fields.by_ref().take_while(|field| !field.is_empty()) {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        found.entry(entry[tab + 1..].to_vec()).or_default();
    }
    // Each message: how many paths, the paths, what kind, and a text.
    while let Some(count) = fields.next() {
        let Some(count) = str::from_utf8(count).ok().and_then(|n| n.parse::<usize>().ok()) else {
            break;
        };
        let paths: Vec<&[u8]> = fields.by_ref().take(count).collect();
        let (Some(kind), Some(_text)) = (fields.next(), fields.next()) else { break };
        let kind = String::from_utf8_lossy(kind);
        let Some(kind) = kind.strip_prefix("CONFLICT (").and_then(|k| k.strip_suffix(')')) else {
            continue;
        };
        for name in paths {
            let kinds = found.entry(name.to_vec()).or_default();
            if !kinds.iter().any(|known| known == kind) {
                kinds.push(kind.to_owned());
            }
        }
    }
    let conflict = |(name, kinds): (Vec<u8>, _)| Conflict { path: path(&name), kinds };
    Some(found.into_iter().map(conflict).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn conflicts_are_read() {
        let oid = "a".repeat(40);
        let output = format!(
            "{oid}\0100644 {oid} 1\tf\n1\0100644 {oid} 2\tf\n1\0100644 {oid} 1\tg\0\0\
             1\0f\n1\0Auto-merging\0Auto-merging f\0\
             1\0f\n1\0CONFLICT (contents)\0text\0\
             2\0g\0h\0CONFLICT (modify/delete)\0text\0"
        );
        let read = read_conflicts(output.as_bytes()).unwrap();
        let seen: Vec<_> =
            read.iter().map(|c| (c.path.to_str().unwrap(), c.kinds.join(","))).collect();
        let expected = [("f\n1", "contents"), ("g", "modify/delete"), ("h", "modify/delete")];
        assert_eq!(seen, expected.map(|(path, kind)| (path, kind.to_owned())));
    }

    proptest! {
        #[test]
        fn nonsense_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = read_conflicts(&[format!("{}\0", "a".repeat(40)).as_bytes(), &bytes].concat());
        }
    }
}
