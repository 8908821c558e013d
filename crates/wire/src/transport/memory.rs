//! Connections inside the process, for tests and for serving without a socket.

use tokio::io::{DuplexStream, duplex};

/// Bytes in flight per direction before a writer waits.
const BUFFER: usize = 64 * 1024;

/// Two connected ends; dropping one closes the other.
#[must_use]
pub fn pair() -> (DuplexStream, DuplexStream) {
    duplex(BUFFER)
}
