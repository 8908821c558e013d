//! Where git keeps what belongs to a workspace, if that is not in it: above it, or where a linked
//! working tree has it. Files of a repository say where that is, so what they say is checked.

use std::path::{Component, Path, PathBuf};

/// How much of a file that says where git's own lies is looked at.
const MAX_POINTER: usize = 4096;
/// What git reads beside its own directory on the way down to a workspace.
const RULES: &[&str] = &[".gitignore", ".gitattributes", ".gitmodules", ".mailmap"];

/// What git reads outside of a directory to work in it.
pub(super) fn around(root: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let mut found = Vec::new();
    for dir in root.ancestors() {
        let git = dir.join(".git");
        if dir != root {
            found.extend(RULES.iter().map(|name| dir.join(name)));
        }
        if git.is_dir() {
            found.push(git);
            return found;
        }
        if git.is_file() {
            found.extend(linked(&git));
            return found;
        }
    }
    Vec::new()
}

/// The directories of a linked working tree or a submodule. That a file in the workspace names a
/// directory proves nothing: it has to point back, or belong to the repository around.
fn linked(pointer: &Path) -> Vec<PathBuf> {
    let Some(own) = pointed_at(pointer, "gitdir:") else { return Vec::new() };
    let points_back = || {
        let back = first_line(&own.join("gitdir")).map(PathBuf::from);
        back.and_then(|back| back.canonicalize().ok()).as_deref() == Some(pointer)
    };
    let is_worktree = parent_is(&own, "worktrees") && points_back();
    if is_worktree {
        // `.git/worktrees/NAME`: what all working trees have in common is two above.
        return own.ancestors().nth(2).map(Path::to_owned).into_iter().collect();
    }
    let above = pointer.parent().into_iter().flat_map(Path::ancestors).skip(1);
    let is_submodule = above.map(|dir| dir.join(".git")).any(|git| own.starts_with(git));
    if is_submodule { vec![own] } else { Vec::new() }
}

fn parent_is(path: &Path, name: &str) -> bool {
    path.parent().and_then(|dir| dir.components().next_back())
        == Some(Component::Normal(name.as_ref()))
}

fn pointed_at(file: &Path, word: &str) -> Option<PathBuf> {
    let line = first_line(file)?;
    let path = file.parent()?.join(line.strip_prefix(word)?.trim());
    path.canonicalize().ok().filter(|path| path.is_dir())
}

fn first_line(file: &Path) -> Option<String> {
    let bytes = crate::files::read_start(file, MAX_POINTER).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_points_back_is_believed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        for made in
            ["main/.git/worktrees/one", "main/sub", "one/deep", "evil", "private/worktrees/x"]
        {
            fs::create_dir_all(at(made)).unwrap();
        }
        fs::write(at("main/.git/worktrees/one/gitdir"), format!("{}\n", at("one/.git").display()))
            .unwrap();
        fs::write(at("one/.git"), format!("gitdir: {}\n", at("main/.git/worktrees/one").display()))
            .unwrap();
        assert!(around(&at("main/sub")).contains(&at("main/.git")));
        assert!(around(&at("one")).contains(&at("main/.git")));
        assert!(around(&at("one/deep")).contains(&at("main/.git")));
        for lie in [at("private/worktrees/x"), at("main/.git/worktrees/one"), at("private")] {
            fs::write(at("evil/.git"), format!("gitdir: {}\n", lie.display())).unwrap();
            assert_eq!(around(&at("evil")), Vec::<PathBuf>::new(), "{lie:?}");
        }
    }
}
