//! What to think of what was found.

use rookery_roost::wire::{
    agent::{Lifecycle, ShellState},
    tab::Tab,
};

use super::{
    facts::{Answer, Facts},
    program,
    report::{Entry, Report, Status, Topic, check, fact, unknown},
    shell::is_recent_bash,
};
use crate::personas::roostctl::{CLAUDE_EVENTS, tabs::word, target::Origin};

const OUTSIDE: &str = "not inside a tab";

pub(super) fn report(facts: &Facts) -> Report {
    let tab = Selected::of(facts);
    Report::new(vec![
        ENVIRONMENT.with(environment(facts)),
        SERVER.with(server(facts)),
        SHELL.with(shell(facts, &tab)),
        SELECTED.with(selected(facts, &tab)),
        CLAUDE.with(claude(facts, &tab)),
    ])
}

const ENVIRONMENT: Topic = Topic {
    id: "env",
    title: "Environment",
    scope: "process",
    is_judged: true,
    headline: "env.tab_id",
};
const SERVER: Topic =
    Topic { id: "ui", title: "Server", scope: "ui", is_judged: true, headline: "ui.identify" };
const SHELL: Topic = Topic {
    id: "shell",
    title: "Shell integration",
    scope: "process",
    is_judged: true,
    headline: "shell.integration",
};
const SELECTED: Topic = Topic {
    id: "tab",
    title: "Selected tab",
    scope: "tab",
    is_judged: false,
    headline: "tab.derived",
};
const CLAUDE: Topic = Topic {
    id: "claude",
    title: "Claude Code",
    scope: "process",
    is_judged: true,
    headline: "claude.binary",
};

/// The tab that the report is about.
struct Selected<'a> {
    /// Its number and why it was chosen.
    choice: Option<(i64, &'static str)>,
    tab: Option<&'a Tab>,
}

impl<'a> Selected<'a> {
    fn of(facts: &'a Facts) -> Self {
        let named = facts.named_tab.as_ref().ok().copied().flatten();
        let active = facts.identity.as_ref().map(|who| who.active_tab_id.0).unwrap_or(0);
        let choice = match (facts.asked_tab, named) {
            (Some(id), _) => Some((id, "--tab names it")),
            (None, Some(id)) => Some((id, "ROOST_TAB_ID names it")),
            (None, None) if active != 0 => Some((active, "it is active")),
            (None, None) => None,
        };
        let tab = choice.and_then(|(id, _)| facts.tabs().find(|tab| tab.id.0 == id));
        Self { choice, tab }
    }

    /// Its axes, if the server has them.
    fn axes(&self) -> Option<(&'a Tab, ShellState, Lifecycle)> {
        let tab = self.tab?;
        Some((tab, tab.shell_state?, tab.agent_lifecycle?))
    }
}

fn environment(facts: &Facts) -> Vec<Entry> {
    let tab = match &facts.named_tab {
        Ok(Some(tab)) => check("env.tab_id", Status::Ok, format!("ROOST_TAB_ID is {tab}")),
        Ok(None) if facts.is_in_tab => {
            check("env.tab_id", Status::Fail, "inside a tab, but ROOST_TAB_ID is not set")
        }
        Ok(None) => check("env.tab_id", Status::Skipped, OUTSIDE),
        Err(message) => check("env.tab_id", Status::Fail, message),
    };
    let socket = match &facts.named_socket {
        Some(path) => format!("ROOST_SOCKET is {path}"),
        None => "ROOST_SOCKET is not set".to_owned(),
    };
    vec![tab, fact("env.socket", socket)]
}

fn server(facts: &Facts) -> Vec<Entry> {
    let target = match (&facts.origin, &facts.chosen) {
        (Err(message), _) => check("ui.target", Status::Fail, message),
        (Ok(Origin::Probe), Err(message)) => check("ui.target", Status::Fail, message),
        (Ok(Origin::Probe), Ok(path)) => {
            check("ui.target", Status::Ok, format!("{} is {}", path.display(), Origin::Probe))
        }
        (Ok(origin), _) => check("ui.target", Status::Ok, format!("chosen by {origin}")),
    };
    vec![target, sockets(facts), identity(facts), version(facts), agent_model(facts)]
}

