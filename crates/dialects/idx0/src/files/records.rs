//! Records as the files spell them, read into those of the domain. What is not understood is none.

use std::collections::HashMap;

use rookery_model::{
    Answer, Asked, Category, ChangedFile, Checkpoint, CheckpointId, DiffStat, Differences, Handoff,
    HandoffId, QueueItem, QueueItemId, Related, Request, RequestId, RequestState, Review, ReviewId,
    SessionId, Settled, Source, TestSummary, TimelineItem, TimelineItemId, Timestamp,
};
use serde::Deserialize;

use crate::values::{parse_date, parse_uuid};
use crate::wire;

/// What the ids in other records mean.
pub(super) type Links = HashMap<u128, Related>;

/// Who decided what was decided before it came here.
const BY: &str = "idx0";

/// An item of the queue before there was a queue.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttentionItem {
    id: String,
    #[serde(rename = "sessionID")]
    session_id: String,
    reason: String,
    #[serde(default)]
    message: Option<String>,
    created_at: String,
    #[serde(default)]
    is_resolved: bool,
}

/// What an old reason is called now, and how urgent it is.
const REASONS: &[(&str, Category, &str)] = &[
    ("needsInput", Category::Blocked, "Needs input"),
    ("completed", Category::Completed, "Completed"),
    ("error", Category::Error, "Error"),
    ("notification", Category::Informational, "Notification"),
];

/// An optional id: one that is there must be one.
fn optional<T>(text: Option<&str>, id: fn(u128) -> T) -> Option<Option<T>> {
    match text {
        Some(text) => Some(Some(id(parse_uuid(text)?))),
        None => Some(None),
    }
}

fn session(text: &str) -> Option<SessionId> {
    parse_uuid(text).map(SessionId::new)
}

/// The session of a record, of which all zeros say that there is none.
fn owner(text: &str) -> Option<Option<SessionId>> {
    session(text).map(|id| (id.get() != 0).then_some(id))
}

fn related(text: Option<&str>, links: &Links) -> Option<Related> {
    links.get(&parse_uuid(text?)?).copied()
}

pub(super) fn queue_item(
    item: wire::SupervisionQueueItem,
    links: &Links,
    now: Timestamp,
) -> Option<QueueItem> {
    Some(QueueItem {
        id: QueueItemId::new(parse_uuid(&item.id)?),
        session: owner(&item.session_id)?,
        related: related(item.related_object_id.as_deref(), links),
        category: wire::read_category(&item.category)?,
        title: item.title,
        subtitle: item.subtitle,
        source: Source::Report,
        created_at: parse_date(&item.created_at)?,
        order: 0,
        is_pinned: item.is_pinned,
        // When it was dealt with is not written down; from now on it is kept its time.
        resolved_at: item.is_resolved.then_some(now),
    })
}

pub(super) fn attention(item: AttentionItem, now: Timestamp) -> Option<QueueItem> {
    let (_, category, title) = *REASONS.iter().find(|(reason, ..)| *reason == item.reason)?;
    Some(QueueItem {
        id: QueueItemId::new(parse_uuid(&item.id)?),
        session: owner(&item.session_id)?,
        related: None,
        category,
        title: title.to_owned(),
        subtitle: item.message,
        source: Source::Report,
        created_at: parse_date(&item.created_at)?,
        order: 0,
        is_pinned: false,
        resolved_at: item.is_resolved.then_some(now),
    })
}

pub(super) fn timeline_item(line: wire::TimelineItem, links: &Links) -> Option<TimelineItem> {
    Some(TimelineItem {
        id: TimelineItemId::new(parse_uuid(&line.id)?),
        session: owner(&line.session_id)?,
        created_at: parse_date(&line.created_at)?,
        order: 0,
        kind: wire::read_timeline_kind(&line.kind)?,
        title: line.title,
        related: related(line.related_object_id.as_deref(), links),
    })
}

fn differences(
    files: Vec<wire::ChangedFileSummary>,
    stat: Option<wire::DiffStat>,
    tests: Option<wire::TestSummary>,
) -> Option<Differences> {
    let file = |file: wire::ChangedFileSummary| ChangedFile {
        path: file.path,
        additions: file.additions,
        deletions: file.deletions,
        status: file.status,
    };
    let stat = stat.map(|stat| DiffStat {
        files: stat.files_changed,
        additions: stat.additions,
        deletions: stat.deletions,
    });
    let tests = match tests {
        Some(tests) => Some(TestSummary {
            status: wire::read_test_status(&tests.status)?,
            text: tests.summary_text,
        }),
        None => None,
    };
    Some(Differences { files: files.into_iter().map(file).collect(), stat, tests })
}

pub(super) fn checkpoint(one: wire::Checkpoint) -> Option<Checkpoint> {
    Some(Checkpoint {
        id: CheckpointId::new(parse_uuid(&one.id)?),
        place: session(&one.session_id)?.into(),
        repo: one.repo_path.map(Into::into),
        branch: one.branch_name,
        worktree: one.worktree_path.map(Into::into),
        title: one.title,
        summary: one.summary,
        head: one.commit_sha,
        snapshot: None,
        differences: differences(one.changed_files, one.diff_stat, one.test_summary)?,
        created_at: parse_date(&one.created_at)?,
        source: wire::read_checkpoint_source(&one.source)?,
    })
}

pub(super) fn handoff(one: wire::Handoff) -> Option<Handoff> {
    Some(Handoff {
        id: HandoffId::new(parse_uuid(&one.id)?),
        from: session(&one.source_session_id)?.into(),
        to: optional(one.target_session_id.as_deref(), SessionId::new)?,
        checkpoint: optional(one.checkpoint_id.as_deref(), CheckpointId::new)?,
        title: one.title,
        summary: one.summary,
        risks: one.risks,
        next_actions: one.next_actions,
        created_at: parse_date(&one.created_at)?,
        status: wire::read_handoff_status(&one.status)?,
    })
}

pub(super) fn review(one: wire::ReviewRequest) -> Option<Review> {
    Some(Review {
        id: ReviewId::new(parse_uuid(&one.id)?),
        place: session(&one.source_session_id)?.into(),
        checkpoint: optional(one.checkpoint_id.as_deref(), CheckpointId::new)?,
        created_at: parse_date(&one.created_at)?,
        summary: one.summary,
        differences: differences(one.changed_files, one.diff_stat, one.test_summary)?,
        status: wire::read_review_status(&one.status)?,
        comments: Vec::new(),
        plan: None,
    })
}

/// An approval: a request of its session that has no waiting caller.
pub(super) fn approval(one: wire::ApprovalRequest) -> Option<Request> {
    let id = RequestId::new(parse_uuid(&one.id)?);
    let at = parse_date(&one.created_at)?;
    let answer = match one.status.as_str() {
        "pending" | "deferred" => None,
        "approved" => Some(Answer::Approved { remember: false }),
        "denied" => Some(Answer::Denied { message: None }),
        _ => return None,
    };
    let tool = one.title.clone();
    let asked = Asked::Permission {
        title: one.title,
        summary: one.summary,
        action: one.requested_action,
        scope: one.scope_description,
    };
    let mut request = Request::of_session(id, session(&one.session_id)?, asked, at);
    request.tool = tool;
    request.is_deferred = one.status == "deferred";
    if let Some(answer) = answer {
        request.state = RequestState::Settled(Settled { answer, by: BY.to_owned(), at });
    }
    Some(request)
}
