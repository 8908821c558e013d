//! Makes worktrees: names that are free, a base, the checkout, and what belongs into it. What fails
//! leaves nothing behind.

use futures_util::future::BoxFuture;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bootstrap::{Setup, bootstrap};
use super::halfway::{WAITS, is_halfway};
use super::name::{EXCLUDED, PLACE, branch_name, numbered, place, place_of};
use super::{WorktreeError, list};
use crate::git::run::{blocking, line};
use crate::git::{GitError, Oid, Repository};

/// How often names are tried.
const ATTEMPTS: usize = 50;
/// How long a fetch may take.
const FETCH_LIMIT: Duration = Duration::from_secs(120);
/// Branches that a remote may call its main one, if it does not say.
const USUAL_BRANCHES: &[&str] = &["main", "master", "trunk", "develop"];

/// What a new branch starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The head of the checkout.
    #[default]
    Head,
    /// Whatever this names.
    Ref(String),
    /// The main branch of the remote, as far as it is known here.
    RemoteDefault,
}

/// A worktree to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewWorktree {
    /// Where; a free place below `.idx0/worktrees` if not said.
    pub path: Option<PathBuf>,
    /// The name of its branch; made of title and time if not said.
    pub branch: Option<String>,
    /// What the work is about.
    pub title: String,
    /// What the branch starts from.
    pub base: Base,
    /// Whether the remote is asked for news first.
    pub fetch: bool,
    /// Whether the repository's hooks and filters run at the checkout.
    pub is_trusted: bool,
    /// A command that prepares it; handed back to be run.
    pub setup: Option<String>,
}

/// A worktree that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its top.
    pub path: PathBuf,
    pub branch: String,
    /// What the branch started from; None if there is no commit yet.
    pub base: Option<Oid>,
    /// Files that were copied into it.
    pub copied: Vec<PathBuf>,
    /// What to run in it.
    pub setup: Option<Setup>,
}

/// Makes a worktree of the repository around a directory. It is finished or undone even if no caller
/// waits for it any more.
///
/// # Errors
/// If there is no repository, the name is taken, or git does not make it. Then nothing is left.
pub async fn create(directory: &Path, request: &NewWorktree) -> Result<Created, WorktreeError> {
    let (directory, request) = (directory.to_owned(), request.clone());
    let working = tokio::spawn(async move {
        let repo = Repository::discover(&directory).await?;
        make(&repo, &request).await
    });
    working.await.unwrap_or(Err(WorktreeError::Git(GitError::Abandoned)))
}

/// What a worktree will be: names that nothing has yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The checkout it is made from.
    pub top: PathBuf,
    /// Where it will be.
    pub path: PathBuf,
    pub branch: String,
    /// The commit that the branch starts from, if there is one.
    pub base: Option<String>,
}

/// Chooses names for a worktree without making anything, so that they can be written down first.
/// `token` becomes a part of its place, unless the request names one.
///
/// # Errors
/// If there is no repository, or the place or the branch that was asked for is taken.
pub fn plan<'a>(
    directory: &'a Path,
    request: &'a NewWorktree,
    token: &'a str,
) -> BoxFuture<'a, Result<Planned, WorktreeError>> {
    Box::pin(plan_inner(directory, request, token))
}

async fn plan_inner(
    directory: &Path,
    request: &NewWorktree,
    token: &str,
) -> Result<Planned, WorktreeError> {
    let repo = Repository::discover(directory).await?;
    let base = base(&repo, request).await?;
    let wanted = wanted_branch(&repo, request);
    check_name(&repo, &wanted).await?;
    let mut path = match &request.path {
        Some(path) => repo.top().join(path),
        None => place_of(repo.top(), token),
    };
    if std::fs::symlink_metadata(&path).is_ok() {
        if request.path.is_some() {
            // What is there already is not ours to undo.
            return Err(WorktreeError::NotCreated(format!("{} exists", path.display())));
        }
        path = free_place(&repo, request).await?;
    }
    let attempts = if is_asked(request) { 1 } else { ATTEMPTS };
    for attempt in 0..attempts {
        let branch = numbered(&wanted, attempt);
        if !has_branch(&repo, &branch).await? {
            let base = base.map(|base| base.as_str().to_owned());
            return Ok(Planned { top: repo.top().to_owned(), path, branch, base });
        }
    }
    Err(WorktreeError::BranchExists)
}

