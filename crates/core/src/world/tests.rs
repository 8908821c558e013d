//! Transactions are all or nothing, whatever they did before they failed.

pub(crate) mod samples;
mod signals;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use proptest::prelude::*;
use rookery_agent::policy::Bound;
use rookery_agent::turn::Delta;
use rookery_model::{
    Answer, Asked, Category, Error, Event, Mode, Project, ProjectId, Record, Request, RequestId,
    SessionId, Source, TaskId, TerminalId, ThreadId, TimelineKind, Timestamp, ToolKind, ViewerId,
};

use super::{Active, Tx};
use crate::core::Core;
use crate::queue::NewItem;
use crate::threads::LiveThread;
use crate::threads::tests::{core_in, thread_in};
use crate::workspace::Layout;

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
    |tx, _| {
        let first = tx.world.threads.keys().next().copied();
        first.and_then(|id| tx.world.threads.remove(&id));
    },
    |tx, n| {
        tx.file(NewItem {
            session: Some(SessionId::new((n % 3).into())),
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
    |tx, n| {
        tx.world.acted_on.insert(RequestId::new(n.into()));
    },
    |tx, n| tx.world.terminals.insert(TerminalId::new(n.into()), samples::terminal(n)),
    |tx, n| {
        let ids: Vec<TerminalId> = tx.world.terminals.keys().copied().collect();
        for id in ids {
            tx.world.terminals.place(id, ProjectId::new(9), n.into());
        }
    },
    |tx, n| drop(tx.world.terminals.remove(&TerminalId::new(n.into()))),
    |tx, n| drop(tx.world.viewers.insert(ViewerId::new(n.into()), samples::viewer(n))),
    |tx, n| tx.world.last_viewer = ViewerId::new(n.into()),
    |tx, n| tx.world.desk = Some(ViewerId::new(n.into())),
    |tx, n| tx.world.tab_history.left(Some(TerminalId::new(n.into())), None),
    |tx, n| drop(tx.world.layouts.insert(ProjectId::new(n.into()), Layout::default())),
    |tx, n| {
        tx.world.shown_on.insert(RequestId::new(n.into()), TerminalId::new(n.into()));
    },
    |tx, n| {
        let asked = Asked::Permission {
            title: "t".into(),
            summary: "s".into(),
            action: "a".into(),
            scope: None,
        };
        let session = SessionId::new(n.into());
        let id = RequestId::new(n.into());
        tx.archive(Request::of_session(id, session, asked, Timestamp::default()));
    },
    |tx, n| tx.world.put(Record::Review(samples::review(n))),
    |tx, n| tx.world.put(Record::Checkpoint(samples::checkpoint(n))),
    |tx, n| tx.world.put(Record::Handoff(samples::handoff(n))),
    |tx, n| tx.world.put(Record::Accepted(Box::new(samples::accepted(n)))),
    |tx, n| drop(tx.world.tasks.insert(TaskId::new(n.into()), samples::task(n))),
    |tx, n| {
        let asked = Asked::Approval {
            kind: ToolKind::Read,
            reason: String::new(),
            input: n.to_string(),
            argv: Vec::new(),
            cwd: "/".into(),
            env: Vec::new(),
            preview: None,
        };
        if let Some(bound) = Bound::of("tool", &asked) {
            tx.world.parked.remember(bound);
        }
    },
    |tx, n| tx.world.asking_spelling = Some(n.to_string()),
    |tx, n| tx.world.client_modes.set(n.into(), Mode::Plan),
    |tx, n| tx.emit(Event::TerminalBell { id: TerminalId::new(n.into()) }),
    |tx, n| {
        each_live(tx, |tx, live| {
            tx.edit(live).put(samples::turn(n).id, &mut samples::item(n));
        })
    },
    |tx, n| {
        each_live(tx, |tx, live| {
            let delta = Delta::Text { text: n.to_string(), phase: String::new() };
            tx.edit(live).grow(&samples::item(n).id, &delta);
        });
    },
    |tx, n| each_live(tx, |tx, live| tx.edit(live).put_turn(&samples::turn(n))),
    |tx, n| each_live(tx, |tx, live| tx.edit(live).put_trace(samples::trace(n))),
    |tx, n| {
        each_live(tx, |tx, live| {
            tx.edit(live).change_trace(samples::trace(n).id, |trace| trace.title.push('+'));
        });
    },
    |tx, n| {
        each_live(tx, |tx, live| {
            let mut editing = tx.edit(live);
            let number = editing.next_change();
            editing.put_change(Arc::new(samples::file_change(number, n)));
        });
    },
    |tx, n| {
        each_live(tx, |tx, live| {
            let mut editing = tx.edit(live);
            let count = usize::from(n).min(editing.contents().changes.len());
            editing.drop_changes(count);
        });
    },
    |tx, n| each_live(tx, |tx, live| drop(tx.edit(live).drop_turns(n.into()))),
];

fn each_live(tx: &mut Tx<'_>, edit: impl Fn(&mut Tx<'_>, &LiveThread)) {
    for live in tx.core.inner.threads.live_threads.all() {
        edit(tx, &live);
    }
}

/// The world, and what was said in the threads that are in memory.
fn seen_of(core: &Core) -> String {
    let said = core.inner.threads.live_threads.all();
    let said: Vec<_> = said.iter().map(|live| (live.id, format!("{:?}", *live.read()))).collect();
    format!("{:?} {said:?}", core.look())
}

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
        let (before, all_before) = (format!("{seen:?}"), seen_of(&core));
        let is_done = run(&core, &changes, end);
        prop_assert_eq!(is_done, matches!(end, End::Success));
        prop_assert_eq!(format!("{:?}", seen), &before[..], "a reader keeps what it saw");
        if !is_done {
            prop_assert_eq!(seen_of(&core), all_before);
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
        let [item, turn, trace, change] = [8, 6, 5, 3].map(|back| (CHANGES.len() - back, 1));
        assert!(run(&core, &[(0, 1), (5, 1), (9, 1), item, turn, trace, change], End::Success));
        let open = |tx: &mut Tx<'_>| {
            tx.world.terminals.insert(TerminalId::new(1), samples::terminal(1));
            Ok(())
        };
        let ((), _ticket) = core.transact(open).unwrap();
        // What one number finds in place already, another one changes.
        let is_seen = [1, 2].into_iter().any(|n| {
            let before = seen_of(&core);
            assert!(run(&core, &[(place, n)], End::Success), "change {place}");
            seen_of(&core) != before
        });
        assert!(is_seen, "change {place}");
    }
}
