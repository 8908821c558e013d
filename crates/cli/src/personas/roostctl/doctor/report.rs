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
    pub(super) kind: Kind,
    pub(super) status: Option<Status>,
    pub(super) detail: String,
    /// What to do, if something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it is about: this process, the server or one tab.
    pub(super) scope: &'static str,
    pub(super) checks: Vec<Entry>,
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

/// What to do when something is wrong.
const HINTS: &[(&str, &str)] = &[
    ("env.tab_id", "unset ROOST_TAB_ID, or set it to the number of a tab"),
    ("ui.target", "start a server, or name one with --socket or --target"),
    ("ui.socket", "start a server with `rookery up`"),
    ("ui.identify", "see what the server logged, or start it anew"),
    ("ui.version", "replace the server by this version with `rookery restart`"),
    ("ui.agent_model", "use a server that reports agents, or expect the older states only"),
    ("shell.login", "set SHELL to a shell that can be run"),
    ("shell.integration", "open a new tab; this shell was started without the variables of a tab"),
    ("shell.resources", "open a new tab; install the shell scripts again if that does not help"),
    ("shell.marks_feature", "remove no-marks from ROOST_SHELL_FEATURES"),
    ("shell.marks_capability", "use bash 4.4 or newer, or zsh"),
    ("shell.marks_observed", "press enter at a prompt; if nothing changes, open a new tab"),
    ("tab.selection", "see which tabs there are with `roostctl tab list`"),
    ("claude.binary", "install Claude Code, or put it on PATH"),
    ("claude.settings", "mend the file, or write it anew with `roostctl claude install --force`"),
    ("claude.hook_events", "run `rookery hooks install claude-code`"),
    ("claude.hook_command", "run `rookery hooks install claude-code` with the program to be used"),
    ("claude.observed", "start Claude Code anew in this tab"),
];

/// An entry with a verdict.
pub(super) fn check(id: &'static str, status: Status, detail: impl Into<String>) -> Entry {
    let hint = HINTS.iter().find(|(known, _)| *known == id && status >= Status::Warn);
    let hint = hint.map(|(_, hint)| *hint);
    Entry { id, kind: Kind::Check, status: Some(status), detail: detail.into(), hint }
}

/// An entry without a verdict.
pub(super) fn fact(id: &'static str, detail: impl Into<String>) -> Entry {
    Entry { id, kind: Kind::Observation, status: None, detail: detail.into(), hint: None }
}

/// A fact that cannot be known.
pub(super) fn unknown(id: &'static str, detail: impl Into<String>) -> Entry {
    Entry { status: Some(Status::Skipped), ..fact(id, detail) }
}
