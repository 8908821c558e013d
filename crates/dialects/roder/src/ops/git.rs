//! What a work tree changed, file by file: `git/changes/*`, and the same as `vcs/*`.

use std::path::{Path, PathBuf};

use rookery_host::git::{GitError, changes};

use super::fs::unconfined;
use crate::context::Cx;
use crate::errors::Error;
use crate::wire::git::{
    ChangeArea, GitChangeStatus, GitChangedFile, GitChangesListParams, GitChangesListResult,
    GitChangesReadParams, GitChangesReadResult, GitChangesTotals, VcsBase, VcsCapabilities,
    VcsCapability, VcsChangesListParams, VcsChangesListResult, VcsChangesReadParams,
    VcsChangesReadResult, VcsLine, VcsProvider, VcsStatus, VcsStatusParams, VcsWorkspace,
};

/// Files of a list, unless the client says how many.
const USUAL_FILES: u64 = 500;
/// Lines of a page, unless the client says how many.
const USUAL_LINES: u64 = 400;
/// The one program for version control.
const GIT: &str = "git";
/// What the general names of operations can do here.
const OPERATIONS: &[(&str, bool)] = &[
    ("status", true),
    ("changes_list", true),
    ("changes_read", true),
    ("file_list", false),
    ("selection", false),
    ("snapshot_create", false),
    ("restore", false),
    ("line_list", false),
    ("line_switch", false),
    ("sync_fetch", false),
    ("sync_pull", false),
    ("sync_push", false),
];

pub(crate) async fn list(
    cx: Cx,
    params: GitChangesListParams,
) -> Result<GitChangesListResult, Error> {
    let directory = workspace(&cx, params.workspace).await?;
    let list = changes::list(&directory).await.map_err(failed)?;
    let (files, totals, truncated) = page(&list, params.limit);
    Ok(GitChangesListResult {
        repository_root: list.top.to_string_lossy().into_owned(),
        branch: list.branch,
        base_ref: list.base.name,
        base_sha: list.base.tree.to_string(),
        head_sha: list.head.map(|head| head.to_string()),
        files,
        totals,
        truncated,
    })
}

pub(crate) async fn read(
    cx: Cx,
    params: GitChangesReadParams,
) -> Result<GitChangesReadResult, Error> {
    check_path(&params.path)?;
    let directory = workspace(&cx, params.workspace).await?;
    let options = options(params.area, params.ignore_whitespace);
    let patch = changes::read(&directory, &params.path, options).await.map_err(failed)?;
    let limit = params.limit.unwrap_or(USUAL_LINES).max(1);
    let page = Lines::of(&patch.text, params.offset, limit);
    Ok(GitChangesReadResult {
        path: params.path,
        patch: page.text,
        offset: page.offset,
        limit,
        total_lines: page.total,
        next_offset: page.next,
        binary: patch.is_binary,
        too_large: patch.is_too_large,
    })
}

pub(crate) async fn status(cx: Cx, params: VcsStatusParams) -> Result<VcsStatus, Error> {
    let VcsStatusParams { workspace_id, root_id, provider_id } = params;
    let directory = root(&cx, &workspace_id, root_id.as_deref(), provider_id.as_deref()).await?;
    let list = changes::list(&directory).await.map_err(failed)?;
    Ok(status_of(&list, workspace_id))
}

pub(crate) async fn list_general(
    cx: Cx,
    params: VcsChangesListParams,
) -> Result<VcsChangesListResult, Error> {
    let VcsChangesListParams { workspace_id, root_id, provider_id, limit } = params;
    let directory = root(&cx, &workspace_id, root_id.as_deref(), provider_id.as_deref()).await?;
    let list = changes::list(&directory).await.map_err(failed)?;
    let (files, totals, truncated) = page(&list, limit);
    Ok(VcsChangesListResult { status: status_of(&list, workspace_id), files, totals, truncated })
}

pub(crate) async fn read_general(
    cx: Cx,
    params: VcsChangesReadParams,
) -> Result<VcsChangesReadResult, Error> {
    check_path(&params.path)?;
    let (root_id, provider) = (params.root_id.as_deref(), params.provider_id.as_deref());
    let directory = root(&cx, &params.workspace_id, root_id, provider).await?;
    let options = options(params.area, params.ignore_whitespace);
    let patch = changes::read(&directory, &params.path, options).await.map_err(failed)?;
    let limit = params.limit.unwrap_or(USUAL_LINES).max(1);
    let page = Lines::of(&patch.text, params.offset, limit);
    Ok(VcsChangesReadResult {
        path: params.path,
        content: Some(page.text),
        offset: page.offset,
        total_lines: page.total,
        next_offset: page.next,
        binary: patch.is_binary,
    })
}

/// The directory that a client means, or its own.
async fn workspace(cx: &Cx, named: Option<String>) -> Result<PathBuf, Error> {
    let directory = named.map_or_else(|| cx.cwd(), PathBuf::from);
    if !directory.is_absolute() {
        return Err(Error::invalid("workspace must be absolute"));
    }
    changes::confined(directory, cx.core.agents().fs_roots()).await.map_err(unconfined)
}

/// The directory of a root of a workspace.
async fn root(
    cx: &Cx,
    workspace: &str,
    root: Option<&str>,
    provider: Option<&str>,
) -> Result<PathBuf, Error> {
    if let Some(unknown) = provider.filter(|id| *id != GIT) {
        let shown: String = unknown.chars().take(128).collect();
        return Err(Error::invalid(format!("unknown providerId {shown:?}; there is \"git\"")));
    }
    let place = cx.core.agents().place_for(None, Some(workspace), root, Path::new("/")).await?;
    changes::confined(place.cwd, cx.core.agents().fs_roots()).await.map_err(unconfined)
}

