//! The roostctl tool: its command line, its words and its exit codes. It is a client of any Roost
//! server, ours or another.

mod args;
mod claude;
mod doctor;
mod escape;
#[cfg(test)]
mod fake;
mod link;
mod palette;
mod picture;
mod projects;
mod tabs;
mod target;
mod wait;
mod watch;

use std::{ffi::OsString, io::Write as _, process::ExitCode};

use clap::{CommandFactory as _, Parser as _};
use rookery_roost::wire::{Call, Int64, app::Identify};
use serde_json::value::RawValue;

use crate::{
    commands::{block_on, done},
    failure::{Failure, Outcome},
    output,
};
use args::{Cli, Command, TabArg};
use link::{Link, LinkError};
use target::{Flags, non_empty, process_env};

/// The name of the tool.
pub(crate) const NAME: &str = "roostctl";

/// The events of Claude Code that are reported.
pub(crate) use claude::{EVENTS as CLAUDE_EVENTS, hook_command, read_hook_command};

/// The whole tool.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from(NAME)).chain(args);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    run(cli).unwrap_or_else(|failure| failure.of("Error").report())
}

fn run(cli: Cli) -> Outcome {
    let flags = Flags { socket: cli.socket, target: cli.target };
    match cli.command {
        Command::Completions(args) => completions(args.shell),
        Command::Claude(args::Claude::Install { force }) => claude::install(force),
        Command::ClaudeHook(args) => Ok(claude::hook(&flags, &args.event)),
        Command::Doctor(args) => block_on(doctor::run(flags, args)),
        command => block_on(with_server(flags, command)),
    }
}

async fn with_server(flags: Flags, command: Command) -> Outcome {
    let found = target::connect(&flags, &process_env).await?;
    let mut link = Link::over(found.stream);
    let link = &mut link;
    match command {
        Command::Identify => tabs::identify(link).await?,
        Command::Notify(args) => tabs::notify(link, args).await?,
        Command::SetTitle(args) => tabs::set_title(link, args).await?,
        Command::Tab(command) => tabs::run(link, command).await?,
        Command::Project(command) => projects::run(link, command).await?,
        Command::Wait(args) => wait::run(link, &found.path, args).await?,
        Command::Watch(args) => watch::run(link, &args).await?,
        Command::Palette(command) => palette::run(link, command).await?,
        Command::Screenshot(args) => picture::screenshot(link, args).await?,
        Command::RenderStats(args) => picture::render_stats(link, args.reset).await?,
        // These need no server, or find theirs themselves.
        Command::Claude(_)
        | Command::ClaudeHook(_)
        | Command::Doctor(_)
        | Command::Completions(_) => {}
    }
    done()
}

/// Help and version on stdout, mistakes on stderr.
fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if error.use_stderr() {
        // If stderr is gone, the failure cannot be reported.
        let _ = std::io::stderr().write_all(text.as_bytes());
        return code;
    }
    output::write(text.as_bytes()).map_or_else(|failure| failure.of("Error").report(), |()| code)
}

fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    output::write(&script)?;
    done()
}

/// The identity that is sent to a server.
fn identify() -> Identify {
    let client_version = env!("CARGO_PKG_VERSION").to_owned();
    Identify { client_name: NAME.to_owned(), client_version }
}

/// The tab that the environment names, if it names one.
fn tab_of(variable: Option<OsString>) -> Result<Option<i64>, String> {
    let Some(text) = variable else { return Ok(None) };
    let number = text.to_str().and_then(|text| text.trim().parse().ok()).filter(|id| *id > 0);
    let bad = || format!("ROOST_TAB_ID is `{}`, not a tab id", text.to_string_lossy());
    number.map(Some).ok_or_else(bad)
}

/// The tab that is meant.
async fn tab(link: &mut Link, which: TabArg) -> Outcome<Int64> {
    if let Some(tab) = which.tab {
        return Ok(Int64(tab));
    }
    let named = tab_of(non_empty(&process_env, "ROOST_TAB_ID"));
    // As much a mistake on the command line as a bad --tab is.
    if let Some(tab) = named.map_err(|message| Failure::new(message).code(2))? {
        return Ok(Int64(tab));
    }
    let active = link.call(identify()).await?.active_tab_id;
    if active == Int64(0) {
        return Err(Failure::new("no tab is active; name one with --tab"));
    }
    Ok(active)
}

/// Calls an operation that has nothing to say but that it worked.
async fn just<P: Call>(link: &mut Link, params: P) -> Outcome<()> {
    link.call_raw(params).await?;
    Ok(())
}

/// Prints a result with all it has.
fn print_json(result: &RawValue) -> Outcome<()> {
    let value: serde_json::Value = serde_json::from_str(result.get()).map_err(LinkError::from)?;
    output::json(&value)
}

/// Text of a server on its way to a terminal.
fn shown(text: &str) -> String {
    output::printable(&text.replace(['\n', '\r', '\t'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fake::{Fake, Step};

    #[test]
    fn the_environment_names_a_tab_or_makes_a_mistake() {
        let named = |text: &str| tab_of(Some(text.into()));
        assert_eq!(tab_of(None), Ok(None));
        assert_eq!(named("3"), Ok(Some(3)));
        for bad in ["0", "-3", "x", "3.0", "99999999999999999999"] {
            let error = named(bad).unwrap_err();
            assert!(error.contains(bad), "{error}");
        }
    }

    #[tokio::test]
    async fn without_an_active_tab_one_must_be_named() {
        const NOTHING: &str = r#"{"socket_path":"/s","pid":1,"active_project_id":"0",
            "active_tab_id":"0","app_label":"R","app_id":"r","ui_version":"1","protocol_version":1}"#;
        let reply = NOTHING.replace('\n', "");
        let mut link = Fake::link(vec![Step::answer("identify", &reply)]);
        let error = tab(&mut link, TabArg { tab: None }).await.unwrap_err();
        assert!(format!("{error:?}").contains("no tab is active"));
        let mut link = Fake::link(vec![]);
        assert_eq!(tab(&mut link, TabArg { tab: Some(7) }).await.unwrap(), Int64(7));
    }
}
