//! Brings the commits of a worktree onto another branch. The merge happens in the object store; a
//! checkout is only touched where the branch is checked out, and only if it is clean.

use std::path::PathBuf;

use rustix::fs::FileType;

use super::list::{find_listed, is_dirty};
use super::merge::merge_trees;
use super::remove::discard;
use super::{Worktree, WorktreeError, list};
use crate::git::run::{blocking, fields, line, path};
use crate::git::snapshot::Beneath;
use crate::git::{GitError, Oid, Repository};

/// How many commits are rebased at most.
const MAX_REBASE: u64 = 500;

/// How commits get onto the branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LandMode {
    /// As they are: the branch goes forward, or gets a merge of both if it moved on.
    #[default]
    Merge,
    /// As one commit.
    Squash,
    /// One by one on top of it, without merges.
    Rebase,
}

/// What is landed where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LandRequest {
    /// The worktree whose commits are landed.
    pub worktree: PathBuf,
    /// The branch that gets them.
    pub into: String,
    pub how: LandMode,
    /// The message of a merge or of the one commit; a plain one if not said. With a message a
    /// merge is made even where the branch could just go forward.
    pub message: Option<String>,
    /// Whether the worktree and its branch are removed afterwards.
    pub delete_after: bool,
    /// Whether something runs in the worktree; then it is not removed.
    pub is_running: bool,
    /// Whether the repository's filters and hooks run where the branch is checked out.
    pub is_trusted: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// Where the branch was.
    pub old: Oid,
    /// Where it is.
    pub new: Oid,
    /// How many commits it got.
    pub commits: u64,
    /// The checkout that was brought up to date, if the branch has one.
    pub checkout: Option<PathBuf>,
    /// Whether the worktree is gone.
    pub removed: bool,
}

/// Lands the commits of a worktree.
///
/// # Errors
/// If there are conflicts, nothing to land, or changes in the way. Then nothing was changed.
pub async fn land(repo: &Repository, request: &LandRequest) -> Result<Landed, WorktreeError> {
    let source = find_listed(repo, &request.worktree).await?.ok_or(WorktreeError::Foreign)?;
    if request.delete_after && source.is_main {
        return Err(WorktreeError::Main);
    }
    if request.delete_after && request.is_running {
        return Err(WorktreeError::Running);
    }
    let locked = source.locked.as_ref().filter(|_| request.delete_after);
    if let Some(reason) = locked {
        return Err(WorktreeError::Locked(reason.clone()));
    }
    if is_dirty(&Repository::discover(&source.path).await?, true).await? {
        return Err(WorktreeError::SourceDirty);
    }
    let tip = source.head.clone().ok_or(WorktreeError::NothingToLand)?;
    let old = tip_of(repo, &request.into).await?;
    if is_ancestor(repo, &tip, &old).await? {
        return Err(WorktreeError::NothingToLand);
    }
    let checkout = checkout_of(repo, &request.into).await?;
    let landing = Landing { repo, request, source: &source, tip: &tip, old: &old };
    let new = landing.commit().await?;
    let commits = count(repo, &old, &new).await?;
    let (own, request_now, target) = (repo.clone(), request.clone(), checkout.clone());
    let (from, to, name) = (old.clone(), new.clone(), source.clone());
    // From here on it is not cancelled, even if the caller is.
    let working = tokio::spawn(async move {
        advance(&own, &request_now, target, &from, &to).await?;
        if request_now.delete_after {
            discard(&own, &name, true).await?;
        }
        Ok(())
    });
    working.await.unwrap_or(Err(WorktreeError::Git(GitError::Abandoned)))?;
    Ok(Landed {
        old,
        new,
        commits,
        checkout: checkout.map(|tree| tree.path),
        removed: request.delete_after,
    })
}

