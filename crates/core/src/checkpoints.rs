//! Checkpoints: snapshots of work trees, and the way back to them.

use std::path::{Path, PathBuf};

use rookery_host::git::snapshot::{
    self, Against, CaptureOptions, CheckpointError, Difference, HeadChange, Keep, RestoreOptions,
    RestoreScope, Restored,
};
use rookery_host::git::{GitError, Repository};
use rookery_model::{
    AcceptedWork, Category, ChangedFile, Checkpoint, CheckpointId, CheckpointSource, DiffStat,
    Differences, Error, ErrorKind, Record, Related, Result, SessionId, Source, TimelineKind,
    WorkPlace,
};

use crate::clock;
use crate::queue::NewItem;
use crate::reviews::NewReview;
use crate::rooms::Checkpoints;
use crate::secrets;
use crate::sessions::open_tree;
use crate::world::Tx;
use crate::world::draw;

/// A checkpoint to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCheckpoint {
    /// What is captured.
    pub place: WorkPlace,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: String,
    /// Whether a review of it is asked for.
    pub review: bool,
}

impl NewCheckpoint {
    fn accepted(&self, id: CheckpointId) -> AcceptedWork {
        AcceptedWork::Checkpoint {
            checkpoint: id,
            place: self.place.clone(),
            title: self.title.clone(),
            summary: self.summary.clone(),
            review: self.review,
        }
    }
}

/// What a checkpoint is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The commit that was checked out.
    Head,
    /// The working tree as it is.
    Now,
    /// Another checkpoint.
    Checkpoint(CheckpointId),
}

impl Checkpoints {
    /// An id for a checkpoint that is about to be made.
    pub fn new_id(&self) -> CheckpointId {
        CheckpointId::new(draw())
    }

    /// Accepts a checkpoint, durably, and makes it in the background. What goes wrong then becomes an
    /// item of the queue.
    ///
    /// # Errors
    /// If it cannot be accepted; then nothing happens.
    pub async fn make_soon(&self, id: CheckpointId, new: NewCheckpoint) -> Result<()> {
        self.core.sessions().accept(new.accepted(id)).await?;
        let core = self.core.clone();
        let work = async move { drop(core.checkpoints().finish(id, new).await) };
        self.core.inner.background.spawn_on(work, &self.core.inner.runtime);
        Ok(())
    }

    /// Makes a checkpoint. That it could not be made is reported in the queue, too.
    ///
    /// # Errors
    /// As [`Checkpoints::make`].
    pub async fn make_or_report(&self, id: CheckpointId, new: NewCheckpoint) -> Result<Checkpoint> {
        self.core.sessions().accept(new.accepted(id)).await?;
        self.finish(id, new).await
    }

    /// Makes a checkpoint of a place. A session that works in no repository gets one without a
    /// snapshot.
    ///
    /// # Errors
    /// If there is no such session or work tree, nothing could be captured, or it cannot be kept.
    pub async fn make(&self, id: CheckpointId, new: NewCheckpoint) -> Result<Checkpoint> {
        self.core.sessions().accept(new.accepted(id)).await?;
        let made = self.capture(id, new).await;
        if made.is_err() {
            self.core.sessions().give_up(id.get());
        }
        made
    }

    /// Does what was accepted, or says in the queue why not.
    pub(crate) async fn finish(&self, id: CheckpointId, new: NewCheckpoint) -> Result<Checkpoint> {
        let session = new.place.session();
        let made = self.capture(id, new).await;
        if let Err(error) = &made {
            self.file_failure_of(session, "Checkpoint failed", error, Some(id.get())).await;
        }
        made
    }

