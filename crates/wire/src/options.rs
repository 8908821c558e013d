//! The bounds and manners that a dialect chooses for its connections.

use std::time::Duration;

use crate::{admission::Admission, outbox::OutboxLimits};

/// Whether requests of one connection may overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Requests run side by side; replies go out as they are ready.
    #[default]
    Concurrent,
    /// A request is taken only after the reply to the one before it.
    Sequential,
}

/// Bounds and manners of one connection.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether requests may overtake each other.
    pub order: Order,
    /// Requests at work at the same time; more are refused.
    pub max_pending: usize,
    /// Bytes of the frames of requests at work; more are refused.
    pub max_pending_bytes: usize,
    /// Unwritten bytes above which no request is taken and no reply is computed.
    pub write_high_water: usize,
    /// Bounds of the out-queue.
    pub outbox: OutboxLimits,
    /// Write queued messages before each reply instead of after it, for dialects that promise
    /// the events of a request before its reply.
    pub outbox_first: bool,
    /// How long the last bytes may wait for a peer that does not read.
    pub linger: Duration,
    /// What a peer may do before the protocol admits it.
    pub admission: Admission,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            order: Order::Concurrent,
            max_pending: 1024,
            max_pending_bytes: 64 * 1024 * 1024,
            write_high_water: 4 * 1024 * 1024,
            outbox: OutboxLimits::default(),
            outbox_first: false,
            linger: Duration::from_secs(5),
            admission: Admission::default(),
        }
    }
}
