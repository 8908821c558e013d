//! An outer terminal that a face or a tmux client runs in: a PTY whose output is read as it comes, and that answers
//! what a terminal is asked at the start.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// Output that is looked through for what is waited for.
const KEPT_BYTES: usize = 1 << 20;
/// How long a program may leave its keys unread.
const KEYS_LIMIT: Duration = Duration::from_secs(30);
/// What begins a frame of ours.
const FRAME: &[u8] = b"\x1b[?2026h";
/// The question that every terminal answers, and an answer.
const WHO: (&[u8], &[u8]) = (b"\x1b[c", b"\x1b[?62;22c");

/// A program in a terminal of its own. It ends when this is dropped.
pub(crate) struct Outer {
    master: File,
    child: Child,
    seen: Vec<u8>,
    counts: Counts,
}

/// What came out so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
    /// The longest time between two reads.
    pub(crate) gap: Duration,
    last: Option<Instant>,
}

impl Outer {
    /// Starts a program in a terminal of this size.
    pub(crate) fn start(command: &Command, (rows, cols): (u16, u16)) -> anyhow::Result<Outer> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = ptsname(&master, Vec::new())?;
        let path = path.to_str().context("a terminal without a name")?;
        let open = || File::options().read(true).write(true).open(path);
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size)?;
        // A session of its own, with the terminal as what it is controlled by.
        let mut all = process::program("setsid");
        all.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => all.env(name, value),
                None => all.env_remove(name),
            };
        }
        all.env("TERM", "xterm-256color").env("COLORTERM", "truecolor").env_remove("NO_COLOR");
        all.stdin(Stdio::from(OwnedFd::from(open()?)));
        all.stdout(Stdio::from(OwnedFd::from(open()?)));
        all.stderr(Stdio::from(OwnedFd::from(open()?)));
        let child = all.spawn().context("cannot run setsid (apt-get install util-linux)")?;
        // A program that reads no keys holds no other program up for longer than it may.
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let master = File::from(master);
        Ok(Outer { master, child, seen: Vec::new(), counts: Counts::default() })
    }

    /// The process that was started; the program itself is below it.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Presses keys.
    pub(crate) fn send(&mut self, keys: &[u8]) -> anyhow::Result<()> {
        let (end, mut left) = (Instant::now() + KEYS_LIMIT, keys);
        while !left.is_empty() {
            match self.master.write(left) {
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let limit = end.saturating_duration_since(Instant::now());
                    if limit.is_zero() || !self.is_ready(PollFlags::OUT, limit)? {
                        bail!("the program in the terminal read no keys for {KEYS_LIMIT:?}");
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("the terminal is gone"),
            }
        }
        Ok(())
    }

    /// Waits until the terminal can be read or written.
    fn is_ready(&self, what: PollFlags, limit: Duration) -> anyhow::Result<bool> {
        let mut waited = [PollFd::from_borrowed_fd(self.master.as_fd(), what)];
        Ok(poll(&mut waited, Some(&Timespec::try_from(limit)?))? != 0)
    }

    /// Forgets what came out so far.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
        self.counts = Counts::default();
    }

    /// What came out since it was last forgotten.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Reads what comes within `limit`; false if nothing did.
    pub(crate) fn read(&mut self, limit: Duration) -> anyhow::Result<bool> {
        if !self.is_ready(PollFlags::IN, limit)? {
            return Ok(false);
        }
        let start = self.seen.len();
        self.seen.resize(start + READ_BYTES, 0);
        let count = self.master.read(&mut self.seen[start..]).unwrap_or(0);
        self.seen.truncate(start + count);
        if count == 0 {
            bail!("the program in the terminal has ended");
        }
        let now = Instant::now();
        if let Some(last) = self.counts.last.replace(now) {
            self.counts.gap = self.counts.gap.max(now - last);
        }
        self.counts.bytes += count as u64;
        // What was cut in two is seen with what follows.
        let news = &self.seen[start.saturating_sub(FRAME.len() - 1)..];
        self.counts.frames += occurrences(news, FRAME);
        if occurrences(news, WHO.0) > 0 {
            self.send(WHO.1)?;
        }
        if self.seen.len() > KEPT_BYTES {
            self.seen.drain(..self.seen.len() - KEPT_BYTES / 2);
        }
        Ok(true)
    }

    /// Reads until nothing came for this long, at most for `limit`: a flood never rests. Says whether it became quiet.
    pub(crate) fn drain(&mut self, quiet: Duration, limit: Duration) -> anyhow::Result<bool> {
        let end = Instant::now() + limit;
        while self.read(quiet)? {
            if Instant::now() >= end {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads until these bytes have come since it was last forgotten.
    pub(crate) fn wait(&mut self, text: &[u8], limit: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + limit;
        let mut from = 0;
        loop {
            if occurrences(&self.seen[from.min(self.seen.len())..], text) > 0 {
                return Ok(());
            }
            from = self.seen.len().saturating_sub(text.len());
            let (before, left) = (self.seen.len(), end.saturating_duration_since(Instant::now()));
            let is_news = !left.is_zero() && self.read(left)?;
            if self.seen.len() < before {
                // The older half was let go, and what came is at the end of the rest.
                from = self.seen.len().saturating_sub(text.len() + READ_BYTES);
            }
            if !is_news {
                let tail = &self.seen[self.seen.len().saturating_sub(400)..];
                bail!(
                    "{:?} did not come within {limit:?}, but {:?}",
                    String::from_utf8_lossy(text),
                    String::from_utf8_lossy(tail)
                );
            }
        }
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        for pid in below(self.child.id()) {
            process::kill(pid);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes that a process has started.
pub(crate) fn below(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")));
    let words = children.map(Result::unwrap_or_default).collect::<String>();
    words.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

fn occurrences(haystack: &[u8], needle: &[u8]) -> u64 {
    if haystack.len() < needle.len() {
        return 0;
    }
    haystack.windows(needle.len()).filter(|window| *window == needle).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_in_a_terminal_of_its_own() {
        let mut command = process::program("sh");
        command.args(["-c", "stty size; printf '\\033[?2026hx'; read line; echo got $line; cat"]);
        let mut outer = Outer::start(&command, (12, 34)).unwrap();
        let soon = Duration::from_secs(30);
        outer.wait(b"12 34", soon).unwrap();
        outer.wait(b"2026hx", soon).unwrap();
        assert_eq!(outer.counts().frames, 1);
        outer.forget();
        outer.send(b"hi\r").unwrap();
        outer.wait(b"got hi", soon).unwrap();
        assert!(outer.counts().bytes > 6);
        assert!(outer.wait(b"never", Duration::from_millis(10)).is_err());
    }

    #[test]
    fn nothing_is_missed_in_a_flood_that_is_longer_than_what_is_kept() {
        let mut command = process::program("sh");
        let script = "stty -opost; seq 1 400000; echo end-of-it; seq 1 3";
        command.args(["-c", script]);
        for _ in 0..3 {
            let mut outer = Outer::start(&command, (12, 34)).unwrap();
            outer.wait(b"end-of-it", Duration::from_secs(60)).unwrap();
        }
    }

    #[test]
    fn a_flood_that_never_rests_is_left_after_a_while() {
        let mut outer = Outer::start(&process::program("yes"), (12, 34)).unwrap();
        assert!(!outer.drain(Duration::from_secs(30), Duration::from_millis(20)).unwrap());
        drop(outer);
        let mut quiet = Outer::start(process::program("cat").arg("-"), (12, 34)).unwrap();
        assert!(quiet.drain(Duration::from_millis(10), Duration::from_secs(30)).unwrap());
    }

    #[test]
    fn occurrences_are_counted() {
        assert_eq!(occurrences(b"abab", b"ab"), 2);
        assert_eq!(occurrences(b"a", b"ab"), 0);
    }
}
