//! The stored form of every event, terminal and project.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rookery_model::{
    Activity, AgentState, Checkout, Event, ExitStatus, Home, LaunchSpec, Lifecycle,
    NotificationText, OnExit, Origin, Owner, Pending, Project, ProjectId, RunningAgent, ShellState,
    Size, Terminal, TerminalId, TerminalState, TerminalUuid, Timestamp, Words as _,
};

use super::*;

mod assignment;
mod change;
mod child;
mod record;
mod task;
mod thread;

/// Any text, control characters and NUL among it.
fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..12).prop_map(String::from_iter)
}

/// Any path, most of them not UTF-8.
fn path() -> impl Strategy<Value = PathBuf> {
    prop_oneof![
        text().prop_map(PathBuf::from),
        vec(any::<u8>(), 0..24).prop_map(|bytes| OsString::from_vec(bytes).into()),
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_micros)
}

fn terminal_id() -> impl Strategy<Value = TerminalId> {
    any::<u64>().prop_map(TerminalId::new)
}

fn project_id() -> impl Strategy<Value = ProjectId> {
    any::<u64>().prop_map(ProjectId::new)
}

fn size() -> impl Strategy<Value = Size> {
    (1..=Size::MAX_ROWS, 1..=Size::MAX_COLS, any::<u16>(), any::<u16>()).prop_map(
        |(rows, cols, w, h)| {
            let widest = (Size::MAX_CELLS / u32::from(rows)) as u16;
            Size::new(rows, cols.min(widest)).unwrap().with_pixels(w, h)
        },
    )
}

fn exit() -> impl Strategy<Value = ExitStatus> {
    prop_oneof![
        any::<i32>().prop_map(ExitStatus::Code),
        any::<i32>().prop_map(ExitStatus::Signal),
        Just(ExitStatus::Unknown),
    ]
}

fn project() -> impl Strategy<Value = Project> {
    let place = (any::<i32>(), option::of(terminal_id()));
    (project_id(), text(), path(), place, time()).prop_map(
        |(id, name, root, (position, selected), created_at)| Project {
            id,
            name,
            root,
            position,
            selected,
            created_at,
        },
    )
}

fn activity() -> impl Strategy<Value = Activity> {
    let shell = prop_oneof![
        Just(ShellState::Unknown),
        Just(ShellState::AtPrompt),
        Just(ShellState::Foreground)
    ];
    let lifecycle = prop_oneof![
        Just(Lifecycle::Inactive),
        Just(Lifecycle::Working),
        Just(Lifecycle::Waiting),
        Just(Lifecycle::Finished),
        Just(Lifecycle::Failed),
    ];
    let owner = (text(), text(), text(), prop::collection::btree_map(text(), text(), 0..3), time())
        .prop_map(|(source, session, detail, metadata, last_event_at)| Owner {
            source,
            session,
            detail,
            metadata,
            last_event_at,
        });
    let requests =
        prop::collection::btree_set(any::<u128>().prop_map(rookery_model::RequestId::new), 0..3);
    let pending = (text(), text(), time())
        .prop_map(|(title, body, at)| Pending { text: NotificationText { title, body }, at });
    let agent = (text(), prop::sample::select(AgentState::WORDS).prop_map(|(state, _)| state))
        .prop_map(|(tool, state)| RunningAgent { tool, state });
    let spoken = (any::<bool>(), option::of(pending), requests, option::of(agent));
    (shell, lifecycle, option::of(owner), spoken).prop_map(|(shell, lifecycle, owner, rest)| {
        let (has_spoken, pending, requests, agent) = rest;
        Activity { shell, lifecycle, owner, has_spoken, pending, requests, agent }
    })
}

fn checkout() -> impl Strategy<Value = Option<Checkout>> {
    let parts = (path(), option::of(text()), option::of(path()));
    option::of(parts.prop_map(|(repo, branch, worktree)| Checkout { repo, branch, worktree }))
}

fn origin() -> impl Strategy<Value = Origin> {
    let thread = || any::<u128>().prop_map(rookery_model::ThreadId::new);
    prop_oneof![
        Just(Origin::Person),
        thread().prop_map(Origin::Tool),
        terminal_id().prop_map(|id| Origin::Agent(Home::Terminal(id))),
        thread().prop_map(|id| Origin::Agent(Home::Thread(id))),
        Just(Origin::Agent(Home::Unknown)),
    ]
}

