//! What servers, programs and other machines say, read. Nothing here does anything, and nothing that is said
//! makes it fail in any other way than by an error or by being left out.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::RunnerError;
use crate::local::below;
use crate::session::{Entry, Port};

/// How long an id or an address of a server may be.
const MAX_TEXT: usize = 4096;
/// The first line of the script that keeps a connection by ssh.
pub(crate) const READY: &str = "rookery-ready";

/// What the script that keeps a connection by ssh says of the other machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// How a command gets a group of its own.
    pub leader: String,
    /// The directory of notes about running commands.
    pub notes: String,
    /// The root without links.
    pub root: String,
}

impl HostInfo {
    /// Reads it; none until all of it is there.
    pub fn read(said: &[u8]) -> Option<Self> {
        let text = str::from_utf8(said).ok()?;
        // Shells may greet before it.
        let mut lines =
            text.split_inclusive('\n').skip_while(|line| line.trim_end() != READY).skip(1);
        let mut line = || lines.next()?.strip_suffix('\n').map(str::to_owned);
        let (leader, notes, root) = (line()?, line()?, line()?);
        (root.starts_with('/') && notes.starts_with('/')).then_some(Self { leader, notes, root })
    }
}

/// The entries of a directory, one on each line and those of directories with a slash. What is no name is
/// left out.
pub fn entries(bytes: &[u8]) -> Vec<Entry> {
    let text = String::from_utf8_lossy(bytes);
    let entry = |line: &str| {
        let name = line.strip_suffix('/').unwrap_or(line);
        let is_name = !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
        is_name.then(|| Entry { name: name.to_owned(), is_dir: line.ends_with('/') })
    };
    let mut entries: Vec<Entry> = text.lines().filter_map(entry).collect();
    entries.sort();
    entries
}

/// The permissions in a line of `ls -ld`; none if it is not one of a regular file.
pub fn mode(bytes: &[u8]) -> Option<u32> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let letters = line.get(..10)?.strip_prefix(b"-")?;
    let mut mode = 0;
    for (index, letter) in letters.iter().enumerate() {
        let bit = 0o400 >> index;
        // Of every three: read, write, and execute with what else may stand in its place.
        let special = [0o4000, 0o2000, 0o1000][index / 3];
        mode |= match (index % 3, letter) {
            (_, b'-') => 0,
            (0, b'r') | (1, b'w') | (2, b'x') => bit,
            (2, b's') if index < 6 => bit | special,
            (2, b'S') if index < 6 => special,
            (2, b't') if index == 8 => bit | special,
            (2, b'T') if index == 8 => special,
            _ => return None,
        };
    }
    Some(mode)
}

