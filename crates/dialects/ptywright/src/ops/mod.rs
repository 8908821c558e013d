//! The methods, one file per noun. Each decodes nothing and decides little: it asks core and
//! answers in the shapes of `wire`.

pub(crate) mod adapter;
mod launch;
pub(crate) mod plugin;
pub(crate) mod server;
pub(crate) mod session;

use rookery_model::TerminalId;

use rookery_wire::rpc::RpcError;

use crate::{
    Cx,
    waits::{Ticket, WaitTarget},
    wire::process::Process,
};

/// The process in a terminal, as long as that exists.
fn process_of(cx: &Cx, id: TerminalId) -> Option<Process> {
    cx.core.terminals().describe(id).ok().as_ref().map(Process::from)
}

/// Takes a name for a wait.
fn enter(
    cx: &Cx,
    name: Option<&str>,
    who: impl FnOnce() -> WaitTarget,
) -> Result<Ticket, RpcError> {
    cx.shared.waits.enter(name, who).ok_or_else(|| {
        let name = name.unwrap_or_default();
        RpcError::invalid_params(format!("wait_id `{name}` is already in flight"))
    })
}
