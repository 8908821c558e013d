//! Calls that are under way, and jobs outside. Calls leave in the order in which they were made.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use rookery_term::keys::{Key, KeyKind, KeyPress, Special};
use rookery_view::link;
use rookery_view::link::method::Call;
use rookery_wire::{Client, ClientError};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::app::{Ask, CallError, Reply};

/// Something that is done outside and takes a while.
pub type Job = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Calls and jobs.
#[derive(Default)]
pub struct Calls {
    tasks: JoinSet<(Ask, Reply)>,
    ready: VecDeque<(Ask, Reply)>,
}

impl Calls {
    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.ready.is_empty()
    }

    /// Forgets calls whose connection is gone.
    pub fn clear(&mut self) {
        self.ready.clear();
        self.tasks.detach_all();
        self.tasks = JoinSet::new();
    }

    /// Sends a call now, and waits for its answer beside everything else.
    pub async fn call(&mut self, client: Option<Client>, ask: Ask, Call { method, params }: Call) {
        let Some(client) = client else {
            self.ready.push_back((ask, Err(closed())));
            return;
        };
        let mut call = Box::pin(async move { client.call::<Value, Value>(method, params).await });
        // The first poll queues the request, so that what is sent next comes after it.
        match poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await {
            Poll::Ready(reply) => self.ready.push_back((ask, reply.map_err(|e| error(&e)))),
            Poll::Pending => {
                self.tasks.spawn(async move { (ask, call.await.map_err(|e| error(&e))) });
            }
        }
    }

    /// Starts a job, and what its success is for; a failure is reported.
    pub fn job(&mut self, job: Job, ask: Ask) {
        self.tasks.spawn(async move {
            let reply = match job.await {
                Ok(()) => Ok(Value::Null),
                Err(message) => Err(CallError { code: 1, message }),
            };
            (ask, reply)
        });
    }

    /// The next answer; only to be awaited while there is one under way.
    pub async fn next(&mut self) -> (Ask, Reply) {
        if let Some(ready) = self.ready.pop_front() {
            return ready;
        }
        match self.tasks.join_next().await {
            Some(Ok(done)) => done,
            Some(Err(_)) => (Ask::Quiet, Err(closed())),
            None => std::future::pending().await,
        }
    }
}

fn closed() -> CallError {
    CallError { code: 0, message: "the daemon is away".to_owned() }
}

fn error(error: &ClientError) -> CallError {
    match error {
        ClientError::Rpc(error) => CallError { code: error.code, message: error.message.clone() },
        ClientError::Json(error) => CallError { code: 1, message: error.to_string() },
        _ => closed(),
    }
}

/// A key as it travels; its number is filled in later.
pub fn wire_key(t: u64, press: &KeyPress) -> link::Key {
    let k = match press.key {
        Key::Char(c) => c.to_string(),
        Key::Special(special) => special.name().to_owned(),
    };
    let kind = match press.kind {
        KeyKind::Press => link::KeyKind::Press,
        KeyKind::Repeat => link::KeyKind::Repeat,
        KeyKind::Release => link::KeyKind::Release,
    };
    // What it types is named if it gets lost; encoding does not look at control characters.
    let control = match press.key {
        Key::Special(Special::Enter) => Some("\r"),
        Key::Special(Special::Tab) => Some("\t"),
        Key::Special(Special::Backspace) => Some("\x7f"),
        Key::Special(Special::Escape) => Some("\x1b"),
        _ => None,
    };
    let control = control.filter(|_| press.mods.is_empty()).map(str::to_owned);
    link::Key {
        n: 0,
        t,
        k,
        mods: press.mods.bits(),
        kind,
        text: press.text.clone().or(control),
        shifted: press.shifted,
        base: press.base_layout,
    }
}

/// What is said when the daemon does not know what it is asked for yet.
const OLD_DAEMON: &str = "the daemon is older than this program; `rookery restart` replaces it";

/// Why the daemon refuses, and what helps.
pub fn refusal(error: &ClientError) -> String {
    match error {
        ClientError::Rpc(error) if error.code == -32011 => {
            let supported = error.data.as_ref().and_then(|data| data["supported"].as_array());
            let versions = supported.into_iter().flatten().filter_map(serde_json::Value::as_u64);
            let newest = versions.max();
            match newest.map(|newest| newest.cmp(&u64::from(link::VERSION))) {
                Some(Ordering::Less) => OLD_DAEMON.to_owned(),
                Some(Ordering::Greater) => "this program is older than the daemon; install the \
                     version that the daemon has, or `rookery restart` replaces the daemon with \
                     this one"
                    .to_owned(),
                _ => {
                    "the daemon is of another version; `rookery restart` replaces it with this one"
                        .to_owned()
                }
            }
        }
        ClientError::Rpc(error) if error.code == -32601 => OLD_DAEMON.to_owned(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rookery_wire::rpc::RpcError;

    use super::*;

    #[test]
    fn it_is_said_which_side_is_older() {
        let refused = |versions: &[u32]| {
            let mut error = RpcError::new(-32011, "no common version");
            error.data = Some(serde_json::json!({ "supported": versions }));
            refusal(&ClientError::Rpc(error))
        };
        assert!(refused(&[0]).starts_with("the daemon is older"));
        assert!(refused(&[link::VERSION + 1]).starts_with("this program is older"));
        for said in [refused(&[0]), refused(&[link::VERSION + 1]), refused(&[])] {
            assert!(said.contains("`rookery restart`"), "{said}");
        }
    }
}
