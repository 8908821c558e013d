//! The project that a directory belongs to: the top of its git repository, or the directory itself. Reads
//! names and one short file; runs nothing, so that no repository can have anything run.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::files;

/// What a work tree has at its top.
const GIT: &str = ".git";
/// How long the file may be by which a linked work tree names its repository.
const LINK_LIMIT: u64 = 8 * 1024;

/// The top of the repository that a directory is in, with links followed; the directory itself if it is in
/// none, and the path as it is if there is nothing. All work trees of one repository are one project: a
/// linked one counts as its main one, if that one knows of it. Blocks.
pub fn project_root(dir: &Path) -> PathBuf {
    let Ok(real) = fs::canonicalize(dir) else { return dir.to_owned() };
    let top = real.ancestors().find(|dir| fs::symlink_metadata(dir.join(GIT)).is_ok());
    let Some(top) = top else { return real };
    main_tree(top).unwrap_or_else(|| top.to_owned())
}

/// The main work tree of a linked one.
fn main_tree(top: &Path) -> Option<PathBuf> {
    let link = top.join(GIT);
    let told = line(&link)?;
    let own_dir = top.join(told.strip_prefix("gitdir:")?.trim());
    let own_dir = fs::canonicalize(own_dir).ok()?;
    // What a repository says of itself is believed only if the other one says the same.
    let back = fs::canonicalize(line(&own_dir.join("gitdir"))?.trim()).ok()?;
    let repository = own_dir.parent().filter(|dir| dir.ends_with("worktrees"))?.parent()?;
    let is_known = back == link && repository.file_name().is_some_and(|name| name == GIT);
    repository.parent().filter(|_| is_known).map(Path::to_owned)
}

/// A short file of one line.
fn line(path: &Path) -> Option<String> {
    let mut text = String::new();
    files::open_regular(path).ok()?.take(LINK_LIMIT).read_to_string(&mut text).ok()?;
    Some(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        (dir, root)
    }

    #[test]
    fn a_directory_belongs_to_the_repository_around_it() {
        let (_dir, root) = tree();
        let inner = root.join("repo/a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(project_root(&inner), inner);
        fs::create_dir(root.join("repo/.git")).unwrap();
        assert_eq!(project_root(&inner), root.join("repo"));
        std::os::unix::fs::symlink(&inner, root.join("link")).unwrap();
        assert_eq!(project_root(&root.join("link")), root.join("repo"));
        assert_eq!(project_root(Path::new("/no/such/place")), Path::new("/no/such/place"));
    }

    #[test]
    fn a_linked_work_tree_belongs_to_its_main_one_if_both_say_so() {
        let (_dir, root) = tree();
        let (main, linked) = (root.join("main"), root.join("linked"));
        let entry = main.join(".git/worktrees/linked");
        fs::create_dir_all(&entry).unwrap();
        fs::create_dir_all(linked.join("src")).unwrap();
        fs::write(linked.join(".git"), format!("gitdir: {}\n", entry.display())).unwrap();
        // Whoever only claims to belong to another repository does not.
        assert_eq!(project_root(&linked.join("src")), linked);
        fs::write(entry.join("gitdir"), format!("{}\n", linked.join(".git").display())).unwrap();
        assert_eq!(project_root(&linked.join("src")), main);
        fs::write(linked.join(".git"), "gitdir: nowhere\n").unwrap();
        assert_eq!(project_root(&linked), linked);
    }
}
