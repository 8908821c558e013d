//! `git-worktree`: a checkout of its own for a session, on a branch of its own.
//!
//! Git is run by the host's git room alone, which runs nothing that the repository names. Uncommitted work is
//! never destroyed unless that is asked for, and the branch always stays.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rookery_host::git::worktree::{self, Base, NewWorktree, RemoveRequest, State};
use rookery_host::git::{Repository, snapshot};
use rookery_host::{Beneath, files};
use serde_json::{Value, json};

use super::unix_local::Local;
use crate::RunnerError;
use crate::config::Fields;
use crate::local::{LocalRoot, LocalSession, blocking};
use crate::provider::{
    Capabilities, InTerminals, Location, MountSupport, Opening, Provider, has_program,
};
use crate::session::{
    Command, CommandEnd, Entry, ExitCause, Port, Session, SessionInfo, Snapshot, TerminalLaunch,
    Work, Wrapped,
};

const ID: &str = "git-worktree";
/// How often a name is tried that is taken.
const ATTEMPTS: usize = 50;
/// How long one command of the set-up may take.
const SETUP_LIMIT: Duration = Duration::from_secs(600);
/// How large a file may be that is copied into the worktree.
const COPY_LIMIT: u64 = 16 << 20;

pub(crate) const PROVIDER: Provider = Provider {
    id: ID,
    name: "Git worktree",
    description: "Runs commands in a worktree of a repository, on a branch of its own",
    in_terminals: InTerminals::Here,
    capabilities: Capabilities {
        command_exec: true,
        file_read: true,
        file_write: true,
        port_preview: true,
        snapshots: true,
        cancellation: true,
        artifact_export: true,
        pausable: true,
        detachable: true,
        mounts: MountSupport { provider_native: false },
    },
    members: &["repo", "name", "base_ref", "base_dir", "setup", "copy"],
    secrets: &[],
    has_default_workspace: true,
    whereabouts: Location::Here,
    makes_place: true,
    programs: |config| {
        let lines = Settings::read(config).map(|settings| settings.setup).unwrap_or_default();
        let command = |line| vec!["/bin/sh".to_owned(), "-c".to_owned(), line];
        lines.into_iter().map(command).collect()
    },
    check: |config| Settings::read(config).map(drop),
    hint: |env, _| {
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || has_program("git", &env)).await;
            (!found.unwrap_or(false)).then(|| "git is not installed; install git".to_owned())
        })
    },
    open: |opening| Box::pin(open(opening)),
};

struct Settings {
    repo: Option<PathBuf>,
    name: Option<String>,
    base_ref: Option<String>,
    base_dir: Option<PathBuf>,
    setup: Vec<String>,
    copy: Vec<String>,
}

impl Settings {
    fn read(config: &Value) -> Result<Self, RunnerError> {
        let fields = Fields::new(config)?;
        let settings = Self {
            repo: fields.path("repo")?,
            name: fields.text("name")?,
            base_ref: fields.text("base_ref")?,
            base_dir: fields.path("base_dir")?,
            setup: fields.texts("setup")?,
            copy: fields.texts("copy")?,
        };
        if let Some(name) = &settings.name {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            let fits = name.len() <= 64
                && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !name.contains("..")
                && !name.ends_with(".lock")
                && !name.ends_with('.')
                && name.chars().all(is_plain);
            if !fits {
                let message =
                    "config.name must be 1 to 64 letters, digits, dots, dashes and underscores";
                return Err(RunnerError::invalid("name", message));
            }
        }
        for path in &settings.copy {
            crate::local::below(Path::new("/"), path)
                .ok()
                .filter(|_| {
                    !Path::new(path).is_absolute() && !path.split('/').any(|part| part == "..")
                })
                .ok_or_else(|| RunnerError::Outside(path.clone()))?;
        }
        Ok(settings)
    }
}

async fn open(opening: Opening) -> Result<Arc<dyn Session>, RunnerError> {
    let settings = Settings::read(&opening.config)?;
    if let Some(found) = opening.found.clone() {
        return rejoin(opening, &found).await;
    }
    let source = settings.repo.clone().unwrap_or_else(|| opening.cwd.clone());
    let repo = discover(&source).await?;
    let is_dirty = worktree::inspect(repo.top()).await.map_err(git)? == State::Dirty;
    let created = make(&opening, &settings, &repo).await?;
    let tree = Tree { repo: repo.top().to_owned(), path: created.path.clone() };
    let prepared = prepare(&opening, &settings, &repo, &created.path).await;
    if let Err(error) = prepared {
        // Nothing but what was copied and set up just now is in it.
        let _ = tree.remove(true).await;
        return Err(error);
    }
    let metadata = json!({
        "repo": repo.top(),
        "path": created.path,
        "branch": created.branch,
        "base": created.base.map(|base| base.as_str().to_owned()),
        "source_dirty": is_dirty,
    });
    session(opening, tree, metadata).await
}

