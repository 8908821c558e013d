//! TCP ports that processes of this machine listen at, as the kernel's tables of sockets say.

use std::collections::{BTreeSet, HashSet};

/// How the table writes that a socket listens.
const LISTENS: &str = "0A";

/// The ports that any of these processes listens at. Blocks: it reads tables of the kernel.
pub fn listening_ports(pids: &[u32]) -> BTreeSet<u16> {
    let held: HashSet<u64> = pids.iter().flat_map(|pid| sockets(*pid)).collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let texts = tables.iter().filter_map(|table| std::fs::read_to_string(table).ok());
    texts.flat_map(|text| of_table(&text, &held)).collect()
}

/// A process that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListeningProcess {
    /// Its id.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
}

/// Which process of this user listens at a port, if one does. Blocks: it reads tables of the kernel.
pub fn listener_at(port: u16) -> Option<ListeningProcess> {
    let processes = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.find(|pid| listening_ports(&[*pid]).contains(&port))?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(ListeningProcess { pid, name: name.trim().to_owned() })
}

/// The ports of listening sockets with these inodes.
fn of_table(table: &str, held: &HashSet<u64>) -> Vec<u16> {
    let port = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (_, port) = fields.next()?.rsplit_once(':')?;
        let state = fields.nth(1)?;
        // Queues, timers, retransmissions, owner and timeout stand in between.
        let inode = fields.nth(5)?.parse().ok()?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (state == LISTENS && held.contains(&inode)).then_some(port)
    };
    table.lines().skip(1).filter_map(port).collect()
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
        let found = listener_at(four.local_addr().unwrap().port()).unwrap();
        assert_eq!(found.pid, std::process::id());
        assert!(listening_ports(&[]).is_empty());
        let connected = std::net::TcpStream::connect(four.local_addr().unwrap()).unwrap();
        let own = connected.local_addr().unwrap().port();
        assert!(!listening_ports(&[std::process::id()]).contains(&own));
    }

    #[test]
    fn a_table_of_other_shapes_has_no_ports() {
        let held = HashSet::from([7]);
        for line in ["", "x", "0: 0:GGGG 0:0 0A 0 0 0 0 0 7", "0: 00000000:0050 0:0 01 0 0 0 0 0 7"]
        {
            assert!(of_table(&format!("head\n{line}\n"), &held).is_empty(), "{line}");
        }
        let good =
            "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 7 1";
        assert_eq!(of_table(&format!("head\n{good}\n"), &held), [8080]);
    }
}
