//! The report for people.

use std::io::IsTerminal as _;

use super::report::{Entry, Report, Section, Status};
use crate::{
    output,
    personas::roostctl::{args::ColorChoice, shown},
};

/// How wide a line of the summary may be.
const WIDTH: usize = 100;
/// How wide titles and ids are.
const NAME: usize = 24;

/// Whether colors are used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    fn status(self, status: Option<Status>, text: &str) -> String {
        let code = match status {
            Some(Status::Ok) => "32",
            Some(Status::Warn) => "33",
            Some(Status::Fail) => "31",
            Some(Status::Skipped) | None => "2",
        };
        self.with(code, text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Whether stdout and the environment want colors.
pub(super) fn wants_color(when: ColorChoice) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match when {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stdout().is_terminal() && !set("NO_COLOR") && !is_dumb(),
    }
}

fn mark(status: Option<Status>) -> &'static str {
    match status {
        Some(Status::Ok) => "✓",
        Some(Status::Warn) => "!",
        Some(Status::Fail) => "✗",
        Some(Status::Skipped) | None => "–",
    }
}

/// A line per section, then what is wrong.
pub(super) fn summary(report: &Report, paint: Paint) -> String {
    let version = report.roostctl_version;
    let mut out = format!("roostctl {version} (every check: roostctl doctor -v)\n\n");
    for section in &report.sections {
        let Some(worst) = worst(section) else { continue };
        let sign = paint.status(worst.status, &format!("[{}]", mark(worst.status)));
        let detail = output::shorten(&shown(&worst.detail), WIDTH - NAME - 4);
        out.push_str(&format!("{sign} {:<NAME$}{detail}\n", section.title));
    }
    out.push_str(&issues(report, paint));
    out
}

/// The entry that says most about a section: the first of the worst checks.
fn worst(section: &Section) -> Option<&Entry> {
    let worst = section.checks.iter().map(|entry| entry.status).max()?;
    section.checks.iter().find(|entry| entry.status == worst)
}

/// Every entry.
pub(super) fn everything(report: &Report, paint: Paint) -> String {
    let mut out = format!("roostctl {}\n", report.roostctl_version);
    for section in &report.sections {
        let title = format!("{} ({})", section.title, section.scope);
        out.push_str(&format!("\n{}\n", paint.with("1", &title)));
        for entry in &section.checks {
            let status = match entry.status {
                Some(Status::Ok) => "ok",
                Some(Status::Warn) => "warn",
                Some(Status::Fail) => "fail",
                Some(Status::Skipped) => "skipped",
                None => "",
            };
            let status = paint.status(entry.status, &format!("{status:<8}"));
            out.push_str(&format!("  {status}{:<NAME$}{}\n", entry.id, shown(&entry.detail)));
            if let Some(hint) = entry.hint {
                out.push_str(&format!("  {:<8}{:<NAME$}→ {hint}\n", "", ""));
            }
        }
    }
    out.push_str(&issues(report, paint));
    out
}

fn issues(report: &Report, paint: Paint) -> String {
    let issues: Vec<&Entry> = report.issues().collect();
    let mut out = match issues.len() {
        0 => return "\nno problems found\n".to_owned(),
        1 => "\n1 issue:\n".to_owned(),
        count => format!("\n{count} issues:\n"),
    };
    for entry in issues {
        let sign = paint.status(entry.status, mark(entry.status));
        let hint = entry.hint.unwrap_or_default();
        out.push_str(&format!("  {sign} {:<NAME$}→ {hint}\n", entry.id));
    }
    out
}
