//! Following a task's terminal: what its program prints, read from the terminal's ring, so that the
//! terminal never waits and the next daemon goes on where this one stopped.

use std::sync::Arc;

use rookery_agent::tools::Cleaner;
use rookery_model::{ExitStatus, LogStream, Result, TerminalId};
use tokio_util::sync::CancellationToken;

use super::output::{MAX_LINE, Output, whole_line};
use crate::core::Core;
use crate::terminals::TerminalHandle;

/// Bytes that are read of a terminal at once; of more than this between two looks only the end is seen.
const MAX_READ: usize = 256 << 10;

/// How a terminal's program ended.
pub(super) enum Followed {
    /// By itself; none if it is not known how.
    Exited(Option<i32>),
    /// Its terminal was closed.
    Closed,
    /// It is not wanted any more, and runs still.
    Stopped,
}

/// Takes what a terminal's program prints until it ends.
pub(super) async fn follow(
    core: &Core,
    terminal: TerminalId,
    output: &Arc<Output>,
    stop: &CancellationToken,
) -> Result<Followed> {
    let handle = core.terminals().get(terminal)?;
    let mut progress = handle.progress();
    let mut cleaner = Cleaner::default();
    loop {
        let now = *progress.borrow_and_update();
        let is_over = now.exit.is_some() || now.is_closed;
        take(&handle, output, &mut cleaner, is_over);
        match now.exit {
            Some(ExitStatus::Code(code)) => return Ok(Followed::Exited(Some(code))),
            Some(ExitStatus::Signal(signal)) => return Ok(Followed::Exited(Some(128 + signal))),
            Some(ExitStatus::Unknown) => return Ok(Followed::Exited(None)),
            None if now.is_closed => return Ok(Followed::Closed),
            None => {}
        }
        tokio::select! {
            changed = progress.changed() => if changed.is_err() { return Ok(Followed::Closed) },
            () = stop.cancelled() => return Ok(Followed::Stopped),
        }
    }
}

/// Takes the lines that are whole by now, or everything at the end.
fn take(handle: &TerminalHandle, output: &Arc<Output>, cleaner: &mut Cleaner, is_over: bool) {
    let offset = output.offset();
    let (bytes, from) = handle.last_bytes_since(offset, MAX_READ);
    output.skip(from.saturating_sub(offset));
    let mut rest = bytes.as_slice();
    while let Some(length) = whole_line(rest) {
        let (line, after) = rest.split_at(length);
        cleaner.push(line);
        // A line that is longer than any is handed on in pieces.
        if !line.ends_with(b"\n") {
            cleaner.push(b"\n");
        }
        output.push(LogStream::Stdout, &cleaner.take_lines());
        rest = after;
    }
    let mut end = from + (bytes.len() - rest.len()) as u64;
    if is_over && !rest.is_empty() {
        debug_assert!(rest.len() < MAX_LINE);
        cleaner.push(rest);
        cleaner.push(b"\n");
        output.push(LogStream::Stdout, &cleaner.take_lines());
        end += rest.len() as u64;
    }
    output.set_offset(end);
}
