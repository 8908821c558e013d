//! Slash commands: listed, and run as turns.

use rookery_agent::commands::CommandInfo;
use rookery_core::{NewTurn, StartedTurn};
use rookery_model as model;

use super::named::absolute;
use super::threads::{find, known};
use crate::{
    Cx, Error,
    wire::{Command, CommandList, CommandRun, Commands, TurnOnly},
};

pub(crate) async fn list(cx: Cx, params: CommandList) -> Result<Commands, Error> {
    if let Some(cwd) = &params.cwd {
        absolute("cwd", cwd)?;
    }
    let workspace = params.cwd.unwrap_or_else(|| cx.core.agents().cwd());
    let listed = cx.core.agents().commands(&workspace).await?;
    Ok(Commands { commands: listed.into_iter().map(command).collect() })
}

fn command(info: CommandInfo) -> Command {
    Command {
        name: info.name,
        description: info.description,
        argument_hint: info.argument_hint,
        source: info.source.to_string(),
    }
}

pub(crate) async fn run(cx: Cx, params: CommandRun) -> Result<TurnOnly, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let seen = known(&cx.core, thread)?;
    if let Some(turn) = seen.status.active_turn {
        return Err(busy(turn));
    }
    let (name, arguments) = (&params.name, &params.arguments);
    let agents = cx.core.agents();
    let expanded =
        agents.expand_command(name, arguments, &seen.thread.cwd, Some(thread), None).await?;
    let new = NewTurn { keys: cx.keys(), ..NewTurn::of_command(&expanded) };
    match cx.core.threads().start_turn(thread, new).await? {
        StartedTurn::New(turn) => Ok(TurnOnly { turn: turn.id.to_string() }),
        StartedTurn::Steered(turn) => Err(busy(turn)),
    }
}

fn busy(turn: model::TurnId) -> Error {
    model::Error::conflict(format!("turn {turn} is running")).into()
}
