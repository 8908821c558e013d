//! All processes of a terminal: those in its session, and those that left it (`setsid`, a double fork,
//! `nohup`). One look through `/proc` serves any number of terminals.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, getuid, pidfd_open, pidfd_send_signal};

use super::{Stat, all};

/// The variable whose value no two terminals share. Children inherit it.
pub const TERMINAL_MARK: &str = "IDX0_SESSION_ID";

/// A terminal whose processes are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The child of the terminal, which leads its session.
    pub leader: u32,
    /// The value of [`TERMINAL_MARK`] in its environment.
    pub mark: String,
}

/// A process that outlives its terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its process id.
    pub pid: u32,
    /// What the kernel calls it: the first 15 bytes of its program's name.
    pub name: String,
}

/// What was found of one terminal. What left its session is held by handles, so that none of it is
/// mistaken for another process later.
#[derive(Debug, Default)]
pub struct Family {
    session: Vec<u32>,
    strays: Vec<Member>,
}

/// Processes that left one terminal's session and are held; there is a handle for each.
const MAX_STRAYS: usize = 256;

#[derive(Debug)]
struct Member {
    pid: u32,
    handle: OwnedFd,
}

impl Family {
    /// The families of terminals, as `/proc` shows them now. Never this process, what it started itself,
    /// or those to be spared. Looks through `/proc`, so it may block.
    pub fn of(roots: &[Root], spared: &[u32]) -> Vec<Family> {
        let mut never = below(std::process::id(), &by_parent(&all()), &HashSet::new());
        never.insert(std::process::id());
        never.extend(spared);
        find(roots, &never)
    }

    /// Kills what was in the terminal's session. At once, if at all: ids are not held.
    pub fn kill_session(&self) {
        super::signal_all(&self.session);
    }

    /// Kills what left the session.
    pub fn kill_strays(&self) {
        // Stopped, they start nothing more.
        self.strays.iter().for_each(|member| member.signal(Signal::STOP));
        self.strays.iter().for_each(|member| member.signal(Signal::KILL));
    }

    /// Takes in what another look found.
    pub fn join(&mut self, other: Family) {
        let known: HashSet<u32> = self.strays.iter().map(|member| member.pid).collect();
        self.strays.extend(other.strays.into_iter().filter(|member| !known.contains(&member.pid)));
    }

    /// Whether nothing left the session.
    pub fn has_no_strays(&self) -> bool {
        self.strays.is_empty()
    }

    /// Those that left the session and live, by their ids.
    pub fn left(&self) -> Vec<Leftover> {
        let name = |member: &Member| {
            let stat = fs::read_to_string(format!("/proc/{}/stat", member.pid)).ok()?;
            // Read first: if the one that is held still lives now, that was its line.
            let is_ended = has_ended(&member.handle);
            let (start, end) = (stat.find('(')? + 1, stat.rfind(')')?);
            let is_gone = stat[end..].starts_with(") Z") || stat[end..].starts_with(") X");
            (!is_gone && !is_ended)
                .then(|| Leftover { pid: member.pid, name: stat[start..end].to_owned() })
        };
        let mut left: Vec<Leftover> = self.strays.iter().filter_map(name).collect();
        left.sort_by_key(|one| one.pid);
        left
    }
}

/// The families of terminals without those that are never meant.
fn find(roots: &[Root], never: &HashSet<u32>) -> Vec<Family> {
    // The table comes second: it says of everything that bears a mark which session it is in, also of
    // what was started just now.
    let marked = bearers(roots, never);
    let table = all();
    let children = by_parent(&table);
    let families = roots.iter().enumerate().map(|(place, root)| {
        let mut session = super::members(root.leader, &table);
        session.retain(|pid| !never.contains(pid));
        // Everything is below the first process; no terminal is.
        let mut strays = match root.leader {
            0 | 1 => HashSet::new(),
            leader => below(leader, &children, never),
        };
        for pid in marked.get(&place).into_iter().flatten() {
            strays.insert(*pid);
            strays.extend(below(*pid, &children, never));
        }
        strays.retain(|pid| !session.contains(pid) && !never.contains(pid));
        let strays = strays.into_iter().take(MAX_STRAYS).filter_map(Member::hold);
        // Dead ones that their parent has not asked for yet are still in the table.
        let strays = strays.filter(|member| !has_ended(&member.handle)).collect();
        Family { session, strays }
    });
    families.collect()
}

impl Member {
    fn hold(pid: u32) -> Option<Member> {
        let id = Pid::from_raw(i32::try_from(pid).ok()?)?;
        Some(Member { pid, handle: pidfd_open(id, PidfdFlags::empty()).ok()? })
    }

