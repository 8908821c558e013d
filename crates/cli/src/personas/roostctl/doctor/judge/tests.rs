//! Every entry is always there, and says what was found.

use expect_test::expect;
use rookery_roost::wire::{app::Identity, tab::Projects};
use serde_json::json;

use super::{
    super::{
        claude::{Claude, Settings},
        shell::Shell,
        show,
    },
    *,
};
use crate::personas::roostctl::claude::{Called, read_hook_command};

const IDS: &str = "env.tab_id env.socket ui.target ui.socket ui.identify ui.version ui.agent_model \
    shell.login shell.current shell.integration shell.resources shell.marks_feature \
    shell.marks_capability shell.marks_observed tab.selection tab.shell_state tab.agent_lifecycle \
    tab.attention tab.ownership tab.derived tab.raw_osc claude.binary claude.settings \
    claude.hook_events claude.hook_command claude.observed";

fn nothing() -> Facts {
    Facts {
        asked_tab: None,
        named_tab: Ok(None),
        named_socket: None,
        is_in_tab: false,
        origin: Ok(Origin::Probe),
        sockets: vec![("/r/roost.sock".into(), Answer::Stale)],
        chosen: Err("no server is listening (tried: /r/roost.sock)".to_owned()),
        identity: Err("no server was reached".to_owned()),
        projects: Err("no server was reached".to_owned()),
        shell: Shell::default(),
        claude: Claude::default(),
    }
}

fn everything() -> Facts {
    let own = std::env::current_exe().unwrap().canonicalize().unwrap();
    let called = |event: &&str| Called {
        program: own.clone(),
        is_rookery: true,
        event: (*event).to_owned(),
    };
    let identity: Identity = serde_json::from_value(json!({
        "socket_path": "/r/roost.sock", "pid": 7, "active_project_id": "1", "active_tab_id": "9",
        "app_label": "Roost", "app_id": "r", "ui_version": env!("CARGO_PKG_VERSION"),
        "protocol_version": 1,
    }))
    .unwrap();
    let projects: Projects = serde_json::from_value(json!({"projects": [{
        "id": "1", "name": "p", "cwd": "/", "position": 0, "created_at": 0, "tabs": [{
            "id": "3", "project_id": "1", "title": "t", "cwd": "/", "state": "running",
            "has_notification": true, "is_active": true, "user_titled": false, "position": 0,
            "created_at": 0, "last_active": 0, "hook_active": true, "shell_state": "at_prompt",
            "agent_lifecycle": "working",
            "ownership": {"source": "claude", "session_id": "s"},
        }],
    }]}))
    .unwrap();
    Facts {
        named_tab: Ok(Some(3)),
        is_in_tab: true,
        sockets: vec![("/r/roost.sock".into(), Answer::Listens)],
        chosen: Ok("/r/roost.sock".into()),
        identity: Ok(identity),
        projects: Ok(projects),
        shell: Shell {
            login: Some(("/bin/bash".into(), true)),
            current: Some("/bin/bash".into()),
            version: Some("GNU bash, version 5.2.0".to_owned()),
            integration: Some("1".to_owned()),
            resources: Some(("/res".into(), vec![])),
            features: Some("cwd,marks".to_owned()),
        },
        claude: Claude {
            binary: Some(("/b/claude".into(), Some("2.0".to_owned()))),
            settings: vec![Settings {
                file: "/s".into(),
                commands: Ok(CLAUDE_EVENTS.iter().map(called).collect()),
            }],
            own: Some(own.clone()),
        },
        ..nothing()
    }
}

fn status(facts: &Facts, id: &str) -> Option<Status> {
    let report = report(facts);
    let mut entries = report.sections.iter().flat_map(|section| &section.checks);
    entries.find(|entry| entry.id == id).unwrap().status
}

#[test]
fn all_26_entries_are_there_whatever_was_found() {
    for facts in [nothing(), everything()] {
        let report = report(&facts);
        let ids = report.sections.iter().flat_map(|section| &section.checks).map(|entry| entry.id);
        let ids: Vec<&str> = ids.collect();
        assert_eq!(ids, IDS.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ids.len(), 26);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(
            (&json["schema_version"], &json["sections"][4]["id"]),
            (&json!(2), &json!("claude"))
        );
        assert!(json["sections"][0]["checks"][1].get("status").unwrap().is_null());
        for section in json["sections"].as_array().unwrap() {
            assert!(section.get("status").is_some(), "{section}");
            assert!(!section["headline"].as_str().unwrap().is_empty(), "{section}");
            for entry in section["checks"].as_array().unwrap() {
                assert_ne!(entry["title"], entry["id"], "{entry}");
                assert!(entry.get("docs_url").is_some(), "{entry}");
            }
        }
        let summary = &report.summary;
        let sum = summary.ok + summary.warn + summary.fail + summary.skipped + summary.facts;
        assert_eq!(sum, 26);
    }
}

#[test]
fn a_healthy_set_up_has_no_issues() {
    let report = report(&everything());
    assert_eq!(report.issues().collect::<Vec<_>>(), Vec::<&Entry>::new());
    assert_eq!((report.exit_code, report.summary.facts), (0, 8));
}

