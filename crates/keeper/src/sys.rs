//! The few system calls that need `libc`, each behind a safe function.

#![expect(unsafe_code, reason = "calls that rustix does not offer in the needed form")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Signals `pidfd_send_signal` sends to the group led by the process (Linux 6.9).
const PIDFD_SIGNAL_PROCESS_GROUP: libc::c_uint = 1 << 2;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the whole set; the numbers are constants of this crate.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}

/// Blocks `signals` and returns a non-blocking descriptor from which they are read instead.
pub(crate) fn signal_fd(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    // SAFETY: the set is initialized; a fresh descriptor has no other owner.
    unsafe {
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
        let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Ignores `signals` in this process; children get the defaults back before they run.
pub(crate) fn ignore_signals(signals: &[libc::c_int]) {
    for signal in signals {
        // SAFETY: ignoring a signal installs no handler code.
        unsafe { libc::signal(*signal, libc::SIG_IGN) };
    }
}

/// Children of this process, as `/proc` shows them.
pub(crate) fn children() -> Vec<i32> {
    let parent = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}

fn parent_of(pid: i32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; behind it come the state and the parent.
    stat[stat.rfind(')')? + 1..].split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Sends a signal to one process that is known not to be reaped yet.
pub(crate) fn signal_process(pid: i32, signal: i32) -> io::Result<()> {
    if pid <= 1 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: plain system call; a positive pid names one process.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Sends a signal to the process group led by a process that is known not to be reaped yet.
pub(crate) fn signal_group(leader: i32, signal: i32) -> io::Result<()> {
    if leader <= 1 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: plain system call; a number below -1 names one process group.
    check(unsafe { libc::kill(-leader, signal) }).map(drop)
}

/// Sends a signal to the process behind a pidfd, or to the group it leads.
pub(crate) fn signal_pidfd(pidfd: impl AsFd, signal: i32, group: bool) -> io::Result<()> {
    let flags = if group { PIDFD_SIGNAL_PROCESS_GROUP } else { 0 };
    let no_info = std::ptr::null::<libc::siginfo_t>();
    let fd = pidfd.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open; a null info asks the kernel to fill it in.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, signal, no_info, flags) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes every descriptor above standard error.
///
/// Only for a process that owns no descriptor yet, since nothing may use one of them afterwards.
pub(crate) fn close_inherited() {
    // SAFETY: called first thing in a fresh process, before any owner of such a descriptor exists.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// Forks, ends the parent, and goes on as its child, which init adopts.
///
/// Only for a process with a single thread.
pub(crate) fn detach() -> io::Result<()> {
    // SAFETY: with one thread no lock can be held by a thread that the fork leaves behind.
    match check(unsafe { libc::fork() })? {
        0 => Ok(()),
        // SAFETY: ends the process without running exit handlers, which belong to the child now.
        _ => unsafe { libc::_exit(0) },
    }
}
