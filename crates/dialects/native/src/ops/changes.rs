//! What happened to files: listed, shown, and hunks taken back.

use std::path::{Component, Path, PathBuf};

use rookery_core::HunkQuery;
use rookery_host::files;
use rookery_host::git::{GitError, changes};
use rookery_model as model;

use super::named::absolute;
use super::threads::find;
use crate::{
    Cx, Error,
    wire::{
        ChangeArea, ChangeList, ChangeShow, ChangeShown, ChangesListed, Hunk, HunkList,
        HunkRollback, HunkRolledBack, HunkShow, Hunks, Observed, TreeChanges, TreeFile,
    },
};

/// Files of a list, unless the client says how many.
const USUAL_FILES: usize = 500;
/// The bytes of a patch that are shown.
const MAX_PATCH: usize = 4 << 20;

pub(crate) async fn list(cx: Cx, params: ChangeList) -> Result<ChangesListed, Error> {
    let (thread, directory) = place(&cx, params.thread.as_deref(), params.workspace).await?;
    let limit = params.limit.unwrap_or(USUAL_FILES).max(1);
    let tree = match changes::list(&directory).await {
        Ok(list) => Some(shown(&list, limit)),
        // A thread may work where nothing is under version control.
        Err(GitError::NotARepository(_)) if thread.is_some() => None,
        Err(error) => return Err(failed(error)),
    };
    let observed = match thread {
        Some(thread) => cx.core.file_changes().observations(thread, None).await,
        None => Vec::new(),
    };
    Ok(ChangesListed { tree, observed: observed.iter().map(Observed::from).collect() })
}

pub(crate) async fn show(cx: Cx, params: ChangeShow) -> Result<ChangeShown, Error> {
    let path = Path::new(&params.path);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if params.path.is_empty() || !is_plain || params.path.contains('\0') {
        let message = "path must be a file's path from the top of the work tree on";
        return Err(Error::invalid("path", message));
    }
    let (_, directory) = place(&cx, params.thread.as_deref(), params.workspace).await?;
    let area = params.area.map(|area| match area {
        ChangeArea::Committed => changes::Area::Committed,
        ChangeArea::Staged => changes::Area::Staged,
        ChangeArea::Unstaged => changes::Area::Unstaged,
        ChangeArea::Untracked => changes::Area::Untracked,
    });
    let options = changes::PatchOptions { area, ignores_whitespace: params.ignore_whitespace };
    let patch = changes::read(&directory, &params.path, options).await.map_err(failed)?;
    let mut text = patch.text;
    let cut = text.len() > MAX_PATCH;
    if cut {
        let end = text[..text.floor_char_boundary(MAX_PATCH)].rfind('\n').map_or(0, |at| at + 1);
        text.truncate(end);
    }
    Ok(ChangeShown { path: params.path, patch: text, cut, binary: patch.is_binary })
}

pub(crate) async fn hunks(cx: Cx, params: HunkList) -> Result<Hunks, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let turn = match params.turn {
        None => None,
        Some(text) => {
            let unknown = |_| Error::invalid("turn", "turn must be the id of a turn");
            Some(text.parse().map_err(unknown)?)
        }
    };
    let query = HunkQuery { turn, path: params.path, plan: None };
    let hunks = cx.core.file_changes().hunks(thread, &query).await;
    Ok(Hunks { hunks: hunks.iter().map(|hunk| Hunk::of(hunk, false)).collect() })
}

pub(crate) async fn hunk(cx: Cx, params: HunkShow) -> Result<Hunk, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let found = cx.core.file_changes().hunk(thread, &params.hunk).await;
    let unknown = || {
        let shown: String = params.hunk.chars().take(128).collect();
        model::Error::not_found(format!("unknown hunk {shown:?}"))
    };
    Ok(Hunk::of(&found.ok_or_else(unknown)?, true))
}

pub(crate) async fn rollback(cx: Cx, params: HunkRollback) -> Result<HunkRolledBack, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let done = cx.core.file_changes().roll_back(thread, &params.hunk, true).await?;
    Ok(HunkRolledBack { rolled_back: done.error.is_none(), error: done.error })
}

/// The directory that is meant: that of a thread, or one that is named.
async fn place(
    cx: &Cx,
    thread: Option<&str>,
    workspace: Option<PathBuf>,
) -> Result<(Option<model::ThreadId>, PathBuf), Error> {
    let (thread, directory) = match (thread, workspace) {
        (Some(text), None) => {
            let id = find(&cx.core, text)?;
            let gone = || model::Error::not_found(format!("no thread {id}"));
            let seen = cx.core.threads().get(id).ok_or_else(gone)?;
            (Some(id), seen.thread.cwd)
        }
        (None, Some(directory)) => {
            absolute("workspace", &directory)?;
            (None, directory)
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(Error::invalid("thread", "give either thread or workspace"));
        }
    };
    let confined = changes::confined(directory, cx.core.agents().fs_roots()).await;
    let outside = |error: files::ConfinedError| {
        model::Error::new(model::ErrorKind::Denied, error.to_string())
    };
    Ok((thread, confined.map_err(outside)?))
}

fn failed(error: GitError) -> Error {
    model::Error::failed(error.to_string()).into()
}

fn shown(list: &changes::ChangeList, limit: usize) -> TreeChanges {
    let sum = |lines: fn(&changes::FileChange) -> u64| list.files.iter().map(lines).sum();
    TreeChanges {
        root: list.top.to_string_lossy().into_owned(),
        branch: list.branch.clone(),
        base: list.base.name.clone(),
        base_commit: list.base.tree.to_string(),
        head: list.head.as_ref().map(ToString::to_string),
        files: list.files.iter().take(limit).map(file).collect(),
        file_count: list.files.len() as u64,
        additions: sum(|file| file.additions),
        deletions: sum(|file| file.deletions),
    }
}

fn file(file: &changes::FileChange) -> TreeFile {
    let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
    let area = |area: &changes::Area| match area {
        changes::Area::Committed => "committed".to_owned(),
        changes::Area::Staged => "staged".to_owned(),
        changes::Area::Unstaged => "unstaged".to_owned(),
        changes::Area::Untracked => "untracked".to_owned(),
    };
    let status = match file.status {
        changes::Status::Added => "added",
        changes::Status::Modified => "modified",
        changes::Status::Deleted => "deleted",
        changes::Status::Renamed => "renamed",
        changes::Status::Untracked => "untracked",
    };
    TreeFile {
        path: text(&file.path),
        old_path: file.old_path.as_ref().map(text),
        status: status.to_owned(),
        areas: file.areas.iter().map(area).collect(),
        additions: file.additions,
        deletions: file.deletions,
        binary: file.is_binary,
        too_large: file.is_too_large,
    }
}
