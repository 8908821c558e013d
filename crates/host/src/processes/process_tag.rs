//! A tag in the environment of a program, by which every process that it started is found: also those
//! that left its group and its session, and those whose parents have exited.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, getuid, kill_process};

use super::{all, offspring};

/// How often the table of processes is looked through for those that were just being born.
const ROUNDS: usize = 32;

/// Counts the programs of this process.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The tag of one program. Children inherit it, unless they are given an environment without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessTag(String);

impl ProcessTag {
    /// The variable that carries it.
    pub const VARIABLE: &str = "ROOKERY_EXEC";

    /// A new, unique tag.
    #[must_use]
    pub fn fresh() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Self(format!("{:x}-{:x}-{number:x}", now.as_nanos(), std::process::id()))
    }

    /// The tag of a process. One that was started without its own may have inherited another's.
    #[must_use]
    pub fn from_pid(pid: u32) -> Option<Self> {
        let variables = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut each = variables.split(|byte| *byte == 0);
        let value = each.find_map(|variable| {
            variable.strip_prefix(Self::VARIABLE.as_bytes())?.strip_prefix(b"=")
        });
        Some(Self(String::from_utf8(value?.to_vec()).ok()?))
    }

    /// The value of the variable.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.0
    }

    /// Kills every process that has the tag, and its descendants. Looks through `/proc`, so it
    /// may block.
    pub fn kill(&self) {
        kill_marked(Self::VARIABLE, &self.0);
    }

    #[cfg(test)]
    fn processes(&self) -> Vec<u32> {
        marked(Self::VARIABLE, &self.0)
    }
}

/// The mark of everything that was started for one session of a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionMark(String);

impl SessionMark {
    /// The variable that carries it.
    pub const VARIABLE: &str = "ROOKERY_RUNNER_SESSION";

    /// The mark of a session by its id.
    #[must_use]
    pub fn new(session: &str) -> Self {
        Self(session.to_owned())
    }

    /// The value of the variable.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.0
    }

    /// The processes of this user that carry it, with their descendants. Looks through `/proc`, so it
    /// may block.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let mut found = marked(Self::VARIABLE, &self.0);
        let table = all();
        let below: Vec<u32> = found.iter().flat_map(|pid| offspring(*pid, &table)).collect();
        found.extend(below);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Asks all of them to end. May block as well.
    pub fn ask_to_end(&self) {
        self.processes().iter().for_each(|pid| signal(*pid, Signal::TERM));
    }

    /// Holds all of them. May block as well.
    pub fn hold(&self) {
        self.processes().iter().for_each(|pid| signal(*pid, Signal::STOP));
    }

    /// Lets all of them go on. May block as well.
    pub fn go_on(&self) {
        self.processes().iter().for_each(|pid| signal(*pid, Signal::CONT));
    }

    /// Kills all of them. May block as well.
    pub fn kill(&self) {
        kill_marked(Self::VARIABLE, &self.0);
    }
}

/// Kills every process of this user that has this variable in its environment, and its descendants.
/// Looks through `/proc`, so it may block.
pub fn kill_marked(variable: &str, value: &str) {
    let mut stopped: Vec<u32> = Vec::new();
    for _ in 0..ROUNDS {
        let mut found = marked(variable, value);
        let table = all();
        let below: Vec<u32> = found.iter().flat_map(|pid| offspring(*pid, &table)).collect();
        found.extend(below);
        found.sort_unstable();
        found.dedup();
        found.retain(|pid| *pid != std::process::id() && !stopped.contains(pid));
        if found.is_empty() {
            break;
        }
        // Stopped, they start nothing more.
        found.iter().for_each(|pid| signal(*pid, Signal::STOP));
        stopped.append(&mut found);
    }
    stopped.iter().for_each(|pid| signal(*pid, Signal::KILL));
}

/// Processes of this user whose environment has a variable with this value.
fn marked(variable: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{variable}={value}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let bears = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        let is_ours = entry.metadata().ok()?.uid() == getuid().as_raw();
        let variables = fs::read(entry.path().join("environ")).ok().filter(|_| is_ours)?;
        let mut each = variables.split(|byte| *byte == 0);
        each.any(|variable| variable == wanted.as_bytes()).then_some(pid)
    };
    entries.filter_map(|entry| bears(entry.ok()?)).collect()
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Gone already is as good as killed.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a family to be killed")]
    fn forking_twice_does_not_escape() {
        let tag = ProcessTag::fresh();
        assert_ne!(tag, ProcessTag::fresh());
        assert_eq!(ProcessTag::from_pid(std::process::id()), None);
        // The middle ends at once, so that nothing leads from the child to the last one.
        let text = "(setsid sh -c 'echo $$; sleep 1000; :' &) ; exit 0";
        let mut child = Command::new("sh")
            .args(["-c", text])
            .env(ProcessTag::VARIABLE, tag.value())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut pid = String::new();
        output.read_line(&mut pid).unwrap();
        child.wait().unwrap();
        assert_eq!(ProcessTag::from_pid(pid.trim().parse().unwrap()).as_ref(), Some(&tag));
        assert!(tag.processes().contains(&pid.trim().parse().unwrap()));
        ProcessTag::fresh().kill();
        assert!(tag.processes().contains(&pid.trim().parse().unwrap()));
        tag.kill();
        // The pipe ends when its last holder is gone.
        assert_eq!(output.read_line(&mut pid).unwrap(), 0);
    }
}