/// The files that a search printed by their paths from where it began, sorted and at most `most`. The last
/// one counts only if what ends it is there; what leads out is left out.
pub fn found(bytes: &[u8], ends: u8, most: usize) -> Vec<String> {
    let end = bytes.iter().rposition(|byte| *byte == ends).map_or(0, |at| at + 1);
    let names = bytes[..end].split(|byte| *byte == ends).filter_map(|name| {
        let name = String::from_utf8_lossy(name);
        let name = name.strip_prefix("./").unwrap_or(&name);
        let is_below = !name.is_empty()
            && !name.starts_with('/')
            && !name.split('/').any(|part| part == "..")
            && below(Path::new("/"), name).is_ok();
        is_below.then(|| name.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.truncate(most);
    names
}

/// The ports that `docker port` lists: `3000/tcp -> 127.0.0.1:49153` on each line.
pub fn published(listed: &str, labels: &BTreeMap<u16, String>) -> Vec<Port> {
    let port = |line: &str| {
        let (there, here) = line.split_once(" -> ")?;
        let port: u16 = there.strip_suffix("/tcp")?.parse().ok()?;
        let local: u16 = here.rsplit_once(':')?.1.trim().parse().ok()?;
        let url = Some(format!("http://127.0.0.1:{local}"));
        Some(Port { port, url, label: labels.get(&port).cloned(), local_port: Some(local) })
    };
    let mut ports: Vec<Port> = listed.lines().filter_map(port).collect();
    ports.sort_by_key(|port| port.port);
    ports.dedup_by_key(|port| port.port);
    ports
}

/// Something that a server of hosted sandboxes answers.
pub trait Answer: DeserializeOwned {
    /// Whether it can be used.
    fn is_usable(&self) -> bool {
        true
    }
}

/// Reads an answer.
///
/// # Errors
/// If it is not what was asked for. The words of the server are not repeated.
pub fn answer<T: Answer>(bytes: &[u8]) -> Result<T, RunnerError> {
    let read: Option<T> = serde_json::from_slice(bytes).ok();
    let wrong = || RunnerError::failed("runner server: the answer is not what was expected");
    read.filter(Answer::is_usable).ok_or_else(wrong)
}

fn is_short(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT
}

#[derive(Debug, Deserialize)]
pub struct SessionAnswer {
    /// What the server calls it.
    pub session_id: String,
    /// Its root; `/` if it says none.
    #[serde(default)]
    pub root: Option<String>,
}

impl Answer for SessionAnswer {
    fn is_usable(&self) -> bool {
        is_short(&self.session_id) && self.root.as_deref().is_none_or(is_short)
    }
}

/// A command that came to its end.
#[derive(Debug, Deserialize)]
pub struct CommandAnswer {
    /// Its status.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// What it wrote.
    #[serde(default)]
    pub stdout: String,
    /// What it complained of.
    #[serde(default)]
    pub stderr: String,
}

impl Answer for CommandAnswer {}

/// A port that is reachable.
#[derive(Debug, Deserialize)]
pub struct PortAnswer {
    /// Its number there.
    pub port: u16,
    /// Where it is reached.
    #[serde(default)]
    pub url: Option<String>,
}

impl Answer for PortAnswer {
    fn is_usable(&self) -> bool {
        self.port > 0 && self.url.as_deref().is_none_or(is_short)
    }
}

/// A snapshot, if one was taken.
#[derive(Debug, Deserialize)]
pub struct SnapshotAnswer {
    /// It.
    #[serde(default)]
    pub snapshot: Option<SnapshotShape>,
}

impl Answer for SnapshotAnswer {
    fn is_usable(&self) -> bool {
        match &self.snapshot {
            None => true,
            Some(SnapshotShape::Id(id) | SnapshotShape::Whole { snapshot_id: id, .. }) => {
                is_short(id)
            }
        }
    }
}

/// The two ways in which servers show a snapshot.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum SnapshotShape {
    /// By its id alone.
    Id(String),
    /// With details.
    Whole {
        snapshot_id: String,
        /// Details.
        #[serde(default)]
        metadata: Value,
    },
}

/// Files that the server keeps for whoever asks.
#[derive(Debug, Deserialize)]
pub struct ArtifactAnswer {
    /// What was handed out.
    #[serde(default)]
    pub path: Option<String>,
    /// What the server calls it.
    pub artifact_id: String,
    /// Where it is had.
    #[serde(default)]
    pub url: Option<String>,
    /// Details.
    #[serde(default)]
    pub metadata: Value,
}

impl Answer for ArtifactAnswer {
    fn is_usable(&self) -> bool {
        is_short(&self.artifact_id)
            && self.url.as_deref().is_none_or(is_short)
            && self.path.as_deref().is_none_or(is_short)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_greeting_counts_once_it_is_whole() {
        let whole = "motd\nrookery-ready\nsetsid\n/tmp/rookery-x\n/srv\n";
        assert_eq!(HostInfo::read(whole.as_bytes()).unwrap().root, "/srv");
        for cut in 0..whole.len() {
            assert_eq!(HostInfo::read(&whole.as_bytes()[..cut]), None);
        }
        assert_eq!(HostInfo::read(b"rookery-ready\nsetsid\nnotes\n/srv\n"), None);
    }

    #[test]
    fn names_are_whole_and_lead_nowhere_else() {
        assert_eq!(found(b"./a b\0./c\nd\0./cut", 0, 9), ["a b", "c\nd"]);
        assert_eq!(found(b"./b\n./a\n../x\n/etc/passwd\na/../../y\n", b'\n', 9), ["a", "b"]);
        assert_eq!(found(b"b\0a\0", 0, 1), ["a"]);
        assert!(found(b"", 0, 9).is_empty());
        let listed = entries(b"b c/\na\n..\n./\n/\nx/y\n");
        let names: Vec<(&str, bool)> = listed.iter().map(|it| (&*it.name, it.is_dir)).collect();
        assert_eq!(names, [("a", false), ("b c", true)]);
    }

    #[test]
    fn published_ports_are_read_and_other_lines_are_not() {
        let listed = "3000/tcp -> 127.0.0.1:49153\n3000/tcp -> [::1]:49153\n53/udp -> 1.2.3.4:5\nx\n80/tcp -> 0.0.0.0:70000\n";
        let ports = published(listed, &BTreeMap::from([(3000, "web".to_owned())]));
        assert_eq!(ports.len(), 1);
        assert_eq!((ports[0].local_port, ports[0].label.as_deref()), (Some(49153), Some("web")));
    }

    #[test]
    fn answers_that_cannot_be_used_are_refused_without_their_words() {
        let long = format!(r#"{{"session_id": "{}"}}"#, "x".repeat(5000));
        for bytes in [&b"hunter2"[..], b"{}", br#"{"session_id": ""}"#, long.as_bytes()] {
            let error = answer::<SessionAnswer>(bytes).unwrap_err().to_string();
            assert_eq!(error, "runner server: the answer is not what was expected");
        }
        assert!(answer::<PortAnswer>(br#"{"port": 0}"#).is_err());
        assert!(answer::<ArtifactAnswer>(br#"{"artifact_id": ""}"#).is_err());
        let snapshot = answer::<SnapshotAnswer>(br#"{"snapshot": "n"}"#).unwrap().snapshot;
        assert!(matches!(snapshot, Some(SnapshotShape::Id(id)) if id == "n"));
    }

    #[test]
    fn permissions_are_read_as_they_are_listed() {
        let of = |line: &str| mode(format!("{line} 1 me me 3 Nov 19 20:00 it\n").as_bytes());
        assert_eq!(of("-rwxr-x--x"), Some(0o751));
        assert_eq!(of("-rw-r--r--."), Some(0o644));
        assert_eq!(of("-rwsr-Sr-t"), Some(0o7745));
        assert_eq!(of("-rw-r--r-T"), Some(0o1644));
        for other in ["drwxr-xr-x", "lrwxrwxrwx", "-rwxrwxrw?", "-xwxrwxrwx", "-rwtr--r--", "-rw"] {
            assert_eq!(mode(other.as_bytes()), None, "{other}");
        }
        assert_eq!(mode(b""), None);
    }

    proptest! {
        #[test]
        fn no_name_leads_out(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for name in found(&bytes, 0, 99) {
                let parts: Vec<&str> = name.split('/').collect();
                prop_assert!(!name.starts_with('/') && !parts.contains(&".."));
            }
            prop_assert!(entries(&bytes).iter().all(|entry| !entry.name.contains('/')));
        }
    }
}