/// Takes up a worktree that was made for this session before.
async fn rejoin(opening: Opening, found: &Value) -> Result<Arc<dyn Session>, RunnerError> {
    let path = |name: &str| found.get(name).and_then(Value::as_str).map(PathBuf::from);
    let lost = || RunnerError::failed("it is not recorded which worktree the session had");
    let (repo, tree) = (path("repo").ok_or_else(lost)?, path("path").ok_or_else(lost)?);
    let listed = worktree::list(&discover(&repo).await?).await;
    let listed = listed.map_err(|error| RunnerError::failed(error.to_string()))?;
    if !listed.iter().any(|known| known.path == tree && !known.is_main) {
        let message = format!("git no longer lists the worktree {}", tree.display());
        return Err(RunnerError::failed(message));
    }
    session(opening, Tree { repo, path: tree }, found.clone()).await
}

async fn session(
    opening: Opening,
    tree: Tree,
    metadata: Value,
) -> Result<Arc<dyn Session>, RunnerError> {
    let root = LocalRoot::open(&tree.path).await?;
    let info = SessionInfo {
        id: opening.session.clone(),
        provider: ID,
        root: tree.path.clone(),
        local_root: Some(tree.path.clone()),
        runs_here: true,
        metadata,
    };
    let here = LocalSession::new(root, &opening);
    Ok(Arc::new(Worktree { local: Local { info, here }, tree }))
}

/// Makes the worktree with the first branch that is free.
async fn make(
    opening: &Opening,
    settings: &Settings,
    repo: &Repository,
) -> Result<worktree::Created, RunnerError> {
    let usual = || {
        let drawn = opening.session.trim_start_matches("rs-");
        drawn.get(..8).unwrap_or(drawn).to_owned()
    };
    let name = settings.name.clone().unwrap_or_else(usual);
    let folder = worktrees_of(&opening.data, repo.common_dir());
    let folder = settings.base_dir.clone().unwrap_or(folder);
    for attempt in 1..=ATTEMPTS {
        let numbered = if attempt == 1 { name.clone() } else { format!("{name}-{attempt}") };
        let path = folder.join(&numbered);
        let new = NewWorktree {
            path: Some(path.clone()),
            branch: Some(format!("rookery/{numbered}")),
            title: numbered,
            base: settings.base_ref.clone().map_or(Base::Head, Base::Ref),
            ..NewWorktree::default()
        };
        let is_taken = blocking({
            let path = path.clone();
            move || Ok(Beneath::new(&path).is_ok() || files::open_regular(&path).is_ok())
        });
        if is_taken.await? || has_branch(repo, new.branch.as_deref().unwrap_or_default()).await? {
            continue;
        }
        return opening.trees.make(repo.top(), &new).await;
    }
    let message = format!("config.name: {name} and its next {ATTEMPTS} numbers are taken");
    Err(RunnerError::invalid("name", message))
}

async fn has_branch(repo: &Repository, branch: &str) -> Result<bool, RunnerError> {
    repo.has_branch(branch).await.map_err(|error| RunnerError::failed(error.to_string()))
}

