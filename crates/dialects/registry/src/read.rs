//! Requests read as far as that goes without the world: envelope, name and params. What comes from
//! outside meets the same code here as when it is served, which is what the fuzz targets are after.

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
