//! The operations, a file per noun: each decodes nothing, asks the core and converts the answer.

pub(crate) mod agent;
pub(crate) mod display;
pub(crate) mod events;
pub(crate) mod identify;
pub(crate) mod notification;
pub(crate) mod project;
pub(crate) mod selection;
pub(crate) mod tab;

use rookery_core::TerminalHandle;
use rookery_model as model;

use crate::{context::Cx, errors::Error, wire::Int64};

/// The tab of this number, which must be there.
pub(crate) fn living_tab(cx: &Cx, id: Int64) -> Result<model::Terminal, Error> {
    let found =
        id.raw_id().and_then(|raw| cx.core.workspace().tab(model::TerminalId::new(raw)).ok());
    found.ok_or_else(|| no_tab(id))
}

/// The terminal of a tab, to work with.
pub(crate) fn terminal(cx: &Cx, id: Int64) -> Result<TerminalHandle, Error> {
    let tab = living_tab(cx, id)?;
    cx.core.terminals().get(tab.id).map_err(|_| no_tab(id))
}

/// A number that may be a project's.
pub(crate) fn project_id(id: Int64) -> Result<model::ProjectId, Error> {
    let found = id.raw_id().map(model::ProjectId::new);
    found.ok_or_else(|| Error::not_found(format!("no project {id}")))
}

fn no_tab(id: Int64) -> Error {
    Error::not_found(format!("no tab {id}"))
}
pub(crate) mod clipboard;
pub(crate) mod palette;
pub(crate) mod window;
