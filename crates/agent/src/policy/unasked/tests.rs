//! What is wanted of calls: the switches, one by one, and what roles have tools for.

use rookery_model::{Role, ToolGroup};

use super::*;

const INSIDE: &str = "src/a.rs";

fn path(shown: &str) -> TouchedPath {
    let is_inside = !shown.starts_with('/');
    TouchedPath { shown: shown.to_owned(), is_inside, is_protected: is_protected(shown) }
}

fn wanted(unasked: &Unasked, tool: &str, kind: ToolKind, paths: &[&str]) -> Outcome {
    let paths: Vec<TouchedPath> = paths.iter().map(|shown| path(shown)).collect();
    let call = Call {
        tool,
        kind,
        is_foreign: false,
        is_always_allowed: false,
        command: None,
        paths: Some(&paths),
    };
    judge(unasked, &call)
}

fn all() -> Unasked {
    Unasked {
        is_on: true,
        reads: Reach::Anywhere,
        writes: Reach::Anywhere,
        protected_writes: true,
        mcp: true,
        roles: true,
        delegations: true,
        commands: true,
        allowed_commands: vec!["*".to_owned()],
        ..Unasked::default()
    }
}

const CALLS: &[(&str, ToolKind)] = &[
    ("read_file", ToolKind::Read),
    ("write_file", ToolKind::Write),
    ("update_plan", ToolKind::Internal),
    ("get_goal", ToolKind::Internal),
    ("new_task", ToolKind::Internal),
    ("switch_mode", ToolKind::Internal),
    ("start_agent", ToolKind::Agents),
    ("write_stdin", ToolKind::Exec),
];

#[test]
fn nothing_goes_ahead_where_it_is_off_and_everything_where_it_is_on() {
    let off = Unasked { is_on: false, ..all() };
    for &(tool, kind) in CALLS {
        assert_eq!(wanted(&off, tool, kind, &[INSIDE]), Outcome::Ask(reasons::OFF), "{tool}");
        assert_eq!(wanted(&all(), tool, kind, &[INSIDE]), Outcome::Approve, "{tool}");
    }
    for tool in ["request_user_input", "exit_plan_mode", "attempt_completion"] {
        assert_eq!(wanted(&off, tool, ToolKind::Internal, &[]), Outcome::Approve, "{tool}");
        // Only ours: another's tool is not known by its name.
        let call = Call {
            tool,
            kind: ToolKind::Internal,
            is_foreign: true,
            is_always_allowed: false,
            command: None,
            paths: None,
        };
        assert_eq!(judge(&off, &call), Outcome::Ask(reasons::OFF), "{tool}");
    }
    for kind in [ToolKind::Unknown, ToolKind::Network] {
        assert_eq!(wanted(&all(), "x", kind, &[]), Outcome::Ask(reasons::UNKNOWN));
    }
}

#[test]
fn each_switch_is_for_its_own_calls() {
    let on = Unasked { is_on: true, ..Unasked::default() };
    let read = |unasked: &Unasked, at: &str| wanted(unasked, "read_file", ToolKind::Read, &[at]);
    let write = |unasked: &Unasked, at: &[&str]| wanted(unasked, "edit", ToolKind::Write, at);
    assert_eq!(read(&on, INSIDE), Outcome::Ask(reasons::READS));
    let reads = Unasked { reads: Reach::Workspace, ..on.clone() };
    assert_eq!(read(&reads, INSIDE), Outcome::Approve);
    assert_eq!(read(&reads, "/etc/hosts"), Outcome::Ask(reasons::READS_OUTSIDE));
    assert_eq!(read(&reads, ".roomodes"), Outcome::Approve);
    assert_eq!(write(&reads, &[INSIDE]), Outcome::Ask(reasons::WRITES));
    let writes = Unasked { writes: Reach::Workspace, ..on.clone() };
    assert_eq!(write(&writes, &[INSIDE]), Outcome::Approve);
    assert_eq!(write(&writes, &[INSIDE, "/tmp/x"]), Outcome::Ask(reasons::WRITES_OUTSIDE));
    assert_eq!(write(&writes, &[INSIDE, ".roo/rules/a.md"]), Outcome::Ask(reasons::PROTECTED));
    let anywhere = Unasked { writes: Reach::Anywhere, ..on.clone() };
    assert_eq!(write(&anywhere, &["/tmp/x"]), Outcome::Approve);
    assert_eq!(write(&anywhere, &["/home/u/.roo/x"]), Outcome::Ask(reasons::PROTECTED));
    let protected = Unasked { protected_writes: true, ..writes };
    assert_eq!(write(&protected, &[".roomodes"]), Outcome::Approve);
    for (tool, why) in [("switch_mode", reasons::ROLES), ("new_task", reasons::DELEGATIONS)] {
        assert_eq!(wanted(&on, tool, ToolKind::Internal, &[]), Outcome::Ask(why));
    }
    let foreign = Call {
        tool: "x",
        kind: ToolKind::Read,
        is_foreign: true,
        is_always_allowed: false,
        command: None,
        paths: None,
    };
    assert_eq!(judge(&reads, &foreign), Outcome::Ask(reasons::MCP));
    let servers = Unasked { mcp: true, ..on.clone() };
    assert_eq!(judge(&servers, &foreign), Outcome::Ask(reasons::MCP_TOOL));
    // The switch and the tool's own flag, both.
    let allowed = Call { is_always_allowed: true, ..foreign };
    assert_eq!(judge(&servers, &allowed), Outcome::Approve);
    assert_eq!(judge(&on, &allowed), Outcome::Ask(reasons::MCP));
    assert_eq!(judge(&Unasked { is_on: false, ..servers }, &allowed), Outcome::Ask(reasons::OFF));
}

