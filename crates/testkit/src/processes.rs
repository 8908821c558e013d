//! Processes as `/proc` shows them: which belong to a test's home, and how to get rid of them.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::patience::wait_until;

/// A process that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its command line, joined by spaces.
    pub command: String,
}

/// All processes that name `home` in their command line or environment: daemons, keepers,
/// clients, and everything any terminal started, wherever it has gone.
pub fn processes_of(home: &Path) -> Vec<Process> {
    let home = home.as_os_str().as_bytes();
    let me = std::process::id();
    all_pids()
        .filter(|pid| *pid != me)
        .filter_map(|pid| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let names_home = contains(&command, home) || contains(&environment, home);
            // Asked last: a process that ends meanwhile shows neither.
            (names_home && is_alive(pid)).then(|| Process { pid, command: readable(&command) })
        })
        .collect()
}

fn all_pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn readable(command: &[u8]) -> String {
    String::from_utf8_lossy(command).trim_end_matches('\0').replace('\0', " ")
}

/// State and parent of a process, if there is one.
fn stat(pid: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything.
    let mut fields = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether a process runs; one that only waits to be reaped does not.
pub fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The living children of a process.
pub fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| {
        stat(*pid).is_some_and(|(state, ppid)| ppid == parent && !matches!(state, 'Z' | 'X'))
    };
    all_pids().filter(is_child).collect()
}

/// Resident memory of a process in bytes.
pub fn memory_of(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or_else(|| panic!("process {pid} shows no memory")) << 10
}

/// Sends SIGKILL. A process that is gone already is as good.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills every process of `home` until none is left.
pub(crate) fn kill_all_of(home: &Path) {
    wait_until("every process of the home is gone", Duration::from_secs(20), || {
        let left = processes_of(home);
        left.iter().for_each(|process| kill(process.pid));
        left.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_alive_and_no_process_names_an_unused_home() {
        assert!(is_alive(std::process::id()));
        assert!(memory_of(std::process::id()) > 1 << 16);
        assert!(!is_alive(u32::MAX));
        let unused = format!("/nowhere/{}/at-all", std::process::id());
        assert_eq!(processes_of(Path::new(&unused)), []);
    }
}