fn sockets(facts: &Facts) -> Entry {
    let described = facts.sockets.iter().map(|(path, answer)| {
        let answer = match answer {
            Answer::Listens => "listens",
            Answer::Missing => "does not exist",
            Answer::Stale => "is left over from a server that has stopped",
            Answer::Refuses(why) => why,
        };
        format!("{} {answer}", path.display())
    });
    let detail = described.collect::<Vec<_>>().join("; ");
    match &facts.chosen {
        Ok(_) => check("ui.socket", Status::Ok, detail),
        Err(message) if detail.is_empty() => check("ui.socket", Status::Fail, message),
        Err(_) => check("ui.socket", Status::Fail, detail),
    }
}

fn identity(facts: &Facts) -> Entry {
    match &facts.identity {
        Ok(who) => {
            let detail = format!("{} ({}), process {}", who.app_label, who.app_id, who.pid);
            check("ui.identify", Status::Ok, detail)
        }
        Err(message) => check("ui.identify", Status::Fail, message),
    }
}

fn version(facts: &Facts) -> Entry {
    let own = env!("CARGO_PKG_VERSION");
    match &facts.identity {
        Ok(who) if who.ui_version == own => check("ui.version", Status::Ok, own),
        Ok(who) => {
            let detail = format!("the server is {}, this is {own}", who.ui_version);
            check("ui.version", Status::Warn, detail)
        }
        Err(_) => check("ui.version", Status::Skipped, format!("this is {own}, no server reached")),
    }
}

fn agent_model(facts: &Facts) -> Entry {
    let id = "ui.agent_model";
    if let Err(message) = &facts.projects {
        return check(id, Status::Skipped, message);
    }
    let mut tabs = facts.tabs().peekable();
    if tabs.peek().is_none() {
        return check(id, Status::Skipped, "there is no tab to see it on");
    }
    if tabs.all(|tab| tab.shell_state.is_some() && tab.agent_lifecycle.is_some()) {
        check(id, Status::Ok, "tabs show what their shells and agents do")
    } else {
        check(id, Status::Warn, "tabs do not show what their agents do; the server is too old")
    }
}

fn shell(facts: &Facts, selected: &Selected<'_>) -> Vec<Entry> {
    let shell = &facts.shell;
    let wrong = if facts.is_in_tab { Status::Fail } else { Status::Warn };
    let login = match &shell.login {
        Some((path, true)) => check("shell.login", Status::Ok, path.display().to_string()),
        Some((path, false)) => {
            check("shell.login", wrong, format!("{} cannot be executed", path.display()))
        }
        None => check("shell.login", Status::Warn, "SHELL is not set"),
    };
    let current = match &shell.current {
        Some(path) => fact("shell.current", path.display().to_string()),
        None => unknown("shell.current", "the parent process cannot be determined"),
    };
    let inside = |id, (status, detail): (Status, String)| {
        if facts.is_in_tab {
            check(id, status, detail)
        } else {
            check(id, Status::Skipped, OUTSIDE)
        }
    };
    let integration = match shell.integration.as_deref() {
        Some("1") => (Status::Ok, "offered to this shell".to_owned()),
        Some(other) => (Status::Fail, format!("ROOST_SHELL_INTEGRATION is {other}, not 1")),
        None => (Status::Fail, "ROOST_SHELL_INTEGRATION is not set".to_owned()),
    };
    let resources = match &shell.resources {
        Some((dir, missing)) if missing.is_empty() => (Status::Ok, dir.display().to_string()),
        Some((dir, missing)) => {
            (Status::Fail, format!("{} lacks {}", dir.display(), missing.join(" and ")))
        }
        None => (Status::Fail, "ROOST_RESOURCES_DIR is not set".to_owned()),
    };
    vec![
        login,
        current,
        inside("shell.integration", integration),
        inside("shell.resources", resources),
        inside("shell.marks_feature", marks_feature(shell.features.as_deref())),
        marks_capability(facts),
        marks_observed(facts, selected),
    ]
}

