//! Where a process comes from, and which of those above it are agents or supervisors of ours.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::process::{Pid, test_kill_process};

use super::{Stat, parse};
use crate::agents::{KnownAgent, agent_of_package, agent_of_program};

/// The argument that makes our program a supervisor of what agents run.
pub const SUPERVISOR_ARGUMENT: &str = "__supervise";

/// Processes above another one that are looked at; ids may be reused meanwhile, and a circle would
/// never end.
const MAX_DEPTH: usize = 256;
/// Bytes of a command line that are read.
const MAX_COMMAND: usize = 64 << 10;

/// A process and those above it, up to init.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestry {
    /// The process itself first. Empty if it is gone, or of another PID namespace.
    pub chain: Vec<Ancestor>,
    /// Whether nothing was missed: a parent that ended while we looked leaves a gap.
    pub is_whole: bool,
}

/// One process of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// Its number.
    pub pid: u32,
    /// The leader of its session.
    pub session: u32,
    /// The name of its program, as the kernel has it.
    pub name: String,
    /// Whether it is the program of a coding agent.
    pub is_agent: bool,
    /// Whether it is a supervisor of ours.
    pub is_supervisor: bool,
}

impl Ancestry {
    /// Looks at a process and those above it. Reads `/proc`, so it may block.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let mut chain = Vec::new();
        let mut next = pid;
        while next != 0 && chain.len() < MAX_DEPTH {
            let Some(stat) = stat(next) else {
                // Hidden because it is another user's: what is above that is not ours to judge.
                let is_hidden = !chain.is_empty() && is_of_others(next);
                return Self { chain, is_whole: is_hidden };
            };
            let command = command_line(next);
            chain.push(Ancestor {
                pid: next,
                session: stat.session.unsigned_abs(),
                name: name_of(next),
                is_agent: agent_of(next, &command).is_some(),
                is_supervisor: command
                    .get(1)
                    .is_some_and(|word| word == SUPERVISOR_ARGUMENT.as_bytes()),
            });
            next = stat.parent.unsigned_abs();
        }
        Self { is_whole: next == 0, chain }
    }
}

fn stat(pid: u32) -> Option<Stat> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Whether there is such a process, of another user.
fn is_of_others(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::PERM))
}

fn name_of(pid: u32) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
}

pub(super) fn command_line(pid: u32) -> Vec<Vec<u8>> {
    use std::io::Read as _;
    let mut text = Vec::new();
    if let Ok(file) = fs::File::open(format!("/proc/{pid}/cmdline")) {
        // What was read before an error is enough to judge by.
        let _ = file.take(MAX_COMMAND as u64).read_to_end(&mut text);
    }
    text.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// The agent that a process is: by the name the kernel has, by its executable, by what it was called,
/// or as the script of an interpreter.
pub(super) fn agent_of(pid: u32, command: &[Vec<u8>]) -> Option<&'static KnownAgent> {
    let exe = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let exe = exe.as_deref().and_then(Path::file_name).map(OsStr::as_bytes).unwrap_or_default();
    let called = command.first().map(|word| file_name(word)).unwrap_or_default();
    let by_name =
        agent_of_program(&name_of(pid)).or_else(|| called_by(exe)).or_else(|| called_by(called));
    if by_name.is_some() || !(is_interpreter(exe) || is_interpreter(called)) {
        return by_name;
    }
    let script = command.iter().skip(1).find(|word| !word.starts_with(b"-") && !word.is_empty());
    script.and_then(|script| agent_of_script(script))
}

/// Packages put their script into a folder that bears the agent's name, whatever the script's own is.
fn agent_of_script(path: &[u8]) -> Option<&'static KnownAgent> {
    let name = file_name(path);
    let stem = name.iter().rposition(|byte| *byte == b'.').map_or(name, |dot| &name[..dot]);
    let by_package = || {
        let at = path.windows(NODE_MODULES.len()).rposition(|part| part == NODE_MODULES)?;
        let inside = &path[at + NODE_MODULES.len()..];
        inside.split(|byte| *byte == b'/').take(2).find_map(|name| agent_of_package(text(name)?))
    };
    called_by(name).or_else(|| called_by(stem)).or_else(by_package)
}

/// The agent whose program is called this.
fn called_by(name: &[u8]) -> Option<&'static KnownAgent> {
    agent_of_program(text(name)?)
}

/// No agent has a name that is not text.
fn text(name: &[u8]) -> Option<&str> {
    std::str::from_utf8(name).ok()
}

const NODE_MODULES: &[u8] = b"/node_modules/";

fn is_interpreter(name: &[u8]) -> bool {
    const NAMES: &[&[u8]] = &[
        b"node", b"nodejs", b"bun", b"deno", b"ruby", b"perl", b"sh", b"bash", b"dash", b"zsh",
        b"ksh", b"fish", b"busybox", b"uv", b"npx",
    ];
    NAMES.contains(&name) || name.starts_with(b"python") || name.starts_with(b"pypy")
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_below_init() {
        let ancestry = Ancestry::of(std::process::id());
        assert!(ancestry.is_whole, "{ancestry:?}");
        assert_eq!(ancestry.chain[0].pid, std::process::id());
        assert!(ancestry.chain.len() > 1);
        assert!(!ancestry.chain[0].is_supervisor);
    }

    #[test]
    fn who_is_gone_comes_from_nowhere() {
        assert_eq!(Ancestry::of(0), Ancestry { chain: Vec::new(), is_whole: true });
        let none = Ancestry::of(u32::MAX);
        assert!(none.chain.is_empty() && !none.is_whole);
    }

    #[test]
    fn scripts_of_agents_are_known_by_name_and_by_package() {
        for path in [
            "/home/ada/.local/bin/claude",
            "claude",
            "./codex.js",
            "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
            "/usr/lib/node_modules/@openai/codex/bin/main.mjs",
            "/opt/venv/bin/aider",
        ] {
            assert!(agent_of_script(path.as_bytes()).is_some(), "{path}");
        }
        for path in ["/home/ada/claude/build.js", "server.py", "/x/node_modules/codexx/y.js", ""] {
            assert!(agent_of_script(path.as_bytes()).is_none(), "{path}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "an agent to be found")]
    fn a_script_called_like_an_agent_is_one() {
        use std::io::{BufRead as _, Write as _};
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("claude");
        let mut file = fs::File::create(&script).unwrap();
        file.write_all(b"#!/bin/sh\nsh -c 'echo $$; read line'\n:\n").unwrap();
        drop(file);
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "\"$0\"; :"])
            .arg(&script)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut pid = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut pid).unwrap();
        let ancestry = Ancestry::of(pid.trim().parse().unwrap());
        let agents: Vec<bool> = ancestry.chain.iter().take(3).map(|one| one.is_agent).collect();
        child.stdin.take();
        child.wait().unwrap();
        // The innermost shell, the agent, and the shell that it was typed into.
        assert_eq!(agents, [false, true, false], "{ancestry:?}");
    }
}
