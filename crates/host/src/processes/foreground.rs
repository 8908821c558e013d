//! Which coding agent runs in the foreground of a terminal, if one does.

use std::collections::VecDeque;
use std::fs;

use super::ancestry::{agent_of, command_line};
use super::parse;
use crate::agents::KnownAgent;

/// Processes of one terminal that are looked at.
const MAX_LOOKED_AT: usize = 64;

/// The agent among the programs of a foreground group, the one nearest to the terminal's own program
/// first. That program may be the agent itself. Reads `/proc`, so it may block.
#[must_use]
pub fn foreground_agent(program: u32, group: u32) -> Option<&'static KnownAgent> {
    let mut ahead = VecDeque::from([program]);
    for _ in 0..MAX_LOOKED_AT {
        let pid = ahead.pop_front()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        let Some(stat) = stat.as_deref().and_then(parse) else { continue };
        if stat.group.unsigned_abs() == group
            && let Some(agent) = agent_of(pid, &command_line(pid))
        {
            return Some(agent);
        }
        ahead.extend(children(pid));
    }
    None
}

/// The processes that the first thread of a process started; programs of agents have no others that
/// matter here.
fn children(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};

    use super::*;

    /// A shell in a group of its own, and below it a program of this name. It ends when it is dropped.
    struct Running {
        shell: Child,
        _dir: tempfile::TempDir,
    }

    #[expect(clippy::disallowed_methods, reason = "a test looks at processes of its own")]
    fn running(name: &str) -> Running {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join(name);
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let script = format!("{} 1000; true", program.display());
        let shell = Command::new("sh").args(["-c", &script]).process_group(0).spawn().unwrap();
        while children(shell.id()).is_empty() {
            std::thread::yield_now();
        }
        Running { shell, _dir: dir }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            super::super::kill_tree(self.shell.id());
            let _ = self.shell.kill();
            let _ = self.shell.wait();
        }
    }

    #[test]
    fn an_agent_is_found_below_a_script_and_only_in_the_foreground() {
        let agent = running("codex");
        let pid = agent.shell.id();
        let found = || foreground_agent(pid, pid).map(|agent| agent.id.as_str());
        // Right after the fork it is still called as the shell is.
        while found().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(found(), Some("codex"));
        assert_eq!(foreground_agent(pid, pid + 1), None);
        let other = running("something");
        assert_eq!(foreground_agent(other.shell.id(), other.shell.id()), None);
        assert_eq!(foreground_agent(0, 0), None);
    }
}
