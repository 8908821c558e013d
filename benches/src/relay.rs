//! A socket before another one, which counts what comes from behind it: the bytes that a face is sent.

use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::Context as _;

/// Bytes that are moved at once.
const PIECE: usize = 64 << 10;

/// A relay at work. Its threads end with their connections.
pub(crate) struct Relay {
    bytes: Arc<AtomicU64>,
}

impl Relay {
    /// Takes the place of a socket that a server listens at.
    pub(crate) fn before(socket: &Path) -> anyhow::Result<Relay> {
        let behind = socket.with_extension("behind");
        std::fs::rename(socket, &behind).with_context(|| socket.display().to_string())?;
        let listener = UnixListener::bind(socket)?;
        std::fs::set_permissions(socket, Permissions::from_mode(0o600))?;
        let bytes = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&bytes);
        thread::spawn(move || {
            for front in listener.incoming().map_while(Result::ok) {
                // Whoever connects when the server is gone is cut off.
                if let Ok(back) = UnixStream::connect(&behind) {
                    let _ = join(front, back, &count);
                }
            }
        });
        Ok(Relay { bytes })
    }

    /// Bytes from the server so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn join(front: UnixStream, back: UnixStream, count: &Arc<AtomicU64>) -> io::Result<()> {
    let (to_back, from_front) = (back.try_clone()?, front.try_clone()?);
    let count = Arc::clone(count);
    thread::spawn(move || carry(from_front, to_back, &AtomicU64::new(0)));
    thread::spawn(move || carry(back, front, &count));
    Ok(())
}

fn carry(mut from: UnixStream, mut to: UnixStream, count: &AtomicU64) {
    let mut piece = vec![0; PIECE];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        count.fetch_add(length as u64, Ordering::Relaxed);
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    // The other side may have gone first.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_behind_is_handed_on_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sock");
        let server = UnixListener::bind(&path).unwrap();
        let relay = Relay::before(&path).unwrap();
        let mut client = UnixStream::connect(&path).unwrap();
        client.write_all(b"question").unwrap();
        let (mut served, _) = server.accept().unwrap();
        let mut question = [0; 8];
        served.read_exact(&mut question).unwrap();
        served.write_all(b"answer").unwrap();
        let mut answer = [0; 6];
        client.read_exact(&mut answer).unwrap();
        assert_eq!((&question, &answer), (b"question", b"answer"));
        assert_eq!(relay.bytes(), 6);
    }
}
