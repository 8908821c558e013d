//! Where the output of a command comes from, and how the command is ended: pipes or a terminal.

use bytes::Bytes;
use rookery_host::ProcessTag;
use rookery_host::{Program, ProgramControl, ProgramEnd, ProgramStream, Strays};
use rookery_model::ExitStatus;
use tokio::sync::{mpsc, watch};

use super::execution::ExecStream;
use crate::terminals::{Progress, StrayAction, TerminalHandle};

/// A running command's output.
pub(super) enum Source {
    Pipes(Program),
    Terminal { tap: mpsc::Receiver<Bytes>, progress: watch::Receiver<Progress> },
}

/// How a command ended: its code, or the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Exited(i32),
    Signaled(i32),
}

/// What ends a command.
pub(super) enum StopHandle {
    Pipes(ProgramControl),
    Terminal(TerminalHandle),
}

impl Source {
    /// The next piece of output; none when nothing more will come.
    pub(super) async fn next(&mut self) -> Option<(ExecStream, Bytes)> {
        match self {
            Source::Pipes(program) => {
                let (stream, bytes) = program.next().await?;
                let stream = match stream {
                    ProgramStream::Stdout => ExecStream::Stdout,
                    ProgramStream::Stderr => ExecStream::Stderr,
                };
                Some((stream, bytes))
            }
            Source::Terminal { tap, progress } => {
                let bytes = tokio::select! {
                    biased;
                    bytes = tap.recv() => bytes,
                    // All that it wrote was handed on before its end was reported.
                    _ = progress.wait_for(is_over) => tap.try_recv().ok(),
                };
                bytes.map(|bytes| (ExecStream::Stdout, bytes))
            }
        }
    }

    /// Waits for its end.
    pub(super) async fn ended(&mut self) -> Status {
        match self {
            Source::Pipes(program) => match program.control().wait().await {
                ProgramEnd::Exited(code) => Status::Exited(code),
                ProgramEnd::Signaled(signal) => Status::Signaled(signal),
            },
            Source::Terminal { progress, .. } => {
                let exit = progress.wait_for(is_over).await.ok().and_then(|progress| progress.exit);
                match exit.unwrap_or(ExitStatus::Unknown) {
                    ExitStatus::Code(code) => Status::Exited(code),
                    ExitStatus::Signal(signal) => Status::Signaled(signal),
                    ExitStatus::Unknown => Status::Exited(-1),
                }
            }
        }
    }
}

fn is_over(progress: &Progress) -> bool {
    progress.exit.is_some() || progress.is_closed
}

impl StopHandle {
    /// Whether the command has not ended yet.
    pub(super) fn is_running(&self) -> bool {
        match self {
            StopHandle::Pipes(control) => control.ended().is_none(),
            StopHandle::Terminal(terminal) => terminal.progress().borrow().exit.is_none(),
        }
    }

    /// Asks the command and all that it started to end, and kills them when they do not.
    pub(super) async fn end(&self) {
        match self {
            StopHandle::Pipes(control) => drop(control.end().await),
            // A terminal is hung up, which asks as well.
            StopHandle::Terminal(_) => self.kill().await,
        }
    }

    /// Kills the command and all that it started.
    pub(super) async fn kill(&self) {
        match self {
            StopHandle::Pipes(control) => drop(control.kill().await),
            StopHandle::Terminal(terminal) if self.is_running() => {
                // A task of its own: its output may be over before it is done.
                let _ = tokio::spawn(kill_terminal(terminal.clone())).await;
            }
            StopHandle::Terminal(_) => {}
        }
    }
}

async fn kill_terminal(terminal: TerminalHandle) {
    let pid = terminal.pid();
    // Those that left its session are not found when it is gone.
    let found =
        tokio::task::spawn_blocking(move || (Strays::of(pid), ProcessTag::from_pid(pid))).await;
    // Killed before is as good.
    let _ = terminal.kill(StrayAction::End).await;
    let kill = move || {
        let Ok((strays, tag)) = found else { return };
        strays.kill();
        tag.into_iter().for_each(|tag| tag.kill());
    };
    let _ = tokio::task::spawn_blocking(kill).await;
}
