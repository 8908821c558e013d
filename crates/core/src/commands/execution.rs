//! A command that runs, as the one who asked for it sees it.

use std::time::Duration;

use bytes::Bytes;
use rookery_model::{Error, Result, Timestamp};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

use super::process::ProcessView;

/// Which output a command wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecStream {
    /// Its standard output, or its terminal.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// A piece of output, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecChunk {
    /// Where it was written to.
    pub stream: ExecStream,
    /// At most 64 KiB of it.
    pub bytes: Bytes,
    /// Whether the cap is reached, so that nothing more of this output is handed on.
    pub cap_reached: bool,
}

/// An output that was longer than its cap, kept on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is found by.
    pub id: String,
    /// How many bytes of it are kept.
    pub byte_count: u64,
    /// How many lines those are.
    pub line_count: u64,
    /// How many bytes there were beyond what is ever kept.
    pub dropped_bytes: u64,
    /// When it was finished.
    pub created_at: Timestamp,
}

/// How a command ended, and what is kept of what it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecEnd {
    /// Its exit code; -1 if a signal ended it or it is not known.
    pub exit_code: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output up to the cap; empty if it was streamed.
    pub stdout: Vec<u8>,
    /// Its standard error up to the cap; empty if it was streamed.
    pub stderr: Vec<u8>,
    /// All of its standard output, if that is over the cap.
    pub stdout_artifact: Option<Artifact>,
    /// All of its standard error, if that is over the cap.
    pub stderr_artifact: Option<Artifact>,
    /// How long it ran.
    pub duration: Duration,
    /// Whether it took too long and was killed.
    pub timed_out: bool,
}

/// A running command. Dropping it kills the command and all that it started.
#[derive(Debug)]
pub struct Execution {
    pub(super) view: ProcessView,
    pub(super) chunks: mpsc::Receiver<ExecChunk>,
    pub(super) end: oneshot::Receiver<ExecEnd>,
    pub(super) alive: DropGuard,
}

impl Execution {
    /// What it is called.
    pub fn process_id(&self) -> &str {
        &self.view.process_id
    }

    /// What is known of it since its start.
    pub fn view(&self) -> &ProcessView {
        &self.view
    }

    /// The next piece of output; none when all was sent, or if it is not streamed. Who does not
    /// ask holds the command up.
    pub async fn next(&mut self) -> Option<ExecChunk> {
        self.chunks.recv().await
    }

    /// Waits for its end. Output that was not asked for is dropped.
    ///
    /// # Errors
    /// If the daemon ends first.
    pub async fn finish(mut self) -> Result<ExecEnd> {
        while self.chunks.recv().await.is_some() {}
        let end = (&mut self.end).await;
        end.map_err(|_| Error::closed("the command was given up"))
    }

    /// Lets it run on to its own end, without a listener.
    pub fn detach(self) {
        drop(self.alive.disarm());
    }
}
