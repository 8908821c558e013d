//! One command as the table of processes knows it, while it runs and for a while after.

use std::collections::VecDeque;
use std::path::PathBuf;

use parking_lot::Mutex;
use rookery_host::{ProgramControl, WriteError};
use rookery_model::{Error, Result, Size, TerminalId, Timestamp};
use tokio::sync::{Notify, watch};

use crate::clock;
use crate::core::Core;

/// How much of its output is remembered.
const TAIL: usize = 64 << 10;
/// What ends the input of a terminal.
const END_OF_INPUT: u8 = 4;

/// How far a process has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It ended by itself; -1 if it is not known how.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended it.
    Signaled {
        /// Which one.
        signal: i32,
    },
    /// It took too long and was killed.
    TimedOut,
}

/// What is known of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessView {
    /// What it is called.
    pub process_id: String,
    /// The connection that asked for it.
    pub owner: u64,
    /// The program and its arguments, as asked for.
    pub command: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its number in the system.
    pub pid: u32,
    /// When it was started.
    pub started_at: Timestamp,
    /// How far it has come.
    pub state: ProcessState,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Whether it runs in a terminal.
    pub tty: bool,
    /// Which one; gone when the process is.
    pub terminal: Option<TerminalId>,
}

/// A process and the last of what it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOutput {
    /// What is known of it.
    pub view: ProcessView,
    /// The end of its output, both streams as they came.
    pub output: Vec<u8>,
    /// How many bytes it has written in all.
    pub total: u64,
    /// When it wrote last; when it began if it wrote nothing.
    pub at: Timestamp,
}

/// What a process is driven by. Nothing here keeps it alive.
pub(super) enum ProcessHandle {
    Pipes { control: ProgramControl, has_input: bool },
    Terminal(TerminalId),
}

pub(super) struct Process {
    /// As it was started; how far it has come is in `state`.
    first: ProcessView,
    state: watch::Sender<(ProcessState, Option<Timestamp>)>,
    tail: Mutex<Tail>,
    handle: ProcessHandle,
    /// Whether it streams to the connection that asked for it, and so is that one's alone.
    is_streamed: bool,
    stop: Notify,
}

#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
    total: u64,
    /// When there was something to remember last.
    at: Option<Timestamp>,
}

impl Process {
    pub(super) fn new(first: ProcessView, handle: ProcessHandle, is_streamed: bool) -> Self {
        let state = watch::Sender::new((first.state, None));
        Process { first, state, tail: Mutex::default(), handle, is_streamed, stop: Notify::new() }
    }

    pub(super) fn id(&self) -> &str {
        &self.first.process_id
    }

    pub(super) fn owner(&self) -> u64 {
        self.first.owner
    }

    /// Whether a connection may type into it and end it as its own.
    pub(super) fn is_driven_by(&self, connection: u64) -> bool {
        !self.is_streamed || self.first.owner == connection
    }

    pub(super) fn view(&self) -> ProcessView {
        let (state, ended_at) = *self.state.borrow();
        ProcessView { state, ended_at, ..self.first.clone() }
    }

    pub(super) fn output(&self, limit: usize) -> ProcessOutput {
        let view = self.view();
        let tail = self.tail.lock();
        let skipped = tail.bytes.len().saturating_sub(limit);
        let output = tail.bytes.iter().skip(skipped).copied().collect();
        let at = tail.at.unwrap_or(view.started_at);
        ProcessOutput { view, output, total: tail.total, at }
    }

    /// What it has written since that were this many bytes in all, as far as it is remembered.
    pub(super) fn output_since(&self, from: u64) -> ProcessOutput {
        let view = self.view();
        let tail = self.tail.lock();
        let wanted = usize::try_from(tail.total.saturating_sub(from)).unwrap_or(usize::MAX);
        let skipped = tail.bytes.len().saturating_sub(wanted);
        let output = tail.bytes.iter().skip(skipped).copied().collect();
        let at = tail.at.unwrap_or(view.started_at);
        ProcessOutput { view, output, total: tail.total, at }
    }

    /// Remembers the end of what it wrote.
    pub(super) fn wrote(&self, bytes: &[u8]) {
        let mut tail = self.tail.lock();
        tail.total += bytes.len() as u64;
        tail.at = Some(clock::wall());
        let news = &bytes[bytes.len().saturating_sub(TAIL)..];
        let over = (tail.bytes.len() + news.len()).saturating_sub(TAIL);
        tail.bytes.drain(..over);
        tail.bytes.extend(news);
    }

    pub(super) fn end(&self, state: ProcessState, at: Timestamp) {
        self.state.send_replace((state, Some(at)));
    }

    pub(super) async fn ended(&self) {
        let mut state = self.state.subscribe();
        // The sender is ours, so an error cannot come.
        let _ = state.wait_for(|(state, _)| *state != ProcessState::Running).await;
    }

    /// Has it ended politely, and killed when it does not.
    pub(super) fn stop(&self) {
        self.stop.notify_one();
    }

    pub(super) async fn stopped(&self) {
        self.stop.notified().await;
    }

    pub(super) async fn write(&self, core: &Core, bytes: &[u8], close: bool) -> Result<()> {
        match &self.handle {
            ProcessHandle::Pipes { has_input: false, .. } => {
                Err(Error::invalid("process_id", "the process takes no input"))
            }
            ProcessHandle::Pipes { control, .. } => {
                if !bytes.is_empty() {
                    control.write(bytes).await.map_err(|error| refused(&error))?;
                }
                if close {
                    control.close_input().await;
                }
                Ok(())
            }
            ProcessHandle::Terminal(id) => {
                let terminal = core.terminals().get(*id)?;
                if !bytes.is_empty() {
                    terminal.write_all(bytes).await?;
                }
                if close {
                    terminal.write_all(&[END_OF_INPUT]).await?;
                }
                Ok(())
            }
        }
    }

    pub(super) async fn resize(&self, core: &Core, size: Size) -> Result<()> {
        match &self.handle {
            ProcessHandle::Pipes { .. } => {
                Err(Error::invalid("process_id", "the process has no terminal"))
            }
            ProcessHandle::Terminal(id) => core.terminals().get(*id)?.resize(size).await,
        }
    }
}

fn refused(error: &WriteError) -> Error {
    match error {
        WriteError::Closed => Error::closed(error.to_string()),
        WriteError::Full => Error::busy(error.to_string()),
    }
}