/// Removes what was made of a plan, however far it came: the directory, what git knows of it, and
/// the branch if nothing was committed on it.
///
/// # Errors
/// If there is no repository any more, or something of it is still there.
pub async fn undo_planned(planned: &Planned) -> Result<(), WorktreeError> {
    let repo = Repository::discover(&planned.top).await?;
    let base = planned.base.as_deref().and_then(Oid::parse);
    if !is_of(&repo, &planned.path) {
        drop_branch(&repo, &planned.branch, base.as_ref()).await;
        return Ok(());
    }
    undo(&repo, &planned.path, &planned.branch, base.as_ref()).await;
    match std::fs::symlink_metadata(&planned.path) {
        Ok(_) => Err(WorktreeError::NotCreated(format!(
            "leftovers of the failed creation could not be removed: {}",
            planned.path.display()
        ))),
        Err(_) => Ok(()),
    }
}

/// Whether what lies at a place can only be a worktree of this repository, or the beginning of one.
fn is_of(repo: &Repository, path: &Path) -> bool {
    let link = std::fs::read(path.join(".git")).unwrap_or_default();
    let home = repo.common_dir().as_os_str().as_encoded_bytes();
    let is_empty = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    path.starts_with(repo.top().join(PLACE))
        || is_empty
        || link.strip_prefix(b"gitdir: ").is_some_and(|link| link.starts_with(home))
        || std::fs::symlink_metadata(path).is_err()
}

fn is_asked(request: &NewWorktree) -> bool {
    request.branch.as_deref().is_some_and(|branch| !branch.trim().is_empty())
}

/// The branch that was asked for, else one made of title and time.
fn wanted_branch(repo: &Repository, request: &NewWorktree) -> String {
    let name = repo.top().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let asked = request.branch.as_deref().map(str::trim).filter(|branch| !branch.is_empty());
    match asked {
        Some(branch) => branch.to_owned(),
        None => branch_name(&request.title, &name, &jiff::Zoned::now()),
    }
}

async fn has_branch(repo: &Repository, branch: &str) -> Result<bool, WorktreeError> {
    Ok(repo.has_branch(branch).await?)
}

async fn make(repo: &Repository, request: &NewWorktree) -> Result<Created, WorktreeError> {
    let base = base(repo, request).await?;
    let wanted = wanted_branch(repo, request);
    check_name(repo, &wanted).await?;
    let is_ours = |path: &PathBuf| path.starts_with(repo.top().join(PLACE));
    if request.path.as_ref().is_none_or(is_ours) {
        exclude(repo).await?;
    }
    let mut attempt = 0;
    let mut waits = WAITS.iter();
    let (path, branch) = loop {
        let branch = numbered(&wanted, attempt);
        let path = free_place(repo, request).await?;
        match add(repo, request, &path, &branch, base.as_ref()).await {
            Ok(()) => break (path, branch),
            Err(WorktreeError::BranchExists) if !is_asked(request) && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(WorktreeError::NotCreated(why)) if is_halfway(&why) => match waits.next() {
                Some(wait) => tokio::time::sleep(*wait).await,
                None => return Err(WorktreeError::NotCreated(why)),
            },
            Err(error) => return Err(error),
        }
    };
    let copied = match bootstrap(repo, &path).await {
        Ok(copied) => copied,
        Err(error) => {
            undo(repo, &path, &branch, base.as_ref()).await;
            return Err(error);
        }
    };
    let setup = request.setup.clone().map(|command| Setup {
        command,
        cwd: path.clone(),
        env: vec![
            ("ROOKERY_WORKTREE".into(), path.clone().into()),
            ("ROOKERY_SOURCE_TREE".into(), repo.top().into()),
            ("ROOKERY_BRANCH".into(), branch.clone().into()),
        ],
    });
    Ok(Created { path, branch, base, copied, setup })
}

