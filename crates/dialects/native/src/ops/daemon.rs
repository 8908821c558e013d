//! The daemon: how it is, and its end.

use rookery_core::KeeperState;

use crate::{
    Cx, Ending, Error,
    text::redacted,
    wire::{
        GetStatus, Keeper, McpServer, Shutdown, ShutdownReply, Status, TerminalCounts, format_time,
    },
};

pub(crate) async fn status(cx: Cx, _params: GetStatus) -> Result<Status, Error> {
    let status = cx.core.status();
    Ok(Status {
        version: status.version.to_owned(),
        pid: status.pid,
        started_at: format_time(status.started_at),
        projects: status.projects,
        terminals: TerminalCounts {
            running: status.running,
            exited: status.exited,
            lost: status.lost,
        },
        pending_waits: status.pending_waits,
        keeper: match status.keeper {
            KeeperState::Absent => None,
            KeeperState::Connected { pid } => Some(Keeper { pid }),
        },
        last_event: status.last_event.get(),
        store_queue: status.store_queue,
        damage: status.damage,
        warnings: status.warnings,
        mcp_servers: status.mcp_servers.into_iter().map(mcp_server).collect(),
    })
}

fn mcp_server(server: rookery_core::McpServer) -> McpServer {
    let state = match (&server.error, server.is_ready) {
        (Some(_), _) => "failed",
        (None, true) => "ready",
        (None, false) => "starting",
    };
    let error = server.error.map(|why| redacted(&why).into_owned());
    McpServer { name: server.name, state: state.to_owned(), error, tools: server.tools }
}

pub(crate) async fn shutdown(cx: Cx, params: Shutdown) -> Result<ShutdownReply, Error> {
    let ending = if params.all { Ending::EndAll } else { Ending::KeepTerminals };
    cx.control.shut_down(ending);
    Ok(ShutdownReply { pid: cx.core.status().pid })
}