async fn tip_of(repo: &Repository, branch: &str) -> Result<Oid, WorktreeError> {
    let reference = format!("refs/heads/{branch}^{{commit}}");
    let question = ["rev-parse", "--verify", "--quiet", "--end-of-options", &reference];
    let tip = repo.git.call(question).answer().await?.and_then(|oid| Oid::read(&line(oid)));
    tip.ok_or_else(|| WorktreeError::NoSuchBranch(branch.to_owned()))
}

async fn is_ancestor(repo: &Repository, old: &Oid, new: &Oid) -> Result<bool, GitError> {
    let question = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
    Ok(repo.git.call(question).answer().await?.is_some())
}

async fn count(repo: &Repository, from: &Oid, to: &Oid) -> Result<u64, GitError> {
    let count =
        repo.git.call(["rev-list", "--count", &format!("{from}..{to}"), "--"]).line().await?;
    count.parse().map_err(|_| GitError::Unreadable("rev-list".into()))
}

/// The checkout of a branch, which has to be clean.
async fn checkout_of(repo: &Repository, branch: &str) -> Result<Option<Worktree>, WorktreeError> {
    let mut all = list(repo).await?.into_iter();
    let Some(found) = all.find(|tree| tree.branch.as_deref() == Some(branch)) else {
        return Ok(None);
    };
    match Repository::discover(&found.path).await {
        // A checkout that is gone has nothing to bring up to date.
        Err(GitError::NoSuchPath(_)) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(inside) if is_dirty(&inside, false).await? => {
            Err(WorktreeError::TargetDirty(found.path))
        }
        Ok(_) => Ok(Some(found)),
    }
}

/// Moves the branch, with its checkout if there is one.
async fn advance(
    repo: &Repository,
    request: &LandRequest,
    checkout: Option<Worktree>,
    old: &Oid,
    new: &Oid,
) -> Result<(), WorktreeError> {
    let reference = format!("refs/heads/{}", request.into);
    let moved = || WorktreeError::Moved(request.into.clone());
    let Some(checkout) = checkout else {
        let update = ["update-ref", "-m", "rookery: land", &reference, new.as_str(), old.as_str()];
        return match repo.git.run(update).await {
            Err(GitError::Failed { .. }) => Err(moved()),
            other => Ok(other.map(drop)?),
        };
    };
    if tip_of(repo, &request.into).await? != *old {
        return Err(moved());
    }
    check_way(repo, &checkout, old, new).await?;
    let inside = Repository::discover(&checkout.path).await?;
    let git = inside.git.trusted(request.is_trusted);
    let forward = ["merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--quiet"];
    git.call(forward).args(["--no-stat", "--no-verify-signatures", new.as_str()]).run().await?;
    Ok(())
}

/// Whether something lies at a checkout where a file would be added.
async fn check_way(
    repo: &Repository,
    checkout: &Worktree,
    old: &Oid,
    new: &Oid,
) -> Result<(), WorktreeError> {
    let added = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A"];
    let added = repo.git.run(added.iter().chain(&[old.as_str(), new.as_str()])).await?;
    let top = checkout.path.clone();
    let there = blocking(move || {
        let mut tree = Beneath::new(&top).map_err(|error| GitError::file(&top, error))?;
        let mut is_file = |name: &&[u8]| {
            let stat = tree.stat(name).ok().flatten();
            stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory)
        };
        Ok(fields(&added).filter(|name| is_file(name)).map(path).collect::<Vec<_>>())
    });
    let there = there.await?;
    if there.is_empty() { Ok(()) } else { Err(WorktreeError::InTheWay(there)) }
}

struct Landing<'l> {
    repo: &'l Repository,
    request: &'l LandRequest,
    source: &'l Worktree,
    tip: &'l Oid,
    old: &'l Oid,
}