#[test]
fn paths_that_are_not_known_are_taken_for_the_worst() {
    let inside = Unasked { reads: Reach::Workspace, writes: Reach::Workspace, ..all() };
    let judged = |unasked: &Unasked, kind| {
        judge(
            unasked,
            &Call {
                tool: "",
                kind,
                is_foreign: false,
                is_always_allowed: false,
                command: None,
                paths: None,
            },
        )
    };
    assert_eq!(judged(&inside, ToolKind::Read), Outcome::Ask(reasons::READS_OUTSIDE));
    assert_eq!(judged(&inside, ToolKind::Write), Outcome::Ask(reasons::WRITES_OUTSIDE));
    let unprotected = Unasked { protected_writes: false, ..all() };
    assert_eq!(judged(&unprotected, ToolKind::Write), Outcome::Ask(reasons::PROTECTED));
    assert_eq!(judged(&all(), ToolKind::Write), Outcome::Approve);
    assert_eq!(judged(&all(), ToolKind::Exec), Outcome::Ask(reasons::UNLISTED));
}

#[test]
fn commands_need_their_switch_and_their_lists() {
    let judged = |unasked: &Unasked, command| {
        let call = Call {
            tool: "shell",
            kind: ToolKind::Exec,
            is_foreign: false,
            is_always_allowed: false,
            command: Some(command),
            paths: Some(&[]),
        };
        judge(unasked, &call)
    };
    let off = Unasked { commands: false, denied_commands: vec!["rm".into()], ..all() };
    assert_eq!(judged(&off, "ls"), Outcome::Ask(reasons::COMMANDS));
    assert_eq!(judged(&off, "rm x"), Outcome::Ask(reasons::COMMANDS));
    let on = Unasked { commands: true, ..off };
    assert_eq!(judged(&on, "ls"), Outcome::Approve);
    assert_eq!(judged(&on, "rm x"), Outcome::Deny("denied by the task's list of commands"));
}

#[test]
fn settings_of_agents_are_protected_wherever_they_are() {
    for path in [
        ".roo/rules/a.md",
        ".roomodes",
        ".rooignore",
        ".roorules-code",
        ".rookery/x",
        ".roder/commands/a.md",
        ".vscode/settings.json",
        "AGENTS.md",
        "sub/agents.md",
        "sub/.roo/mcp.json",
        "x.code-workspace",
    ] {
        assert!(is_protected(path), "{path}");
    }
    for path in ["src/roo.rs", "room", "vscode/x", "AGENTS.md.txt", "a.roo", ""] {
        assert!(!is_protected(path), "{path}");
    }
}

fn role(groups: &[(ToolSort, Option<&str>)]) -> Role {
    let group = |&(sort, files): &(ToolSort, Option<&str>)| ToolGroup {
        sort,
        files: files.map(str::to_owned),
    };
    let groups = groups.iter().map(group).collect();
    Role { slug: "docs".into(), name: "Docs".into(), groups, ..Role::default() }
}

fn refused(role: &Role, tool: &str, kind: ToolKind, paths: &[&str]) -> Option<String> {
    let paths: Vec<TouchedPath> = paths.iter().map(|shown| path(shown)).collect();
    let call = Call {
        tool,
        kind,
        is_foreign: false,
        is_always_allowed: false,
        command: None,
        paths: Some(&paths),
    };
    if !has_tool(role, &call) {
        assert!(refusal(role, &call).is_some(), "{tool} is not offered and not refused");
    }
    refusal(role, &call)
}

#[test]
fn a_role_has_the_tools_of_its_groups() {
    let reader = role(&[(ToolSort::Read, None)]);
    assert_eq!(refused(&reader, "read_file", ToolKind::Read, &[INSIDE]), None);
    assert_eq!(
        refused(&reader, "shell", ToolKind::Exec, &[]).unwrap(),
        "role Docs has no tools to run commands"
    );
    let none = role(&[]);
    for tool in ["new_task", "switch_mode", "attempt_completion", "request_user_input"] {
        assert_eq!(refused(&none, tool, ToolKind::Agents, &[]), None, "{tool}");
    }
    assert_eq!(refused(&none, "update_plan", ToolKind::Internal, &[]), None);
    for kind in [ToolKind::Read, ToolKind::Write, ToolKind::Exec, ToolKind::Unknown] {
        assert!(refused(&none, "x", kind, &[]).is_some(), "{kind:?}");
    }
    let foreign = Call {
        tool: "new_task",
        kind: ToolKind::Read,
        is_foreign: true,
        is_always_allowed: false,
        command: None,
        paths: None,
    };
    assert!(!has_tool(&reader, &foreign));
    assert!(has_tool(&role(&[(ToolSort::Mcp, None)]), &foreign));
}

#[test]
fn a_role_may_be_held_to_some_files() {
    let writer = role(&[(ToolSort::Edit, Some(r"\.md$"))]);
    assert_eq!(refused(&writer, "edit", ToolKind::Write, &["a.md", "b/c.md"]), None);
    assert_eq!(
        refused(&writer, "edit", ToolKind::Write, &["a.md", "b.rs"]).unwrap(),
        r"role Docs may only change files that match \.md$: b.rs does not"
    );
    let unknown = Call {
        tool: "",
        kind: ToolKind::Write,
        is_foreign: false,
        is_always_allowed: false,
        command: None,
        paths: None,
    };
    assert!(refusal(&writer, &unknown).unwrap().contains("not known which files"));
    let broken = role(&[(ToolSort::Edit, Some("("))]);
    assert!(refused(&broken, "edit", ToolKind::Write, &["a"]).unwrap().contains("no regular"));
}
