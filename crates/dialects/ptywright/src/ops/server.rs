//! `server.*`.

use rookery_wire::rpc::{NoParams, RpcError};

use crate::{
    Cx, METHODS, PROTOCOL_VERSION,
    notify::Filter,
    wire::{
        notification::{self, NotificationsSet, SetNotifications},
        server::Capabilities,
    },
};

/// Names in one filter.
const MAX_FILTERED: usize = 4096;

/// `server.capabilities`.
pub(crate) async fn capabilities(_cx: Cx, _params: NoParams) -> Result<Capabilities, RpcError> {
    Ok(described())
}

/// `server.set_notifications`.
pub(crate) async fn set_notifications(
    cx: Cx,
    params: SetNotifications,
) -> Result<NotificationsSet, RpcError> {
    let set = NotificationsSet {
        enabled: params.enabled,
        adapters: params.adapters.unwrap_or_default(),
        sessions: params.sessions.unwrap_or_default(),
    };
    if set.sessions.len() + set.adapters.len() > MAX_FILTERED {
        let message = format!("more than {MAX_FILTERED} sessions and adapters in the filter");
        return Err(RpcError::invalid_params(message));
    }
    let filter = Filter {
        sessions: set.sessions.iter().cloned().collect(),
        adapters: set.adapters.iter().cloned().collect(),
    };
    cx.notifier.set(params.enabled.then_some(filter));
    Ok(set)
}

/// Says what the table holds, so that it cannot promise more.
fn described() -> Capabilities {
    Capabilities {
        framing: vec!["ndjson", "lsp"],
        methods: METHODS.iter().map(|method| method.name).collect(),
        name: "ptywright",
        notifications: notification::NAMES.to_vec(),
        version: PROTOCOL_VERSION,
        implementation: concat!("rookery ", env!("CARGO_PKG_VERSION")),
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
        assert_eq!(described.notifications, notification::NAMES);
    }
}
