//! Starts one child on a new PTY, or leaves nothing behind and says which step failed.
//! Everything that allocates happens before the fork; between fork and exec only async-signal-safe calls are made.

use std::ffi::{CString, c_char, c_int};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::Mode;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Resource, Rlimit, WaitOptions};
use rustix::pty::OpenptFlags;
use rustix::termios::{InputModes, OptionalActions, Winsize};

use crate::protocol::{ErrorCode, ErrorReply, Size, Spawn};
use crate::ring;

/// A working directory on a dead network mount must not hold up every other terminal for longer.
const EXEC_PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// What children get back because the keeper changed it for itself.
pub(crate) struct ChildDefaults {
    pub(crate) umask: Mode,
    pub(crate) nofile: Rlimit,
}

impl ChildDefaults {
    pub(crate) fn of_this_process() -> Self {
        // There is no call that only reads the mask.
        let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
        rustix::process::umask(umask);
        Self { umask, nofile: rustix::process::getrlimit(Resource::Nofile) }
    }
}

/// A child that runs.
pub(crate) struct Spawned {
    pub(crate) pid: Pid,
    pub(crate) master: OwnedFd,
    pub(crate) ring: OwnedFd,
}

/// Starts the child and waits until it runs its program.
pub(crate) fn spawn(request: &Spawn, defaults: &ChildDefaults) -> Result<Spawned, ErrorReply> {
    let plan = Plan::new(request, defaults)?;
    let (master, slave) =
        open_pty(request.size).map_err(|error| failed("open a PTY", error.into()))?;
    let ring =
        ring::create(request.ring_bytes).map_err(|error| failed("create the byte ring", error))?;
    let (report, reporter) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map_err(|error| failed("open a pipe", error.into()))?;
    let pid = fork_exec(&plan, slave.as_raw_fd(), reporter.as_raw_fd())
        .map_err(|error| failed("fork", error))?;
    drop((slave, reporter));
    match await_exec(&report) {
        Ok(None) => Ok(Spawned { pid, master, ring }),
        Ok(Some((step, errno))) => {
            // It reported and exits; reaping it here keeps it out of everyone's sight.
            let _ = rustix::io::retry_on_intr(|| {
                rustix::process::waitpid(Some(pid), WaitOptions::empty())
            });
            Err(plan.explain(step, errno))
        }
        Err(error) => {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            Err(failed("see the program start", error))
        }
    }
}

fn failed(action: &str, error: io::Error) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::SpawnFailed,
        errno: error.raw_os_error().unwrap_or(0),
        message: format!("cannot {action}: {error}"),
    }
}

fn open_pty(size: Size) -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::unlockpt(&master)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let mut termios = rustix::termios::tcgetattr(&slave)?;
    termios.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &termios)?;
    let Size { rows, cols, xpixel, ypixel } = size;
    let winsize = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: xpixel, ws_ypixel: ypixel };
    rustix::termios::tcsetwinsize(&slave, winsize)?;
    // The flag belongs to the open file, so the receiver of the master finds it non-blocking.
    rustix::fs::fcntl_setfl(
        &master,
        rustix::fs::fcntl_getfl(&master)? | rustix::fs::OFlags::NONBLOCK,
    )?;
    Ok((master, slave))
}

/// Steps between fork and exec that can fail.
#[derive(Clone, Copy)]
enum Step {
    Session = 1,
    Terminal,
    Stdio,
    Cwd,
    Exec,
}

/// All that the child needs, laid out before the fork.
struct Plan {
    program: String,
    candidates: Vec<CString>,
    cwd: CString,
    umask: libc::mode_t,
    nofile: libc::rlimit,
    argv: Pointers,
    env: Pointers,
}

/// Strings and the null-terminated array of pointers to them that `execve` takes.
struct Pointers {
    _strings: Vec<CString>,
    raw: Vec<*const c_char>,
}

impl Pointers {
    fn new(strings: &[Vec<u8>], what: &str) -> Result<Self, ErrorReply> {
        let strings = strings.iter().map(|s| c_string(s, what)).collect::<Result<Vec<_>, _>>()?;
        let raw = strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect();
        Ok(Self { _strings: strings, raw })
    }
}