fn terminal() -> impl Strategy<Value = Terminal> {
    let state = prop_oneof![
        Just(TerminalState::Running),
        exit().prop_map(TerminalState::Exited),
        Just(TerminalState::Lost),
    ];
    let launch = (vec(text(), 0..4), path(), vec((text(), text()), 0..4))
        .prop_map(|(argv, cwd, env)| LaunchSpec { argv, cwd, env });
    let names = (terminal_id(), any::<[u8; 16]>(), project_id(), any::<u32>(), any::<i32>());
    let looks = (size(), option::of(text()), option::of(text()), option::of(path()));
    let closes = any::<bool>().prop_map(|is| if is { OnExit::Close } else { OnExit::Keep });
    let life = (state, time(), option::of(time()), time(), closes, activity());
    let from = (checkout(), origin());
    (names, launch, looks, life, from).prop_map(|(names, launch, looks, life, from)| Terminal {
        id: names.0,
        uuid: TerminalUuid(names.1),
        project: names.2,
        position: names.4,
        launch,
        pid: names.3,
        size: looks.0,
        program_title: looks.1,
        user_title: looks.2,
        reported_cwd: looks.3,
        state: life.0,
        created_at: life.1,
        exited_at: life.2,
        last_active: life.3,
        on_exit: life.4,
        activity: life.5,
        checkout: from.0,
        origin: from.1,
    })
}

fn event() -> impl Strategy<Value = Event> {
    let id = terminal_id;
    prop_oneof![
        (text(), any::<u64>())
            .prop_map(|(version, restored)| Event::DaemonStarted { version, restored }),
        Just(Event::DaemonStopping),
        project().prop_map(Event::ProjectCreated),
        (project_id(), text()).prop_map(|(id, name)| Event::ProjectRenamed { id, name }),
        project_id().prop_map(|id| Event::ProjectDeleted { id }),
        (terminal(), any::<bool>()).prop_map(|(terminal, is_active)| Event::TerminalOpened {
            terminal: Box::new(terminal),
            is_active
        }),
        (id(), text()).prop_map(|(id, title)| Event::TerminalTitleChanged { id, title }),
        (id(), path()).prop_map(|(id, cwd)| Event::TerminalCwdChanged { id, cwd }),
        (id(), size()).prop_map(|(id, size)| Event::TerminalResized { id, size }),
        (id(), exit()).prop_map(|(id, status)| Event::TerminalExited { id, status }),
        id().prop_map(|id| Event::TerminalLost { id }),
        (id(), any::<bool>()).prop_map(|(id, was_alive)| Event::TerminalClosed { id, was_alive }),
        (id(), project_id(), any::<usize>())
            .prop_map(|(id, project, index)| Event::TerminalMoved { id, project, index }),
        project_id().prop_map(|project| Event::TerminalsReordered { project }),
        project_id().prop_map(|project| Event::LayoutChanged { project }),
        Just(Event::ProjectsReordered),
        (option::of(project_id()), option::of(id()))
            .prop_map(|(project, terminal)| Event::ActiveChanged { project, terminal }),
        (id(), any::<bool>()).prop_map(|(id, is_hooked)| Event::TerminalHooked { id, is_hooked }),
        (id(), any::<bool>())
            .prop_map(|(id, is_pending)| Event::TerminalAttention { id, is_pending }),
        (id(), activity()).prop_map(|(id, activity)| Event::AgentReported { id, activity }),
        (id(), activity())
            .prop_map(|(id, activity)| Event::TerminalStateChanged { id, state: activity.state() }),
        (id(), text(), text()).prop_map(|(id, title, body)| Event::TerminalNotified {
            id,
            text: NotificationText { title, body },
            source: rookery_model::Source::Report,
        }),
        id().prop_map(|id| Event::TerminalBell { id }),
        (id(), option::of(any::<i32>()))
            .prop_map(|(id, code)| Event::TerminalCommandFinished { id, code }),
        agent_event(),
        record::event(),
    ]
}