/// Copies what was asked for and runs the set-up.
async fn prepare(
    opening: &Opening,
    settings: &Settings,
    repo: &Repository,
    path: &Path,
) -> Result<(), RunnerError> {
    let (source, target) = (LocalRoot::open(repo.top()).await?, LocalRoot::open(path).await?);
    for file in &settings.copy {
        match source.read(file, COPY_LIMIT).await {
            Ok(bytes) => target.write(file, bytes).await?,
            // Files that git ignores need not be there.
            Err(RunnerError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let mut here = LocalSession::new(target, opening);
    here.env.push(("ROOKERY_WORKTREE".into(), path.into()));
    here.env.push(("ROOKERY_SOURCE_TREE".into(), repo.top().into()));
    for line in &settings.setup {
        let mut command = Command::new(["/bin/sh", "-c", line]);
        command.timeout = Some(SETUP_LIMIT);
        let end = here.exec(command).await?;
        if (end.how, end.exit_code) != (ExitCause::Exited, Some(0)) {
            let said = String::from_utf8_lossy(&end.stderr);
            let said = said.lines().last().unwrap_or("it failed").to_owned();
            return Err(RunnerError::failed(format!("setup command {line:?} failed: {said}")));
        }
    }
    Ok(())
}

/// Where worktrees of a repository lie, by its common directory: below the data, in a folder of their own.
pub fn worktrees_of(data: &Path, common_dir: &Path) -> PathBuf {
    let bytes = common_dir.as_os_str().as_encoded_bytes();
    let name = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, bytes).simple().to_string();
    data.join("worktrees").join(&name[..12])
}

async fn discover(place: &Path) -> Result<Repository, RunnerError> {
    Repository::discover(place)
        .await
        .map_err(|error| RunnerError::invalid("repo", format!("config.repo: {error}")))
}

fn git(error: worktree::WorktreeError) -> RunnerError {
    RunnerError::failed(error.to_string())
}

/// A worktree and the checkout that it was made from.
struct Tree {
    repo: PathBuf,
    path: PathBuf,
}

impl Tree {
    /// Removes it, unless work would be lost that is in no commit. Its branch stays. Gives whether it
    /// is gone.
    async fn remove(&self, force: bool) -> Result<bool, RunnerError> {
        let repo = discover(&self.repo).await?;
        let state = worktree::inspect(&self.path).await.map_err(git)?;
        if state == State::Dirty && !force {
            return Ok(false);
        }
        let listed = worktree::list(&repo).await;
        let listed = listed.map_err(|error| RunnerError::failed(error.to_string()))?;
        let has_branch = listed.iter().any(|tree| tree.path == self.path && tree.branch.is_some());
        // Commits stay with their branch, so that only uncommitted work counts; without a branch they
        // count as well.
        let force = force || has_branch;
        let request = RemoveRequest { path: self.path.clone(), force, ..Default::default() };
        match worktree::remove(&repo, &request).await {
            Ok(()) => Ok(true),
            Err(worktree::WorktreeError::Dirty | worktree::WorktreeError::Unpushed { .. }) => {
                Ok(false)
            }
            Err(error) => Err(git(error)),
        }
    }
}

struct Worktree {
    local: Local,
    tree: Tree,
}

impl Session for Worktree {
    fn info(&self) -> &SessionInfo {
        &self.local.info
    }

    fn exec(&self, command: Command) -> Work<'_, CommandEnd> {
        self.local.exec(command)
    }

    fn read_file<'a>(&'a self, path: &'a str, limit: u64) -> Work<'a, Vec<u8>> {
        self.local.read_file(path, limit)
    }

    fn write_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>) -> Work<'a, ()> {
        self.local.write_file(path, bytes)
    }

    fn mode<'a>(&'a self, path: &'a str) -> Work<'a, Option<u32>> {
        self.local.mode(path)
    }

    fn make_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>, mode: u32) -> Work<'a, ()> {
        self.local.make_file(path, bytes, mode)
    }

    fn remove_file<'a>(&'a self, path: &'a str) -> Work<'a, ()> {
        self.local.remove_file(path)
    }

    fn list<'a>(&'a self, path: &'a str) -> Work<'a, Vec<Entry>> {
        self.local.list(path)
    }

    fn find<'a>(&'a self, path: &'a str, most: usize) -> Work<'a, Vec<String>> {
        self.local.find(path, most)
    }

    fn snapshot<'a>(&'a self, label: Option<&'a str>) -> Work<'a, Option<Snapshot>> {
        Box::pin(async move {
            let repo = discover(&self.tree.path).await?;
            let title = label.unwrap_or("Runner snapshot");
            let taken = snapshot::pin(&repo, &self.local.info.id, title).await;
            let (commit, reference) =
                taken.map_err(|error| RunnerError::failed(format!("no snapshot: {error}")))?;
            let metadata = json!({"ref": reference, "label": label});
            Ok(Some(Snapshot { id: commit.as_str().to_owned(), metadata }))
        })
    }

    fn ports(&self) -> Work<'_, Vec<Port>> {
        self.local.ports()
    }

    fn expose<'a>(&'a self, port: u16, label: Option<&'a str>) -> Work<'a, Port> {
        self.local.expose(port, label)
    }

    fn conceal(&self, port: u16) -> Work<'_, bool> {
        self.local.conceal(port)
    }

    fn pause(&self) -> Work<'_, ()> {
        self.local.pause()
    }

    fn resume(&self) -> Work<'_, ()> {
        self.local.resume()
    }

    fn detach(&self) -> Work<'_, ()> {
        Box::pin(self.local.here.end_all())
    }

    fn close(&self, force: bool) -> Work<'_, Option<PathBuf>> {
        Box::pin(async move {
            self.local.here.end_all().await?;
            let is_gone = self.tree.remove(force).await?;
            Ok((!is_gone).then(|| self.tree.path.clone()))
        })
    }

    fn in_terminal(&self, launch: &TerminalLaunch) -> Result<Option<Wrapped>, RunnerError> {
        self.local.in_terminal(launch)
    }

    fn end_command<'a>(&'a self, id: &'a str) -> Work<'a, ()> {
        self.local.end_command(id)
    }
}