fn bad_request(message: String) -> ErrorReply {
    ErrorReply { code: ErrorCode::BadRequest, errno: libc::EINVAL, message }
}

fn c_string(bytes: &[u8], what: &str) -> Result<CString, ErrorReply> {
    CString::new(bytes).map_err(|_| bad_request(format!("{what} contains a NUL byte")))
}

impl Plan {
    fn new(request: &Spawn, defaults: &ChildDefaults) -> Result<Self, ErrorReply> {
        let program = match request.argv.first() {
            Some(program) if !program.is_empty() => program,
            _ => return Err(bad_request("no program given".to_owned())),
        };
        if !request.cwd.starts_with(b"/") {
            return Err(bad_request("working directory is not absolute".to_owned()));
        }
        let limit = |value: Option<u64>| value.unwrap_or(libc::RLIM_INFINITY);
        Ok(Self {
            program: String::from_utf8_lossy(program).into_owned(),
            candidates: candidates(program, &request.env)?,
            cwd: c_string(&request.cwd, "working directory")?,
            umask: defaults.umask.as_raw_mode(),
            nofile: libc::rlimit {
                rlim_cur: limit(defaults.nofile.current),
                rlim_max: limit(defaults.nofile.maximum),
            },
            argv: Pointers::new(&request.argv, "argument")?,
            env: Pointers::new(&request.env, "environment")?,
        })
    }

    fn explain(&self, step: u32, errno: i32) -> ErrorReply {
        let what = match step {
            s if s == Step::Session as u32 => "start a session".to_owned(),
            s if s == Step::Terminal as u32 => "take the PTY as controlling terminal".to_owned(),
            s if s == Step::Stdio as u32 => "connect the PTY".to_owned(),
            s if s == Step::Cwd as u32 => {
                format!("enter working directory {}", self.cwd.to_string_lossy())
            }
            // In quotes, so that redaction does not take `passwd: Permission` for a password.
            _ => format!("run program `{}`", self.program),
        };
        failed(&what, io::Error::from_raw_os_error(errno))
    }
}

/// The paths to try, in order. Relative ones count from the child's working directory.
fn candidates(program: &[u8], env: &[Vec<u8>]) -> Result<Vec<CString>, ErrorReply> {
    if program.contains(&b'/') {
        return Ok(vec![c_string(program, "program")?]);
    }
    let path = env.iter().find_map(|entry| entry.strip_prefix(b"PATH=")).unwrap_or(DEFAULT_PATH);
    path.split(|byte| *byte == b':')
        .map(|directory| if directory.is_empty() { b"." } else { directory })
        .map(|directory| c_string(&[directory, b"/", program].concat(), "program"))
        .collect()
}

/// `None` once the program runs; else the step that failed and its errno.
fn await_exec(report: &OwnedFd) -> io::Result<Option<(u32, i32)>> {
    let mut polled = [PollFd::new(report, PollFlags::IN)];
    let ready =
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut polled, Some(&EXEC_PATIENCE)))?;
    if ready == 0 {
        return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
    }
    let mut message = [0; 8];
    let got = rustix::io::retry_on_intr(|| rustix::io::read(report, &mut message))?;
    let [s0, s1, s2, s3, e0, e1, e2, e3] = message;
    match got {
        0 => Ok(None),
        8 => Ok(Some((u32::from_ne_bytes([s0, s1, s2, s3]), i32::from_ne_bytes([e0, e1, e2, e3])))),
        _ => Err(io::Error::from_raw_os_error(libc::EPROTO)),
    }
}

#[expect(unsafe_code, reason = "fork")]
fn fork_exec(plan: &Plan, slave: RawFd, report: RawFd) -> io::Result<Pid> {
    // SAFETY: the child calls only async-signal-safe functions until it executes a program or exits.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: this is the child.
        0 => unsafe { run_child(plan, slave, report) },
        pid => Pid::from_raw(pid).ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD)),
    }
}

