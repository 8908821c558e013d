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
