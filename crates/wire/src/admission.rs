//! Peers that have not yet said who they are: how long they may take and how much they may send. Owns the deadline,
//! not what has to be said; that is the protocol's.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Sleep;

/// What a peer may do before the protocol [admits](crate::Protocol::is_admitted) it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// How long it may take.
    pub within: Duration,
    /// The longest frame that it may send.
    pub frame: usize,
}

impl Default for Admission {
    fn default() -> Self {
        Self { within: Duration::from_secs(10), frame: 64 * 1024 }
    }
}

/// Stands before one connection until its peer is admitted.
#[derive(Debug)]
pub(crate) struct Gate {
    rules: Admission,
    is_open: bool,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Gate {
    pub(crate) fn new(rules: Admission) -> Self {
        Self { rules, is_open: false, deadline: None }
    }

    /// True once, when it is heard that the peer is admitted.
    pub(crate) fn opens(&mut self, is_admitted: bool) -> bool {
        if self.is_open || !is_admitted {
            return false;
        }
        self.deadline = None;
        self.is_open = true;
        true
    }

    /// Whether the peer has had its time; leaves a waker behind if not.
    pub(crate) fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if self.is_open {
            return false;
        }
        let within = self.rules.within;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(within)));
        deadline.as_mut().poll(cx) == Poll::Ready(())
    }

    /// Whether a peer that is not admitted may have sent a frame of this length, or the beginning of one.
    pub(crate) fn takes(&self, length: usize) -> bool {
        self.is_open || length <= self.rules.frame
    }
}
