//! The line between the bench and its children, beside the terminal: a socket on which a child reports, is let go, and
//! says that it is done. Without it the time that a process takes to start would be measured too.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A child that takes longer to start than this is broken.
const START_LIMIT: Duration = Duration::from_secs(30);

/// No child takes longer than this for what it is asked to do.
pub(crate) const WORK_LIMIT: Duration = Duration::from_secs(600);

/// Where children report.
pub(crate) struct Gate {
    listener: UnixListener,
    path: PathBuf,
}

impl Gate {
    /// A new gate in a directory with a short name.
    pub(crate) fn new(dir: &Path) -> anyhow::Result<Gate> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = dir.join(format!("g{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let listener = UnixListener::bind(&path)
            .with_context(|| format!("cannot listen at {}", path.display()))?;
        Ok(Gate { listener, path })
    }

    /// The path to give to a child, as text.
    pub(crate) fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Waits for the next child.
    pub(crate) fn accept(&self) -> anyhow::Result<Waiting> {
        await_readable(&self.listener, START_LIMIT).context("a child did not start")?;
        let (stream, _) = self.listener.accept().context("cannot accept a child")?;
        stream.set_read_timeout(Some(WORK_LIMIT))?;
        Ok(Waiting(stream))
    }

    /// Waits for that many children.
    pub(crate) fn accept_all(&self, count: usize) -> anyhow::Result<Vec<Waiting>> {
        (0..count).map(|_| self.accept()).collect()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // The directory goes away with the run in any case.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The bench's end of the line to a child. When it is dropped, the child ends.
pub(crate) struct Waiting(UnixStream);

impl Waiting {
    /// Lets the child begin.
    pub(crate) fn release(&mut self) -> anyhow::Result<()> {
        self.tell(0)
    }

    /// Gives the child a number.
    pub(crate) fn tell(&mut self, number: u64) -> anyhow::Result<()> {
        self.0.write_all(&number.to_le_bytes()).context("a child is gone")
    }

    /// Gives up when the child says nothing for this long.
    pub(crate) fn limit(&mut self, limit: Duration) -> anyhow::Result<()> {
        Ok(self.0.set_read_timeout(Some(limit))?)
    }

    /// Waits until the child says that it is done.
    pub(crate) fn done(&mut self) -> anyhow::Result<()> {
        self.0.read_exact(&mut [0]).context("a child did not finish")
    }
}

/// The child's end of the line.
pub(crate) struct Line(UnixStream);

impl Line {
    /// Reports to the bench.
    pub(crate) fn connect(path: &Path) -> anyhow::Result<Line> {
        let stream = UnixStream::connect(path)
            .with_context(|| format!("cannot reach {}", path.display()))?;
        Ok(Line(stream))
    }

    /// The next number, or none when the bench has no more work.
    pub(crate) fn next(&mut self) -> Option<u64> {
        let mut number = [0; 8];
        self.0.read_exact(&mut number).ok()?;
        Some(u64::from_le_bytes(number))
    }

    /// Says that it is done.
    pub(crate) fn done(&mut self) -> anyhow::Result<()> {
        self.0.write_all(&[1]).context("the bench is gone")
    }
}

/// Waits until there is something to read, or a connection to accept.
pub(crate) fn await_readable(what: impl AsFd, limit: Duration) -> anyhow::Result<()> {
    let timeout = Timespec::try_from(limit)?;
    let mut waited = [PollFd::new(&what, PollFlags::IN)];
    match poll(&mut waited, Some(&timeout))? {
        0 => bail!("nothing happened for {} s", limit.as_secs()),
        _ => Ok(()),
    }
}

/// Waits for a while where there is nothing to wait for: between two looks at something that only can be looked at.
pub(crate) fn pause(time: Duration) -> anyhow::Result<()> {
    poll(&mut [], Some(&Timespec::try_from(time)?))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_let_go_reports_and_sees_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let gate = Gate::new(dir.path()).unwrap();
        let path = PathBuf::from(gate.path());
        let child = std::thread::spawn(move || {
            let mut line = Line::connect(&path).unwrap();
            let first = line.next();
            line.done().unwrap();
            (first, line.next())
        });
        let mut waiting = gate.accept().unwrap();
        waiting.limit(Duration::from_millis(1)).unwrap();
        assert!(waiting.done().is_err());
        waiting.limit(START_LIMIT).unwrap();
        waiting.tell(7).unwrap();
        waiting.done().unwrap();
        drop(waiting);
        assert_eq!(child.join().unwrap(), (Some(7), None));
    }

    #[test]
    fn silence_is_an_error() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert!(await_readable(&one, Duration::from_millis(1)).is_err());
    }
}
