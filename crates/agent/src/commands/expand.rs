//! Makes a message and its context of a command. It starts no turn and stores nothing.

use std::path::Path;

use futures_util::future::try_join_all;

use super::command::{Body, Command};
use super::include::{Fetch, Gate};
use super::{CommandError, Expanded, review};
use crate::settings::CommandSettings;

/// Where a command is expanded, and who helps with it.
#[derive(Clone, Copy)]
pub struct ExpandContext<'a> {
    /// The directory that includes begin at and stay in; absolute.
    pub workspace: &'a Path,
    /// What may be included, and how much of it.
    pub settings: &'a CommandSettings,
    /// Judges command lines.
    pub gate: &'a dyn Gate,
    /// Gets pages.
    pub fetch: &'a dyn Fetch,
}

impl std::fmt::Debug for ExpandContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExpandContext").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// Expands a command with what the user wrote behind it. Needs a tokio runtime; blocking work is
/// done off its threads.
pub async fn expand(
    command: &Command,
    arguments: &str,
    around: ExpandContext<'_>,
) -> Result<Expanded, CommandError> {
    if !around.settings.enabled {
        return Err(CommandError::Disabled);
    }
    if !around.workspace.is_absolute() {
        return Err(CommandError::RelativeWorkspace);
    }
    let name = &command.info.name;
    let (message, blocks) = match &command.body {
        Body::Template(template) => {
            let getting = command.includes.iter().map(|include| include.get(name, &around));
            let blocks = try_join_all(getting).await?.into_iter().flatten().collect();
            (template.render(name, arguments), blocks)
        }
        Body::Review => review::expand(name, arguments, &around).await?,
    };
    let message = message.trim_end().to_owned();
    if message.is_empty() {
        let reason = "there is nothing to say without any".to_owned();
        return Err(CommandError::Arguments { name: name.clone(), reason });
    }
    Ok(Expanded {
        command: command.info.clone(),
        message,
        blocks,
        allowed_tools: command.allowed_tools.clone(),
        model: command.info.model.clone(),
        agent: command.info.agent.clone(),
    })
}
