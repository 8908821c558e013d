//! Who is at the other end of a Unix socket.

use std::io;
use std::os::fd::AsFd;

/// Fails unless the process at the other end of `socket` belongs to this user. A client that skips this hands what
/// it says to any process that was first to create the socket's path.
///
/// # Errors
/// `PermissionDenied` if it belongs to another user, else what the system says.
pub fn check_peer(socket: impl AsFd) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(socket)?;
    if peer.uid == rustix::process::geteuid() {
        return Ok(());
    }
    let reason = format!(
        "the process that listens there belongs to another user (uid {})",
        peer.uid.as_raw()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}
