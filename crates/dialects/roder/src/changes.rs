//! What happened to files, as this dialect shows it.

use rookery_changes::{SHOWN_LINES, reverse_patch};
use rookery_core::FileChange;
use rookery_model::{self as model, Words as _};
use serde::Serialize;
use serde_json::Value;

use crate::wire::git::{GitChangeStatus, GitChangedFile};
use crate::wire::hunk::{
    Hunk, HunkLine, HunkRecorded, HunkRollback, Observation, RollbackState, WorkspaceChangeObserved,
};
use crate::wire::notification::name;
use crate::{plans, show};

/// A turn as it is spelled; an id of zeros if there is none.
pub(crate) fn turn_id(turn: Option<model::TurnId>) -> String {
    turn.unwrap_or(model::TurnId::new(0)).to_string()
}

pub(crate) fn hunk(hunk: &model::Hunk) -> Hunk {
    let edit = &hunk.edit;
    Hunk {
        id: hunk.id.clone(),
        thread_id: hunk.thread.to_string(),
        turn_id: turn_id(hunk.turn),
        path: edit.path.clone(),
        old_path: edit.old_path.clone(),
        file_op: edit.operation.word().to_owned(),
        old_start: edit.old_start,
        old_lines: edit.old_lines,
        new_start: edit.new_start,
        new_lines: edit.new_lines,
        diff: lines(edit),
        tool_call_id: hunk.call.clone(),
        tool_name: hunk.tool.clone(),
        plan_review_id: hunk.plan.as_ref().map(plans::spell),
        plan_step_id: hunk.step.clone(),
        timeline_event_id: hunk.item().map(str::to_owned),
        checkpoint_id: hunk.checkpoint.map(|checkpoint| checkpoint.to_string()),
        rollback: match &hunk.rollback {
            model::Rollback::Available => RollbackState::Available,
            model::Rollback::Applied => RollbackState::Applied,
            model::Rollback::Unavailable(reason) => {
                RollbackState::Unavailable { reason: reason.clone() }
            }
            model::Rollback::Conflict(reason) => RollbackState::Conflict { reason: reason.clone() },
        },
        reverse_patch: reverse_patch(edit),
        created_at: show::time(hunk.at),
    }
}

/// The first lines, with their numbers on both sides.
fn lines(edit: &model::Edit) -> Vec<HunkLine> {
    let first = |start: u64, count: u64| if count == 0 { start + 1 } else { start };
    let mut old = first(edit.old_start, edit.old_lines);
    let mut new = first(edit.new_start, edit.new_lines);
    let next = |number: &mut u64, is_there: bool| {
        let now = *number;
        *number += u64::from(is_there);
        is_there.then_some(now)
    };
    let line = |line: &model::HunkLine| HunkLine {
        kind: line.kind.word().to_owned(),
        text: line.text.strip_suffix('\n').unwrap_or(&line.text).to_owned(),
        old_line: next(&mut old, line.kind != model::LineKind::Added),
        new_line: next(&mut new, line.kind != model::LineKind::Removed),
    };
    edit.lines.iter().take(SHOWN_LINES).map(line).collect()
}

pub(crate) fn observation(seen: &model::Observation) -> Observation {
    let file = |file: &model::ObservedFile| GitChangedFile {
        path: file.path.clone(),
        old_path: file.old_path.clone(),
        status: match file.status {
            model::FileStatus::Added => GitChangeStatus::Added,
            model::FileStatus::Modified => GitChangeStatus::Modified,
            model::FileStatus::Deleted => GitChangeStatus::Deleted,
            model::FileStatus::Renamed => GitChangeStatus::Renamed,
            model::FileStatus::Untracked => GitChangeStatus::Untracked,
        },
        additions: file.additions,
        deletions: file.deletions,
        binary: file.is_binary,
        areas: None,
        too_large: false,
    };
    Observation {
        id: seen.id.clone(),
        thread_id: seen.thread.to_string(),
        turn_id: turn_id(seen.turn),
        tool_call_id: seen.call.clone(),
        tool_name: seen.tool.clone(),
        source: "versionControlReconciled".to_owned(),
        source_legacy: "gitReconciled".to_owned(),
        provider_id: "git".to_owned(),
        confidence: "observedAfterTool".to_owned(),
        shared: seen.is_shared,
        files: seen.files.iter().map(file).collect(),
        created_at: show::time(seen.at),
    }
}

/// Whether a request made it, not a turn.
pub(crate) fn is_own(change: &FileChange) -> bool {
    match change {
        FileChange::RollbackRequested { .. } | FileChange::RollbackCompleted { .. } => true,
        FileChange::Recorded(_) | FileChange::Observed(_) => false,
    }
}

/// The notification of a change, with its name.
pub(crate) fn notification(
    change: &FileChange,
    thread_id: Option<String>,
    at: model::Timestamp,
) -> (&'static str, Value) {
    let timestamp = show::time(at);
    let rollback = |turn: &Option<model::TurnId>, hunk: &String, error: Option<String>| {
        let thread_id = thread_id.clone().unwrap_or_default();
        let (turn_id, hunk_id) = (turn_id(*turn), hunk.clone());
        value(HunkRollback { thread_id, turn_id, hunk_id, error, timestamp: timestamp.clone() })
    };
    match change {
        FileChange::Recorded(recorded) => {
            let hunk = hunk(recorded);
            (name::HUNK_RECORDED, value(HunkRecorded { hunk, timestamp }))
        }
        FileChange::RollbackRequested { turn, hunk } => {
            (name::HUNK_ROLLBACK_REQUESTED, rollback(turn, hunk, None))
        }
        FileChange::RollbackCompleted { turn, hunk, error } => {
            (name::HUNK_ROLLBACK_COMPLETED, rollback(turn, hunk, error.clone()))
        }
        FileChange::Observed(seen) => {
            let change = observation(seen);
            (name::CHANGE_OBSERVED, value(WorkspaceChangeObserved { change, timestamp }))
        }
    }
}

pub(crate) fn value(params: impl Serialize) -> Value {
    serde_json::to_value(params).unwrap_or_default()
}
