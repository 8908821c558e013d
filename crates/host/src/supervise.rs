//! Supervisors: what an agent runs stays below a process of ours, however it leaves its own tree, and
//! also when the daemon is gone.
//!
//! A supervised program has two processes of ours above it. The first is the child that the daemon
//! waits for; it ends as the program does, and ends the program if the daemon dies. The second is the
//! parent of the program and, as a subreaper, of every orphan below it; it stays until the last of them
//! is gone, so that a search of the process table finds it there.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpgrp, getpid, getppid,
    kill_process_group, pidfd_open, set_child_subreaper, setpgid, setrlimit, wait,
};

use crate::processes::SUPERVISOR_ARGUMENT;
use crate::program::find_program;
use crate::sandbox::SANDBOX_ARGUMENT;

/// Our own program, also when its file was replaced or deleted.
const EXECUTABLE: &str = "/proc/self/exe";
/// How long a program may take to end when the daemon has died.
const GRACE: Duration = Duration::from_secs(2);

static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// From now on programs that agents run are supervised. Only for processes whose executable gives what
/// follows [`SUPERVISOR_ARGUMENT`] to [`run`].
pub fn enable() {
    IS_ENABLED.store(true, Ordering::Release);
}

/// The command that really is started for a program: the program below a supervisor, unless it is held
/// to reading and so reaches no socket.
pub(crate) fn supervised(argv: &[OsString]) -> Vec<OsString> {
    let is_sandboxed = argv.get(1).is_some_and(|word| word == SANDBOX_ARGUMENT);
    if is_sandboxed || !IS_ENABLED.load(Ordering::Acquire) {
        return argv.to_vec();
    }
    let ours = [EXECUTABLE, SUPERVISOR_ARGUMENT, "--"].map(OsString::from);
    ours.into_iter().chain(argv.iter().cloned()).collect()
}

/// Supervises the program that `args` name, and ends as it did. Must be the first thing its process
/// does: it forks, which needs a single thread.
pub fn run(args: &[OsString]) -> ExitCode {
    let argv = args.strip_prefix(&[OsString::from("--")]).unwrap_or(args);
    // What lists of processes show; the file is called otherwise.
    let _ = rustix::thread::set_name(c"rookery-superv");
    match supervise(argv) {
        Ok(End::Exited(code)) => ExitCode::from(code),
        Ok(End::Signaled(signal)) => die_by(signal),
        Err(error) => {
            complain(argv.first().map_or(OsStr::new(""), |word| word), &error);
            ExitCode::from(126)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Exited(u8),
    Signaled(u8),
}

impl End {
    fn to_bytes(self) -> [u8; 2] {
        match self {
            Self::Exited(code) => [0, code],
            Self::Signaled(signal) => [1, signal],
        }
    }

    fn from_bytes(bytes: [u8; 2]) -> Self {
        match bytes {
            [0, code] => Self::Exited(code),
            [_, signal] => Self::Signaled(signal),
        }
    }
}

fn supervise(argv: &[OsString]) -> io::Result<End> {
    let words: Vec<CString> = argv
        .iter()
        .map(|word| CString::new(word.as_bytes()))
        .collect::<Result<_, _>>()
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let daemon = getppid().and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let (told, tells) = pipe_with(PipeFlags::CLOEXEC)?;
    let group = getpgrp();
    // Signals to the group are meant for the program; we end when it does.
    let mask = block_signals()?;
    match fork()? {
        None => {
            drop((told, daemon));
            // Out of the group, so that killing it does not let orphans go.
            let _ = setpgid(None, None);
            set_child_subreaper(Some(getpid()))?;
            match fork()? {
                None => become_program(argv, &words, group, &mask),
                Some(program) => {
                    let_go_of_stdio()?;
                    attend(program, tells);
                }
            }
        }
        Some(_) => {
            drop(tells);
            let_go_of_stdio()?;
            Ok(await_end(told, daemon, group))
        }
    }
}

/// Reaps everything below until nothing is left, and says how the program ended.
fn attend(program: Pid, tells: OwnedFd) -> ! {
    let mut tells = Some(std::fs::File::from(tells));
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty())) {
            Ok(Some((pid, status))) if pid == program => {
                let end = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => End::Exited(u8::try_from(code & 0xff).unwrap_or(1)),
                    (None, signal) => End::Signaled(signal.unwrap_or(9).try_into().unwrap_or(9)),
                };
                if let Some(mut tells) = tells.take() {
                    let _ = tells.write_all(&end.to_bytes());
                }
            }
            Ok(_) => {}
            Err(_) => std::process::exit(0),
        }
    }
}

