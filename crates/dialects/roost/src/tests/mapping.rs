//! Core events as they go out.

use std::path::PathBuf;

use expect_test::expect;
use rookery_model::{
    Activity, ExitStatus, LaunchSpec, Lifecycle, NotificationText, OnExit, Owner, Project,
    RunState, ShellState, Size, Source, Terminal, TerminalState, TerminalUuid,
};

use super::*;
use crate::events::to_wire;

const ID: TerminalId = TerminalId::new(3);
const PROJECT: ProjectId = ProjectId::new(1);
const AT: Timestamp = Timestamp::from_micros(1_700_000_000_999_999);

fn activity() -> Activity {
    let owner = Owner {
        source: "claude".into(),
        session: "s".into(),
        last_event_at: AT,
        ..Owner::default()
    };
    Activity {
        shell: ShellState::Foreground,
        lifecycle: Lifecycle::Waiting,
        owner: Some(owner),
        ..Activity::default()
    }
}

fn terminal() -> Terminal {
    Terminal {
        id: ID,
        uuid: TerminalUuid([7; 16]),
        project: PROJECT,
        position: 2,
        launch: LaunchSpec { argv: vec!["/bin/sh".into()], cwd: "/srv/web".into(), env: vec![] },
        pid: 41,
        size: Size::DEFAULT,
        program_title: None,
        user_title: None,
        reported_cwd: None,
        state: TerminalState::Running,
        created_at: AT,
        exited_at: None,
        last_active: AT,
        on_exit: OnExit::Close,
        activity: Activity::default(),
        checkout: None,
        origin: rookery_model::Origin::Person,
    }
}

fn every_event() -> Vec<Event> {
    let project = Project {
        id: PROJECT,
        name: "home".into(),
        root: "/srv".into(),
        position: 0,
        selected: None,
        created_at: AT,
    };
    let text = NotificationText { title: "done".into(), body: "all".into() };
    vec![
        Event::DaemonStarted { version: "1".into(), restored: 0 },
        Event::DaemonStopping,
        Event::ProjectCreated(project),
        Event::ProjectRenamed { id: PROJECT, name: "work".into() },
        Event::ProjectDeleted { id: PROJECT },
        Event::TerminalOpened { terminal: Box::new(terminal()), is_active: true },
        Event::TerminalTitleChanged { id: ID, title: "vim".into() },
        Event::TerminalCwdChanged { id: ID, cwd: PathBuf::from("/tmp") },
        Event::TerminalResized { id: ID, size: Size::DEFAULT },
        Event::TerminalExited { id: ID, status: ExitStatus::Code(1) },
        Event::TerminalLost { id: ID },
        Event::TerminalClosed { id: ID, was_alive: true },
        Event::TerminalClosed { id: ID, was_alive: false },
        Event::TerminalMoved { id: ID, project: PROJECT, index: 0 },
        Event::TerminalsReordered { project: PROJECT },
        Event::LayoutChanged { project: PROJECT },
        Event::ProjectsReordered,
        Event::ActiveChanged { project: Some(PROJECT), terminal: Some(ID) },
        Event::ActiveChanged { project: None, terminal: None },
        Event::TerminalStateChanged { id: ID, state: RunState::NeedsInput },
        Event::TerminalHooked { id: ID, is_hooked: true },
        Event::AgentReported { id: ID, activity: activity() },
        Event::TerminalAttention { id: ID, is_pending: true },
        Event::TerminalNotified { id: ID, text, source: Source::Program },
        Event::TerminalBell { id: ID },
        Event::TerminalCommandFinished { id: ID, code: None },
    ]
}

#[test]
fn every_event_is_one_line_or_none() {
    let lines: Vec<String> = every_event()
        .iter()
        .filter_map(to_wire)
        .map(|event| serde_json::to_string(&event).unwrap())
        .collect();
    expect![[r#"
        {"event":"project.created","data":{"project":{"id":"1","name":"home","cwd":"/srv","position":0,"created_at":1700000000,"tabs":[]}}}
        {"event":"project.renamed","data":{"project_id":"1","name":"work"}}
        {"event":"project.deleted","data":{"project_id":"1"}}
        {"event":"tab.opened","data":{"tab":{"id":"3","project_id":"1","title":"web","cwd":"/srv/web","state":"none","has_notification":false,"is_active":true,"user_titled":false,"position":2,"created_at":1700000000,"last_active":1700000000,"hook_active":false,"shell_state":"unknown","agent_lifecycle":"inactive"}}}
        {"event":"tab.title_changed","data":{"tab_id":"3","title":"vim"}}
        {"event":"tab.cwd_changed","data":{"tab_id":"3","cwd":"/tmp"}}
        {"event":"tab.closed","data":{"tab_id":"3"}}
        {"event":"tab.closed","data":{"tab_id":"3"}}
        {"event":"active.changed","data":{"project_id":"1","tab_id":"3"}}
        {"event":"active.changed","data":{"project_id":"0","tab_id":"0"}}
        {"event":"tab.state_changed","data":{"tab_id":"3","state":"needs_input"}}
        {"event":"hook_active.changed","data":{"tab_id":"3","active":true}}
        {"event":"agent_report.changed","data":{"tab_id":"3","shell_state":"foreground_process","agent_lifecycle":"waiting","ownership":{"source":"claude","session_id":"s","last_event_at":1700000000,"detail":"","metadata":{}},"state":"needs_input","hook_active":true}}
        {"event":"tab.notification","data":{"tab_id":"3","has_pending":true}}
        {"event":"notification.fired","data":{"tab_id":"3","title":"done","body":"all"}}"#]].assert_eq(&lines.join("\n"));
}