    fn signal(&self, signal: Signal) {
        // Gone already is as good as killed.
        let _ = pidfd_send_signal(&self.handle, signal);
    }
}

/// Whether a process has ended.
fn has_ended(handle: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(handle, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut asked, Some(&now)), Ok(1..))
}

fn by_parent(table: &[Stat]) -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for stat in table {
        children.entry(stat.parent as u32).or_default().push(stat.pid as u32);
    }
    children
}

/// Everything below a process, not through those that are never meant.
fn below(ancestor: u32, children: &HashMap<u32, Vec<u32>>, never: &HashSet<u32>) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut open = vec![ancestor];
    while let Some(pid) = open.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if !never.contains(child) && found.insert(*child) {
                open.push(*child);
            }
        }
    }
    found
}

/// Processes of this user that bear the mark of one of these, by its place.
fn bearers(roots: &[Root], never: &HashSet<u32>) -> HashMap<usize, Vec<u32>> {
    let marked = roots.iter().enumerate().filter(|(_, root)| !root.mark.is_empty());
    let places: HashMap<&[u8], usize> =
        marked.map(|(place, root)| (root.mark.as_bytes(), place)).collect();
    let place_of = |entry: &fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        let is_meant = !never.contains(&pid) && entry.metadata().ok()?.uid() == getuid().as_raw();
        let variables = fs::read(entry.path().join("environ")).ok().filter(|_| is_meant)?;
        let mut each = variables.split(|byte| *byte == 0);
        let mark = each.find_map(|variable| {
            variable.strip_prefix(TERMINAL_MARK.as_bytes())?.strip_prefix(b"=")
        })?;
        Some((*places.get(mark)?, pid))
    };
    let mut found: HashMap<usize, Vec<u32>> = HashMap::new();
    for (place, pid) in
        fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|it| place_of(&it))
    {
        found.entry(place).or_default().push(pid);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// A shell that leads a session, as the child of a terminal does.
    #[expect(clippy::disallowed_methods, reason = "a family to be found")]
    fn shell(mark: &str, text: &str) -> (std::process::Child, impl std::io::BufRead + use<>) {
        let mut command = Command::new("setsid");
        command.args(["--wait", "sh", "-c", text]).env(TERMINAL_MARK, mark);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = std::io::BufReader::new(child.stdout.take().unwrap());
        (child, output)
    }

    fn read(output: &mut impl std::io::BufRead) -> u32 {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    #[test]
    fn attack_what_left_the_session_is_found_named_and_killed() {
        // This process is an ancestor of what is looked for, unlike a daemon.
        let mark = format!("family-{}", std::process::id());
        let text = "echo $$; (setsid sh -c 'echo $$; exec sleep 1000' &); cat >/dev/null";
        let (mut child, mut output) = shell(&mark, text);
        let (leader, stray) = (read(&mut output), read(&mut output));
        let root = Root { leader, mark };
        let look = || find(std::slice::from_ref(&root), &HashSet::new()).pop().unwrap();
        let family = look();
        assert!(family.session.contains(&leader) && !family.session.contains(&stray));
        let left = family.left();
        assert!(left.iter().any(|one| one.pid == stray), "{left:?}");
        let other = Root { leader: 0, mark: "another".to_owned() };
        assert!(find(&[other], &HashSet::new())[0].has_no_strays());
        let spared = HashSet::from([stray]);
        assert!(find(std::slice::from_ref(&root), &spared)[0].left().is_empty());
        // With its leader gone it is found by its mark alone.
        drop(child.stdin.take());
        child.wait().unwrap();
        let family = look();
        assert_eq!(family.left().iter().map(|one| one.pid).collect::<Vec<_>>(), [stray]);
        family.kill_strays();
        // The pipe ends when nothing holds it any more.
        assert_eq!(output.read_line(&mut String::new()).unwrap(), 0);
        // Its descriptors are closed a moment before it is gone.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !family.left().is_empty() {
            assert!(std::time::Instant::now() < until, "{:?}", family.left());
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_starts_during_the_look_is_not_taken_for_a_stray() {
        let mark = format!("busy-family-{}", std::process::id());
        let (mut child, mut output) =
            shell(&mark, "echo $$; for i in $(seq 5000); do /bin/true; done");
        let root = Root { leader: read(&mut output), mark };
        for _ in 0..200 {
            let family = find(std::slice::from_ref(&root), &HashSet::new()).pop().unwrap();
            assert!(family.has_no_strays(), "{:?}", family.strays);
        }
        super::super::kill_session(root.leader);
        child.wait().unwrap();
    }
}