/// Waits for the end of the program, or for that of the daemon, and then sees to the former.
fn await_end(told: OwnedFd, daemon: Option<OwnedFd>, group: Pid) -> End {
    let mut is_orphan = daemon.is_none();
    if let Some(daemon) = &daemon {
        let mut awaited = [PollFd::new(&told, PollFlags::IN), PollFd::new(daemon, PollFlags::IN)];
        let _ = retry_on_intr(|| poll(&mut awaited, None));
        is_orphan = awaited[0].revents().is_empty();
    }
    if is_orphan {
        let _ = kill_process_group(group, Signal::TERM);
        let limit = Timespec { tv_sec: GRACE.as_secs().cast_signed(), tv_nsec: 0 };
        let mut awaited = [PollFd::from_borrowed_fd(told.as_fd(), PollFlags::IN)];
        let _ = retry_on_intr(|| poll(&mut awaited, Some(&limit)));
        crate::kill_tree(std::process::id());
    }
    let mut end = [1, 9];
    // Without a word the other one was killed, and all that is known is that it was not by itself.
    let _ = std::fs::File::from(told).read_exact(&mut end);
    End::from_bytes(end)
}

fn become_program(argv: &[OsString], words: &[CString], group: Pid, mask: &libc::sigset_t) -> ! {
    // Into the group again, which is what is signaled.
    let _ = setpgid(None, Some(group));
    let error = exec(words, mask);
    complain(argv.first().map_or(OsStr::new(""), |word| word), &error);
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    std::process::exit(if is_missing { 127 } else { 126 });
}

fn complain(program: &OsStr, error: &io::Error) {
    let line = format!("rookery: {}: {error}\n", program.to_string_lossy());
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Others must see the end of a pipe when the program closes it, not when we do.
fn let_go_of_stdio() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

#[expect(unsafe_code, reason = "no library of ours wraps the mask of signals")]
fn block_signals() -> io::Result<libc::sigset_t> {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets live over the calls, which fill them in before they are read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        if libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(before.assume_init())
    }
}

#[expect(unsafe_code, reason = "a supervisor is its own fork")]
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread, so that the child finds no lock held by another.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

#[expect(unsafe_code, reason = "the mask has to be given back right before the program begins")]
fn exec(words: &[CString], mask: &libc::sigset_t) -> io::Error {
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let Some(program) = words.first() else { return io::ErrorKind::InvalidInput.into() };
    // SAFETY: the words outlive the call, the array ends with a null pointer, and the mask is one that
    // the system gave.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
        libc::execvp(program.as_ptr(), pointers.as_ptr());
    }
    io::Error::last_os_error()
}

/// Ends by a signal, as the program did.
#[expect(unsafe_code, reason = "no library of ours raises a signal at its default")]
fn die_by(signal: u8) -> ExitCode {
    // The program has left its core, if it was to leave one.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // SAFETY: all three only concern this process, which has one thread.
    unsafe {
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::signal(signal.into(), libc::SIG_DFL);
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::raise(signal.into());
    }
    ExitCode::from(128 | signal)
}

/// Whether a program could be started at all: below a supervisor its absence would show too late.
pub(crate) fn check_program(
    argv: &[OsString],
    path: Option<&OsStr>,
    cwd: Option<&Path>,
) -> io::Result<()> {
    if !IS_ENABLED.load(Ordering::Acquire) {
        return Ok(());
    }
    let program = argv.first().map_or(OsStr::new(""), |name| name);
    let cwd = cwd.unwrap_or(Path::new(""));
    if find_program(program, path, cwd).is_some() {
        return Ok(());
    }
    let is_there = program.as_bytes().contains(&b'/') && cwd.join(program).exists();
    Err(if is_there { Errno::ACCESS } else { Errno::NOENT }.into())
}
