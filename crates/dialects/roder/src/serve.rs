//! How a connection of this dialect is served, whatever socket it came by.

use std::sync::{Arc, LazyLock};

use rookery_core::Core;
use rookery_wire::framing::Ndjson;
use rookery_wire::outbox::OutboxLimits;
use rookery_wire::rpc::{JsonRpc, Table};
use rookery_wire::{ConnectionHandle, Options, Order};

use crate::context::{Cx, Link};
use crate::errors::reword;
use crate::fit;
use crate::{LINE_LIMIT, LINK_METHODS, METHODS};

/// Requests of one connection that are at work at the same time; more are refused.
const IN_FLIGHT: usize = 1024;
/// Messages that are written down for a client. What it has not read beyond them waits in the log,
/// which all clients share.
const OUTBOX: OutboxLimits = OutboxLimits { messages: 4096, bytes: 4 << 20 };

static TABLE: LazyLock<Arc<Table<Cx>>> =
    LazyLock::new(|| Arc::new(Table::new([METHODS, LINK_METHODS])));

/// What serves one connection. The client gets notifications from its first request on, so that it
/// can first say how it reached us.
#[must_use]
pub fn protocol(core: Core, connection: ConnectionHandle, link: Link) -> JsonRpc {
    let cx = Cx::new(core, connection, link, false);
    let companion = cx.companion();
    JsonRpc::new(Arc::clone(&TABLE), cx)
        .lenient()
        .reword(reword)
        .within(fit::RESULT, fit::reply)
        .companion(companion)
}

/// One message per line, within our bound.
#[must_use]
pub fn framing() -> Ndjson {
    Ndjson::with_limit(LINE_LIMIT)
}

/// Bounds and manners of a connection: requests run side by side.
#[must_use]
pub fn options() -> Options {
    Options {
        order: Order::Concurrent,
        max_pending: IN_FLIGHT,
        outbox: OUTBOX,
        // A command's output comes before the reply that it ended; what has to come behind its reply
        // is held back (see `context`).
        outbox_first: true,
        ..Options::default()
    }
}

#[cfg(test)]
mod tests;
