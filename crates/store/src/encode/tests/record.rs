//! The stored form of what supervision keeps.

use prop::sample::select;
use rookery_model::{
    Accepted, AcceptedSession, AcceptedTool, AcceptedWork, Answer, Category, ChangedFile,
    Checkpoint, CheckpointId, CheckpointSource, DiffStat, Differences, EventId, HandledEvent,
    Handoff, HandoffId, HandoffStatus, Home, Origin, PlannedTree, QueueItem, QueueItemId, Record,
    Related, RequestId, Review, ReviewComment, ReviewId, ReviewStatus, SessionId, Source,
    TestStatus, TestSummary, TimelineItem, TimelineItemId, TimelineKind, WorkPlace,
};

use super::*;

fn raw() -> impl Strategy<Value = u128> {
    any::<u128>()
}

fn related() -> impl Strategy<Value = Option<Related>> {
    option::of(prop_oneof![
        raw().prop_map(|id| Related::Request(RequestId::new(id))),
        raw().prop_map(|id| Related::Review(ReviewId::new(id))),
        raw().prop_map(|id| Related::Checkpoint(CheckpointId::new(id))),
        raw().prop_map(|id| Related::Handoff(HandoffId::new(id))),
    ])
}

fn place() -> impl Strategy<Value = WorkPlace> {
    prop_oneof![
        raw().prop_map(|id| WorkPlace::Session(SessionId::new(id))),
        path().prop_map(WorkPlace::Tree),
    ]
}

fn differences() -> impl Strategy<Value = Differences> {
    let file = (text(), option::of(any::<u64>()), option::of(any::<u64>()), text());
    let file = file.prop_map(|(path, additions, deletions, status)| ChangedFile {
        path,
        additions,
        deletions,
        status,
    });
    let stat = any::<(u64, u64, u64)>().prop_map(|(files, additions, deletions)| DiffStat {
        files,
        additions,
        deletions,
    });
    let status = select(vec![TestStatus::Passed, TestStatus::Failed, TestStatus::Unknown]);
    let tests = (status, text()).prop_map(|(status, text)| TestSummary { status, text });
    (vec(file, 0..3), option::of(stat), option::of(tests))
        .prop_map(|(files, stat, tests)| Differences { files, stat, tests })
}

fn queue_item() -> impl Strategy<Value = QueueItem> {
    let source = select(vec![Source::Protocol, Source::Report, Source::Screen, Source::Program]);
    let names = (raw(), raw(), related(), select(Category::ALL.to_vec()), source);
    let rest =
        (text(), option::of(text()), time(), any::<u64>(), any::<bool>(), option::of(time()));
    (names, rest).prop_map(|(names, rest)| QueueItem {
        id: QueueItemId::new(names.0),
        session: Some(SessionId::new(names.1)),
        related: names.2,
        category: names.3,
        source: names.4,
        title: rest.0,
        subtitle: rest.1,
        created_at: rest.2,
        order: rest.3,
        is_pinned: rest.4,
        resolved_at: rest.5,
    })
}

fn review() -> impl Strategy<Value = Review> {
    let line = (option::of(text()), option::of(any::<u32>()));
    let comment = (line, text(), text(), time(), any::<bool>());
    let comment = comment.prop_map(|((path, line), text, by, at, is_delivered)| ReviewComment {
        path,
        line,
        text,
        by,
        at,
        is_delivered,
        anchor: None,
    });
    let status = select(vec![
        ReviewStatus::Open,
        ReviewStatus::Approved,
        ReviewStatus::ChangesRequested,
        ReviewStatus::Deferred,
    ]);
    (raw(), place(), option::of(raw()), time(), text(), differences(), status, vec(comment, 0..3))
        .prop_map(|parts| Review {
            id: ReviewId::new(parts.0),
            place: parts.1,
            checkpoint: parts.2.map(CheckpointId::new),
            created_at: parts.3,
            summary: parts.4,
            differences: parts.5,
            status: parts.6,
            comments: parts.7,
            plan: None,
        })
}

fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    let source = select(vec![
        CheckpointSource::Manual,
        CheckpointSource::AgentEvent,
        CheckpointSource::Automatic,
    ]);
    let found = (option::of(path()), option::of(text()), option::of(path()));
    let words = (text(), text(), option::of(text()), option::of(text()));
    (raw(), place(), found, words, differences(), time(), source).prop_map(|parts| Checkpoint {
        id: CheckpointId::new(parts.0),
        place: parts.1,
        repo: parts.2.0,
        branch: parts.2.1,
        worktree: parts.2.2,
        title: parts.3.0,
        summary: parts.3.1,
        head: parts.3.2,
        snapshot: parts.3.3,
        differences: parts.4,
        created_at: parts.5,
        source: parts.6,
    })
}

fn handoff() -> impl Strategy<Value = Handoff> {
    let status =
        select(vec![HandoffStatus::Pending, HandoffStatus::Accepted, HandoffStatus::Resolved]);
    let names = (raw(), place(), option::of(raw()), option::of(raw()));
    let words = (text(), text(), vec(text(), 0..3), vec(text(), 0..3));
    (names, words, time(), status).prop_map(|(names, words, created_at, status)| Handoff {
        id: HandoffId::new(names.0),
        from: names.1,
        to: names.2.map(SessionId::new),
        checkpoint: names.3.map(CheckpointId::new),
        title: words.0,
        summary: words.1,
        risks: words.2,
        next_actions: words.3,
        created_at,
        status,
    })
}

