//! `rookery hooks`: makes an agent tell us what it does, by hooks in its own settings.

mod document;
mod file;
mod settings;

use std::{
    io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;
use similar::TextDiff;

use crate::{
    args::{self, HooksAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    output::{self, Table, Tone},
};
use file::{Next, SettingsFile};
use settings::{Reported, Settings, State};

/// The longest answer to a question that is read.
const LONGEST_ANSWER: u64 = 256;

/// What came of it, for programs.
#[derive(Debug, Serialize)]
struct Made<'a> {
    agent: &'static str,
    action: &'static str,
    file: String,
    /// Whether the file is to change.
    changed: bool,
    /// Whether it did.
    written: bool,
    /// Whether it is gone, as it was before hooks came into it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
    events: Vec<Reported>,
}

pub(super) fn run(action: HooksAction) -> Outcome {
    let program = daemon_process::executable()?;
    match action {
        HooksAction::Install(args) => change("install", &args, &program, install),
        HooksAction::Uninstall(args) => change("uninstall", &args, &program, uninstall),
        HooksAction::Status(args) => status(&args, &program),
    }
}

/// The settings that are meant.
fn open(place: &args::HooksPlace) -> Outcome<SettingsFile> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = || variable("CLAUDE_CONFIG_DIR").or_else(|| Some(variable("HOME")?.join(".claude")));
    let path = place.settings.clone().or_else(|| Some(dir()?.join("settings.json")));
    let path =
        path.ok_or_else(|| Failure::new("HOME is not set").hint("choose a file with --settings"))?;
    SettingsFile::open(std::path::absolute(&path).map_err(Failure::doing(path.display()))?)
}

/// The failure of settings that cannot be touched.
fn untouched(file: &SettingsFile) -> impl FnOnce(String) -> Failure {
    let file = file.path().display().to_string();
    move |why| {
        Failure::new(format!("{file} was not changed: {why}"))
            .hint("fix it, or choose another file with --settings")
    }
}

/// Hooks that are to be installed, and the settings they go into.
pub(super) struct Planned {
    file: SettingsFile,
    next: Next,
    /// What changes, line by line.
    pub(super) diff: String,
}

