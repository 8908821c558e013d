//! What happened to files, and plans that are reviewed.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rookery_model::{
    ChangeRecord, CheckpointId, Differences, Edit, FileOperation, FileStatus, Hunk, HunkLine,
    ItemId, LineKind, Observation, ObservedFile, PlanAnchor, PlanKey, PlanRewrite, PlanStage,
    Record, RequestId, Review, ReviewComment, ReviewId, ReviewStatus, ReviewedPlan, ReviewedStep,
    Rollback, SessionId, ThreadId, TurnId, Undone, Words,
};

use super::super::*;
use super::{text, time};

fn any_word<T: Words + std::fmt::Debug>() -> impl Strategy<Value = T> {
    select(T::WORDS.iter().map(|(value, _)| *value).collect::<Vec<_>>())
}

fn edit() -> impl Strategy<Value = Edit> {
    let line = (any_word::<LineKind>(), text()).prop_map(|(kind, text)| HunkLine { kind, text });
    let names = (text(), option::of(text()), any_word::<FileOperation>());
    let rest = (any::<[u64; 4]>(), vec(line, 0..4), option::of(any::<u32>()), option::of(text()));
    (names, rest).prop_map(|(names, (numbers, lines, mode, obstacle))| Edit {
        path: names.0,
        old_path: names.1,
        operation: names.2,
        old_start: numbers[0],
        old_lines: numbers[1],
        new_start: numbers[2],
        new_lines: numbers[3],
        lines,
        mode,
        obstacle,
    })
}

fn key() -> impl Strategy<Value = PlanKey> {
    prop_oneof![
        any::<u128>().prop_map(|id| PlanKey::Request(RequestId::new(id))),
        text().prop_map(|item| PlanKey::Call(ItemId::new(item))),
    ]
}

fn hunk() -> impl Strategy<Value = Hunk> {
    let rollback = prop_oneof![
        Just(Rollback::Available),
        Just(Rollback::Applied),
        text().prop_map(Rollback::Unavailable),
        text().prop_map(Rollback::Conflict),
    ];
    let undone = any::<[u64; 4]>().prop_map(|[number, at, removed, added]| Undone {
        number,
        at,
        removed,
        added,
    });
    let ids = (any::<u64>(), text(), any::<u128>(), option::of(any::<u128>()), text(), text());
    let around = (option::of(text()), option::of(any::<u128>()));
    let rest =
        (edit(), option::of(key()), rollback, any::<bool>(), option::of(undone), time(), around);
    (ids, rest).prop_map(|(ids, rest)| Hunk {
        number: ids.0,
        id: ids.1,
        thread: ThreadId::new(ids.2),
        turn: ids.3.map(TurnId::new),
        call: ids.4,
        tool: ids.5,
        edit: rest.0,
        plan: rest.1,
        rollback: rest.2,
        is_begun: rest.3,
        undone: rest.4,
        at: rest.5,
        step: rest.6.0,
        checkpoint: rest.6.1.map(CheckpointId::new),
    })
}

fn observation() -> impl Strategy<Value = Observation> {
    let numbers = (any::<u64>(), any::<u64>(), any::<bool>());
    let file = (text(), option::of(text()), any_word::<FileStatus>(), numbers);
    let file = file.prop_map(|(path, old_path, status, numbers)| ObservedFile {
        path,
        old_path,
        status,
        additions: numbers.0,
        deletions: numbers.1,
        is_binary: numbers.2,
    });
    let ids = (any::<u64>(), text(), any::<u128>(), option::of(any::<u128>()), text(), text());
    (ids, any::<bool>(), vec(file, 0..3), time()).prop_map(|(ids, is_shared, files, at)| {
        Observation {
            number: ids.0,
            id: ids.1,
            thread: ThreadId::new(ids.2),
            turn: ids.3.map(TurnId::new),
            call: ids.4,
            tool: ids.5,
            is_shared,
            files,
            at,
        }
    })
}

fn anchor() -> impl Strategy<Value = PlanAnchor> {
    let file = (text(), option::of(any::<u32>()), option::of(any::<u32>()));
    prop_oneof![
        Just(PlanAnchor::Whole),
        text().prop_map(PlanAnchor::Step),
        any::<(u32, u32)>().prop_map(|(first, last)| PlanAnchor::Lines(first, last)),
        file.prop_map(|(path, first, last)| PlanAnchor::File { path, first, last }),
        text().prop_map(PlanAnchor::Hunk),
    ]
}

fn plan_review() -> impl Strategy<Value = Review> {
    let step = (text(), text(), option::of(text()), any::<bool>());
    let step =
        step.prop_map(|(id, title, detail, is_done)| ReviewedStep { id, title, detail, is_done });
    let rewrite = (text(), time()).prop_map(|(markdown, at)| PlanRewrite { markdown, at });
    let heads = (key(), any::<u128>(), any::<u128>(), any_word::<PlanStage>());
    let rest = (text(), text(), vec(step, 0..3), vec(rewrite, 0..3), vec(text(), 0..3), time());
    let plan = (heads, rest).prop_map(|(heads, rest)| ReviewedPlan {
        key: heads.0,
        thread: ThreadId::new(heads.1),
        turn: TurnId::new(heads.2),
        stage: heads.3,
        title: rest.0,
        markdown: rest.1,
        steps: rest.2,
        rewrites: rest.3,
        undelivered: rest.4,
        updated_at: rest.5,
    });
    let comment = (text(), time(), anchor()).prop_map(|(text, at, anchor)| ReviewComment {
        path: None,
        line: None,
        text,
        by: String::new(),
        at,
        is_delivered: false,
        anchor: Some(anchor),
    });
    (plan, vec(comment, 0..3), time()).prop_map(|(plan, comments, created_at)| Review {
        id: ReviewId::new(1),
        place: SessionId::new(2).into(),
        checkpoint: None,
        created_at,
        summary: "s".to_owned(),
        differences: Differences::default(),
        status: ReviewStatus::Open,
        comments,
        plan: Some(Box::new(plan)),
    })
}

proptest! {
    #[test]
    fn what_happened_to_files_comes_back_as_it_was(
        record in prop_oneof![
            hunk().prop_map(ChangeRecord::Hunk),
            observation().prop_map(ChangeRecord::Observation),
        ],
    ) {
        prop_assert_eq!(change_from_json(&change_to_json(&record)).unwrap(), record);
    }

    #[test]
    fn plans_come_back_as_they_were(review in plan_review()) {
        let record = Record::Review(review);
        prop_assert_eq!(record_from_json(&record_to_json(&record)).unwrap(), record);
    }
}
