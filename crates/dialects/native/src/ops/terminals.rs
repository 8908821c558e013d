//! Terminals as entities: list, open, close, and their place in the workspace.

use rookery_core::{OpenTerminal, StrayAction};
use rookery_host::Leftover;
use rookery_model as model;

use super::check_name;
use crate::{
    Cx, Error,
    text::redacted,
    wire::{
        Empty, LeftProcess, Terminal, TerminalActivate, TerminalClose, TerminalEnded,
        TerminalFilter, TerminalGet, TerminalList, TerminalMove, TerminalOpen, TerminalRename,
    },
};

pub(crate) async fn list(cx: Cx, params: TerminalFilter) -> Result<TerminalList, Error> {
    let wanted = |terminal: &&std::sync::Arc<model::Terminal>| {
        params.project.is_none_or(|project| project.0 == terminal.project)
    };
    let terminals = cx
        .core
        .terminals()
        .list()
        .iter()
        .filter(wanted)
        .map(|terminal| Terminal::from(&**terminal))
        .collect();
    Ok(TerminalList { terminals, active: cx.core.workspace().active().map(model::TerminalId::get) })
}

pub(crate) async fn get(cx: Cx, params: TerminalGet) -> Result<Terminal, Error> {
    let id = params.terminal.resolve(&cx.core)?;
    Ok(Terminal::from(&cx.core.terminals().describe(id)?))
}

pub(crate) async fn open(cx: Cx, params: TerminalOpen) -> Result<Terminal, Error> {
    let request = request(params)?;
    Ok(Terminal::from(&cx.core.terminals().open(request).await?))
}

fn request(params: TerminalOpen) -> Result<OpenTerminal, Error> {
    if params.argv.first().is_some_and(String::is_empty) {
        return Err(Error::invalid("argv", "argv must begin with a program"));
    }
    if params.cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(Error::invalid("cwd", "cwd must be an absolute path"));
    }
    if let Some(title) = &params.title {
        check_name("title", title)?;
    }
    let rows = params.rows.unwrap_or(model::Size::DEFAULT.rows());
    let cols = params.cols.unwrap_or(model::Size::DEFAULT.cols());
    Ok(OpenTerminal {
        argv: params.argv,
        cwd: params.cwd,
        env: params.env.into_iter().collect(),
        size: model::Size::new(rows, cols)?,
        project: params.project.map(|project| project.0),
        title: params.title,
        scrollback: params.scrollback,
        integrate: true,
        ..OpenTerminal::default()
    })
}

pub(crate) async fn close(cx: Cx, params: TerminalClose) -> Result<TerminalEnded, Error> {
    let id = params.terminal.resolve(&cx.core)?;
    Ok(ended(cx.core.terminals().close_with(id, strays(params.all_processes)).await?))
}

/// What is to become of processes that left the session of a terminal that ends.
pub(super) fn strays(all_processes: bool) -> StrayAction {
    if all_processes { StrayAction::End } else { StrayAction::Report }
}

/// The error about a terminal whose program has exited.
pub(super) fn ended(left: Vec<Leftover>) -> TerminalEnded {
    let process = |one: Leftover| {
        let name = redacted(&one.name).into_owned();
        LeftProcess { pid: one.pid, name }
    };
    TerminalEnded { left: left.into_iter().map(process).collect() }
}

pub(crate) async fn rename(cx: Cx, params: TerminalRename) -> Result<Empty, Error> {
    let id = params.terminal.resolve(&cx.core)?;
    if let Some(title) = &params.title {
        check_name("title", title)?;
    }
    cx.core.terminals().set_user_title(id, params.title).await?;
    Ok(Empty {})
}

pub(crate) async fn activate(cx: Cx, params: TerminalActivate) -> Result<Empty, Error> {
    let id = params.terminal.resolve(&cx.core)?;
    cx.core.workspace().activate(id).await?;
    Ok(Empty {})
}

pub(crate) async fn move_to(cx: Cx, params: TerminalMove) -> Result<Empty, Error> {
    let id = params.terminal.resolve(&cx.core)?;
    let project = match params.project {
        Some(project) => project.0,
        None => cx.core.terminals().describe(id)?.project,
    };
    cx.core.workspace().move_terminal(id, project, params.index).await?;
    Ok(Empty {})
}