impl Planned {
    /// What `hooks install claude-code` would write; none if they are installed.
    pub(super) fn install() -> Outcome<Option<Self>> {
        let program = daemon_process::executable()?;
        let agent = args::HookedAgent::ClaudeCode;
        let file = open(&args::HooksPlace { agent, settings: None, json: false })?;
        let next = install(&file, &program).map_err(untouched(&file))?;
        if !file.changes_to(&next) {
            return Ok(None);
        }
        let diff = unified(file.path(), file.before(), next.content());
        Ok(Some(Self { file, next, diff }))
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes them; gives the version before.
    pub(super) fn write(&self) -> Outcome<Option<PathBuf>> {
        self.file.become_next(&self.next)
    }
}

type Change = fn(&SettingsFile, &Path) -> Result<Next, String>;

fn install(file: &SettingsFile, program: &Path) -> Result<Next, String> {
    settings::installed(file.text(), program).map(Next::Says)
}

/// The file as it was before hooks came into it, if nothing else changed since; else the file without
/// our hooks.
fn uninstall(file: &SettingsFile, program: &Path) -> Result<Next, String> {
    let is_there = |reported: &Reported| reported.state != State::Missing;
    if !Settings::read(file.text(), program)?.reported().iter().any(is_there) {
        return Ok(Next::Says(file.text().to_owned()));
    }
    let mut earlier = file.earlier();
    let came_of = |text: &str| {
        let (now, then) = (settings::installed(file.text(), program), text);
        now.is_ok_and(|now| settings::installed(then, program).is_ok_and(|then| then == now))
    };
    if let Some(at) = earlier.iter().position(|version| came_of(version.text())) {
        return Ok(earlier.swap_remove(at).again());
    }
    if came_of(Next::Gone.text()) {
        return Ok(Next::Gone);
    }
    // What was empty before may stay empty.
    let first = earlier.last().map(file::Earlier::text);
    settings::uninstalled(file.text(), first, program).map(Next::Says)
}

fn change(
    action: &'static str,
    args: &args::HooksChange,
    program: &Path,
    change: Change,
) -> Outcome {
    let file = open(&args.place)?;
    let next = change(&file, program).map_err(untouched(&file))?;
    let has_changed = file.changes_to(&next);
    let after = if has_changed { next.content() } else { file.before() };
    let diff = unified(file.path(), file.before(), after);
    let mut result = Made {
        agent: args.place.agent.word(),
        action,
        file: file.path().display().to_string(),
        changed: has_changed,
        written: false,
        removed: false,
        backup: None,
        diff: has_changed.then_some(&*diff),
        events: Settings::read(next.text(), program).map_err(untouched(&file))?.reported(),
    };
    if !args.place.json {
        output::write(diff.as_bytes())?;
    }
    if has_changed && !args.dry_run {
        if !args.yes {
            ask(file.path(), args.place.json.then_some(&*diff))?;
        }
        let backup = file.become_next(&next)?;
        (result.written, result.removed) = (true, next == Next::Gone);
        result.backup = backup.map(|path| path.display().to_string());
    }
    if args.place.json {
        output::json(&result)?;
    } else {
        print_result(&result);
    }
    done()
}

fn print_result(result: &Made<'_>) {
    let file = &result.file;
    output::note(match (result.changed, result.written, &result.backup) {
        (false, ..) => format!("{file} is up to date; nothing was written"),
        (true, false, _) => "nothing was written".to_owned(),
        (true, true, None) if result.removed => {
            format!("removed {file}, which did not exist before")
        }
        (true, true, None) => format!("wrote {file}"),
        (true, true, Some(backup)) => format!("wrote {file}; the previous version is {backup}"),
    });
}

pub(super) fn unified(path: &Path, old: &str, new: &str) -> String {
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().header(&name, &name).to_string();
    text.lines().map(|line| format!("{}\n", printable(line))).collect()
}

/// A line of the user's file, which may be indented by tabs.
fn printable(line: &str) -> String {
    line.split('\t').map(output::printable).collect::<Vec<_>>().join("\t")
}

/// Asks whether to write; it must be said.
fn ask(file: &Path, diff: Option<&str>) -> Outcome<()> {
    if !io::stdin().is_terminal() {
        return Err(Failure::new("nothing was written, because there is no terminal to ask on")
            .hint("confirm with --yes, or only look with --dry-run"));
    }
    let question = format!("{}write {}? [y/N] ", diff.unwrap_or_default(), file.display());
    let asked = io::stderr().write_all(question.as_bytes());
    asked.map_err(Failure::doing("cannot ask"))?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut answer);
    read.map_err(Failure::doing("cannot read the answer"))?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new("nothing was written")),
    }
}

fn status(place: &args::HooksPlace, program: &Path) -> Outcome {
    let file = open(place)?;
    let events = Settings::read(file.text(), program).map_err(untouched(&file))?.reported();
    if place.json {
        let file = file.path().display().to_string();
        output::json(
            &serde_json::json!({ "agent": place.agent.word(), "file": file, "events": events }),
        )?;
        return done();
    }
    let mut table = Table::new(&["EVENT", "STATE", "COMMAND"]);
    for reported in events {
        let state = match reported.state {
            State::Installed => (Tone::Good, "installed"),
            State::Outdated => (Tone::Warning, "another program"),
            State::Missing => (Tone::Faint, "not installed"),
        };
        let state = (state.0, state.1.to_owned());
        let command = (Tone::Plain, reported.command.unwrap_or_default());
        table.row(vec![(Tone::Strong, reported.event.to_owned()), state, command]);
    }
    output::line(file.path().display())?;
    table.print()?;
    done()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_diff_shows_what_changes() {
        expect![[r#"
            --- /s
            +++ /s
            @@ -1,3 +1,3 @@
             {
            -	"a": 1
            +	"a": 2
             }
        "#]]
        .assert_eq(&unified(Path::new("/s"), "{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 2\n}\n"));
        assert_eq!(unified(Path::new("/s"), "x", "x"), "");
    }

    #[test]
    fn text_of_files_cannot_drive_the_terminal() {
        assert_eq!(printable("\ta\u{9b}2J\u{7f}b"), "\ta2Jb");
    }
}
