//! A change of a room wakes those who show it, and no others.

use std::collections::BTreeSet;

use futures_util::FutureExt as _;
use rookery_marketplace::InstallState;
use rookery_model::{
    Event, ParentTurn, Record, SessionId, TaskId, TeamId, TerminalId, ThreadId, TimelineKind,
    TraceId, TraceStatus, TurnId, ViewerId,
};

use super::samples;
use crate::core::Core;
use crate::devices::Reach;
use crate::imports::ImportChange;
use crate::log::{Changes, FileChange, NoticeBody, RunnerChange, Shows, TraceChange};
use crate::marketplaces::MarketplaceChange;
use crate::media::MediaChange;
use crate::memories::MemoryChange;
use crate::runners::RunnerState;
use crate::seats::ViewerRights;
use crate::threads::tests::{core_in, thread_in};
use crate::workflows::{RunChange, RunNotice};
use crate::workspace::Layout;
use crate::world::Tx;

/// A change of one room, and whom it wakes.
type Change = (&'static [Shows], fn(&mut Tx<'_>));

fn announced(tx: &mut Tx<'_>, body: impl Into<NoticeBody>) {
    tx.announce(None, body);
}

const CHANGES: &[Change] = &[
    (&[Shows::Checkpoints], |tx| tx.world.put(Record::Checkpoint(samples::checkpoint(1)))),
    (&[Shows::Children], |tx| {
        let parent = ParentTurn { thread: ThreadId::new(1), turn: TurnId::new(1) };
        let (trace, status) = (TraceId::new(1), TraceStatus::Running);
        announced(tx, TraceChange::Status { trace, parent, status, detail: None, elapsed_ms: 1 });
    }),
    (&[Shows::FileChanges], |tx| {
        announced(tx, FileChange::RollbackRequested { turn: None, hunk: "h".to_owned() });
    }),
    (&[Shows::Handoffs], |tx| tx.world.put(Record::Handoff(samples::handoff(1)))),
    (&[Shows::Imports], |tx| {
        let [item, path, message] = ["item", "path", "why"].map(str::to_owned);
        let change = ImportChange::Failed { item, path, message };
        announced(tx, NoticeBody::Import(Box::new(change)));
    }),
    (&[Shows::Log], |tx| tx.emit(Event::ProjectsReordered)),
    (&[Shows::Marketplaces], |tx| {
        let (key, state) = ("key".to_owned(), InstallState::Uninstalled);
        let change = MarketplaceChange::Plugin { key, state, plugin: None };
        announced(tx, NoticeBody::Marketplace(Box::new(change)));
    }),
    (&[Shows::Media], |tx| {
        announced(tx, NoticeBody::Media(Box::new(MediaChange::Deleted("art".to_owned()))));
    }),
    (&[Shows::Memories], |tx| {
        announced(tx, NoticeBody::Memory(Box::new(MemoryChange::Deleted("mem".to_owned()))));
    }),
    // It was only asked for.
    (&[], |tx| {
        let change = MemoryChange::Queried { scope: None, query: "q".to_owned(), count: 1 };
        announced(tx, NoticeBody::Memory(Box::new(change)));
    }),
    (&[Shows::Queue], |tx| {
        tx.log_line(SessionId::new(1), TimelineKind::StatusProgress, "line", None);
    }),
    (&[Shows::Reviews], |tx| tx.world.put(Record::Review(samples::review(1)))),
    (&[Shows::Runners], |tx| {
        let [destination, provider] = ["runner", "local"].map(str::to_owned);
        let state = RunnerState::Configured;
        announced(tx, RunnerChange { destination, provider, state, session: None });
    }),
    (&[Shows::Seats], |tx| drop(tx.world.viewers.insert(ViewerId::new(1), samples::viewer(1)))),
    (&[Shows::Tasks], |tx| drop(tx.world.tasks.insert(TaskId::new(1), samples::task(1)))),
    (&[Shows::Teams], |tx| {
        let change = rookery_teams::Change::Cleaned { team: TeamId::new(1), forced: false };
        announced(tx, NoticeBody::Team(change));
    }),
    (&[Shows::Sessions, Shows::Terminals], |tx| {
        tx.world.terminals.insert(TerminalId::new(1), samples::terminal(1));
    }),
    (&[Shows::Sessions, Shows::Threads], |tx| {
        let id = tx.world.threads.keys().next().copied();
        let state = id.and_then(|id| tx.world.threads.get_mut(&id));
        state.expect("there is a thread").thread.name = Some("other".to_owned());
    }),
    (&[Shows::Workflows], |tx| {
        let change = RunChange::Output { phase: None, text: "x".to_owned(), is_truncated: false };
        let notice = RunNotice { run: "run".to_owned(), turn: None, change };
        announced(tx, NoticeBody::Workflow(Box::new(notice)));
    }),
    (&[Shows::Workspace], |tx| {
        drop(tx.world.layouts.insert(rookery_model::ProjectId::new(1), Layout::default()));
    }),
];

/// A change beside the world and without a notice, and whom it wakes.
type OtherChange = (Shows, fn(&Core));

const OTHERS: &[OtherChange] = &[
    (Shows::Agents, |core| core.inner.agents.change_settings(|_| {})),
    (Shows::Devices, |core| {
        let paired = core.devices().pair(ViewerRights::Look, None, Reach::Here);
        assert!(paired.is_ok());
    }),
    (Shows::Worktrees, |core| core.worktrees().raise_changed()),
];

/// What changed since the last call. What is raised is raised before a transaction has come back.
fn woken(changes: &mut Changes) -> BTreeSet<Shows> {
    let mut all = BTreeSet::new();
    while let Some(Ok(more)) = changes.next().now_or_never() {
        all.extend(more);
    }
    all
}

#[tokio::test]
async fn a_change_wakes_those_who_show_its_room_and_no_others() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    thread_in(&core, home.path()).await;
    let mut changes = core.log().changes(Shows::ALL);
    let mut seen = BTreeSet::new();
    for (shows, change) in CHANGES {
        core.transact_durably(|tx| {
            change(tx);
            Ok(())
        })
        .await
        .unwrap();
        let expected: BTreeSet<Shows> = shows.iter().copied().collect();
        assert_eq!(woken(&mut changes), expected);
        seen.extend(expected);
    }
    for (shows, change) in OTHERS {
        change(&core);
        assert_eq!(woken(&mut changes), BTreeSet::from([*shows]));
        seen.insert(*shows);
    }
    // Tests of their rooms cover these.
    let elsewhere = [Shows::Commands, Shows::Output, Shows::Requests];
    let rest = Shows::ALL.iter().filter(|shows| !seen.contains(shows));
    assert!(rest.eq(&elsewhere));
}
