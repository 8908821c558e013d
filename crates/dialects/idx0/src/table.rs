//! The commands as rows of a table, and how a request finds its row.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt as _;
use rookery_core::Core;
use rookery_wire::exchange::NoRequest;
use rookery_wire::rights::{self, Rights};

use crate::context::Cx;
use crate::envelope::{self, Reply};
use crate::errors::Failure;
use crate::files::Mirror;
use crate::ids::Payload;
use crate::keys::{self, Key};
use crate::ops;

/// A command at work.
type Work = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

/// One row of the table.
pub struct Command {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it asks of its caller.
    pub rights: Rights,
    /// The keys of its payload.
    pub keys: &'static [Key],
    run: fn(Cx, Payload) -> Work,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A row: a name, what it asks of its caller, its keys and `async fn(Cx, Payload) -> Result<Reply, Failure>`.
macro_rules! command {
    ($name:literal, $rights:ident, $keys:path => $function:path) => {
        Command {
            name: $name,
            rights: Rights::$rights,
            keys: $keys,
            run: |cx, payload| Box::pin($function(cx, payload)),
        }
    };
}

/// Every command: first those that idx0 has, in its order, then ours.
pub static COMMANDS: &[Command] = &[
    command!("open", FULL, keys::NONE => ops::sessions::open),
    command!("newSession", INSIDE, keys::NEW_SESSION => ops::create::new_session),
    command!("newSessionWithTool", INSIDE, keys::NEW_SESSION => ops::create::new_session_with_tool),
    command!("focusSession", FULL, keys::ONE_SESSION => ops::sessions::focus),
    command!("listSessions", LOOK, keys::NONE => ops::sessions::list),
    command!("createCheckpoint", REPORT, keys::CHECKPOINT => ops::checkpoints::create),
    command!("createHandoff", REPORT, keys::HANDOFF => ops::handoffs::create),
    command!("requestReview", REPORT, keys::REVIEW => ops::reviews::request),
    command!("listQueue", LOOK, keys::NONE => ops::queue::list),
    command!("listApprovals", LOOK, keys::APPROVALS => ops::approvals::list),
    command!("respondApproval", DECIDE, keys::RESPOND => ops::approvals::respond),
    command!("listVibeTools", LOOK, keys::NONE => ops::tools::list),
    command!("agentEvent", REPORT, keys::EVENT => ops::events::take),
    command!("setReviewStatus", DECIDE, keys::REVIEW_STATUS => ops::reviews::set_status),
    command!("markQueueResolved", DECIDE, keys::QUEUE_ITEM => ops::queue::resolve),
    command!("notify", REPORT, keys::NOTIFY => ops::notify::notify),
    command!("waitApproval", LOOK, keys::WAIT_APPROVAL => ops::approvals::wait),
    command!("setHandoffStatus", DECIDE, keys::HANDOFF_STATUS => ops::handoffs::set_status),
    command!("listCheckpoints", LOOK, keys::LISTING => ops::checkpoints::list),
    command!("listReviews", LOOK, keys::LISTING => ops::reviews::list),
    command!("listHandoffs", LOOK, keys::LISTING => ops::handoffs::list),
    command!("listTimeline", LOOK, keys::TIMELINE => ops::queue::timeline),
    command!("closeSession", INSIDE, keys::ONE_SESSION => ops::sessions::close),
    command!("removeWorktree", FULL, keys::REMOVE_WORKTREE => ops::create::remove_worktree),
    command!("importDirectory", FULL, keys::IMPORT => ops::import::import),
    command!("protocolInfo", LOOK, keys::NONE => ops::sessions::protocol),
];

fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|command| command.name).collect()
}

/// Answers one request of the caller that `core` works for, or says why there is none. A command that panics is a
/// failure of its own.
pub async fn serve(
    core: Core,
    mirror: Option<Mirror>,
    request: Result<rookery_wire::framing::Frame, NoRequest>,
) -> Vec<u8> {
    let cx = Cx { core, mirror, commands: names };
    let reply = match request {
        Ok(bytes) => match envelope::parse(&bytes) {
            Ok(request) => run(cx, request).await,
            Err(reason) => Reply::invalid(reason),
        },
        Err(reason) => Reply::invalid(reason),
    };
    reply.to_bytes()
}

async fn run(cx: Cx, request: envelope::Request) -> Reply {
    let Some(command) = COMMANDS.iter().find(|command| command.name == request.command) else {
        return Reply::failure(format!("Unknown command '{}'", request.command));
    };
    if !command.rights.admits(cx.core.caller().is_agent()) {
        return Reply::failure(rights::refusal(command.name));
    }
    let work = AssertUnwindSafe(async { (command.run)(cx, request.payload).await });
    match work.catch_unwind().await {
        Ok(Ok(reply)) => reply,
        Ok(Err(failure)) => failure.into(),
        Err(_) => {
            tracing::error!(command = command.name, "a command panicked");
            Reply::failure("Command failed")
        }
    }
}
