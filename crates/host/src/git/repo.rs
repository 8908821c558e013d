//! A work tree and the repository that it belongs to: where its parts are and what it stands on.

use std::fmt;
use std::path::{Path, PathBuf};

use super::run::{Git, GitError, USUAL_LIMIT, blocking, line, path};
use crate::files;

/// The name of an object, in lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(String);

impl Oid {
    /// Reads a name as git prints it: 40 digits, or 64 where SHA-256 is used.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fits = matches!(text.len(), 40 | 64) && text.bytes().all(is_digit);
        fits.then(|| Self(text.to_owned()))
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Self::parse(str::from_utf8(bytes).ok()?)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it names nothing.
    pub(super) fn is_null(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a work tree stands on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The commit, unless there is none yet.
    pub commit: Option<Oid>,
    /// The branch, unless the head is detached. It need not exist yet.
    pub branch: Option<String>,
}

/// Names of objects that every repository has, by the length of its names.
struct Known {
    format: &'static str,
    empty_tree: &'static str,
    empty_blob: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        format: "sha1",
        empty_tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        empty_blob: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    },
    Known {
        format: "sha256",
        empty_tree: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        empty_blob: "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    },
];

/// A work tree of a repository. Nothing that the repository names is run through it.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) git: Git,
    top: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    index: PathBuf,
    known: usize,
}

impl Repository {
    /// The work tree around a directory.
    ///
    /// # Errors
    /// If there is no such directory, it is in no work tree, its repository names a work tree that is another
    /// one's, or git cannot tell.
    pub async fn discover(directory: &Path) -> Result<Self, GitError> {
        let git = Git::bare_of(directory, USUAL_LIMIT);
        let question = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir"];
        let more = ["--git-common-dir", "--git-path", "index", "--show-object-format"];
        let answer = line(git.run(question.into_iter().chain(more)).await?);
        let parts: Vec<&[u8]> = answer.split(|byte| *byte == b'\n').collect();
        // More parts mean a line break in a path, which cannot be distinguished from the end of it.
        let [top, git_dir, common_dir, index, format] = parts[..] else {
            return Err(GitError::Unreadable("rev-parse".into()));
        };
        let known = KNOWN.iter().position(|known| known.format.as_bytes() == format);
        let known = known.ok_or_else(|| GitError::Unreadable("rev-parse".into()))?;
        let (top, git_dir) = (path(top), path(git_dir));
        let asked = (top.clone(), git_dir.clone());
        if !blocking(move || Ok(is_its_own(&asked.0, &asked.1))).await? {
            let message = format!("{} is not the work tree of its repository", top.display());
            return Err(GitError::Failed { command: "rev-parse".into(), message });
        }
        Ok(Self {
            git: git.moved_to(&top).disarmed().await?,
            top,
            git_dir,
            common_dir: path(common_dir),
            index: path(index),
            known,
        })
    }

    /// The top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Where git keeps what belongs to this work tree.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Where git keeps what all work trees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether this is a linked work tree and not the main one.
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// What the work tree stands on now.
    ///
    /// # Errors
    /// If git cannot tell.
    pub async fn head(&self) -> Result<Head, GitError> {
        let commit = self.git.call(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).answer();
        let branch = self.git.call(["symbolic-ref", "--quiet", "HEAD"]).answer();
        let (commit, branch) = tokio::try_join!(commit, branch)?;
        let branch = branch.map(line).and_then(|name| String::from_utf8(name).ok());
        let branch = branch.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
        Ok(Head { commit: commit.map(line).and_then(|oid| Oid::read(&oid)), branch })
    }

    /// Whether there is a branch of this name.
    ///
    /// # Errors
    /// If git cannot tell.
    pub async fn has_branch(&self, branch: &str) -> Result<bool, GitError> {
        let reference = format!("refs/heads/{branch}");
        let known = ["rev-parse", "--verify", "--quiet", "--end-of-options", &reference];
        Ok(self.git.call(known).answer().await?.is_some())
    }

    /// The user's index, which need not be there.
    pub(super) fn index(&self) -> &Path {
        &self.index
    }

    pub(super) fn empty_tree(&self) -> Oid {
        Oid(KNOWN[self.known].empty_tree.to_owned())
    }

    pub(super) fn empty_blob(&self) -> Oid {
        Oid(KNOWN[self.known].empty_blob.to_owned())
    }
}

/// Whether a work tree leads to this repository by itself. The repository's own word for its work tree,
/// `core.worktree`, may be any directory of the machine. Blocks.
fn is_its_own(top: &Path, git_dir: &Path) -> bool {
    let entry = top.join(".git");
    let named = match entry.is_dir() {
        true => entry,
        // Submodules, linked work trees and repositories that lie apart have a file that says where.
        false => {
            let text = files::read_start(&entry, 64 << 10).unwrap_or_default();
            match text.strip_prefix(b"gitdir: ") {
                Some(place) => top.join(path(place.trim_ascii_end())),
                None => return false,
            }
        }
    };
    let real = |place: &Path| place.canonicalize().ok();
    real(&named).is_some_and(|named| real(git_dir) == Some(named))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Place;
    use super::*;

    #[tokio::test]
    async fn attack_a_work_tree_that_only_its_repository_names_is_refused() {
        let (place, other) = (Place::new().await, Place::new().await);
        let above = place.top.parent().unwrap().to_owned();
        for named in [above.as_path(), Path::new("/"), &other.top] {
            place.git(["config", "core.worktree", named.to_str().unwrap()]).await;
            let refused = Repository::discover(&place.top).await.unwrap_err().to_string();
            assert!(refused.contains("is not the work tree of its repository"), "{refused}");
            assert_eq!(crate::git::metrics::changes(&place.top).await, None);
        }
    }

    #[tokio::test]
    async fn repositories_that_lie_apart_from_their_work_trees_are_found() {
        let (place, other) = (Place::new().await, Place::new().await);
        let apart = other.path("apart");
        let words = ["init", "--quiet", "--separate-git-dir", apart.to_str().unwrap()];
        place.git(words).await;
        let url = other.top.to_str().unwrap();
        let add =
            ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "module"];
        place.git(add).await;
        let linked = place.top.with_file_name("linked");
        place.git(["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]).await;
        for top in [place.top.clone(), place.path("module"), linked] {
            assert_eq!(Repository::discover(&top).await.unwrap().top(), top);
        }
    }
}