    async fn capture(&self, id: CheckpointId, new: NewCheckpoint) -> Result<Checkpoint> {
        let (repo, label) = self.find_repository(&new.place).await?;
        let mut made = Checkpoint {
            id,
            place: new.place,
            repo: None,
            branch: label,
            worktree: None,
            // They go into a commit as well.
            title: secrets::hidden(&new.title).into_owned(),
            summary: secrets::hidden(&new.summary).into_owned(),
            head: None,
            snapshot: None,
            differences: Differences::default(),
            created_at: clock::wall(),
            source: CheckpointSource::Manual,
        };
        if let Some(repo) = repo {
            capture(&repo, &mut made).await?;
        }
        self.core
            .transact_durably(|tx| {
                let line = format!("Checkpoint: {}", made.title);
                tx.add_checkpoint(made.clone(), &line);
                tx.done(id.get());
                if new.review {
                    tx.ask_review(
                        NewReview {
                            place: made.place.clone(),
                            checkpoint: Some(id),
                            summary: made.summary.clone(),
                            differences: Differences::default(),
                        },
                        Source::Report,
                    );
                }
                Ok(())
            })
            .await?;
        Ok(made)
    }

    /// The repository of a place, if it is in one, and the branch that its session is labelled with.
    async fn find_repository(
        &self,
        place: &WorkPlace,
    ) -> Result<(Option<Repository>, Option<String>)> {
        let session = match place {
            WorkPlace::Tree(top) => return Ok((Some(open_tree(top).await?), None)),
            WorkPlace::Session(session) => *session,
        };
        let directory = self.place_of(session).ok_or_else(|| no_session(session))?;
        let label = self.core.worktrees().checkout_of(session).and_then(|one| one.branch);
        match Repository::discover(&directory).await {
            Ok(repo) => Ok((Some(repo), label)),
            Err(GitError::NotARepository(_) | GitError::NoSuchPath(_)) => Ok((None, label)),
            Err(error) => Err(Error::failed(error.to_string())),
        }
    }

    /// All checkpoints, newest first.
    pub fn list(&self) -> Vec<Checkpoint> {
        let mut all: Vec<Checkpoint> = self.core.look().checkpoints.values().cloned().collect();
        all.sort_by_key(|one| std::cmp::Reverse((one.created_at, one.id)));
        all
    }

    /// One checkpoint.
    ///
    /// # Errors
    /// If there is none of this id.
    pub fn get(&self, id: CheckpointId) -> Result<Checkpoint> {
        let world = self.core.look();
        world.checkpoints.get(&id).cloned().ok_or_else(|| no_checkpoint(id))
    }

    /// What differs between a checkpoint and something else.
    ///
    /// # Errors
    /// If there is no such checkpoint or nothing was captured, or git cannot tell.
    pub async fn diff(&self, id: CheckpointId, with: Compared) -> Result<Difference> {
        self.difference(id, with, None).await
    }

    /// The same with the patch of one file, of which there is more room for.
    ///
    /// # Errors
    /// As [`Self::diff`].
    pub async fn diff_file(
        &self,
        id: CheckpointId,
        with: Compared,
        path: &Path,
    ) -> Result<Difference> {
        self.difference(id, with, Some(path)).await
    }

    /// What git counted, as reviews keep it.
    pub fn counted(&self, found: &Difference) -> Differences {
        differences(&found.files, found.stat)
    }

    async fn difference(
        &self,
        id: CheckpointId,
        with: Compared,
        only: Option<&Path>,
    ) -> Result<Difference> {
        let repo = self.repository_of(id).await?;
        let against = match with {
            Compared::Head => Against::Head,
            Compared::Now => Against::WorkTree,
            Compared::Checkpoint(other) => Against::Checkpoint(name(other)?),
        };
        snapshot::diff(&repo, &name(id)?, &against, only).await.map_err(failed)
    }

