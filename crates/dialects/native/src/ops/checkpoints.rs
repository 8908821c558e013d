//! Checkpoints: made, looked at, put back and forgotten.

use std::time::Duration;

use rookery_core::{Compared, NewCheckpoint};
use rookery_host::git::snapshot::{HeadChange, Keep, RestoreScope};
use rookery_model as model;

use super::named::{absolute, pick, place, session_filter, text_or, tree_filter};
use crate::{
    Cx, Error,
    wire::{
        ChangedFile, Checkpoint, CheckpointCreate, CheckpointDelete, CheckpointDiff,
        CheckpointDiffed, CheckpointList, CheckpointPrune, CheckpointRestore, CheckpointRestored,
        CheckpointShow, Checkpoints, CheckpointsDeleted, Differences,
    },
};

impl Cx {
    pub(super) fn checkpoint_id(&self, text: &str) -> Result<model::CheckpointId, Error> {
        pick("checkpoint", self.core.checkpoints().list().into_iter().map(|one| one.id), text)
    }
}

pub(crate) async fn list(cx: Cx, params: CheckpointList) -> Result<Checkpoints, Error> {
    let session = session_filter(&cx.core, params.session.as_deref())?;
    let tree = tree_filter(&cx.core, params.tree.as_deref()).await?;
    let all = cx.core.checkpoints().list();
    let wanted = all.iter().filter(|one| {
        session.is_none_or(|id| one.place.session() == Some(id))
            && (tree.as_deref())
                .is_none_or(|tree| cx.core.sessions().is_about(&one.place, Some(one.id), tree))
    });
    Ok(Checkpoints { checkpoints: wanted.map(Checkpoint::from).collect() })
}

pub(crate) async fn create(cx: Cx, params: CheckpointCreate) -> Result<Checkpoint, Error> {
    let (session, tree) = (params.session.as_deref(), params.tree.as_deref());
    let place = place(&cx.core, "session", session, tree).await?;
    cx.core.check_place(&place)?;
    let new = NewCheckpoint {
        place,
        title: text_or(params.title, "Checkpoint"),
        summary: text_or(params.summary, "Manual checkpoint"),
        review: params.review,
    };
    let made = cx.core.checkpoints().make(cx.core.checkpoints().new_id(), new).await?;
    Ok(Checkpoint::from(&made))
}

pub(crate) async fn show(cx: Cx, params: CheckpointShow) -> Result<Checkpoint, Error> {
    let id = cx.checkpoint_id(&params.id)?;
    Ok(Checkpoint::from(&cx.core.checkpoints().get(id)?))
}

pub(crate) async fn diff(cx: Cx, params: CheckpointDiff) -> Result<CheckpointDiffed, Error> {
    let id = cx.checkpoint_id(&params.id)?;
    let with = match params.with.as_deref() {
        None | Some("head") => Compared::Head,
        Some("now") => Compared::Now,
        Some(other) => Compared::Checkpoint(cx.checkpoint_id(other)?),
    };
    let found = cx.core.checkpoints().diff(id, with).await?;
    let files = found.files.iter().map(|file| ChangedFile {
        path: file.path.to_string_lossy().into_owned(),
        additions: file.additions,
        deletions: file.deletions,
        status: file.status.to_string(),
    });
    Ok(CheckpointDiffed {
        id: id.to_string(),
        differences: Differences {
            files: files.collect(),
            additions: Some(found.stat.additions),
            deletions: Some(found.stat.deletions),
            tests: None,
        },
        patch: String::from_utf8_lossy(&found.patch).into_owned(),
        cut: found.is_cut,
    })
}

pub(crate) async fn restore(
    cx: Cx,
    params: CheckpointRestore,
) -> Result<CheckpointRestored, Error> {
    let id = cx.checkpoint_id(&params.id)?;
    let what =
        if params.paths.is_empty() { RestoreScope::All } else { RestoreScope::Paths(params.paths) };
    let head = if params.head { HeadChange::Move } else { HeadChange::Keep };
    let (safety, restored) = cx.core.checkpoints().restore(id, what, head).await?;
    let untouched = restored.untouched.iter().map(|path| path.to_string_lossy().into_owned());
    Ok(CheckpointRestored {
        id: id.to_string(),
        safety: Checkpoint::from(&safety),
        written: restored.written,
        removed: restored.removed,
        untouched: untouched.collect(),
        moved_head: restored.moved_head,
    })
}

pub(crate) async fn delete(cx: Cx, params: CheckpointDelete) -> Result<CheckpointsDeleted, Error> {
    let id = cx.checkpoint_id(&params.id)?;
    cx.core.checkpoints().delete(id).await?;
    Ok(CheckpointsDeleted { deleted: vec![id.to_string()] })
}

pub(crate) async fn prune(cx: Cx, params: CheckpointPrune) -> Result<CheckpointsDeleted, Error> {
    absolute("repo", &params.repo)?;
    let keep = match (params.keep, params.older_than) {
        (Some(count), None) => Keep::Newest(count),
        (None, Some(seconds)) => Keep::Younger(Duration::from_secs(seconds)),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Error::invalid("keep", "give either keep or olderThan"));
        }
    };
    let gone = cx.core.checkpoints().prune(&params.repo, keep).await?;
    Ok(CheckpointsDeleted { deleted: gone.iter().map(ToString::to_string).collect() })
}
