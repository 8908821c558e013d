//! TCP ports that processes of this machine listen at, as the kernel's tables of sockets say.

use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How the table writes that a socket listens.
const LISTENS: &str = "0A";

/// The ports that any of these processes listens at. Blocks: it reads tables of the kernel.
pub fn listening_ports(pids: &[u32]) -> BTreeSet<u16> {
    let held: HashSet<u64> = pids.iter().flat_map(|pid| sockets(*pid)).collect();
    let listening = tables().iter().flat_map(|text| listening(text)).collect::<Vec<_>>();
    let of_these = listening.into_iter().filter(|(_, inode)| held.contains(inode));
    of_these.map(|(address, _)| address.port()).collect()
}

fn tables() -> Vec<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    tables.iter().filter_map(|table| std::fs::read_to_string(table).ok()).collect()
}

/// A process that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListeningProcess {
    /// Its id.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
}

/// Which process of this user has an address that cannot be listened at for that reason, if one does. Blocks: it
/// reads tables of the kernel.
pub fn listener_at(address: SocketAddr) -> Option<ListeningProcess> {
    let texts = tables();
    let listening = texts.iter().flat_map(|text| listening(text));
    let in_the_way = listening.filter(|(other, _)| is_same(*other, address));
    let inodes: HashSet<u64> = in_the_way.map(|(_, inode)| inode).collect();
    let processes = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.find(|pid| sockets(*pid).iter().any(|inode| inodes.contains(inode)))?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(ListeningProcess { pid, name: name.trim().to_owned() })
}

/// Whether two sockets cannot both listen at these.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    let (a, b) = (one.ip().to_canonical(), other.ip().to_canonical());
    one.port() == other.port() && (a == b || a.is_unspecified() || b.is_unspecified())
}

/// Where sockets listen, with their inodes.
fn listening(table: &str) -> Vec<(SocketAddr, u64)> {
    let listening = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (host, port) = fields.next()?.rsplit_once(':')?;
        let state = fields.nth(1)?;
        // Queues, timers, retransmissions, owner and timeout stand in between.
        let inode = fields.nth(5)?.parse().ok()?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (state == LISTENS).then_some((SocketAddr::new(address(host)?, port), inode))
    };
    table.lines().skip(1).filter_map(listening).collect()
}

/// An address as the table spells it: words of the machine's byte order in hexadecimal.
fn address(text: &str) -> Option<IpAddr> {
    let word =
        |at: usize| u32::from_str_radix(text.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    match text.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(words).ok()?).into())
        }
        _ => None,
    }
}

/// The inodes of the sockets that a process holds.
fn sockets(pid: u32) -> Vec<u64> {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let inode = |entry: std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).ok()?;
        let target = target.to_str()?;
        target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    open.filter_map(Result::ok).filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn ports_of_a_process_are_found_and_of_no_other() {
        let four = TcpListener::bind("127.0.0.1:0").unwrap();
        let six = TcpListener::bind("[::1]:0").ok();
        let mine = listening_ports(&[std::process::id()]);
        assert!(mine.contains(&four.local_addr().unwrap().port()));
        if let Some(six) = six {
            assert!(mine.contains(&six.local_addr().unwrap().port()));
        }
        let at = four.local_addr().unwrap();
        let pid = |address: SocketAddr| listener_at(address).map(|found| found.pid);
        assert_eq!(pid(at), Some(std::process::id()));
        assert_eq!(pid(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), at.port())), pid(at));
        // Another address of the machine has ports of its own.
        assert_eq!(pid(SocketAddr::new(Ipv4Addr::new(127, 0, 0, 9).into(), at.port())), None);
        assert!(listening_ports(&[]).is_empty());
        let connected = std::net::TcpStream::connect(four.local_addr().unwrap()).unwrap();
        let own = connected.local_addr().unwrap().port();
        assert!(!listening_ports(&[std::process::id()]).contains(&own));
    }

    #[test]
    fn a_table_of_other_shapes_has_no_ports() {
        for line in ["", "x", "0: 0:GGGG 0:0 0A 0 0 0 0 0 7", "0: 00000000:0050 0:0 01 0 0 0 0 0 7"]
        {
            assert!(listening(&format!("head\n{line}\n")).is_empty(), "{line}");
        }
        let good =
            "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 7 1";
        let address =
            if cfg!(target_endian = "little") { "127.0.0.1:8080" } else { "1.0.0.127:8080" };
        assert_eq!(listening(&format!("head\n{good}\n")), [(address.parse().unwrap(), 7)]);
    }
}