fn marks_feature(features: Option<&str>) -> (Status, String) {
    let Some(features) = features else {
        return (Status::Warn, "ROOST_SHELL_FEATURES is not set".to_owned());
    };
    let words: Vec<&str> = features.split(',').map(str::trim).collect();
    if words.contains(&"no-marks") {
        (Status::Warn, "switched off by no-marks".to_owned())
    } else {
        (Status::Ok, features.to_owned())
    }
}

fn marks_capability(facts: &Facts) -> Entry {
    let id = "shell.marks_capability";
    if !facts.is_in_tab {
        return check(id, Status::Skipped, OUTSIDE);
    }
    match (facts.shell.family(), &facts.shell.version) {
        (Some("zsh"), _) => check(id, Status::Ok, "zsh"),
        (Some("bash"), Some(version)) => match is_recent_bash(version) {
            Some(true) => check(id, Status::Ok, version),
            Some(false) => check(id, Status::Warn, format!("too old for marks: {version}")),
            None => check(id, Status::Skipped, format!("no version in: {version}")),
        },
        (Some(other), _) => check(
            id,
            Status::Skipped,
            format!("cannot tell whether this {other} emits shell marks"),
        ),
        (None, _) => check(id, Status::Skipped, "cannot tell which shell this is"),
    }
}

fn marks_observed(facts: &Facts, selected: &Selected<'_>) -> Entry {
    let id = "shell.marks_observed";
    let own = facts.named_tab.as_ref().ok().copied().flatten();
    let is_own = facts.is_in_tab && own.is_some() && selected.choice.map(|(tab, _)| tab) == own;
    match selected.axes() {
        _ if !is_own => {
            check(id, Status::Skipped, "the selected tab is not the tab that this command runs in")
        }
        Some((_, ShellState::Unknown, _)) => {
            check(id, Status::Warn, "no mark was seen in this tab")
        }
        Some(_) => check(id, Status::Ok, "marks were seen in this tab"),
        None => check(id, Status::Skipped, "the server does not say"),
    }
}

/// What is observed of a tab, in order.
const AXES: [&str; 6] = [
    "tab.shell_state",
    "tab.agent_lifecycle",
    "tab.attention",
    "tab.ownership",
    "tab.derived",
    "tab.raw_osc",
];

fn selected(facts: &Facts, selected: &Selected<'_>) -> Vec<Entry> {
    let id = "tab.selection";
    let selection = match (selected.choice, selected.tab) {
        (Some((tab, why)), Some(_)) => check(id, Status::Ok, format!("tab {tab}; {why}")),
        (Some(_), None) if facts.projects.is_err() => {
            check(id, Status::Skipped, "no server to ask for it")
        }
        (Some((tab, why)), None) => {
            check(id, Status::Fail, format!("tab {tab} does not exist, although {why}"))
        }
        (None, _) => check(id, Status::Skipped, "no tab is named and none is active"),
    };
    let axes = match (selected.tab, selected.axes()) {
        (_, Some((tab, shell, agent))) => observed(tab, shell, agent),
        (Some(_), None) => {
            AXES.map(|id| unknown(id, "the server does not report what agents do")).into()
        }
        (None, None) => AXES.map(|id| unknown(id, "no tab is selected")).into(),
    };
    std::iter::once(selection).chain(axes).collect()
}

/// The word for a value on the wire.
fn wire_word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn observed(tab: &Tab, shell: ShellState, agent: Lifecycle) -> Vec<Entry> {
    let attention = if tab.has_notification { "a notification waits" } else { "nothing waits" };
    let ownership = match &tab.ownership {
        Some(owner) if owner.session_id.is_empty() => format!("owned by {}", owner.source),
        Some(owner) => format!("owned by {}, session {}", owner.source, owner.session_id),
        None => "it has no owner".to_owned(),
    };
    let raw = if tab.hook_active {
        "notifications of programs are suppressed; hooks report instead"
    } else {
        "notifications of programs are shown"
    };
    let details = [
        wire_word(shell),
        wire_word(agent),
        attention.to_owned(),
        ownership,
        format!("shown as {}", word(tab.state)),
        raw.to_owned(),
    ];
    AXES.into_iter().zip(details).map(|(id, detail)| fact(id, detail)).collect()
}

