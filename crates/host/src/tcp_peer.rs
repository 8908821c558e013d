//! Who is at the other end of a TCP connection on this machine, as the kernel's table of sockets says.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;

/// A process at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPeer {
    /// The user whose socket it is.
    pub uid: u32,
    /// The process that holds it, if it is one of this user's.
    pub pid: Option<u32>,
}

/// Finds the process that `peer` belongs to on a connection to `local`. Both are addresses of this machine.
///
/// Blocks: it reads tables of the kernel.
pub fn tcp_peer(local: SocketAddr, peer: SocketAddr) -> Option<TcpPeer> {
    let table = match peer.ip() {
        IpAddr::V4(_) => "/proc/net/tcp",
        IpAddr::V6(_) => "/proc/net/tcp6",
    };
    let text = std::fs::read_to_string(table).ok()?;
    let (uid, inode) = find(&text, &spelled(peer), &spelled(local))?;
    Some(TcpPeer { uid, pid: holder(inode) })
}

/// The owner and the inode of the socket at an end.
fn find(table: &str, near: &str, far: &str) -> Option<(u32, u64)> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let ends = (fields.next()?, fields.next()?);
        // State, queues, timers and retransmissions stand in between.
        let uid = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        (ends == (near, far)).then_some((uid, inode))
    })
}

/// An address as the table spells it: words of the machine's byte order in hexadecimal.
fn spelled(address: SocketAddr) -> String {
    let octets: Vec<u8> = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words =
        octets.chunks_exact(4).filter_map(|word| word.try_into().ok()).map(u32::from_ne_bytes);
    let host: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{host}:{:04X}", address.port())
}

/// The process of this user that holds a socket.
fn holder(inode: u64) -> Option<u32> {
    let own = rustix::process::geteuid().as_raw();
    let wanted = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    for process in processes {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        if process.metadata().map_or(true, |found| found.uid() != own) {
            continue;
        }
        let Ok(open) = std::fs::read_dir(process.path().join("fd")) else { continue };
        let holds = open.filter_map(Result::ok).any(|entry| {
            std::fs::read_link(entry.path())
                .is_ok_and(|target| target.as_os_str() == wanted.as_str())
        });
        if holds {
            return Some(pid);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_other_end_is_found() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            let found = tcp_peer(accepted.local_addr().unwrap(), peer).unwrap();
            let uid = rustix::process::geteuid().as_raw();
            assert_eq!(found, TcpPeer { uid, pid: Some(std::process::id()) }, "{address}");
        }
    }

    #[test]
    fn a_connection_that_is_not_there_is_not_found() {
        let local = "127.0.0.1:1".parse().unwrap();
        assert_eq!(tcp_peer(local, "127.0.0.1:2".parse().unwrap()), None);
    }
}
