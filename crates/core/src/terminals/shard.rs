//! Shard threads: a few current-thread runtimes that read all terminals.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rookery_model::{Error, Result};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use super::live::Live;
use super::task;
use crate::core::Core;

/// More threads than this only take turns.
const MAX_SHARDS: usize = 4;

/// A terminal on its way to its shard.
struct Assignment {
    core: Core,
    live: Arc<Live>,
    raw_log: Option<mpsc::Sender<bytes::Bytes>>,
}

/// The shard threads. They end when this is dropped.
pub(crate) struct Shards {
    senders: Vec<mpsc::UnboundedSender<Assignment>>,
    next: AtomicUsize,
}

impl Shards {
    pub(crate) fn start() -> Result<Shards> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let senders = (0..cores.min(MAX_SHARDS)).map(start_shard).collect::<Result<Vec<_>>>()?;
        Ok(Shards { senders, next: AtomicUsize::new(0) })
    }

    /// Starts reading a terminal, on the next shard in turn.
    pub(crate) fn run(
        &self,
        core: Core,
        live: Arc<Live>,
        raw_log: Option<mpsc::Sender<bytes::Bytes>>,
    ) {
        let index = self.next.fetch_add(1, Ordering::Relaxed) % self.senders.len();
        // A shard ends only with the process.
        let _ = self.senders[index].send(Assignment { core, live, raw_log });
    }
}

fn start_shard(index: usize) -> Result<mpsc::UnboundedSender<Assignment>> {
    let (sender, mut receiver) = mpsc::unbounded_channel::<Assignment>();
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Error::failed(format!("cannot start a shard: {error}")))?;
    thread::Builder::new()
        .name(format!("shard-{index}"))
        .spawn(move || {
            let local = LocalSet::new();
            local.block_on(&runtime, async move {
                while let Some(Assignment { core, live, raw_log }) = receiver.recv().await {
                    tokio::task::spawn_local(task::run(core, live, raw_log));
                }
            });
        })
        .map_err(|error| Error::failed(format!("cannot start a shard: {error}")))?;
    Ok(sender)
}
