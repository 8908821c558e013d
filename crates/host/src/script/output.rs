//! What a running program writes, up to its limits.

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout};

use super::Stop;

/// The longest line of complaint that is handed on, in characters.
const LINE_LIMIT: usize = 500;

/// Both outputs of a program so far.
pub(super) struct Collected {
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
}

/// One output, open or ended.
struct Stream<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
    limit: usize,
}

impl Collected {
    pub(super) fn new(child: &mut Child, stdout_limit: usize, stderr_limit: usize) -> Self {
        let stdout = Stream { pipe: child.stdout.take(), bytes: Vec::new(), limit: stdout_limit };
        let stderr = Stream { pipe: child.stderr.take(), bytes: Vec::new(), limit: stderr_limit };
        Self { stdout, stderr }
    }

    /// Reads until both outputs are closed, or one is over its limit.
    pub(super) async fn listen(&mut self) -> Result<(), Stop> {
        tokio::try_join!(self.stdout.listen(), self.stderr.listen()).map(drop)
    }

    /// Takes what lies in the pipes without waiting for more.
    pub(super) fn drain(&mut self) -> Result<(), Stop> {
        self.stdout.drain()?;
        self.stderr.drain()
    }

    /// Both outputs, and the last line on standard error that says something.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>, Option<String>) {
        let line = last_line(&self.stderr.bytes);
        (self.stdout.bytes, self.stderr.bytes, line)
    }
}

impl<P: AsyncRead + Unpin + std::os::fd::AsFd> Stream<P> {
    async fn listen(&mut self) -> Result<(), Stop> {
        let mut chunk = vec![0; 16 << 10];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut chunk).await {
                Ok(0) | Err(_) => self.pipe = None,
                Ok(got) => self.keep(&chunk[..got])?,
            }
        }
        Ok(())
    }

    /// Asks the kernel itself: the runtime may not have heard yet that there is something to read.
    fn drain(&mut self) -> Result<(), Stop> {
        let mut chunk = vec![0; 16 << 10];
        while let Some(pipe) = &self.pipe {
            match rustix::io::read(pipe, &mut chunk[..]) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(0) | Err(_) => self.pipe = None,
                Ok(got) => self.keep(&chunk[..got])?,
            }
        }
        Ok(())
    }
}

impl<P> Stream<P> {
    fn keep(&mut self, chunk: &[u8]) -> Result<(), Stop> {
        let room = self.limit.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room { Err(Stop::Overflow) } else { Ok(()) }
    }
}

/// The last line with a visible character, without control characters, cut to a sane length.
fn last_line(bytes: &[u8]) -> Option<String> {
    bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r')).find_map(|line| {
        let text = String::from_utf8_lossy(line);
        let text: String = text.chars().filter(|c| !c.is_control()).take(LINE_LIMIT).collect();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_says_something_is_found() {
        assert_eq!(last_line(b"one\ntwo\n\n  \n"), Some("two".into()));
        assert_eq!(last_line(b"10%\r20%\r\x07"), Some("20%".into()));
        assert_eq!(last_line(b"\xff!"), Some("\u{fffd}!".into()));
        assert_eq!(last_line(b"\n \n"), None);
        assert_eq!(last_line(&[b'x'; 5000]).map(|line| line.len()), Some(LINE_LIMIT));
    }
}
