//! Requests read as far as that goes without the world: envelope, name and params. What comes from
//! outside meets the same code here as when it is served, which is what the fuzz targets are after.

use std::sync::LazyLock;

use rookery_roost::Terms;
use rookery_wire::framing;
use rookery_wire::rpc::{Method, Request};

/// Reads a JSON-RPC request of a table.
pub(crate) fn call<C>(methods: &[Method<C>], bytes: &[u8]) -> Result<&'static str, String> {
    let text = framing::text(bytes).map_err(|error| error.to_string())?;
    let request = Request::parse(text).map_err(|error| error.message)?;
    let name = request.method.as_deref().unwrap_or_default();
    let method = methods.iter().find(|method| method.name == name);
    let method = method.ok_or_else(|| "unknown method".to_owned())?;
    (method.decodes)(request.params).map_err(|error| error.message)?;
    Ok(method.name)
}

/// Knows the keys of all params, which take a while to find out.
static ROOST: LazyLock<rookery_roost::Table<rookery_roost::Cx>> =
    LazyLock::new(|| rookery_roost::Table::new([rookery_roost::OPS]));

/// Reads a request of Roost.
pub(crate) fn roost(bytes: &[u8]) -> Result<&'static str, String> {
    let request = rookery_roost::envelope::parse(bytes).map_err(|broken| broken.message)?;
    let terms = Terms { test_mode: true, is_agent: false };
    let started = ROOST.start(&request.op, request.params, terms);
    started.map(|(name, _)| name).map_err(|error| error.message().to_owned())
}

/// Reads a request of idx0.
pub(crate) fn idx0(bytes: &[u8]) -> Result<&'static str, String> {
    let request = rookery_idx0::envelope::parse(bytes)?;
    let commands = rookery_idx0::COMMANDS.iter();
    let command = commands.into_iter().find(|command| command.name == request.command);
    command.map(|command| command.name).ok_or_else(|| "unknown command".to_owned())
}

/// Reads a command of Roo Code, in the shape of the schema document.
pub(crate) fn roo(bytes: &[u8]) -> Result<&'static str, String> {
    task_command(bytes, true)
}

/// Reads a command of Roo Code as the published client sends it.
pub(crate) fn roo_code(bytes: &[u8]) -> Result<&'static str, String> {
    task_command(bytes, false)
}

fn task_command(bytes: &[u8], takes_bare: bool) -> Result<&'static str, String> {
    use rookery_roo::wire::{Received, parse};
    match parse(bytes, takes_bare) {
        Received::Command(incoming, _) => {
            let command = rookery_roo::find(&incoming.name);
            let command = command.ok_or_else(|| "unknown command".to_owned())?;
            (command.check)(incoming.data).map_err(|failure| failure.message)?;
            Ok(command.name)
        }
        Received::Auth(..) => Err("a token".to_owned()),
        Received::Ignored(reason) => Err(reason.to_owned()),
    }
}