/// Refuses what is no name of a branch. Git would take one that begins with a dash for an option of
/// its own, and rename or delete what is there.
async fn check_name(repo: &Repository, name: &str) -> Result<(), WorktreeError> {
    let refused = || WorktreeError::BadBranchName(name.to_owned());
    if name.starts_with('-') || name.contains('\0') || name == "HEAD" {
        return Err(refused());
    }
    let reference = format!("refs/heads/{name}");
    let is_valid = repo.git.call(["check-ref-format", &reference]).answer().await?.is_some();
    is_valid.then_some(()).ok_or_else(refused)
}

/// The commit to start from; None if there is none yet.
async fn base(repo: &Repository, request: &NewWorktree) -> Result<Option<Oid>, WorktreeError> {
    let mut remote = None;
    if request.fetch || request.base == Base::RemoteDefault {
        remote = Some(remote_of(repo).await?);
    }
    if let Some(remote) = remote.as_ref().filter(|_| request.fetch) {
        let fetch = ["fetch", "--quiet", "--no-recurse-submodules", "--no-auto-maintenance"];
        let call = repo.git.call(fetch).args(["--no-write-fetch-head", "--", remote]);
        match call.fetching(FETCH_LIMIT).run().await {
            Err(GitError::Failed { message, .. }) => return Err(WorktreeError::Fetch(message)),
            other => drop(other?),
        }
    }
    let name = match (&request.base, remote) {
        (Base::Head, _) => return Ok(repo.head().await?.commit),
        (Base::Ref(name), _) => name.clone(),
        (Base::RemoteDefault, remote) => main_branch(repo, &remote.unwrap_or_default()).await?,
    };
    let spec = format!("{name}^{{commit}}");
    let question = ["rev-parse", "--verify", "--quiet", "--end-of-options", &spec];
    let oid = repo.git.call(question).answer().await?.and_then(|oid| Oid::read(&line(oid)));
    oid.map(Some).ok_or(WorktreeError::NoSuchBranch(name))
}

/// The remote of the current branch, else `origin`, else the only one.
async fn remote_of(repo: &Repository) -> Result<String, WorktreeError> {
    let all = String::from_utf8_lossy(&repo.git.run(["remote"]).await?).into_owned();
    let all: Vec<&str> = all.lines().collect();
    let branch = repo.head().await?.branch.unwrap_or_default();
    let key = format!("branch.{branch}.remote");
    let own = repo.git.call(["config", "--get", &key]).answer().await?.map(line);
    let own = own.and_then(|name| String::from_utf8(name).ok());
    let candidates =
        [own.as_deref(), Some("origin"), all.first().filter(|_| all.len() == 1).copied()];
    let found = candidates.into_iter().flatten().find(|name| all.contains(name));
    found.map(str::to_owned).ok_or(WorktreeError::NoRemote)
}

async fn main_branch(repo: &Repository, remote: &str) -> Result<String, WorktreeError> {
    let head = format!("refs/remotes/{remote}/HEAD");
    let said = repo.git.call(["symbolic-ref", "--quiet", &head]).answer().await?.map(line);
    let said = said.and_then(|name| String::from_utf8(name).ok());
    let usual = USUAL_BRANCHES.iter().map(|name| format!("refs/remotes/{remote}/{name}"));
    for name in said.into_iter().chain(usual) {
        let known = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        if repo.git.call(known).answer().await?.is_some() {
            return Ok(name);
        }
    }
    Err(WorktreeError::NoRemote)
}

/// The place asked for, or a new one that is free.
async fn free_place(repo: &Repository, request: &NewWorktree) -> Result<PathBuf, WorktreeError> {
    if let Some(path) = &request.path {
        return Ok(repo.top().join(path));
    }
    let wanted = place(repo.top());
    let free = blocking(move || {
        let name = wanted.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut places = (0..ATTEMPTS).map(|at| wanted.with_file_name(numbered(&name, at)));
        Ok(places.find(|place| std::fs::symlink_metadata(place).is_err()).unwrap_or(wanted))
    });
    Ok(free.await?)
}