impl Landing<'_> {
    /// Makes the commit that the branch will stand on.
    async fn commit(&self) -> Result<Oid, WorktreeError> {
        let goes_forward = is_ancestor(self.repo, self.old, self.tip).await?;
        match self.request.how {
            LandMode::Merge if goes_forward && self.request.message.is_none() => {
                Ok(self.tip.clone())
            }
            LandMode::Merge => self.joined(&[self.old, self.tip]).await,
            LandMode::Squash => self.joined(&[self.old]).await,
            LandMode::Rebase => self.rebased(goes_forward).await,
        }
    }

    fn name(&self) -> &str {
        self.source.branch.as_deref().unwrap_or(self.tip.as_str())
    }

    /// One commit with all of it.
    async fn joined(&self, parents: &[&Oid]) -> Result<Oid, WorktreeError> {
        let tree = merge_trees(self.repo, None, self.old.as_str(), self.tip.as_str()).await?;
        let message = match &self.request.message {
            Some(message) => message.clone(),
            None if parents.len() > 1 => {
                format!("Merge branch '{}' into {}\n", self.name(), self.request.into)
            }
            None => self.squash_message().await?,
        };
        let who = self.identity().await?;
        commit_tree(self.repo, &tree, parents, message.into_bytes(), &who).await
    }

    async fn squash_message(&self) -> Result<String, GitError> {
        let range = format!("{}..{}", self.old, self.tip);
        let log = [
            "log",
            "--no-show-signature",
            "--reverse",
            "--no-merges",
            "--max-count=100",
            "--format=* %s",
        ];
        let subjects = self.repo.git.run(log.iter().chain(&[range.as_str(), "--"])).await?;
        let subjects = String::from_utf8_lossy(&subjects).into_owned();
        Ok(format!("Land branch '{}'\n\n{subjects}", self.name()))
    }

    /// Every commit again, on top of the branch.
    async fn rebased(&self, goes_forward: bool) -> Result<Oid, WorktreeError> {
        let range = format!("{}..{}", self.old, self.tip);
        let merges =
            self.repo.git.run(["rev-list", "--merges", "--max-count=1", &range, "--"]).await?;
        if goes_forward && merges.is_empty() {
            return Ok(self.tip.clone());
        }
        let list = ["rev-list", "--reverse", "--topo-order", "--no-merges", &range, "--"];
        let list = String::from_utf8_lossy(&self.repo.git.run(list).await?).into_owned();
        let commits: Vec<Oid> = list.lines().filter_map(Oid::parse).collect();
        if commits.len() as u64 > MAX_REBASE {
            return Err(WorktreeError::TooMany(commits.len() as u64));
        }
        let committer = self.identity().await?;
        let mut top = self.old.clone();
        for commit in &commits {
            top = self.replayed(commit, &top, &committer).await?;
        }
        if top == *self.old {
            return Err(WorktreeError::NothingToLand);
        }
        Ok(top)
    }

    /// One commit again, on top of another. One that changes nothing there is left out.
    async fn replayed(
        &self,
        commit: &Oid,
        top: &Oid,
        who: &[Variable],
    ) -> Result<Oid, WorktreeError> {
        let text = self.repo.git.run(["cat-file", "commit", commit.as_str()]).await?;
        let broken = || WorktreeError::Git(GitError::Unreadable("cat-file".into()));
        let old = OldCommit::read(&text).ok_or_else(broken)?;
        let base = old.parent.unwrap_or_else(|| self.repo.empty_tree());
        let tree =
            merge_trees(self.repo, Some(base.as_str()), top.as_str(), commit.as_str()).await?;
        let current = format!("{top}^{{tree}}");
        let current = self.repo.git.call(["rev-parse", "--verify", &current]).line().await?;
        if current == tree.as_str() {
            return Ok(top.clone());
        }
        let own = who.iter().filter(|(name, _)| name.starts_with("GIT_COMMITTER")).cloned();
        let who: Vec<Variable> = own.chain(old.author).chain(old.encoding).collect();
        commit_tree(self.repo, &tree, &[top], old.message, &who).await
    }

    /// Who commits: the user if git knows them, else Rookery.
    async fn identity(&self) -> Result<Vec<Variable>, WorktreeError> {
        let known =
            self.repo.git.call(["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]);
        if known.outcome().await.is_success() {
            return Ok(Vec::new());
        }
        let parts = ["GIT_AUTHOR", "GIT_COMMITTER"].into_iter().flat_map(|role| {
            [
                (format!("{role}_NAME"), "Rookery".into()),
                (format!("{role}_EMAIL"), "rookery@localhost".into()),
            ]
        });
        Ok(parts.collect())
    }
}

/// A variable for git.
type Variable = (String, Vec<u8>);

/// What is kept of a commit that is made again.
#[derive(Debug, PartialEq, Eq)]
struct OldCommit {
    parent: Option<Oid>,
    author: Vec<Variable>,
    /// Handed on as a setting.
    encoding: Option<Variable>,
    message: Vec<u8>,
}

impl OldCommit {
    fn read(text: &[u8]) -> Option<Self> {
        let end = text.windows(2).position(|pair| pair == b"\n\n")?;
        let (head, message) = (&text[..end], text[end + 2..].to_vec());
        let value =
            |key: &[u8]| head.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(key));
        let author = value(b"author ")?;
        let (open, close) =
            (author.iter().position(|b| *b == b'<')?, author.iter().rposition(|b| *b == b'>')?);
        let (name, mail) = (author[..open].trim_ascii(), author.get(open + 1..close)?);
        let date = [b"@", author.get(close + 1..)?.trim_ascii()].concat();
        let author = vec![
            ("GIT_AUTHOR_NAME".to_owned(), name.to_vec()),
            ("GIT_AUTHOR_EMAIL".to_owned(), mail.to_vec()),
            ("GIT_AUTHOR_DATE".to_owned(), date),
        ];
        let encoding = value(b"encoding ").map(|name| (ENCODING.to_owned(), name.to_vec()));
        Some(Self { parent: value(b"parent ").and_then(Oid::read), author, encoding, message })
    }
}

