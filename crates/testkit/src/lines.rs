//! A blocking connection that speaks in lines, as a script in any language would: the one under every
//! client of a dialect in tests.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

use crate::PATIENCE;

/// One connection. Reading and writing fail after [`PATIENCE`].
#[derive(Debug)]
pub struct Lines {
    output: BufReader<UnixStream>,
}

impl Lines {
    /// Connects to a socket.
    ///
    /// # Errors
    /// If no process listens there.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { output: BufReader::new(stream) })
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// If the peer is gone, or does not read.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.output.get_ref().write_all(bytes)
    }

    /// Sends a line.
    ///
    /// # Errors
    /// If the peer is gone, or does not read.
    pub fn send_json(&self, message: &Value) -> io::Result<()> {
        self.send(format!("{message}\n").as_bytes())
    }

    /// The next line as it came; none once the peer is gone, which may leave half a line.
    #[track_caller]
    pub fn next_line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        match self.output.read_until(b'\n', &mut line) {
            Ok(_) => line.ends_with(b"\n").then_some(line),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no line within {PATIENCE:?}: {error}"),
        }
    }

    /// The next line; none once the peer is gone.
    #[track_caller]
    pub fn next_json(&mut self) -> Option<Value> {
        self.next_line().map(|line| serde_json::from_slice(&line).unwrap())
    }

    /// Everything up to the end of the connection.
    ///
    /// # Errors
    /// If it does not end in time, or ends with an error.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).map(|_| rest)
    }

    /// Closes the direction to the peer.
    pub fn stop_talking(&self) {
        self.output.get_ref().shutdown(Shutdown::Write).unwrap();
    }
}