/// Makes the checkout, or leaves nothing.
async fn add(
    repo: &Repository,
    request: &NewWorktree,
    path: &Path,
    branch: &str,
    base: Option<&Oid>,
) -> Result<(), WorktreeError> {
    let place = path.to_owned();
    let was_there = blocking(move || Ok(std::fs::symlink_metadata(place).is_ok())).await?;
    if has_branch(repo, branch).await? {
        return Err(WorktreeError::BranchExists);
    }
    let git = repo.git.trusted(request.is_trusted);
    let mut call = git.call(["worktree", "add", "--quiet"]);
    call = match base {
        Some(base) => call
            .args(["--no-track", "-b", branch, "--"])
            .args([path.as_os_str()])
            .args([base.as_str()]),
        None => call.args(["--orphan", "-b", branch, "--"]).args([path.as_os_str()]),
    };
    let Err(error) = call.run().await else { return Ok(()) };
    let message = match &error {
        GitError::Failed { message, .. } => message.as_str(),
        _ => "",
    };
    // Whose branch it is if it exists cannot be determined; then it is not ours to remove.
    if message.contains("exists") && !was_there {
        return Err(WorktreeError::BranchExists);
    }
    match was_there {
        true => drop_branch(repo, branch, base).await,
        false => undo(repo, path, branch, base).await,
    }
    match error {
        GitError::Failed { message, .. } if message.is_empty() => {
            Err(WorktreeError::NotCreated("Failed to create worktree.".into()))
        }
        GitError::Failed { message, .. } => Err(WorktreeError::NotCreated(message)),
        other => Err(other.into()),
    }
}

/// Removes what was half made: the directory, what git knows of it, and the branch if it did not
/// move.
async fn undo(repo: &Repository, path: &Path, branch: &str, base: Option<&Oid>) {
    let remove = repo.git.call(["worktree", "remove", "--force", "--force", "--"]).args([path]);
    let _ = remove.run().await;
    let place = path.to_owned();
    let _ = blocking(move || {
        let _ = std::fs::remove_dir_all(place);
        Ok(())
    })
    .await;
    let _ = repo.git.run(["worktree", "prune"]).await;
    drop_branch(repo, branch, base).await;
}

/// Removes a branch that was made for nothing, if it did not move and is checked out nowhere.
async fn drop_branch(repo: &Repository, branch: &str, base: Option<&Oid>) {
    let all = list(repo).await.unwrap_or_default();
    let is_used = all.iter().any(|tree| tree.branch.as_deref() == Some(branch));
    if let Some(base) = base.filter(|_| !is_used) {
        let reference = format!("refs/heads/{branch}");
        let _ = repo.git.run(["update-ref", "-d", &reference, base.as_str()]).await;
    }
}

/// Makes git ignore the place of worktrees, once.
async fn exclude(repo: &Repository) -> Result<(), WorktreeError> {
    let question = ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"];
    let file = crate::git::run::path(&line(repo.git.run(question).await?));
    debug_assert!(PLACE.starts_with(EXCLUDED));
    Ok(blocking(move || add_line(&file, EXCLUDED).map_err(|e| GitError::file(&file, e))).await?)
}

fn add_line(file: &Path, wanted: &str) -> std::io::Result<()> {
    let text = match std::fs::read(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    if lines.any(|line| line == wanted.as_bytes()) {
        return Ok(());
    }
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let gap = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
    let mut open = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    // In one write, so that two of us do not mix their lines.
    open.write_all(OsString::from(format!("{gap}{wanted}\n")).as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("info/exclude");
        add_line(&file, ".idx0/").unwrap();
        add_line(&file, ".idx0/").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), ".idx0/\n");
        std::fs::write(&file, "a\n.idx0/x").unwrap();
        add_line(&file, ".idx0/").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "a\n.idx0/x\n.idx0/\n");
    }
}
