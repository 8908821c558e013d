//! Commands in a terminal that no one types into: they have nothing to read, neither from their input
//! nor from the terminal itself, so that what asks for a password fails instead of waiting.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::process::{Signal, set_parent_process_death_signal};

use super::{SandboxError, exec};

/// The first argument of a program that is to leave its terminal and become a command.
pub const UNATTENDED_ARGUMENT: &str = "__unattended";

/// The command that runs `argv` with nothing to read and no terminal to ask at: `exe` is our own program.
pub fn wrap_unattended(exe: &Path, argv: &[String]) -> Vec<String> {
    let ours = [exe.to_string_lossy().into_owned(), UNATTENDED_ARGUMENT.to_owned()];
    ours.into_iter().chain(argv.iter().cloned()).collect()
}

/// Does what [`wrap_unattended`] wrote behind [`UNATTENDED_ARGUMENT`]. Comes back only if it failed; then
/// nothing was run. Its process must have one thread.
pub fn leave_terminal_and_exec(argv: &[OsString]) -> SandboxError {
    match leave_terminal() {
        Ok(()) => exec(argv),
        Err(error) => SandboxError::Limits(format!("cannot leave the terminal: {error}")),
    }
}

/// The session stays what it is, so that the command ends with its terminal as any other does.
fn leave_terminal() -> io::Result<()> {
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // Outputs can be read from as long as they are the terminal as it was opened, and some programs do.
    let write_only =
        |path: &str| OpenOptions::new().write(true).custom_flags(libc::O_NOCTTY).open(path);
    if let (Ok(stdout), Ok(stderr)) = (write_only("/proc/self/fd/1"), write_only("/proc/self/fd/2"))
    {
        rustix::stdio::dup2_stdout(stdout)?;
        rustix::stdio::dup2_stderr(stderr)?;
    }
    // Without a terminal there is nothing to leave.
    let Ok(terminal) = File::open("/dev/tty") else { return Ok(()) };
    give_up(&terminal)?;
    // What the terminal's end did before: the parent of what runs in a terminal is what holds it.
    set_parent_process_death_signal(Some(Signal::HUP))?;
    Ok(())
}

#[expect(unsafe_code, reason = "no library of ours gives up a terminal")]
fn give_up(terminal: &File) -> io::Result<()> {
    // SAFETY: this process has one thread, the descriptor is open, and the request takes no argument.
    let result = unsafe {
        // The kernel hangs up on those who lose their terminal, and that is us.
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        let result = libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY);
        libc::signal(libc::SIGHUP, libc::SIG_DFL);
        result
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
