//! Whether agents can work: providers with a key, and servers of the Model Context Protocol.

use rookery_native::wire::{ListProviders, McpServer, Providers, Status};
use rookery_wire::Client;

use super::Finding;

/// The provider that answers with prepared texts, for tests.
const MOCK: &str = "mock";

pub(super) async fn providers(client: &Client) -> Vec<Finding> {
    match client.send(ListProviders).await {
        Ok(list) => vec![judge(&list)],
        Err(error) => {
            let hint = "replace the daemon with `rookery restart`";
            vec![Finding::warning("providers", error.to_string(), hint)]
        }
    }
}

fn judge(list: &Providers) -> Finding {
    let usable = list.providers.iter().filter(|it| it.usable && it.id != MOCK);
    let usable: Vec<&str> = usable.map(|it| it.id.as_str()).collect();
    let active = list.default.provider.as_str();
    if usable.is_empty() || active == MOCK {
        let hint = "choose a provider with `rookery setup`";
        return Finding::warning("providers", "no provider is set up", hint);
    }
    if !usable.contains(&active) {
        let detail = format!("{active} is selected but cannot be used; {} can", usable.join(", "));
        return Finding::warning("providers", detail, "choose one with `rookery setup`");
    }
    Finding::ok("providers", format!("{active}, model {}", list.default.model))
}

pub(super) fn mcp_servers(status: &Status) -> Vec<Finding> {
    let finding = |server: &McpServer| match (&server.error, server.state.as_str()) {
        (Some(error), _) => {
            let detail = format!("{}: {error}", server.name);
            let hint = format!("see [mcp_servers.{}] in the config", server.name);
            Finding::warning("mcp server", detail, hint)
        }
        (None, "ready") => {
            Finding::ok("mcp server", format!("{}, {} tools", server.name, server.tools))
        }
        (None, state) => Finding::ok("mcp server", format!("{} is {state}", server.name)),
    };
    status.mcp_servers.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_failed_is_named_with_its_reason() {
        let server = |state: &str, error: Option<&str>| McpServer {
            name: "files".into(),
            state: state.into(),
            error: error.map(str::to_owned),
            tools: 3,
        };
        let mut status: Status = serde_json::from_value(json!({
            "version": "1", "pid": 1, "startedAt": "", "projects": 0, "pendingWaits": 0,
            "terminals": {"running": 0, "exited": 0, "lost": 0}, "lastEvent": 0, "storeQueue": 0,
        }))
        .unwrap();
        status.mcp_servers = vec![server("ready", None), server("failed", Some("no such program"))];
        let found = mcp_servers(&status);
        assert_eq!(found[0].verdict, Verdict::Ok);
        assert_eq!(found[1].verdict, Verdict::Warning);
        assert_eq!(found[1].detail, "files: no such program");
    }
}
