//! Processes by session and by descent, as `/proc` shows them.
//!
//! A terminal's child leads a session; what it starts in the background stays
//! in that session, and what leaves it stays a descendant of the keeper, which
//! adopts orphans. So nothing a terminal started escapes these two searches.

mod ancestry;
mod family;
mod foreground;
mod mentioned;
mod orphans;
mod process_tag;

use std::fs;

use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

pub use ancestry::{Ancestor, Ancestry, SUPERVISOR_ARGUMENT};
pub use family::{Family, Leftover, Root, TERMINAL_MARK};
pub use foreground::foreground_agent;
pub use mentioned::wait_for_processes_naming;
pub(crate) use orphans::start_child;
pub use orphans::{Orphans, let_orphans_go};
pub use process_tag::{ProcessTag, SessionMark, kill_marked};

/// What one line of `/proc/PID/stat` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    /// Whether it has ended and waits to be reaped.
    is_dead: bool,
}

/// Pids of all processes in the session led by `leader`, the leader included.
///
/// Session 0 has no leader: inside a PID namespace it stands for every session that is led
/// from outside, so those processes have nothing in common and none of them is named.
pub fn session_members(leader: u32) -> Vec<u32> {
    members(leader, &all())
}

/// Pids of all descendants of a process, without itself.
pub fn descendants(ancestor: u32) -> Vec<u32> {
    offspring(ancestor, &all())
}

fn members(leader: u32, processes: &[Stat]) -> Vec<u32> {
    let of_leader = |stat: &&Stat| leader != 0 && stat.session as u32 == leader;
    processes.iter().filter(of_leader).map(|stat| stat.pid as u32).collect()
}

fn offspring(ancestor: u32, processes: &[Stat]) -> Vec<u32> {
    let mut found = vec![ancestor];
    let mut index = 0;
    while index < found.len() {
        let parent = found[index];
        index += 1;
        for stat in processes {
            if stat.parent as u32 == parent && !found.contains(&(stat.pid as u32)) {
                found.push(stat.pid as u32);
            }
        }
    }
    found.remove(0);
    found
}

/// Sends SIGKILL to every process of a session. A session id is not reused while a member lives.
pub fn kill_session(leader: u32) {
    signal_all(&session_members(leader));
}

/// Sends SIGKILL to every descendant of a process, not to itself.
pub fn kill_tree(ancestor: u32) {
    signal_all(&descendants(ancestor));
}

/// Processes that were found below another one, to be killed when that one is gone and they can no
/// longer be found there.
#[derive(Debug)]
pub struct Strays(Vec<(u32, OwnedFd)>);

impl Strays {
    /// All descendants that a process has now. Looks through `/proc`, so it may block.
    pub fn of(ancestor: u32) -> Self {
        let open = |pid: u32| {
            let handle = Pid::from_raw(i32::try_from(pid).ok()?)?;
            Some((pid, pidfd_open(handle, PidfdFlags::empty()).ok()?))
        };
        Self(descendants(ancestor).into_iter().filter_map(open).collect())
    }

    /// Kills those that are still there, and what they started meanwhile.
    pub fn kill(self) {
        for (pid, handle) in self.0 {
            // Stopped, it starts nothing more. Gone already is as good as killed.
            if pidfd_send_signal(&handle, Signal::STOP).is_ok() {
                kill_tree(pid);
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        }
    }
}

fn signal_all(pids: &[u32]) {
    for pid in pids {
        if let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
            // Gone already is as good as killed.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn all() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let pid = name.to_str()?.parse::<i32>().ok()?;
            parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
        })
        .collect()
}

/// The command name may contain anything, so fields are counted from its closing parenthesis.
fn parse(line: &str) -> Option<Stat> {
    let pid = line.split(' ').next()?.parse().ok()?;
    let after = &line[line.rfind(')')? + 1..];
    let mut fields = after.split_ascii_whitespace();
    let is_dead = fields.next()? == "Z";
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    Some(Stat { pid, parent, group, session, is_dead })
}

/// The directory a process is in now.
pub fn cwd_of(pid: u32) -> Option<std::path::PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok().filter(|dir| dir.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_with_odd_names_are_read() {
        let line = "42 (a) b (c) S 7 42 40 34816 42 4194304 0";
        assert_eq!(
            parse(line),
            Some(Stat { pid: 42, parent: 7, group: 42, session: 40, is_dead: false })
        );
        let dead = parse("42 (a) Z 7 42 40 0").unwrap();
        assert!(dead.is_dead);
        assert_eq!(parse("garbage"), None);
    }

    #[test]
    fn a_session_is_its_leader_and_who_stayed() {
        let stat = |pid, parent, session| Stat { pid, parent, group: 0, session, is_dead: false };
        let table = [stat(1, 0, 0), stat(2, 0, 0), stat(5, 1, 5), stat(6, 5, 5), stat(7, 6, 7)];
        assert_eq!(members(5, &table), [5, 6]);
        assert_eq!(members(0, &table), [0_u32; 0], "led from outside is no common session");
        assert_eq!(offspring(5, &table), [6, 7]);
        assert_eq!(offspring(7, &table), [0_u32; 0]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a family to be killed")]
    fn strays_are_killed_when_their_ancestor_is_gone() {
        use std::io::BufRead as _;
        let text = "setsid sh -c 'echo $$; sleep 1000; :' & wait";
        let mut child = std::process::Command::new("sh")
            .args(["-c", text])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut pid = String::new();
        output.read_line(&mut pid).unwrap();
        let strays = Strays::of(child.id());
        assert!(strays.0.iter().any(|(stray, _)| *stray == pid.trim().parse::<u32>().unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
        strays.kill();
        // The pipe ends when its last holder is gone.
        assert_eq!(output.read_line(&mut pid).unwrap(), 0);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child to be found")]
    fn a_child_is_found_under_its_parent() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let found = descendants(std::process::id());
        // Its input closes here, so it ends by itself.
        child.stdin.take();
        child.wait().unwrap();
        assert!(found.contains(&child.id()), "{} is not in {found:?}", child.id());
    }
}