/// # Safety
/// Only in a freshly forked child: it takes over the process and never returns.
#[expect(unsafe_code, reason = "runs between fork and exec")]
unsafe fn run_child(plan: &Plan, slave: RawFd, report: RawFd) -> ! {
    // SAFETY: as promised by the caller.
    let (step, errno) = unsafe { become_program(plan, slave) };
    let mut message = [0; 8];
    message[..4].copy_from_slice(&(step as u32).to_ne_bytes());
    message[4..].copy_from_slice(&errno.to_ne_bytes());
    // SAFETY: the buffer outlives the call; `_exit` runs nothing of the parent's.
    unsafe {
        libc::write(report, message.as_ptr().cast(), message.len());
        libc::_exit(127)
    }
}

/// Returns only if a step failed.
///
/// # Safety
/// Only in a freshly forked child.
#[expect(unsafe_code, reason = "runs between fork and exec")]
unsafe fn become_program(plan: &Plan, slave: RawFd) -> (Step, c_int) {
    // SAFETY: all pointers belong to `plan`, prepared before the fork; every call is async-signal-safe.
    unsafe {
        reset_signals();
        if libc::setsid() < 0 {
            return (Step::Session, errno());
        }
        if libc::ioctl(slave, libc::TIOCSCTTY, 0) < 0 {
            return (Step::Terminal, errno());
        }
        for fd in 0..=2 {
            if libc::dup2(slave, fd) < 0 {
                return (Step::Stdio, errno());
            }
        }
        // Everything is opened close-on-exec already; this is the second lock on the door.
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        libc::umask(plan.umask);
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const plan.nofile);
        if libc::chdir(plan.cwd.as_ptr()) < 0 {
            return (Step::Cwd, errno());
        }
        (Step::Exec, execute(plan))
    }
}

/// Tries the candidates as a shell would: a missing one is passed over, a forbidden one remembered.
///
/// # Safety
/// Only in a freshly forked child.
#[expect(unsafe_code, reason = "runs between fork and exec")]
unsafe fn execute(plan: &Plan) -> c_int {
    let mut result = libc::ENOENT;
    for candidate in &plan.candidates {
        // SAFETY: strings and null-terminated pointer arrays live in `plan`.
        let error = unsafe {
            libc::execve(candidate.as_ptr(), plan.argv.raw.as_ptr(), plan.env.raw.as_ptr());
            errno()
        };
        match error {
            libc::ENOENT | libc::ENOTDIR | libc::ENAMETOOLONG | libc::ELOOP => {}
            libc::EACCES => result = libc::EACCES,
            other => return other,
        }
    }
    result
}

/// # Safety
/// Only in a freshly forked child, which has no handlers of its own to lose.
#[expect(unsafe_code, reason = "runs between fork and exec")]
unsafe fn reset_signals() {
    // The C library keeps two signals to itself, and its wrapper would leave them ignored if they came to us so;
    // an all-zero action is the default action in every layout of the kernel's structure.
    let default = [0u64; 8];
    // SAFETY: the buffer is longer than the kernel's structure; refusals (KILL, STOP) do not matter.
    unsafe {
        for signal in 1..=64 {
            let no_old = std::ptr::null_mut::<libc::c_void>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), no_old, 8usize);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

#[expect(unsafe_code, reason = "reads the thread's errno without allocating")]
fn errno() -> c_int {
    // SAFETY: the C library returns a valid pointer to the calling thread's errno.
    unsafe { *libc::__errno_location() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(program: &str, env: &[&str]) -> Vec<String> {
        let env: Vec<Vec<u8>> = env.iter().map(|entry| entry.as_bytes().to_vec()).collect();
        let found = candidates(program.as_bytes(), &env).unwrap();
        found.into_iter().map(|path| path.into_string().unwrap()).collect()
    }

    #[test]
    fn programs_are_looked_up_in_the_childs_path() {
        assert_eq!(paths("sh", &["A=1", "PATH=/a:/b::c"]), ["/a/sh", "/b/sh", "./sh", "c/sh"]);
        assert_eq!(paths("./sh", &["PATH=/a"]), ["./sh"]);
        assert_eq!(paths("sh", &[]), ["/usr/local/bin/sh", "/usr/bin/sh", "/bin/sh"]);
    }
}
