//! Starting programs and seeing them end. The one place that does.

use std::ffi::OsStr;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::gate::await_readable;

/// The unit in which the kernel tells processor times; it is the same on every architecture we run on.
const TICKS_PER_SECOND: f64 = 100.0;

/// A program to start, without the variables of a surrounding terminal.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
    let mut command = Command::new(name);
    for variable in ["TMUX", "TMUX_PANE", "ROOKERY_SOCKET", "ROOKERY_TERMINAL_ID", "ROOKERY_LOG"] {
        command.env_remove(variable);
    }
    // What cargo says of this package: build scripts that look at it would run again, and make the program anew.
    let of_this_package =
        |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|it| name.starts_with(it));
    for (name, _) in std::env::vars_os() {
        if of_this_package(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a program to its end and gives what it printed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Where a program is, if it is on the path.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Where a program is, if cargo has installed it.
pub(crate) fn in_cargo(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    Some(home.join("bin").join(name)).filter(|file| file.is_file())
}

/// Where peers are installed, so that the next run finds them: beside the profiles in the target directory.
pub(crate) fn peers_dir() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().nth(2).unwrap_or_else(|| Path::new("target")).join("peers")
}

/// Runs a program to its end, at most for `limit`, and gives what it printed. It must print less than a pipe holds.
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    if !await_end(child.id(), limit) {
        let _ = child.kill();
        let _ = child.wait();
        bail!("{name} took longer than {} s", limit.as_secs());
    }
    let output = child.wait_with_output().with_context(|| format!("cannot read from {name}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !output.status.success() {
        bail!("{name} failed: {} {}", said(&output.stderr), said(&output.stdout));
    }
    Ok(said(&output.stdout))
}

/// Waits until a process is gone, also one of another parent. False if it is still there after `limit`.
pub(crate) fn await_end(pid: u32, limit: Duration) -> bool {
    let Some(pid) = Pid::from_raw(pid.cast_signed()) else { return true };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => await_readable(process.as_fd(), limit).is_ok(),
        Err(_) => true,
    }
}

/// The parent of a process.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Ends a process at once.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        // It may be gone already.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Waits for a child to end by itself, then makes it.
pub(crate) fn finish(child: &mut Child, limit: Duration) {
    if !await_end(child.id(), limit) {
        let _ = child.kill();
    }
    let _ = child.wait();
}

/// Seconds of processor time that a process used so far.
pub(crate) fn processor_seconds(pid: u32) -> anyhow::Result<f64> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let ticks = processor_ticks(&stat).with_context(|| format!("{path} is not understood"))?;
    Ok(ticks as f64 / TICKS_PER_SECOND)
}

fn processor_ticks(stat: &str) -> Option<u64> {
    // The name, in parentheses, may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// The release binary of Rookery: the one named, the one beside this program, or else it is built.
pub(crate) fn rookery_binary(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        return named.canonicalize().with_context(|| named.display().to_string());
    }
    let own = std::env::current_exe().context("cannot find this executable")?;
    let beside = own.with_file_name("rookery");
    if cfg!(debug_assertions) {
        eprintln!("warning: this is a debug build; its figures mean nothing");
    }
    if let Some(cargo) = std::env::var_os("CARGO") {
        // It costs nothing when the binary is new, and an old one must not be measured.
        let mut build = program(cargo);
        build.args(["build", "--package", "rookery"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        if !build.status().context("cannot run cargo")?.success() {
            bail!("rookery does not build");
        }
    }
    if !beside.is_file() {
        bail!("{} is missing; cargo build --release --package rookery makes it", beside.display());
    }
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let stat = "12 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 700 42 0 0 20";
        assert_eq!(processor_ticks(stat), Some(742));
        assert!(processor_seconds(std::process::id()).is_ok());
    }

    #[test]
    fn the_end_of_a_process_is_seen() {
        let mut child = program("true").spawn().unwrap();
        assert_eq!(parent(child.id()), Some(std::process::id()));
        assert!(await_end(child.id(), Duration::from_secs(60)));
        child.wait().unwrap();
        assert!(await_end(child.id(), Duration::ZERO));
    }

    #[test]
    fn failures_carry_what_was_said() {
        let error = output(program("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: why");
        assert_eq!(output(program("sh").args(["-c", "echo this"])).unwrap(), "this");
    }

    proptest! {
        #[test]
        fn any_stat_line_can_be_read(stat: String) {
            let _ = processor_ticks(&stat);
        }
    }
}