const ENCODING: &str = "i18n.commitEncoding";

async fn commit_tree(
    repo: &Repository,
    tree: &Oid,
    parents: &[&Oid],
    message: Vec<u8>,
    who: &[Variable],
) -> Result<Oid, WorktreeError> {
    use std::os::unix::ffi::OsStrExt as _;
    let encoding = who.iter().find(|(name, _)| name == ENCODING);
    let encoding = encoding.map_or("UTF-8".into(), |(_, name)| String::from_utf8_lossy(name));
    let setting = format!("{ENCODING}={encoding}");
    let start = ["-c", &setting, "commit-tree", tree.as_str()];
    let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
    let mut call = repo.git.call(start.into_iter().chain(parents)).stdin(message);
    for (name, value) in who.iter().filter(|(name, _)| name != ENCODING) {
        call = call.env(name, std::ffi::OsStr::from_bytes(value));
    }
    let made = call.line().await?;
    Oid::parse(&made).ok_or_else(|| GitError::Unreadable("commit-tree".into()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_taken_apart() {
        let oid = "a".repeat(40);
        let text = format!(
            "tree {oid}\nparent {oid}\nauthor A B <a@b> 1700000000 +0100\n\
             committer C <c@d> 1 +0000\nencoding ISO-8859-1\n\nsubject\n\nbody"
        );
        let old = OldCommit::read(text.as_bytes()).unwrap();
        assert_eq!(old.parent, Oid::parse(&oid));
        assert_eq!(old.message, b"subject\n\nbody");
        let author: Vec<_> = old.author.iter().map(|(_, value)| value.as_slice()).collect();
        assert_eq!(author, [b"A B".as_slice(), b"a@b", b"@1700000000 +0100"]);
        assert_eq!(old.encoding, Some((ENCODING.to_owned(), b"ISO-8859-1".to_vec())));
        assert_eq!(OldCommit::read(b"tree x\n\nm"), None);
    }
}
