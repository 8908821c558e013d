//! The report: five sections with 26 entries, always all of them.

use serde::Serialize;

/// The version of the report's shape.
const SCHEMA_VERSION: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// It can be right or wrong.
    Check,
    /// It is as it is.
    Observation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// There is nothing to judge, or no way to.
    Skipped,
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) kind: Kind,
    pub(super) status: Option<Status>,
    pub(super) detail: String,
    /// What to do, if something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<&'static str>,
    /// A page to read, as the original has them; here the hint says what to do.
    pub(super) docs_url: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it is about: this process, the server or one tab.
    pub(super) scope: &'static str,
    /// The worst verdict in it; none where there is nothing to judge.
    pub(super) status: Option<Status>,
    /// What it comes to, in one line.
    pub(super) headline: String,
    pub(super) checks: Vec<Entry>,
}

/// What a section is about, before anything was looked at.
pub(super) struct Topic {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) scope: &'static str,
    /// Whether there is something to judge; else all of it is as it is.
    pub(super) is_judged: bool,
    /// The entry that speaks for it while nothing is wrong.
    pub(super) headline: &'static str,
}

impl Topic {
    pub(super) fn with(&self, checks: Vec<Entry>) -> Section {
        let statuses = || checks.iter().filter_map(|entry| entry.status);
        let is_skipped = statuses().any(|status| status == Status::Skipped);
        let status = match statuses().max() {
            Some(worst @ (Status::Fail | Status::Warn)) => Some(worst),
            _ if is_skipped => Some(Status::Skipped),
            _ => self.is_judged.then_some(Status::Ok),
        };
        let speaker = match status {
            Some(Status::Ok) | None => checks.iter().find(|entry| entry.id == self.headline),
            worst => checks.iter().find(|entry| entry.status == worst),
        };
        let headline = speaker.map(|entry| entry.detail.split_whitespace());
        let headline = headline.map(|words| words.collect::<Vec<_>>().join(" "));
        let Topic { id, title, scope, .. } = *self;
        Section { id, title, scope, status, headline: headline.unwrap_or_default(), checks }
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Summary {
    pub(super) ok: usize,
    pub(super) warn: usize,
    pub(super) fail: usize,
    pub(super) skipped: usize,
    /// Observations.
    pub(super) facts: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) schema_version: u32,
    pub(super) roostctl_version: &'static str,
    pub(super) sections: Vec<Section>,
    pub(super) summary: Summary,
    pub(super) exit_code: u8,
}

impl Report {
    pub(super) fn new(sections: Vec<Section>) -> Self {
        let mut summary = Summary::default();
        for entry in sections.iter().flat_map(|section| &section.checks) {
            *match entry.status {
                Some(Status::Ok) => &mut summary.ok,
                Some(Status::Warn) => &mut summary.warn,
                Some(Status::Fail) => &mut summary.fail,
                Some(Status::Skipped) => &mut summary.skipped,
                None => &mut summary.facts,
            } += 1;
        }
        Self {
            schema_version: SCHEMA_VERSION,
            roostctl_version: env!("CARGO_PKG_VERSION"),
            exit_code: u8::from(summary.fail > 0),
            sections,
            summary,
        }
    }

    /// What is wrong.
    pub(super) fn issues(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.sections.iter().flat_map(|section| &section.checks);
        entries.filter(|entry| entry.status >= Some(Status::Warn))
    }
}

/// An entry as it is known before anything was looked at: its title, and what to do when it is wrong.
struct Known {
    id: &'static str,
    title: &'static str,
    hint: Option<&'static str>,
}

const fn known(id: &'static str, title: &'static str, hint: &'static str) -> Known {
    Known { id, title, hint: Some(hint) }
}

const fn seen(id: &'static str, title: &'static str) -> Known {
    Known { id, title, hint: None }
}

const KNOWN: &[Known] = &[
    known("env.tab_id", "Tab id", "unset ROOST_TAB_ID, or set it to the number of a tab"),
    seen("env.socket", "Socket"),
    known("ui.target", "Target", "start a server, or name one with --socket or --target"),
    known("ui.socket", "Socket", "start a server with `rookery up`"),
    known("ui.identify", "Identity", "see the server's log, or restart it"),
    known("ui.version", "Version", "replace the server with this version: `rookery restart`"),
    known(
        "ui.agent_model",
        "Agent states",
        "use a server that reports agents; this one reports only the older states",
    ),
    known("shell.login", "Login shell", "set SHELL to an executable shell"),
    seen("shell.current", "Current shell"),
    known(
        "shell.integration",
        "Integration",
        "open a new tab; this shell was started without the variables of a tab",
    ),
    known(
        "shell.resources",
        "Scripts",
        "open a new tab; install the shell scripts again if that does not help",
    ),
    known("shell.marks_feature", "Marks switched on", "remove no-marks from ROOST_SHELL_FEATURES"),
    known("shell.marks_capability", "Marks possible", "use bash 4.4 or newer, or zsh"),
    known(
        "shell.marks_observed",
        "Marks seen",
        "press enter at a prompt; if nothing changes, open a new tab",
    ),
    known("tab.selection", "Which tab", "run `roostctl tab list` to list tabs"),
    seen("tab.shell_state", "Shell state"),
    seen("tab.agent_lifecycle", "Agent state"),
    seen("tab.attention", "Notification"),
    seen("tab.ownership", "Owner"),
    seen("tab.derived", "Shown state"),
    seen("tab.raw_osc", "Notifications of programs"),
    known("claude.binary", "Program", "install Claude Code, or put it on PATH"),
    known(
        "claude.settings",
        "Settings",
        "fix the file, or overwrite it with `roostctl claude install --force`",
    ),
    known("claude.hook_events", "Events", "run `rookery hooks install claude-code`"),
    known(
        "claude.hook_command",
        "Commands",
        "run `rookery hooks install claude-code` with the program that hooks should call",
    ),
    known("claude.observed", "Reports", "restart Claude Code in this tab"),
];

fn entry(id: &'static str, kind: Kind, status: Option<Status>, detail: String) -> Entry {
    let known = KNOWN.iter().find(|known| known.id == id);
    let hint = known.and_then(|known| known.hint).filter(|_| status >= Some(Status::Warn));
    let title = known.map_or(id, |known| known.title);
    Entry { id, title, kind, status, detail, hint, docs_url: None }
}

/// An entry with a verdict.
pub(super) fn check(id: &'static str, status: Status, detail: impl Into<String>) -> Entry {
    entry(id, Kind::Check, Some(status), detail.into())
}

/// An entry without a verdict.
pub(super) fn fact(id: &'static str, detail: impl Into<String>) -> Entry {
    entry(id, Kind::Observation, None, detail.into())
}

/// A fact that cannot be known.
pub(super) fn unknown(id: &'static str, detail: impl Into<String>) -> Entry {
    Entry { status: Some(Status::Skipped), ..fact(id, detail) }
}