fn line() -> impl Strategy<Value = TimelineItem> {
    use TimelineKind::*;
    let kind = select(vec![
        SessionCreated,
        SessionClosed,
        SessionLaunched,
        CheckpointCreated,
        HandoffCreated,
        HandoffUpdated,
        ReviewRequested,
        ReviewUpdated,
        ApprovalRequested,
        ApprovalUpdated,
        StatusProgress,
        StatusCompleted,
        StatusError,
        StatusBlocked,
        StatusNeedsInput,
    ]);
    (raw(), raw(), time(), any::<u64>(), kind, text(), related()).prop_map(|parts| TimelineItem {
        id: TimelineItemId::new(parts.0),
        session: Some(SessionId::new(parts.1)),
        created_at: parts.2,
        order: parts.3,
        kind: parts.4,
        title: parts.5,
        related: parts.6,
    })
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        queue_item().prop_map(Record::Queue),
        review().prop_map(Record::Review),
        checkpoint().prop_map(Record::Checkpoint),
        handoff().prop_map(Record::Handoff),
        line().prop_map(Record::Timeline),
        (any::<u64>(), raw()).prop_map(|(order, id)| {
            Record::Handled(HandledEvent { order, id: EventId::new(id) })
        }),
        accepted().prop_map(|accepted| Record::Accepted(Box::new(accepted))),
    ]
}

fn planned_tree() -> impl Strategy<Value = PlannedTree> {
    (text(), text(), option::of(text())).prop_map(|(path, branch, base)| PlannedTree {
        top: "/w".into(),
        path: path.into(),
        branch,
        base,
    })
}

fn accepted() -> impl Strategy<Value = Accepted> {
    let session = (raw(), option::of(text()), option::of(planned_tree()), any::<bool>());
    let session = session.prop_map(|(id, title, tree, is_launching)| AcceptedSession {
        session: SessionId::new(id),
        repo: title.clone().map(Into::into),
        branch: title.clone(),
        create_worktree: is_launching,
        existing_worktree: None,
        tool: title.clone().map_or(AcceptedTool::Usual, AcceptedTool::Named),
        title,
        tree,
        is_launching,
        origin: if is_launching { Origin::Person } else { Origin::Agent(Home::Unknown) },
    });
    let answer = prop_oneof![
        any::<bool>().prop_map(|remember| Answer::Approved { remember }),
        text().prop_map(Answer::Given),
        Just(Answer::AtTerminal),
    ];
    let work = prop_oneof![
        (raw(), answer, text()).prop_map(|(id, answer, by)| AcceptedWork::Answer {
            request: RequestId::new(id),
            answer,
            by,
        }),
        (raw(), place(), text(), any::<bool>()).prop_map(|(id, place, title, review)| {
            AcceptedWork::Checkpoint {
                checkpoint: CheckpointId::new(id),
                place,
                summary: title.clone(),
                title,
                review,
            }
        }),
        session.prop_map(|session| AcceptedWork::Session(Box::new(session))),
        planned_tree().prop_map(AcceptedWork::Worktree),
        planned_tree().prop_map(AcceptedWork::LentWorktree),
        raw().prop_map(|id| AcceptedWork::Delivery(ReviewId::new(id))),
    ];
    (time(), work).prop_map(|(at, work)| Accepted { at, work })
}

/// What supervision says happened.
pub(super) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        queue_item().prop_map(|item| Event::QueueItemFiled(Box::new(item))),
        (raw(), option::of(1u128..)).prop_map(|(id, session)| Event::QueueItemResolved {
            id: QueueItemId::new(id),
            session: session.map(SessionId::new),
        }),
        review().prop_map(|review| Event::ReviewChanged(Box::new(review))),
        checkpoint().prop_map(|made| Event::CheckpointCreated(Box::new(made))),
        handoff().prop_map(|handoff| Event::HandoffChanged(Box::new(handoff))),
    ]
}

proptest! {
    #[test]
    fn records_come_back_as_they_were(record in record()) {
        prop_assert_eq!(record_from_json(&record_to_json(&record)).unwrap(), record);
    }
}

#[test]
fn a_record_of_another_kind_is_an_error() {
    assert!(record_from_json(r#"{"later":{}}"#).is_err());
    assert!(record_from_json(r#"{"handled":{"id":"x","order":1}}"#).is_err());
}

/// As it was written before checkpoints, reviews and handoffs could belong to a work tree.
#[test]
fn what_older_daemons_kept_belongs_to_its_session() {
    let id = "00000000-0000-0000-0000-000000000007";
    let place = WorkPlace::Session(SessionId::new(7));
    let review = format!(
        r#"{{"review":{{"id":"{id}","session":"{id}","created_at":1,"summary":"s",
            "differences":{{}},"status":"open"}}}}"#
    );
    let checkpoint = format!(
        r#"{{"checkpoint":{{"id":"{id}","session":"{id}","title":"t","summary":"s",
            "differences":{{}},"created_at":1,"source":"manual"}}}}"#
    );
    let handoff = format!(
        r#"{{"handoff":{{"id":"{id}","from":"{id}","title":"t","summary":"s","created_at":1,
            "status":"pending"}}}}"#
    );
    let accepted = format!(
        r#"{{"accepted":{{"at":1,"work":{{"checkpoint":{{"checkpoint":"{id}","session":"{id}",
            "title":"t","summary":"s"}}}}}}}}"#
    );
    for json in [review, checkpoint, handoff, accepted] {
        let found = match record_from_json(&json).unwrap() {
            Record::Review(review) => review.place,
            Record::Checkpoint(checkpoint) => checkpoint.place,
            Record::Handoff(handoff) => handoff.from,
            Record::Accepted(accepted) => match accepted.work {
                AcceptedWork::Checkpoint { place, .. } => place,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(found, place, "{json}");
    }
}
