//! `rookery open`: a new terminal.

use std::path::PathBuf;

use rookery_native::{TerminalRef, wire};

use crate::{
    args, attach,
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::call,
    output, resolve,
};

pub(super) async fn run(args: args::Open) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    if args.attach {
        attach::require_terminal()?;
    }
    let project = match &args.project {
        Some(project) => Some(resolve::project(&client, project).await?),
        None => None,
    };
    let size = if args.attach { attach::own_size() } else { None };
    let request = wire::TerminalOpen {
        argv: command(args.command),
        cwd: directory(args.cwd, project.is_some())?,
        env: args.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
        rows: args.rows.or(size.map(|size| size.rows)),
        cols: args.cols.or(size.map(|size| size.cols)),
        project,
        title: args.title,
        scrollback: None,
    };
    let terminal: wire::Terminal = call(&client, &request).await?;
    if args.attach {
        let id = TerminalRef::Number(rookery_model::TerminalId::new(terminal.id));
        return attach::follow(client, id, &attach::Keys::default()).await;
    }
    if args.json {
        output::json(&terminal)?;
    } else {
        output::line(terminal.id)?;
    }
    done()
}

/// The daemon knows a shell as well, but this user's wins.
fn command(given: Vec<String>) -> Vec<String> {
    if !given.is_empty() {
        return given;
    }
    std::env::var("SHELL").ok().filter(|shell| !shell.is_empty()).into_iter().collect()
}

/// Where to start, absolute; none leaves it to the project.
pub(super) fn directory(given: Option<PathBuf>, has_project: bool) -> Outcome<Option<PathBuf>> {
    let path = match given {
        Some(path) => path,
        None if has_project => return Ok(None),
        None => PathBuf::from("."),
    };
    std::fs::canonicalize(&path)
        .map(Some)
        .map_err(|error| Failure::new(format!("cannot start in {}: {error}", path.display())))
}