fn claude(facts: &Facts, selected: &Selected<'_>) -> Vec<Entry> {
    let claude = &facts.claude;
    let binary = match &claude.binary {
        Some((_, Some(version))) => check("claude.binary", Status::Ok, version),
        Some((path, None)) => {
            let detail = format!("{} does not print its version", path.display());
            check("claude.binary", Status::Warn, detail)
        }
        None => check("claude.binary", Status::Skipped, "claude is not on PATH"),
    };
    vec![binary, settings(facts), hook_events(facts), hook_command(facts), seen(selected)]
}

const NO_HOOKS: &str = "no hooks of ours are installed";

/// Every command that reports to a server.
fn commands(facts: &Facts) -> Vec<&crate::personas::roostctl::claude::Called> {
    let read = facts.claude.settings.iter().filter_map(|settings| settings.commands.as_ref().ok());
    read.flatten().collect()
}

fn settings(facts: &Facts) -> Entry {
    let id = "claude.settings";
    for settings in &facts.claude.settings {
        if let Err(message) = &settings.commands {
            return check(id, Status::Fail, format!("{}: {message}", settings.file.display()));
        }
    }
    let has_hooks = |commands: &Vec<_>| !commands.is_empty();
    let used = facts.claude.settings.iter().filter(|it| it.commands.as_ref().is_ok_and(has_hooks));
    let used: Vec<String> = used.map(|settings| settings.file.display().to_string()).collect();
    if used.is_empty() {
        return check(id, Status::Skipped, NO_HOOKS);
    }
    check(id, Status::Ok, used.join(", "))
}

fn hook_events(facts: &Facts) -> Entry {
    let id = "claude.hook_events";
    let commands = commands(facts);
    if commands.is_empty() {
        return check(id, Status::Skipped, NO_HOOKS);
    }
    let is_missing = |event: &&str| !commands.iter().any(|called| called.event == **event);
    let missing: Vec<&str> = CLAUDE_EVENTS.into_iter().filter(|event| is_missing(event)).collect();
    if missing.is_empty() {
        return check(id, Status::Ok, format!("all {} events", CLAUDE_EVENTS.len()));
    }
    check(id, Status::Fail, format!("no hook for {}", missing.join(", ")))
}

fn hook_command(facts: &Facts) -> Entry {
    let id = "claude.hook_command";
    let commands = commands(facts);
    if commands.is_empty() {
        return check(id, Status::Skipped, NO_HOOKS);
    }
    let is_broken = |path: &std::path::Path| !path.is_absolute() || !program::is_runnable(path);
    if let Some(broken) = commands.iter().find(|called| is_broken(&called.program)) {
        let detail = format!("{} cannot be executed", broken.program.display());
        return check(id, Status::Fail, detail);
    }
    let own = facts.claude.own.as_ref();
    let is_other = |path: &std::path::Path| path.canonicalize().ok().as_ref() != own;
    match commands.iter().find(|called| is_other(&called.program)) {
        Some(other) => {
            let detail = format!("{} is not this program", other.program.display());
            check(id, Status::Warn, detail)
        }
        None => check(id, Status::Ok, "every hook calls this program"),
    }
}

fn seen(selected: &Selected<'_>) -> Entry {
    let id = "claude.observed";
    let owner = selected.tab.and_then(|tab| tab.ownership.as_ref());
    match owner.filter(|owner| owner.source == "claude") {
        Some(owner) => check(id, Status::Ok, format!("session {} owns the tab", owner.session_id)),
        None => check(id, Status::Skipped, "no hook was seen in the selected tab"),
    }
}

#[cfg(test)]
mod tests;
