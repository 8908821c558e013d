//! The branch that a directory stands on, read from the repository's own files: quick enough to be asked
//! for often, and nothing is run for it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a file that says where a repository is or what it stands on.
const MOST: u64 = 4096;

/// The branch of the repository around a directory; none if there is none, or its head is detached. Blocking.
pub fn branch_around(dir: &Path) -> Option<String> {
    let git = dir.ancestors().map(|dir| dir.join(".git")).find(|git| git.exists())?;
    let git = match git.is_dir() {
        true => git,
        // A linked working tree has a file that says where its own part of the repository is.
        false => {
            let text = text_of(&git)?;
            let named = PathBuf::from(text.strip_prefix("gitdir: ")?.trim_end());
            git.parent()?.join(named)
        }
    };
    let head = text_of(&git.join("HEAD"))?;
    let name = head.trim_end().strip_prefix("ref: refs/heads/")?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn text_of(path: &Path) -> Option<String> {
    // What is no plain file may never end, or never begin.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MOST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_of_a_directory_is_that_of_the_repository_around_it() {
        let home = tempfile::tempdir().unwrap();
        let repo = home.path().join("repo");
        fs::create_dir_all(repo.join(".git")).unwrap();
        fs::create_dir_all(repo.join("deep/er")).unwrap();
        assert_eq!(branch_around(&repo), None);
        fs::write(repo.join(".git/HEAD"), "ref: refs/heads/fix/auth\n").unwrap();
        assert_eq!(branch_around(&repo.join("deep/er")).as_deref(), Some("fix/auth"));
        fs::write(repo.join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(branch_around(&repo), None, "no branch is checked out");
        let own = home.path().join("repo/.git/worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        let tree = home.path().join("tree");
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../repo/.git/worktrees/tree\n").unwrap();
        assert_eq!(branch_around(&tree).as_deref(), Some("side"));
    }
}
