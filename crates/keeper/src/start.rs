//! Starting a keeper: `start` runs in the daemon, `run_main` in the keeper's own fresh process.
//! The keeper is independent: own session, child of init, no descriptor of the daemon's.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit};
use std::os::unix::process::CommandExt;

use crate::listener::Listener;
use crate::server::Server;
use crate::spawn::ChildDefaults;
use crate::sys;

const PATIENCE: Duration = Duration::from_secs(5);

const READY: u8 = b'R';
const FAILED: u8 = b'E';

/// Starts `exe args… socket_path` as a keeper and returns once it accepts connections.
///
/// The program must hand what follows its own arguments to [`run_main`] before it starts a thread or opens a file.
/// `AddrInUse` means that a keeper already lives at that path.
pub fn start(exe: &Path, args: &[&str], socket_path: &Path) -> io::Result<()> {
    let mut child = command(exe, args, &std::path::absolute(socket_path)?).spawn()?;
    let report = read_report(&mut child);
    if report.is_err() {
        let _ = child.kill();
    }
    // Only the intermediate process, which ends as soon as it has forked.
    let _ = child.wait();
    let report = report?;
    match report.split_first() {
        Some((&READY, _)) => Ok(()),
        Some((&FAILED, reason)) => Err(reported(reason)),
        _ => Err(io::Error::other("keeper ended before it was ready")),
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where a keeper is started")]
fn command(exe: &Path, args: &[&str], socket_path: &Path) -> Command {
    let mut command = Command::new(exe);
    // The executable may be given by a path that says nothing to people who read process lists.
    command.arg0("rookery").args(args).arg(socket_path).env_clear().process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The keeper's first words: everything up to the end of its standard output.
fn read_report(child: &mut Child) -> io::Result<Vec<u8>> {
    let mut pipe = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let until = Instant::now() + PATIENCE;
    let mut report = Vec::new();
    while report.first() != Some(&READY) {
        let left = until.saturating_duration_since(Instant::now());
        let left =
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut polled = [PollFd::new(&pipe, PollFlags::IN)];
        match poll(&mut polled, Some(&left)) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "keeper was not ready in time",
                ));
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let mut chunk = [0; 1024];
        match pipe.read(&mut chunk)? {
            0 => break,
            got => report.extend_from_slice(&chunk[..got]),
        }
    }
    Ok(report)
}

fn reported(reason: &[u8]) -> io::Error {
    let Some((errno, message)) = reason.split_first_chunk() else {
        return io::Error::other("keeper failed to start");
    };
    let kind = io::Error::from_raw_os_error(i32::from_le_bytes(*errno)).kind();
    io::Error::new(kind, format!("keeper failed to start: {}", String::from_utf8_lossy(message)))
}

fn report_failure(error: &io::Error) {
    let mut report = vec![FAILED];
    let errno = error.raw_os_error().unwrap_or_else(|| match error.kind() {
        io::ErrorKind::PermissionDenied => libc::EACCES,
        io::ErrorKind::AlreadyExists => libc::EEXIST,
        _ => libc::EINVAL,
    });
    report.extend_from_slice(&errno.to_le_bytes());
    report.extend_from_slice(error.to_string().as_bytes());
    let _ = rustix::io::write(rustix::stdio::stdout(), &report);
}

/// Before the socket path: the keeper belongs to one client. When the last one is gone it ends every terminal, and it
/// takes the directory of its socket with it.
const END_WITH_LAST_CLIENT: &str = "--end-with-last-client";

/// Before the socket path: the soft limit of open files that children get, `--nofile=NUMBER`. The parent of a keeper
/// may have raised its own.
pub const NOFILE: &str = "--nofile=";

/// The keeper's `main`. `args` is one socket path, after `--end-with-last-client` if nothing is to outlive the client.
///
/// Must be the first thing its process does: it closes all inherited descriptors and forks, which needs a single thread.
pub fn run_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter().peekable();
    let with_clients = args.next_if(|first| first == END_WITH_LAST_CLIENT).is_some();
    let nofile = args.next_if(|first| first.to_str().is_some_and(|text| text.starts_with(NOFILE)));
    let nofile = nofile.and_then(|text| text.to_str()?.strip_prefix(NOFILE)?.parse().ok());
    let (Some(path), None) = (args.next(), args.next()) else {
        report_failure(&io::Error::new(
            io::ErrorKind::InvalidInput,
            "expected one argument, the socket path",
        ));
        return ExitCode::from(2);
    };
    let path = match std::path::absolute(PathBuf::from(path)) {
        Ok(path) => path,
        Err(error) => {
            report_failure(&error);
            return ExitCode::FAILURE;
        }
    };
    let ended = match set_up(&path, with_clients, nofile) {
        Ok(server) => server.run(),
        Err(error) => {
            report_failure(&error);
            // The directory may be that of the keeper that was faster.
            return ExitCode::FAILURE;
        }
    };
    if with_clients && let Some(directory) = path.parent() {
        // Only if nothing else is in it.
        let _ = std::fs::remove_dir(directory);
    }
    if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn set_up(path: &Path, with_clients: bool, nofile: Option<u64>) -> io::Result<Server> {
    sys::close_inherited();
    let null = open_null_above_stdio()?;
    sys::detach()?;
    rustix::process::setsid()?;
    rustix::process::chdir(c"/")?;
    sys::ignore_signals(&[
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGPIPE,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
        libc::SIGUSR1,
        libc::SIGUSR2,
    ]);
    let mut defaults = ChildDefaults::of_this_process();
    let inherited = defaults.nofile;
    if let Some(soft) = nofile {
        defaults.nofile.current = Some(inherited.maximum.map_or(soft, |hard| soft.min(hard)));
    }
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    raise_nofile(&inherited);
    // Only for people who read process lists.
    let _ = rustix::thread::set_name(c"rookery-keeper");
    let server = Server::new(Listener::bind(path)?, defaults)?.ending_with_clients(with_clients);
    // Fails if the process that asked for this keeper has given up; then it is not needed.
    rustix::io::write(rustix::stdio::stdout(), &[READY])?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(server)
}

/// Also fills the places of standard descriptors that are closed: nothing else may come to lie there.
fn open_null_above_stdio() -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::{AsRawFd, IntoRawFd};
    loop {
        let null = rustix::fs::open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        if null.as_raw_fd() > 2 {
            return Ok(null);
        }
        let _ = null.into_raw_fd();
    }
}

/// Each terminal takes two descriptors, and the usual soft limit is 1024. Children get the old limit back.
fn raise_nofile(inherited: &Rlimit) {
    let raised = Rlimit { current: inherited.maximum, maximum: inherited.maximum };
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
}
