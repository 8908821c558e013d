//! Every kind of event, as it goes out and as clients read it.

use std::path::PathBuf;

use expect_test::expect;
use model::{Event as E, EventSeq, ExitStatus, ProjectId, Size, TerminalId, Timestamp};

use super::*;

const ID: TerminalId = TerminalId::new(3);
const PROJECT: ProjectId = ProjectId::new(1);
const AT: Timestamp = Timestamp::from_micros(1_772_366_400_000_001);

fn terminal() -> model::Terminal {
    model::Terminal {
        id: ID,
        uuid: model::TerminalUuid([7; 16]),
        project: PROJECT,
        position: 0,
        launch: model::LaunchSpec {
            argv: vec!["/bin/sh".into(), "-i".into()],
            cwd: "/srv".into(),
            env: vec![("TOKEN".into(), "hidden".into())],
        },
        pid: 41,
        size: Size::DEFAULT,
        program_title: None,
        user_title: None,
        reported_cwd: None,
        state: model::TerminalState::Running,
        created_at: AT,
        exited_at: None,
        last_active: AT,
        on_exit: model::OnExit::Keep,
        activity: model::Activity::default(),
        checkout: None,
        origin: model::Origin::Person,
    }
}

fn every_event() -> Vec<E> {
    let text =
        model::NotificationText { title: "done".into(), body: "AKIAIOSFODNN7EXAMPLE".into() };
    vec![
        E::DaemonStarted { version: "0.1.0".into(), restored: 2 },
        E::DaemonStopping,
        E::ProjectCreated(model::Project {
            id: PROJECT,
            name: "home".into(),
            position: 0,
            selected: None,
            root: "/srv".into(),
            created_at: AT,
        }),
        E::ProjectRenamed { id: PROJECT, name: "work".into() },
        E::ProjectDeleted { id: PROJECT },
        E::TerminalOpened { terminal: Box::new(terminal()), is_active: true },
        E::TerminalTitleChanged { id: ID, title: "vim".into() },
        E::TerminalCwdChanged { id: ID, cwd: PathBuf::from("/tmp") },
        E::TerminalResized { id: ID, size: Size::new(30, 100).unwrap() },
        E::TerminalExited { id: ID, status: ExitStatus::Code(1) },
        E::TerminalExited { id: ID, status: ExitStatus::Signal(9) },
        E::TerminalExited { id: ID, status: ExitStatus::Unknown },
        E::TerminalLost { id: ID },
        E::TerminalClosed { id: ID, was_alive: true },
        E::TerminalMoved { id: ID, project: PROJECT, index: 0 },
        E::ActiveChanged { project: Some(PROJECT), terminal: Some(ID) },
        E::ActiveChanged { project: None, terminal: None },
        E::TerminalsReordered { project: PROJECT },
        E::LayoutChanged { project: PROJECT },
        E::ProjectsReordered,
        E::TerminalStateChanged { id: ID, state: model::RunState::NeedsInput },
        E::TerminalHooked { id: ID, is_hooked: true },
        E::AgentReported { id: ID, activity: model::Activity::default() },
        E::TerminalAttention { id: ID, is_pending: true },
        E::TerminalNotified { id: ID, text, source: model::Source::Program },
        E::TerminalBell { id: ID },
        E::TerminalCommandFinished { id: ID, code: Some(0) },
        E::TerminalCommandFinished { id: ID, code: None },
    ]
}

fn numbered(events: Vec<E>) -> impl Iterator<Item = Event> {
    events.into_iter().zip(1..).map(|(event, seq)| {
        Event::from(&model::NumberedEvent { seq: EventSeq::new(seq), at: AT, event })
    })
}

#[test]
fn every_event_as_it_goes_out() {
    let lines: Vec<String> = numbered(every_event())
        .map(|event| serde_json::to_string(&event).unwrap().replacen(&event.at, "AT", 1))
        .collect();
    expect![[r#"
        {"seq":1,"at":"AT","type":"daemon.started","version":"0.1.0","restored":2}
        {"seq":2,"at":"AT","type":"daemon.stopping"}
        {"seq":3,"at":"AT","type":"project.created","project":1,"name":"home","root":"/srv"}
        {"seq":4,"at":"AT","type":"project.renamed","project":1,"name":"work"}
        {"seq":5,"at":"AT","type":"project.deleted","project":1}
        {"seq":6,"at":"AT","type":"terminal.opened","terminal":3,"uuid":"07070707-0707-0707-0707-070707070707","project":1,"title":"srv","argv":["/bin/sh","-i"],"cwd":"/srv","pid":41,"size":{"rows":24,"cols":80}}
        {"seq":7,"at":"AT","type":"terminal.title_changed","terminal":3,"title":"vim"}
        {"seq":8,"at":"AT","type":"terminal.cwd_changed","terminal":3,"cwd":"/tmp"}
        {"seq":9,"at":"AT","type":"terminal.resized","terminal":3,"size":{"rows":30,"cols":100}}
        {"seq":10,"at":"AT","type":"terminal.exited","terminal":3,"exit":{"code":1}}
        {"seq":11,"at":"AT","type":"terminal.exited","terminal":3,"exit":{"signal":9}}
        {"seq":12,"at":"AT","type":"terminal.exited","terminal":3,"exit":{"unknown":true}}
        {"seq":13,"at":"AT","type":"terminal.lost","terminal":3}
        {"seq":14,"at":"AT","type":"terminal.closed","terminal":3}
        {"seq":15,"at":"AT","type":"terminal.moved","terminal":3,"project":1,"index":0}
        {"seq":16,"at":"AT","type":"terminal.activated","terminal":3,"project":1}
        {"seq":17,"at":"AT","type":"terminal.activated","terminal":null,"project":null}
        {"seq":18,"at":"AT","type":"terminals.reordered","project":1}
        {"seq":19,"at":"AT","type":"layout.changed","project":1}
        {"seq":20,"at":"AT","type":"projects.reordered"}
        {"seq":21,"at":"AT","type":"terminal.state_changed","terminal":3,"state":"needs_input"}
        {"seq":22,"at":"AT","type":"terminal.hooked","terminal":3,"hooked":true}
        {"seq":23,"at":"AT","type":"terminal.agent_reported","terminal":3,"state":"none","source":null,"session":null}
        {"seq":24,"at":"AT","type":"terminal.attention","terminal":3,"pending":true}
        {"seq":25,"at":"AT","type":"terminal.notified","terminal":3,"title":"done","body":"[REDACTED]"}
        {"seq":26,"at":"AT","type":"terminal.bell","terminal":3}
        {"seq":27,"at":"AT","type":"terminal.command_finished","terminal":3,"code":0}
        {"seq":28,"at":"AT","type":"terminal.command_finished","terminal":3,"code":null}"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn clients_read_what_is_sent() {
    for event in numbered(every_event()) {
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
    }
}
