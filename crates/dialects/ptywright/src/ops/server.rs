//! `server.*`.

use rookery_wire::rpc::{NoParams, RpcError};

use crate::{Cx, METHODS, wire::server::Capabilities};

/// `server.capabilities`.
pub(crate) async fn capabilities(_cx: Cx, _params: NoParams) -> Result<Capabilities, RpcError> {
    Ok(described())
}

/// Says what the table holds, so that it cannot promise more.
fn described() -> Capabilities {
    Capabilities {
        framing: vec!["ndjson", "lsp"],
        methods: METHODS.iter().map(|method| method.name).collect(),
        name: "ptywright",
        notifications: Vec::new(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_the_table() {
        let described = described();
        assert_eq!(described.methods.len(), METHODS.len());
        assert!(described.methods.contains(&"session.wait"));
        assert!(!described.methods.contains(&"adapter.list"));
        assert!(described.notifications.is_empty());
    }
}
