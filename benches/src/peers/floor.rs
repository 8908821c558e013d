//! The floor: a PTY and a loop that reads it and does nothing else. No terminal on this kernel can be faster.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::USUAL;
use crate::gate::{Gate, WORK_LIMIT};
use crate::process;
use crate::streams::{MARKER, Stream};

/// As much as Rookery asks for at once.
const BUFFER_BYTES: usize = 16 << 10;

/// How long it takes to read a stream and throw it away.
pub(crate) fn ingest(
    exe: &Path,
    dir: &Path,
    stream: Stream,
    bytes: u64,
) -> anyhow::Result<Duration> {
    let gate = Gate::new(dir)?;
    let (master, slave) = open_pty()?;
    let role = ["__write", stream.name(), &bytes.to_string(), "--gate", &gate.path()];
    let mut child = spawn(exe, &role, slave)?;
    let mut waiting = gate.accept()?;
    let start = Instant::now();
    waiting.release()?;
    read_to_marker(&master)?;
    let time = start.elapsed();
    waiting.done()?;
    drop((waiting, master));
    process::finish(&mut child, WORK_LIMIT);
    Ok(time)
}

fn open_pty() -> anyhow::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
        .context("cannot open a PTY")?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(&*name, flags, Mode::empty())
        .context("cannot open the child's side of a PTY")?;
    let size = Winsize { ws_row: USUAL.0, ws_col: USUAL.1, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size)?;
    Ok((master, slave))
}

fn spawn(exe: &Path, args: &[&str], slave: OwnedFd) -> anyhow::Result<Child> {
    let mut command = process::program(exe);
    command.args(args).stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
    command.spawn().context("cannot start a child")
}

/// The marker is the end of the stream, so only the last bytes need to be looked at.
fn read_to_marker(master: &OwnedFd) -> anyhow::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut tail = Vec::with_capacity(2 * MARKER.len());
    while !tail.ends_with(MARKER.as_bytes()) {
        let count = rustix::io::read(master, buffer.as_mut_slice())
            .context("the stream ended without the marker")?;
        if count == 0 {
            bail!("the stream ended without the marker");
        }
        let read = &buffer[..count];
        tail.extend_from_slice(&read[count.saturating_sub(MARKER.len())..]);
        tail.drain(..tail.len().saturating_sub(MARKER.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_is_found_however_it_is_cut() {
        let (master, slave) = open_pty().unwrap();
        let writer = std::thread::spawn(move || {
            for piece in [b"abc".as_slice(), &MARKER.as_bytes()[..5], &MARKER.as_bytes()[5..]] {
                rustix::io::write(&slave, piece).unwrap();
            }
            slave
        });
        read_to_marker(&master).unwrap();
        drop(writer.join().unwrap());
        assert!(read_to_marker(&master).is_err());
    }
}