/// Git said no, or the file system did.
fn failed(error: GitError) -> Error {
    Error::runtime(format!("git failed: {error}"))
}

/// Refuses paths that are not those of one file in the repository.
fn check_path(path: &str) -> Result<(), Error> {
    let given = Path::new(path);
    if path.is_empty() || given.is_absolute() || path.starts_with(':') || path.contains('\0') {
        return Err(Error::invalid("path must be a relative repository path"));
    }
    let leads_out = given.components().any(|part| part == std::path::Component::ParentDir);
    match leads_out {
        true => Err(Error::invalid("path must stay inside the repository")),
        false => Ok(()),
    }
}

fn options(area: Option<ChangeArea>, ignores_whitespace: bool) -> changes::PatchOptions {
    let area = area.map(|area| match area {
        ChangeArea::Committed => changes::Area::Committed,
        ChangeArea::Staged => changes::Area::Staged,
        ChangeArea::Unstaged => changes::Area::Unstaged,
        ChangeArea::Untracked => changes::Area::Untracked,
    });
    changes::PatchOptions { area, ignores_whitespace }
}

/// The first files, the sum over all, and whether there are more.
fn page(
    list: &changes::ChangeList,
    limit: Option<u64>,
) -> (Vec<GitChangedFile>, GitChangesTotals, bool) {
    let limit = usize::try_from(limit.unwrap_or(USUAL_FILES).max(1)).unwrap_or(usize::MAX);
    let totals = GitChangesTotals {
        files: list.files.len() as u64,
        additions: list.files.iter().map(|file| file.additions).sum(),
        deletions: list.files.iter().map(|file| file.deletions).sum(),
    };
    let files = list.files.iter().take(limit).map(shown).collect();
    (files, totals, list.files.len() > limit)
}

fn shown(file: &changes::FileChange) -> GitChangedFile {
    let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
    let area = |area: &changes::Area| match area {
        changes::Area::Committed => ChangeArea::Committed,
        changes::Area::Staged => ChangeArea::Staged,
        changes::Area::Unstaged => ChangeArea::Unstaged,
        changes::Area::Untracked => ChangeArea::Untracked,
    };
    GitChangedFile {
        path: text(&file.path),
        old_path: file.old_path.as_ref().map(text),
        status: match file.status {
            changes::Status::Added => GitChangeStatus::Added,
            changes::Status::Modified => GitChangeStatus::Modified,
            changes::Status::Deleted => GitChangeStatus::Deleted,
            changes::Status::Renamed => GitChangeStatus::Renamed,
            changes::Status::Untracked => GitChangeStatus::Untracked,
        },
        additions: file.additions,
        deletions: file.deletions,
        binary: file.is_binary,
        areas: Some(file.areas.iter().map(area).collect()),
        too_large: file.is_too_large,
    }
}

fn status_of(list: &changes::ChangeList, workspace: String) -> VcsStatus {
    let operation = |(operation, works): &(&str, bool)| VcsCapability {
        operation: (*operation).to_owned(),
        state: if *works { "supported" } else { "unsupported" }.to_owned(),
    };
    VcsStatus {
        provider: VcsProvider { id: GIT.to_owned(), display_name: "Git".to_owned() },
        workspace: VcsWorkspace {
            root: list.top.to_string_lossy().into_owned(),
            id: Some(workspace),
        },
        active_line: list.branch.as_ref().map(|branch| VcsLine {
            id: branch.clone(),
            name: branch.clone(),
            kind: "branch".to_owned(),
        }),
        base: Some(VcsBase {
            ref_name: list.base.name.clone(),
            sha: Some(list.base.tree.to_string()),
        }),
        capabilities: VcsCapabilities { operations: OPERATIONS.iter().map(operation).collect() },
        changed_file_count: list.files.len() as u64,
    }
}

/// A part of a text, by lines.
#[derive(Debug, PartialEq, Eq)]
struct Lines {
    text: String,
    offset: u64,
    total: u64,
    next: Option<u64>,
}

impl Lines {
    fn of(text: &str, offset: u64, limit: u64) -> Self {
        let total = text.split_inclusive('\n').count() as u64;
        let offset = offset.min(total);
        let end = offset.saturating_add(limit).min(total);
        let lines = text.split_inclusive('\n').skip(offset as usize).take((end - offset) as usize);
        let mut page: String = lines.collect();
        if !page.is_empty() && !page.ends_with('\n') {
            page.push('\n');
        }
        Lines { text: page, offset, total, next: (end < total).then_some(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_lines_and_offsets_are_clamped() {
        let text = "a\nb\r\nc";
        let page = |offset, limit| {
            let Lines { text: page, offset, total, next } = Lines::of(text, offset, limit);
            assert_eq!(total, 3);
            (page, offset, next)
        };
        assert_eq!(page(0, 2), ("a\nb\r\n".into(), 0, Some(2)));
        assert_eq!(page(2, u64::MAX), ("c\n".into(), 2, None));
        assert_eq!(page(u64::MAX, 1), (String::new(), 3, None));
        assert_eq!(Lines::of("", 0, 1).total, 0);
    }

    #[test]
    fn paths_stay_inside() {
        for wrong in ["", "/etc/passwd", ":/", ":(glob)**", "a\0b"] {
            let error = check_path(wrong).unwrap_err();
            assert_eq!(error.to_string(), "path must be a relative repository path", "{wrong}");
        }
        for wrong in ["..", "a/../../b", "a/.."] {
            let error = check_path(wrong).unwrap_err();
            assert_eq!(error.to_string(), "path must stay inside the repository", "{wrong}");
        }
        for fine in ["a", "a/b", "..a", "é sp.txt", "-x"] {
            assert!(check_path(fine).is_ok(), "{fine}");
        }
    }
}