    /// Puts the working tree back. The state before becomes a checkpoint, by which this is undone.
    ///
    /// # Errors
    /// If it cannot be done, or something runs in the way of it.
    pub async fn restore(
        &self,
        id: CheckpointId,
        what: RestoreScope,
        head: HeadChange,
    ) -> Result<(Checkpoint, Restored)> {
        let from = self.get(id)?;
        let repo = self.repository_of(id).await?;
        let safety = CheckpointId::new(draw());
        let options = RestoreOptions { what, head };
        let restored = snapshot::restore(&repo, &name(id)?, &name(safety)?, &options).await;
        let restored = restored.map_err(failed)?;
        let mut before = Checkpoint {
            id: safety,
            title: format!("Before restoring {}", from.title),
            summary: "Saved so that the restore can be undone".to_owned(),
            created_at: clock::wall(),
            source: CheckpointSource::Automatic,
            ..from
        };
        describe(&repo, &restored.safety, &mut before);
        self.core
            .transact_durably(|tx| {
                // What was saved by the way is no news.
                tx.keep(Record::Checkpoint(before.clone()));
                let related = Some(Related::Checkpoint(id));
                let line = format!("Restored: {}", before.title);
                let session = before.place.session();
                tx.log_line(session, TimelineKind::CheckpointCreated, line, related);
                Ok(())
            })
            .await?;
        Ok((before, restored))
    }

    /// Forgets checkpoints of a repository that are not to be kept, with their snapshots.
    ///
    /// # Errors
    /// If there is no repository, or git does not do its part.
    pub async fn prune(&self, place: &Path, keep: Keep) -> Result<Vec<CheckpointId>> {
        let repo =
            Repository::discover(place).await.map_err(|error| Error::failed(error.to_string()))?;
        let gone = snapshot::prune(&repo, keep).await.map_err(failed)?;
        let gone: Vec<CheckpointId> =
            gone.iter().filter_map(|id| id.as_str().parse().ok()).collect();
        self.forget(&gone).await?;
        Ok(gone)
    }

    /// Forgets one checkpoint, with its snapshot unless that went with its repository.
    ///
    /// # Errors
    /// If there is none of this id, or git does not do its part.
    pub async fn delete(&self, id: CheckpointId) -> Result<()> {
        if let Some(repo) = left_of(self.get(id)?).await? {
            match snapshot::delete(&repo, &name(id)?).await {
                Ok(()) | Err(CheckpointError::NotFound(_)) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        self.forget(&[id]).await
    }

    async fn forget(&self, ids: &[CheckpointId]) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                for id in ids {
                    tx.forget_checkpoint(*id);
                }
                Ok(())
            })
            .await
    }

    /// The repository that the snapshot of a checkpoint is in.
    async fn repository_of(&self, id: CheckpointId) -> Result<Repository> {
        let checkpoint = self.get(id)?;
        let place: Option<PathBuf> = checkpoint.worktree.or(checkpoint.repo);
        let place = place.filter(|_| checkpoint.snapshot.is_some());
        let nothing =
            || Error::new(ErrorKind::Conflict, "nothing was captured for this checkpoint");
        open_tree(&place.ok_or_else(nothing)?).await
    }

    /// Says in the queue that something did not work whose caller is gone.
    pub(crate) async fn file_failure(&self, session: SessionId, title: &str, error: &Error) {
        self.file_failure_of(session, title, error, None).await;
    }

    /// The same, of work that was accepted and is over with this.
    pub(crate) async fn file_failure_of(
        &self,
        session: impl Into<Option<SessionId>>,
        title: &str,
        error: &Error,
        accepted: Option<u128>,
    ) {
        let session = session.into();
        let filed = self.core.transact_durably(|tx| {
            if let Some(accepted) = accepted {
                tx.done(accepted);
            }
            tx.file(NewItem {
                session,
                related: None,
                category: Category::Error,
                title: title.to_owned(),
                subtitle: Some(error.to_string()),
                source: Source::Protocol,
            });
            Ok(())
        });
        if let Err(failure) = filed.await {
            tracing::error!(%failure, %error, title, "a failure could not be reported");
        }
    }

    /// Where a session works: its working tree, its repository, or its directory.
    pub fn place_of(&self, id: SessionId) -> Option<PathBuf> {
        let world = self.core.look();
        let session = world.session(id)?;
        let checkout = world.checkout_of(id);
        let place = checkout.map(|one| one.worktree.clone().unwrap_or_else(|| one.repo.clone()));
        Some(place.unwrap_or(session.cwd))
    }
}

