//! Slash commands: listed, expanded, and run as turns.

use std::path::{Path, PathBuf};

use rookery_agent::commands::{Block, CommandInfo, Expanded};
use rookery_core::{NewTurn, StartedTurn};
use rookery_model as model;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::command::{
    Command, CommandsExpandParams, CommandsExpandResult, CommandsListParams, CommandsListResult,
    CommandsRunParams, CommandsRunResult, ContextBlock,
};
use crate::{ids, show};

pub(crate) async fn list(cx: Cx, params: CommandsListParams) -> Result<CommandsListResult, Error> {
    let workspace = workspace(params.workspace, || cx.cwd())?;
    let listed = cx.core.agents().commands(&workspace).await?;
    Ok(CommandsListResult { commands: listed.into_iter().map(command).collect() })
}

pub(crate) async fn expand(
    cx: Cx,
    params: CommandsExpandParams,
) -> Result<CommandsExpandResult, Error> {
    let workspace = workspace(params.workspace, || cx.cwd())?;
    let expanded = expanded(&cx, &params.name, &params.arguments, &workspace, None).await?;
    Ok(shown(expanded))
}

pub(crate) async fn run(cx: Cx, params: CommandsRunParams) -> Result<CommandsRunResult, Error> {
    cx.client.check_not_drained()?;
    let thread = ids::thread(&params.thread_id)?;
    let seen =
        cx.core.threads().get(thread).ok_or_else(|| ids::thread_not_found(&params.thread_id))?;
    if let Some(turn) = seen.status.active_turn {
        return Err(busy(turn));
    }
    cx.bring_mode().await?;
    let workspace = workspace(params.workspace, || seen.thread.cwd)?;
    let expanded = expanded(&cx, &params.name, &params.arguments, &workspace, Some(thread)).await?;
    let (profile, client) = (cx.client.link().profile, Some(cx.client.number()));
    let new = NewTurn { profile, client, keys: cx.client.keys(), ..NewTurn::of_command(&expanded) };
    let turn = match cx.core.threads().start_turn(thread, new).await {
        Ok(StartedTurn::New(turn)) => turn.id,
        Ok(StartedTurn::Steered(turn)) => return Err(busy(turn)),
        Err(error) => {
            // One may have begun while the command was expanded.
            let active = cx.core.threads().get(thread).and_then(|seen| seen.status.active_turn);
            return Err(match active.filter(|_| error.kind() == model::ErrorKind::Conflict) {
                Some(turn) => busy(turn),
                None => error.into(),
            });
        }
    };
    Ok(CommandsRunResult {
        turn_id: turn.to_string(),
        turn_id_camel: turn.to_string(),
        expanded: shown(expanded),
    })
}

fn busy(turn: model::TurnId) -> Error {
    Error::turn_active("a turn is running", turn)
}

async fn expanded(
    cx: &Cx,
    name: &str,
    arguments: &str,
    workspace: &Path,
    thread: Option<model::ThreadId>,
) -> Result<Expanded, Error> {
    let client = Some(cx.client.number());
    let expanded =
        cx.core.agents().expand_command(name, arguments, workspace, thread, client).await;
    expanded.map_err(|error| match error.kind() == model::ErrorKind::Denied {
        true => Error::denied(error.message(), &show::mode(cx, cx.mode(thread))),
        false => error.into(),
    })
}

fn workspace(named: Option<String>, usual: impl FnOnce() -> PathBuf) -> Result<PathBuf, Error> {
    let Some(path) = named.map(PathBuf::from) else { return Ok(usual()) };
    match path.is_absolute() {
        true => Ok(path),
        false => Err(Error::invalid("workspace must be absolute")),
    }
}

fn command(info: CommandInfo) -> Command {
    Command {
        name: info.name,
        description: info.description,
        argument_hint: info.argument_hint,
        source: info.source.to_string(),
        model: info.model,
        agent: info.agent,
        has_shell_includes: info.has_shell_includes,
        has_url_includes: info.has_url_includes,
    }
}

fn shown(expanded: Expanded) -> CommandsExpandResult {
    let block = |block: Block| ContextBlock {
        id: block.id,
        kind: block.kind.as_str().to_owned(),
        text: block.text,
        priority: block.priority,
        token_estimate: block.token_estimate,
        metadata: block.metadata,
    };
    CommandsExpandResult {
        command: command(expanded.command),
        message: expanded.message,
        context_blocks: expanded.blocks.into_iter().map(block).collect(),
        allowed_tools: expanded.allowed_tools,
        model: expanded.model,
        agent: expanded.agent,
    }
}
