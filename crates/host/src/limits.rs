//! Limits of this process that the programs it starts must not inherit.

use std::sync::OnceLock;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::process::Command;

/// Descriptors that the table has room for from the start: about two thousand terminals.
const TABLE: u64 = 4096;

/// What this process came with, once it has raised it.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process open as many files as it may. A terminal takes a few, and the usual soft limit would allow some
/// hundred. Programs started by this crate get the old limit back: many assume that it is small.
///
/// To be called before the first thread: the kernel lets a process with several of them wait for about
/// ten milliseconds whenever its table of descriptors grows, so it is made large enough now.
pub fn raise_descriptor_limit() {
    let limit = *INHERITED.get_or_init(|| getrlimit(Resource::Nofile));
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let last = limit.maximum.unwrap_or(TABLE).min(TABLE) - 1;
    // Closed at once; the table stays as large as it is.
    let _ = fcntl_dupfd_cloexec(rustix::stdio::stdin(), last.try_into().unwrap_or_default());
}

/// The soft limit of open files that this process came with, if it has raised it.
pub fn inherited_descriptor_limit() -> Option<u64> {
    INHERITED.get().and_then(|limit| limit.current)
}

/// Gives a program the limit that this process came with.
#[expect(unsafe_code, reason = "a limit can only be set between fork and exec")]
pub(crate) fn give_back(command: &mut Command) {
    let Some(limit) = INHERITED.get().copied() else { return };
    // SAFETY: the closure makes one system call, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(move || Ok(setrlimit(Resource::Nofile, limit)?)) };
}

/// Ends a program, and whatever it starts, that writes more than this into one file.
#[expect(unsafe_code, reason = "a limit can only be set between fork and exec")]
pub(crate) fn bound_files(command: &mut Command, bytes: u64) {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    // SAFETY: the closure makes one system call, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(move || Ok(setrlimit(Resource::Fsize, limit)?)) };
}
