//! Who is at the other end of a TCP connection on this machine, as the kernel's table of sockets says.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::fs::MetadataExt as _;

/// How often the tables are read before a process counts as not found: it may fork or hand its socket on meanwhile.
const LOOKS: usize = 3;

/// Who is at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpPeer {
    /// Processes of this user: all that hold the socket, since any of them may have spoken.
    Processes(Vec<u32>),
    /// Another machine.
    Elsewhere,
    /// This machine, but no process of this user that can be found.
    Unknown,
}

/// Tells who `peer` is on a connection that was accepted at `local`, as the accepted socket itself says.
///
/// Blocks: it reads tables of the kernel.
pub fn tcp_peer(local: SocketAddr, peer: SocketAddr) -> TcpPeer {
    for _ in 0..LOOKS {
        let held = match owner(local, peer) {
            Some((uid, inode)) if uid == own_uid() => holders(inode),
            Some(_) => return TcpPeer::Unknown,
            None => Vec::new(),
        };
        if !held.is_empty() {
            return TcpPeer::Processes(held);
        }
    }
    match is_of_this_machine(peer) {
        true => TcpPeer::Unknown,
        false => TcpPeer::Elsewhere,
    }
}

/// Whether `peer` is a socket of this user on this machine, whoever of its processes holds it.
///
/// Blocks: it reads tables of the kernel.
pub fn is_own_peer(local: SocketAddr, peer: SocketAddr) -> bool {
    owner(local, peer).is_some_and(|(uid, _)| uid == own_uid())
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether an interface of this machine has the address: only then a socket can be bound to it. Whatever else
/// hinders that is no reason to believe that the peer is far away.
fn is_of_this_machine(mut address: SocketAddr) -> bool {
    address.set_ip(address.ip().to_canonical());
    address.set_port(0);
    match UdpSocket::bind(address) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::AddrNotAvailable,
    }
}

/// The owner and the inode of the peer's socket.
fn owner(local: SocketAddr, peer: SocketAddr) -> Option<(u32, u64)> {
    let look = |table: &str, spelled: fn(SocketAddr) -> String| {
        let text = std::fs::read_to_string(table).ok()?;
        find(&text, &spelled(peer), &spelled(local))
    };
    // A socket of the newer family may be connected to an address of the older one.
    match peer.ip().to_canonical() {
        IpAddr::V4(_) => {
            look("/proc/net/tcp", |address| spelled(address.ip().to_canonical(), address.port()))
                .or_else(|| {
                    look("/proc/net/tcp6", |address| spelled(mapped(address.ip()), address.port()))
                })
        }
        IpAddr::V6(_) => look("/proc/net/tcp6", |address| spelled(address.ip(), address.port())),
    }
}

/// An address of the older family as the newer one writes it.
fn mapped(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().into(),
        IpAddr::V6(_) => ip,
    }
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
fn spelled(ip: IpAddr, port: u16) -> String {
    let octets: Vec<u8> = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words =
        octets.chunks_exact(4).filter_map(|word| word.try_into().ok()).map(u32::from_ne_bytes);
    let host: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{host}:{port:04X}")
}

/// The processes of this user that hold a socket.
fn holders(inode: u64) -> Vec<u32> {
    let own = own_uid();
    let wanted = format!("socket:[{inode}]");
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let holds = |process: &std::fs::DirEntry| {
        let is_own = process.metadata().is_ok_and(|found| found.uid() == own);
        let open = std::fs::read_dir(process.path().join("fd")).ok().filter(|_| is_own);
        open.into_iter().flatten().filter_map(Result::ok).any(|entry| {
            std::fs::read_link(entry.path())
                .is_ok_and(|target| target.as_os_str() == wanted.as_str())
        })
    };
    processes
        .filter_map(Result::ok)
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            holds(&process).then_some(pid)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

    use super::*;

    /// A connection whose client comes from that address, and who is at its end.
    fn connected(
        listens_at: &str,
        from: &str,
        to: impl Fn(u16) -> SocketAddr,
    ) -> (TcpStream, TcpPeer) {
        let listener = TcpListener::bind(listens_at).unwrap();
        let port = listener.local_addr().unwrap().port();
        let from: SocketAddr = from.parse().unwrap();
        let family = if from.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let client = socket(family, SocketType::STREAM, None).unwrap();
        bind(&client, &from).unwrap();
        connect(&client, &to(port)).unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        let found = tcp_peer(accepted.local_addr().unwrap(), peer);
        (client.into(), found)
    }

    fn at(ip: &str) -> impl Fn(u16) -> SocketAddr {
        let ip: IpAddr = ip.parse().unwrap();
        move |port| SocketAddr::new(ip, port)
    }

    #[test]
    fn the_other_end_is_found_whatever_address_it_comes_from() {
        let own = TcpPeer::Processes(vec![std::process::id()]);
        let has_newer = TcpListener::bind("[::1]:0").is_ok();
        for (listens_at, from, to) in [
            ("127.0.0.1:0", "127.0.0.1:0", "127.0.0.1"),
            ("127.0.0.1:0", "127.0.0.5:0", "127.0.0.1"),
            ("0.0.0.0:0", "127.0.0.5:0", "127.0.0.7"),
            ("[::1]:0", "[::1]:0", "::1"),
            ("[::]:0", "127.0.0.5:0", "127.0.0.1"),
            ("[::]:0", "[::ffff:127.0.0.5]:0", "::ffff:127.0.0.1"),
            ("127.0.0.1:0", "[::ffff:127.0.0.5]:0", "::ffff:127.0.0.1"),
        ] {
            if has_newer || !(listens_at.contains('[') || from.contains('[')) {
                let (_client, found) = connected(listens_at, from, at(to));
                assert_eq!(found, own, "{from} to {to} at {listens_at}");
            }
        }
    }

    #[test]
    fn attack_a_peer_that_is_gone_is_of_this_machine_and_unknown() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        drop(client);
        assert_eq!(tcp_peer(accepted.local_addr().unwrap(), peer), TcpPeer::Unknown);
        let nowhere = "127.0.0.9:2".parse().unwrap();
        assert_eq!(tcp_peer("127.0.0.1:1".parse().unwrap(), nowhere), TcpPeer::Unknown);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "another process has to hold the socket")]
    fn attack_all_who_hold_the_socket_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        let inherited =
            std::process::Stdio::from(std::os::fd::OwnedFd::from(client.try_clone().unwrap()));
        let mut child = std::process::Command::new("cat").stdin(inherited).spawn().unwrap();
        let found = tcp_peer(accepted.local_addr().unwrap(), peer);
        let TcpPeer::Processes(mut pids) = found else { panic!("{found:?}") };
        pids.sort_unstable();
        let mut expected = [std::process::id(), child.id()];
        expected.sort_unstable();
        assert_eq!(pids, expected);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn an_address_of_another_machine_is_distinguished() {
        // Kept for examples: no machine has them.
        let has_newer = TcpListener::bind("[::1]:0").is_ok();
        for far in ["192.0.2.1:7", "[2001:db8::1]:7", "[::ffff:192.0.2.1]:7"] {
            if has_newer || !far.contains("db8") {
                let local = "127.0.0.1:1".parse().unwrap();
                assert_eq!(tcp_peer(local, far.parse().unwrap()), TcpPeer::Elsewhere, "{far}");
            }
        }
    }
}