impl Tx<'_> {
    fn forget_checkpoint(&mut self, id: CheckpointId) {
        if self.world.checkpoints.remove(&id).is_some() {
            self.forget(rookery_model::RecordKind::Checkpoint, id.get());
        }
        self.resolve_related(Related::Checkpoint(id));
    }
}

/// The repository that still has the snapshot of a checkpoint: through its work tree, or another one
/// if that is gone.
async fn left_of(checkpoint: Checkpoint) -> Result<Option<Repository>> {
    let places = [checkpoint.worktree, checkpoint.repo];
    for place in places.into_iter().flatten().filter(|_| checkpoint.snapshot.is_some()) {
        match Repository::discover(&place).await {
            Ok(repo) => return Ok(Some(repo)),
            Err(GitError::NotARepository(_) | GitError::NoSuchPath(_)) => {}
            Err(error) => return Err(Error::failed(error.to_string())),
        }
    }
    Ok(None)
}

/// Takes the snapshot, and says what it found.
async fn capture(repo: &Repository, made: &mut Checkpoint) -> Result<()> {
    let options = CaptureOptions::titled(made.title.clone());
    let id = name(made.id)?;
    match snapshot::capture(repo, &id, &options).await {
        Ok(captured) => describe(repo, &captured, made),
        // Captured by a daemon that died before it could say so.
        Err(CheckpointError::Exists(_)) => {
            let captured = snapshot::captured(repo, &id).await.map_err(failed)?;
            describe(repo, &captured, made);
        }
        Err(error) => return Err(failed(error)),
    }
    Ok(())
}

fn describe(repo: &Repository, captured: &snapshot::Captured, made: &mut Checkpoint) {
    let top = repo.top().to_owned();
    let main = repo.common_dir().parent().filter(|_| repo.is_linked()).map(Path::to_owned);
    made.worktree = main.is_some().then(|| top.clone());
    made.repo = Some(main.unwrap_or(top));
    made.branch = captured.branch.clone().or(made.branch.take());
    made.head = captured.head.as_ref().map(|head| head.as_str().to_owned());
    made.snapshot = Some(captured.commit.as_str().to_owned());
    made.differences = differences(&captured.changed_files, captured.stat);
}

/// What git found, as supervision keeps it.
pub(crate) fn differences(files: &[snapshot::ChangedFile], stat: snapshot::Stat) -> Differences {
    let file = |file: &snapshot::ChangedFile| ChangedFile {
        path: file.path.to_string_lossy().into_owned(),
        additions: file.additions,
        deletions: file.deletions,
        status: file.status.to_string(),
    };
    let stat = DiffStat { files: stat.files, additions: stat.additions, deletions: stat.deletions };
    Differences { files: files.iter().map(file).collect(), stat: Some(stat), tests: None }
}

/// The name under which git keeps a checkpoint.
fn name(id: CheckpointId) -> Result<snapshot::CheckpointId> {
    id.to_string().parse().map_err(failed)
}

fn failed(error: CheckpointError) -> Error {
    let kind = match error {
        CheckpointError::NotFound(_) => ErrorKind::NotFound,
        CheckpointError::Busy | CheckpointError::IndexLocked(_) => ErrorKind::Busy,
        CheckpointError::Exists(_) | CheckpointError::Blocked(_) => ErrorKind::Conflict,
        CheckpointError::BadId | CheckpointError::NoSuchPaths(_) => ErrorKind::Invalid,
        _ => ErrorKind::Failed,
    };
    Error::new(kind, error.to_string())
}

fn no_checkpoint(id: CheckpointId) -> Error {
    Error::not_found(format!("no checkpoint {id}"))
}

pub(crate) fn no_session(id: SessionId) -> Error {
    Error::not_found(format!("no session {id}"))
}
