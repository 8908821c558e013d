//! Transactions are all or nothing, whatever they did before they failed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use rookery_model::{
    Answer, Asked, Category, Error, Event, Mode, Project, ProjectId, Request, RequestId, SessionId,
    Source, TerminalId, ThreadId, TimelineKind, Timestamp,
};

use super::{Active, Tx};
use crate::core::Core;
use crate::queue::NewItem;
use crate::threads::tests::{core_in, thread_in};

/// One change to each part of the world; none of them asks whether it makes sense.
const CHANGES: &[fn(&mut Tx<'_>, u8)] = &[
    |tx, n| {
        let id = ProjectId::new(n.into());
        let project = Project {
            id,
            name: format!("project {n}"),
            root: "/".into(),
            position: n.into(),
            selected: None,
            created_at: Timestamp::default(),
        };
        tx.world.projects.push(project);
        tx.save_project(id);
    },
    |tx, _| tx.world.projects.clear(),
    |tx, n| tx.world.active = Active { project: None, terminal: Some(TerminalId::new(n.into())) },
    |tx, n| tx.world.window_focus = Some(n % 2 == 0),
    |tx, _| {
        tx.world.mint_project();
        tx.world.mint_terminal();
    },
    |tx, n| {
        let id = RequestId::new(n.into());
        let asked = Asked::Dialog { dialog: "d".into(), title: "t".into(), text: "x".into() };
        let session = SessionId::new((n % 3).into());
        let request = Request::of_session(id, session, asked, Timestamp::default());
        tx.world.requests.insert(request);
    },
    |tx, n| {
        tx.resolve_request(RequestId::new(n.into()), Answer::Cancelled, "test");
    },
    |tx, n| {
        let ids: Vec<ThreadId> = tx.world.threads.keys().copied().collect();
        for id in ids {
            if let Some(state) = tx.world.threads.get_mut(&id) {
                state.thread.name = Some(format!("thread {n}"));
            }
        }
    },
    |tx, _| drop(tx.world.threads.pop_first()),
    |tx, n| {
        tx.file(NewItem {
            session: SessionId::new((n % 3).into()),
            related: None,
            category: Category::ALL[usize::from(n) % Category::ALL.len()],
            title: n.to_string(),
            subtitle: None,
            source: Source::Report,
        });
    },
    |tx, n| tx.resolve_items(SessionId::new((n % 3).into()), |_| true),
    |tx, n| tx.log_line(SessionId::new(n.into()), TimelineKind::StatusProgress, "line", None),
    |tx, n| tx.note_handled(rookery_model::EventId::new(n.into())),
    |tx, n| tx.world.mode = if n % 2 == 0 { Mode::Plan } else { Mode::Bypass },
    |tx, n| tx.world.mode_word = n.to_string(),
    |tx, n| {
        tx.world.acted_on.insert(RequestId::new(n.into()));
    },
    |tx, n| tx.emit(Event::TerminalBell { id: TerminalId::new(n.into()) }),
];

/// How a transaction ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Success,
    Failure,
    Panic,
}

fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Success), Just(End::Failure), Just(End::Panic)]
}

fn run(core: &Core, changes: &[(usize, u8)], end: End) -> bool {
    let transact = || {
        core.transact(|tx| {
            for (change, n) in changes {
                CHANGES[change % CHANGES.len()](tx, *n);
            }
            match end {
                End::Success => Ok(()),
                End::Failure => Err(Error::failed("on purpose")),
                End::Panic => std::panic::resume_unwind(Box::new("on purpose")),
            }
        })
    };
    catch_unwind(AssertUnwindSafe(transact)).is_ok_and(|done| done.is_ok())
}

#[test]
fn a_transaction_that_fails_changes_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let core = runtime.block_on(core_in(dir.path()));
    for _ in 0..3 {
        runtime.block_on(thread_in(&core, dir.path()));
    }
    let changes = prop::collection::vec((0..CHANGES.len(), any::<u8>()), 0..12);
    let cases = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) };
    proptest!(cases, |(changes in changes, end in any_end())| {
        let _runtime = runtime.enter();
        let seen = core.look();
        let before = format!("{seen:?}");
        let is_done = run(&core, &changes, end);
        prop_assert_eq!(is_done, matches!(end, End::Success));
        prop_assert_eq!(format!("{:?}", seen), &before[..], "a reader keeps what it saw");
        if !is_done {
            prop_assert_eq!(format!("{:?}", core.look()), before);
        }
    });
}

/// Without this the test above could pass for changes that do nothing.
#[test]
fn every_change_can_be_seen() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (place, _) in CHANGES.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let core = runtime.block_on(core_in(dir.path()));
        runtime.block_on(thread_in(&core, dir.path()));
        let _runtime = runtime.enter();
        // Something to be removed, settled and resolved.
        assert!(run(&core, &[(0, 1), (5, 1), (9, 1)], End::Success));
        // What one number finds in place already, another one changes.
        let is_seen = [1, 2].into_iter().any(|n| {
            let before = format!("{:?}", core.look());
            assert!(run(&core, &[(place, n)], End::Success), "change {place}");
            format!("{:?}", core.look()) != before
        });
        assert!(is_seen, "change {place}");
    }
}