fn agent_event() -> impl Strategy<Value = Event> {
    let names = || (thread::thread_id(), thread::turn_id());
    let modes = (thread::mode(), thread::mode());
    let changed = (option::of(thread::thread_id()), modes, text(), any::<u64>());
    prop_oneof![
        thread::thread_id().prop_map(|id| Event::ThreadStarted { id }),
        (thread::thread_id(), any::<bool>())
            .prop_map(|(id, is_archived)| Event::ThreadArchived { id, is_archived }),
        thread::thread_id().prop_map(|id| Event::ThreadDeleted { id }),
        names().prop_map(|(thread, turn)| Event::TurnStarted { thread, turn }),
        (names(), thread::turn_status()).prop_map(|((thread, turn), status)| Event::TurnEnded {
            thread,
            turn,
            status
        }),
        thread::request().prop_map(|request| Event::RequestOpened(Box::new(request))),
        thread::request().prop_map(|request| Event::RequestSettled(Box::new(request))),
        changed.prop_map(|(thread, (from, to), reason, settled)| Event::ModeChanged {
            thread,
            from,
            to,
            reason: (!reason.is_empty()).then_some(reason),
            settled,
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_event_comes_back(event in event()) {
        prop_assert_eq!(event_from_json(&event_to_json(&event)).unwrap(), event);
    }

    #[test]
    fn every_event_of_agents_comes_back(event in agent_event()) {
        prop_assert_eq!(event_from_json(&event_to_json(&event)).unwrap(), event);
    }

    #[test]
    fn every_terminal_comes_back(terminal in terminal()) {
        prop_assert_eq!(terminal_from_json(&terminal_to_json(&terminal)).unwrap(), terminal);
    }

    #[test]
    fn every_project_comes_back(project in project()) {
        prop_assert_eq!(project_from_json(&project_to_json(&project)).unwrap(), project);
    }

    #[test]
    fn decoding_never_panics(text: String, event in event(), cut: prop::sample::Index) {
        let _ = event_from_json(&text);
        let whole = event_to_json(&event);
        let cut = cut.index(whole.len());
        if let Some(torn) = whole.get(..cut) {
            prop_assert!(event_from_json(torn).is_err());
        }
    }
}

/// Stored by released versions: these lines must be readable for ever.
#[test]
fn the_format_is_stable() {
    let terminal = Terminal {
        id: TerminalId::new(3),
        uuid: TerminalUuid([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255]),
        project: ProjectId::new(2),
        position: 0,
        launch: LaunchSpec {
            argv: vec!["sh".to_owned(), "-c".to_owned()],
            cwd: OsString::from_vec(vec![b'/', 255]).into(),
            env: vec![("A".to_owned(), "b".to_owned())],
        },
        pid: 77,
        size: Size::new(24, 80).unwrap(),
        program_title: Some("top".to_owned()),
        user_title: None,
        reported_cwd: Some("/tmp".into()),
        state: TerminalState::Exited(ExitStatus::Signal(9)),
        created_at: Timestamp::from_micros(5),
        exited_at: None,
        last_active: Timestamp::from_micros(5),
        on_exit: OnExit::Keep,
        activity: Activity::default(),
        checkout: None,
        origin: model::Origin::Person,
    };
    let line = concat!(
        r#"{"kind":"terminal_opened","terminal":{"id":3,"uuid":"0102030405060708090a0b0c0d0e0fff","#,
        r#""project":2,"argv":["sh","-c"],"cwd":[47,255],"env":[["A","b"]],"pid":77,"#,
        r#""size":{"rows":24,"cols":80,"pixel_width":0,"pixel_height":0},"program_title":"top","#,
        r#""reported_cwd":"/tmp","state":{"exited":{"signal":9}},"created_at":5}}"#,
    );
    let event = Event::TerminalOpened { terminal: Box::new(terminal), is_active: false };
    assert_eq!(event_from_json(line).unwrap(), event);
    let line = r#"{"kind":"active_terminal_changed","id":7}"#;
    let event = Event::ActiveChanged { project: None, terminal: Some(TerminalId::new(7)) };
    assert_eq!(event_from_json(line).unwrap(), event);
    assert_eq!(
        event_from_json(r#"{"kind":"terminal_closed","id":1}"#).unwrap(),
        Event::TerminalClosed { id: TerminalId::new(1), was_alive: false }
    );
    let line = r#"{"kind":"terminal_exited","id":1,"status":"unknown"}"#;
    let event = Event::TerminalExited { id: TerminalId::new(1), status: ExitStatus::Unknown };
    assert_eq!(event_to_json(&event), line);
}

#[test]
fn unknown_fields_are_ignored_and_unknown_kinds_are_errors() {
    let event = event_from_json(r#"{"kind":"terminal_bell","id":4,"volume":11}"#).unwrap();
    assert_eq!(event, Event::TerminalBell { id: TerminalId::new(4) });
    assert!(event_from_json(r#"{"kind":"terminal_levitated","id":4}"#).is_err());
}

#[test]
fn values_out_of_bounds_are_errors() {
    let size = r#"{"kind":"terminal_resized","id":1,"size":{"rows":0,"cols":80}}"#;
    assert!(matches!(event_from_json(size), Err(DecodeError::Size(_))));
    for wrong in ["", "+102030405060708090a0b0c0d0e0fff", "0102030405060708090a0b0c0d0e0fffff"] {
        assert!(uuid_from_text(wrong).is_err(), "{wrong:?}");
    }
}
