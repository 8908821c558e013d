//! The daemon: how it is, and its end.

use rookery_core::KeeperState;

use crate::{
    Cx, Ending, Error,
    text::redacted,
    wire::{
        GetStatus, Keeper, McpServer, RaiseWindow, Raised, Room, Shutdown, ShutdownReply, Status,
        TerminalCounts, Viewer, format_time,
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
        viewers: viewers(&cx),
        web: super::web::status(&cx),
        web_problem: super::web::problem(&cx),
    })
}

/// Asks the newest window to come to the front, and to show a page. One that can only look is none for
/// who wants to work.
pub(crate) async fn raise(cx: Cx, params: RaiseWindow) -> Result<Raised, Error> {
    use rookery_core::{Face, ViewerRights};
    let page = params.page.as_deref().map(page).transpose()?;
    let seats = cx.core.seats();
    let (viewers, _) = seats.viewers();
    let is_window = |viewer: &&rookery_core::Viewer| {
        viewer.face == Face::Window
            && viewer.rights == ViewerRights::Full
            && seats.is_newest_window(viewer.id)
    };
    let Some(window) = viewers.iter().find(is_window) else {
        return Ok(Raised { raised: false });
    };
    if let Some(page) = page {
        seats.go(window.id, page, None).await?;
    }
    seats.raise_window();
    Ok(Raised { raised: true })
}

/// A page that can be gone to by its name alone.
fn page(word: &str) -> Result<rookery_core::Page, Error> {
    use rookery_core::Page;
    Ok(match word {
        "workspace" => Page::Workspace,
        "inbox" => Page::Inbox(None),
        "threads" => Page::Threads,
        "reviews" => Page::Reviews,
        "checkpoints" => Page::Checkpoints(None),
        "worktrees" => Page::Worktrees(None),
        "audit" => Page::Audit,
        "settings" => Page::Settings,
        "help" => Page::Help,
        _ => return Err(Error::invalid("page", format!("there is no page {word:?}"))),
    })
}

fn viewers(cx: &Cx) -> Vec<Viewer> {
    use rookery_core::Page;
    use rookery_model::Words as _;
    let (viewers, desk) = cx.core.seats().viewers();
    let shown = |viewer: rookery_core::Viewer| Viewer {
        viewer: viewer.id.get(),
        face: viewer.face.word().to_owned(),
        name: viewer.name,
        rights: viewer.rights.word().to_owned(),
        is_desk: desk == Some(viewer.id),
        size: Room { cols: viewer.room.cols(), rows: viewer.room.rows() },
        page: match viewer.page {
            Page::Workspace => "workspace",
            Page::Inbox(_) => "inbox",
            Page::Thread(_) => "thread",
            Page::Threads => "threads",
            Page::Review(..) => "review",
            Page::Reviews => "reviews",
            Page::Checkpoints(_) => "checkpoints",
            Page::Worktrees(_) => "worktrees",
            Page::Audit => "audit",
            Page::Settings => "settings",
            Page::Help => "help",
        }
        .to_owned(),
    };
    viewers.into_iter().map(shown).collect()
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
    let ending = match (params.all, params.restart) {
        (true, true) => {
            return Err(Error::invalid(
                "restart",
                "a restart keeps terminals; give all or restart",
            ));
        }
        (true, false) => Ending::EndAll,
        (false, true) => Ending::Restart,
        (false, false) => Ending::KeepTerminals,
    };
    cx.control.shut_down(ending);
    Ok(ShutdownReply { pid: cx.core.status().pid })
}