#[test]
fn without_a_server_and_a_tab_only_the_server_fails() {
    let report = report(&nothing());
    assert_eq!(report.exit_code, 1);
    expect![[r#"
        [–] Environment             not inside a tab
        [✗] Server                  no server is listening (tried: /r/roost.sock)
        [!] Shell integration       SHELL is not set
        [–] Selected tab            no tab is named and none is active
        [–] Claude Code             claude is not on PATH

        4 issues:
          ✗ ui.target               → start a server, or name one with --socket or --target
          ✗ ui.socket               → start a server with `rookery up`
          ✗ ui.identify             → see the server's log, or restart it
          ! shell.login             → set SHELL to an executable shell
    "#]]
    .assert_eq(show::summary(&report, show::Paint(false)).split_once("\n\n").unwrap().1);
    let all = show::everything(&report, show::Paint(false));
    assert!(all.contains("  skipped env.tab_id"), "{all}");
    assert!(all.contains("          env.socket              ROOST_SOCKET is not set\n"), "{all}");
    assert!(!all.contains('\x1b'));
    assert!(show::everything(&report, show::Paint(true)).contains("\x1b[31mfail    \x1b[0m"));
}

#[test]
fn a_section_comes_to_its_worst_entry() {
    let comes_to = |facts: &Facts, at: usize| {
        let section = &report(facts).sections[at];
        (section.status, section.headline.clone())
    };
    let (nothing, everything) = (nothing(), everything());
    assert_eq!(comes_to(&nothing, 0), (Some(Status::Skipped), "not inside a tab".to_owned()));
    assert_eq!(comes_to(&nothing, 1).0, Some(Status::Fail));
    assert_eq!(comes_to(&nothing, 2), (Some(Status::Warn), "SHELL is not set".to_owned()));
    assert_eq!(comes_to(&everything, 1), (Some(Status::Ok), "Roost (r), process 7".to_owned()));
    assert_eq!(comes_to(&everything, 3), (None, "shown as running".to_owned()), "facts alone");
    assert_eq!(comes_to(&nothing, 3).0, Some(Status::Skipped));
}

#[test]
fn variables_set_by_hand_do_not_make_a_tab() {
    let facts = Facts { is_in_tab: false, ..everything() };
    for id in IDS.split_whitespace().filter(|id| id.starts_with("shell.")) {
        assert_ne!(status(&facts, id), Some(Status::Fail), "{id}");
    }
    assert_eq!(status(&facts, "env.tab_id"), Some(Status::Ok));
}

#[test]
fn a_tab_that_is_not_there_is_a_mistake() {
    let facts = Facts { asked_tab: Some(99), ..everything() };
    assert_eq!(status(&facts, "tab.selection"), Some(Status::Fail));
    assert_eq!(status(&facts, "tab.ownership"), Some(Status::Skipped));
    let facts = Facts { named_tab: Err("bad".to_owned()), ..everything() };
    assert_eq!(status(&facts, "env.tab_id"), Some(Status::Fail));
}

#[test]
fn an_old_server_is_known_by_what_its_tabs_lack() {
    let mut facts = everything();
    let tab = &mut facts.projects.as_mut().unwrap().projects[0].tabs[0];
    (tab.shell_state, tab.agent_lifecycle) = (None, None);
    assert_eq!(status(&facts, "ui.agent_model"), Some(Status::Warn));
    assert_eq!(status(&facts, "tab.derived"), Some(Status::Skipped));
}

#[test]
fn hooks_must_be_complete_and_callable() {
    let mut facts = everything();
    facts.claude.settings[0].commands.as_mut().unwrap().pop();
    assert_eq!(status(&facts, "claude.hook_events"), Some(Status::Fail));
    let set = |facts: &mut Facts, command: &str| {
        facts.claude.settings[0].commands = Ok(read_hook_command(command).into_iter().collect());
    };
    set(&mut facts, "/none/roostctl claude-hook Stop");
    assert_eq!(status(&facts, "claude.hook_command"), Some(Status::Fail));
    set(&mut facts, "/bin/sh claude-hook Stop");
    assert_eq!(status(&facts, "claude.hook_command"), Some(Status::Warn));
    set(&mut facts, "no hook");
    assert_eq!(status(&facts, "claude.hook_events"), Some(Status::Skipped));
    facts.claude.settings[0].commands = Err("no JSON".to_owned());
    assert_eq!(status(&facts, "claude.settings"), Some(Status::Fail));
}

#[test]
fn marks_can_be_switched_off_or_unknown() {
    let mut facts = everything();
    facts.shell.features = Some("cwd,no-marks".to_owned());
    facts.shell.version = Some("GNU bash, version 3.2.57".to_owned());
    assert_eq!(status(&facts, "shell.marks_feature"), Some(Status::Warn));
    assert_eq!(status(&facts, "shell.marks_capability"), Some(Status::Warn));
    facts.shell.current = Some("/usr/bin/fish".into());
    assert_eq!(status(&facts, "shell.marks_capability"), Some(Status::Skipped));
    facts.shell.resources = Some(("/res".into(), vec!["x"]));
    assert_eq!(status(&facts, "shell.resources"), Some(Status::Fail));
}
