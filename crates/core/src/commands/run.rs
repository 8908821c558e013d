//! The task of one command: takes its output, keeps its time, ends it when it is not wanted any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::capture::{Capture, Meter};
use super::execution::{ExecChunk, ExecEnd, ExecStream};
use super::process::{Process, ProcessState};
use super::request::Shows;
use super::source::{Source, Status, StopHandle};
use crate::clock;
use crate::core::Core;
use crate::file_changes::{ObservedBy, Window};

/// How long a reader that does not read holds up the end of a command that was asked to end.
const READER_LIMIT: Duration = Duration::from_secs(1);

/// Everything a command's task works with.
pub(super) struct Run {
    pub(super) core: Core,
    pub(super) process: Arc<Process>,
    pub(super) source: Source,
    pub(super) stop_handle: StopHandle,
    pub(super) sink: Sink,
    pub(super) started: Instant,
    pub(super) timeout: Option<Duration>,
    /// What it may change, and for whom that is kept.
    pub(super) watched: Option<(Window, ObservedBy)>,
    pub(super) abandoned: CancellationToken,
    pub(super) end: oneshot::Sender<ExecEnd>,
}

/// Where output goes.
pub(super) enum Sink {
    Streamed { chunks: mpsc::Sender<ExecChunk>, stdout: Meter, stderr: Meter },
    Kept { stdout: Box<Capture>, stderr: Box<Capture>, shows: Option<Shows> },
}

impl Run {
    pub(super) async fn run(self) {
        let Run { core, process, mut source, stop_handle, mut sink, started, timeout, .. } = self;
        let (abandoned, end, watched) = (self.abandoned, self.end, self.watched);
        let is_late = AtomicBool::new(false);
        let hurry = CancellationToken::new();
        let status = {
            let mut limit =
                std::pin::pin!(guard(&process, &stop_handle, &abandoned, &hurry, async {
                    match timeout {
                        Some(timeout) => sleep(timeout.saturating_sub(started.elapsed())).await,
                        None => std::future::pending().await,
                    }
                    // What ended in time is not late, even if its last words are.
                    is_late.store(stop_handle.is_running(), Ordering::Relaxed);
                }));
            let mut taking =
                std::pin::pin!(take_all(&core, &mut source, &mut sink, &process, &hurry));
            tokio::select! {
                biased;
                status = &mut taking => status,
                () = &mut limit => taking.await,
            }
        };
        let timed_out = is_late.load(Ordering::Relaxed);
        let duration = started.elapsed();
        drop(source);
        let summary = sink.finish(status, duration, timed_out).await;
        if let Some(terminal) = process.view().terminal {
            // All that is wanted of it was read.
            if let Err(error) = core.terminals().close_soon(terminal).await {
                tracing::debug!(%error, "a command's terminal was closed before");
            }
        }
        let state = match status {
            _ if timed_out => ProcessState::TimedOut,
            Status::Exited(code) => ProcessState::Exited { code },
            Status::Signaled(signal) => ProcessState::Signaled { signal },
        };
        core.inner.commands.end(&process, state, clock::wall());
        if let Some((mut window, by)) = watched {
            // Nothing of it is left that could be watched on.
            let _ = core.file_changes().observe(&mut window, &by, false).await;
        }
        // The caller may be gone.
        let _ = end.send(summary);
    }
}

/// Ends the command when it is late, unwanted or asked to end.
async fn guard(
    process: &Process,
    stop_handle: &StopHandle,
    abandoned: &CancellationToken,
    hurry: &CancellationToken,
    late: impl Future<Output = ()>,
) {
    tokio::select! {
        () = late => stop_handle.kill().await,
        () = abandoned.cancelled() => stop_handle.kill().await,
        () = process.stopped() => {
            let limit = async {
                sleep(READER_LIMIT).await;
                hurry.cancel();
            };
            tokio::join!(stop_handle.end(), limit);
        }
    }
}

async fn take_all(
    core: &Core,
    source: &mut Source,
    sink: &mut Sink,
    process: &Process,
    hurry: &CancellationToken,
) -> Status {
    while let Some((stream, bytes)) = source.next().await {
        core.inner.commands.wrote(process, &bytes);
        sink.take(stream, bytes, hurry).await;
    }
    source.ended().await
}

impl Sink {
    async fn take(&mut self, stream: ExecStream, bytes: Bytes, hurry: &CancellationToken) {
        match self {
            Sink::Streamed { chunks, stdout, stderr } => {
                let meter = match stream {
                    ExecStream::Stdout => stdout,
                    ExecStream::Stderr => stderr,
                };
                let Some((bytes, cap_reached)) = meter.pass(bytes) else { return };
                tokio::select! {
                    biased;
                    // Without a reader it is dropped.
                    _ = chunks.send(ExecChunk { stream, bytes, cap_reached }) => {}
                    // What it said last is lost to a reader that does not read.
                    () = hurry.cancelled() => {}
                }
            }
            Sink::Kept { stdout, stderr, .. } => match stream {
                ExecStream::Stdout => stdout.take(bytes).await,
                ExecStream::Stderr => stderr.take(bytes).await,
            },
        }
    }

    async fn finish(self, status: Status, duration: Duration, timed_out: bool) -> ExecEnd {
        let ((stdout, stdout_artifact), (stderr, stderr_artifact)) = match self {
            Sink::Streamed { .. } => Default::default(),
            Sink::Kept { mut stdout, mut stderr, shows } => {
                if let Some(shows) = shows {
                    let (first, second) = shows(stdout.kept(), stderr.kept());
                    stdout.cut(first).await;
                    stderr.cut(second).await;
                }
                (stdout.finish().await, stderr.finish().await)
            }
        };
        let (exit_code, signal) = match status {
            Status::Exited(code) => (code, None),
            Status::Signaled(signal) => (-1, Some(signal)),
        };
        ExecEnd {
            exit_code,
            signal,
            stdout,
            stderr,
            stdout_artifact,
            stderr_artifact,
            duration,
            timed_out,
        }
    }
}
