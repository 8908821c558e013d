//! Calls that change something although no file is written.
#![expect(unsafe_code, reason = "the calls are made as an attacker makes them")]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::process::ExitCode;
use std::ptr::null_mut;

use libc::{c_long, c_void};
use libtest_mimic::{Failed, Trial};
use rookery_host::sandbox::Sandbox;

use super::{Ground, PROBE, REFUSED, attackers, trial};

/// Whether a call is known to work outside of the sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    /// For every user.
    Works,
    RootOnly,
    /// It depends on the kernel, the file system or both; only the inside is tested.
    Depends,
}
use Outside::{Depends, RootOnly, Works};

type Call = fn(&Target) -> io::Result<()>;

/// What is attacked: another process of the same user, and a file of his.
struct Target {
    pid: i32,
    file: CString,
}

impl Target {
    fn open(&self) -> File {
        File::open(self.file.to_str().expect("a name")).expect("it can be read")
    }
}

const ATTACKS: &[(&str, Outside, Call)] = &[
    ("prlimit_of_another", Works, prlimit_of_another),
    ("priority_of_another", Works, |it| call(libc::SYS_setpriority, &[0, it.pid.into(), 19])),
    ("priority_of_a_group", Works, |it| call(libc::SYS_setpriority, &[1, it.pid.into(), 19])),
    ("io_priority_of_another", Works, |it| {
        call(libc::SYS_ioprio_set, &[1, it.pid.into(), 3 << 13])
    }),
    ("scheduler_of_another", Works, scheduler_of_another),
    ("affinity_of_another", Works, affinity_of_another),
    ("a_signal", Works, |it| call(libc::SYS_kill, &[it.pid.into(), libc::SIGCONT.into()])),
    ("a_signal_by_descriptor", Works, signal_by_descriptor),
    ("ptrace", Depends, |it| call(libc::SYS_ptrace, &[0x4206, it.pid.into(), 0, 0])),
    ("memory_of_another", Depends, memory_of_another),
    ("setxattr", Depends, |it| set_xattr(libc::SYS_setxattr, it.file.as_ptr() as c_long)),
    ("lsetxattr", Depends, |it| set_xattr(libc::SYS_lsetxattr, it.file.as_ptr() as c_long)),
    ("fsetxattr", Depends, |it| {
        let file = it.open();
        set_xattr(libc::SYS_fsetxattr, file.as_raw_fd().into())
    }),
    ("setxattrat", Depends, setxattrat),
    ("file_flags", Depends, |it| request(it, 0x4008_6602)),
    ("file_attributes", Depends, |it| request(it, 0x401c_5820)),
    ("file_version", Depends, |it| request(it, 0x4008_7602)),
    ("file_setattr", Depends, file_setattr),
    ("btrfs_snapshot", Depends, |it| request(it, 0x5000_9401)),
    ("chmod", Works, |it| call(libc::SYS_fchmodat, &[AT_CWD, it.file.as_ptr() as c_long, 0o644])),
    ("fchmod", Works, |it| call(libc::SYS_fchmod, &[it.open().as_raw_fd().into(), 0o644])),
    ("fchown", Works, |it| call(libc::SYS_fchown, &[it.open().as_raw_fd().into(), -1, -1])),
    ("utimensat", Works, |it| {
        call(libc::SYS_utimensat, &[AT_CWD, it.file.as_ptr() as c_long, 0, 0])
    }),
    ("user_namespace", Depends, |_| call(libc::SYS_unshare, &[libc::CLONE_NEWUSER.into()])),
    ("mount_namespace", RootOnly, |_| call(libc::SYS_unshare, &[libc::CLONE_NEWNS.into()])),
    ("process_in_a_user_namespace", Depends, |_| clone(libc::CLONE_NEWUSER)),
    ("process_in_a_network_of_its_own", RootOnly, |_| clone(libc::CLONE_NEWNET)),
    ("process_by_the_new_call", Works, clone3),
    ("mount", RootOnly, mount),
    ("much_memory", Works, |_| map(libc::MAP_PRIVATE, 3 << 30)),
    ("shared_memory", Works, |_| map(libc::MAP_SHARED, 1 << 20)),
    ("memory_file", Works, |_| call(libc::SYS_memfd_create, &[c"x".as_ptr() as c_long, 0])),
    ("system_v_memory", Works, system_v_memory),
    ("system_v_semaphore", Depends, |_| call(libc::SYS_semget, &[0, 1, 0o600])),
    ("system_v_queue", Depends, |_| call(libc::SYS_msgget, &[0, 0o600])),
    ("message_queue", Depends, message_queue),
    ("io_uring", Depends, |_| {
        let mut params = [0_u8; 120];
        call(libc::SYS_io_uring_setup, &[1, params.as_mut_ptr() as c_long])
    }),
    ("keys", Depends, |_| call(libc::SYS_keyctl, &[0, -3, 1])),
    ("bpf", Depends, |_| call(libc::SYS_bpf, &[0, 0, 0])),
    ("perf", Depends, |_| call(libc::SYS_perf_event_open, &[0, 0, -1, -1, 0])),
    ("userfaultfd", Depends, |_| call(libc::SYS_userfaultfd, &[1])),
    ("kexec", Depends, |_| call(libc::SYS_kexec_file_load, &[-1, -1, 0, 0, 0])),
    ("host_name", Depends, |_| call(libc::SYS_sethostname, &[c"".as_ptr() as c_long, -1])),
    ("network", Works, |_| call(libc::SYS_socket, &[libc::AF_INET.into(), 1, 0])),
    ("local_socket", Works, |_| call(libc::SYS_socket, &[libc::AF_UNIX.into(), 1, 0])),
    ("netlink", Works, |_| call(libc::SYS_socket, &[libc::AF_NETLINK.into(), 3, 0])),
    ("messages_to_any_socket", Works, |_| {
        let mut pair = [0_i32; 2];
        call(libc::SYS_socketpair, &[1, 2, 0, pair.as_mut_ptr() as c_long])
    }),
];

const AT_CWD: c_long = libc::AT_FDCWD as c_long;

/// What a command needs that does nothing to others, and must stay possible.
const FREE: &[(&str, Call)] = &[
    ("own_limits", |_| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        let to = (&raw mut limit) as c_long;
        call(libc::SYS_prlimit64, &[0, 7, 0, to])
            .and_then(|()| call(libc::SYS_prlimit64, &[0, 7, to, 0]))
    }),
    ("limits_of_another_read", |it| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        call(libc::SYS_prlimit64, &[it.pid.into(), 7, 0, (&raw mut limit) as c_long])
    }),
    ("own_priority", |_| call(libc::SYS_setpriority, &[0, 0, 19])),
    ("own_signal", |_| call(libc::SYS_kill, &[i64::from(std::process::id()), 0])),
    ("some_memory", |_| map(libc::MAP_PRIVATE, 64 << 20)),
    ("pair_of_streams", |_| {
        let mut pair = [0_i32; 2];
        call(libc::SYS_socketpair, &[1, 1, 0, pair.as_mut_ptr() as c_long])
    }),
    ("threads", |_| std::thread::spawn(|| ()).join().map_err(|_| io::Error::other("no thread"))),
];

fn call(number: c_long, args: &[c_long]) -> io::Result<()> {
    let at = |index: usize| args.get(index).copied().unwrap_or_default();
    // SAFETY: whatever addresses are among the arguments belong to values that outlive the call.
    let done = unsafe { libc::syscall(number, at(0), at(1), at(2), at(3), at(4), at(5)) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn prlimit_of_another(it: &Target) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    call(libc::SYS_prlimit64, &[it.pid.into(), 7, (&raw const limit) as c_long, 0])
}

fn scheduler_of_another(it: &Target) -> io::Result<()> {
    let nothing = 0_i32;
    call(libc::SYS_sched_setscheduler, &[it.pid.into(), 3, (&raw const nothing) as c_long])
}

fn affinity_of_another(it: &Target) -> io::Result<()> {
    let mut set = [0_u64; 16];
    call(libc::SYS_sched_getaffinity, &[it.pid.into(), 128, set.as_mut_ptr() as c_long])?;
    call(libc::SYS_sched_setaffinity, &[it.pid.into(), 128, set.as_ptr() as c_long])
}

fn signal_by_descriptor(it: &Target) -> io::Result<()> {
    // SAFETY: no addresses are among the arguments.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, it.pid, 0) };
    assert!(fd >= 0, "there is such a process");
    call(libc::SYS_pidfd_send_signal, &[fd, libc::SIGCONT.into(), 0, 0])
}

fn memory_of_another(it: &Target) -> io::Result<()> {
    let mut byte = 0_u8;
    let piece = libc::iovec { iov_base: (&raw mut byte).cast::<c_void>(), iov_len: 1 };
    let at = (&raw const piece) as c_long;
    call(libc::SYS_process_vm_writev, &[it.pid.into(), at, 1, at, 1, 0])
}

fn set_xattr(number: c_long, file: c_long) -> io::Result<()> {
    let (name, value) = (c"user.rookery".as_ptr() as c_long, c"x".as_ptr() as c_long);
    call(number, &[file, name, value, 1, 0])
}

fn setxattrat(it: &Target) -> io::Result<()> {
    let value = [c"x".as_ptr() as u64, 1];
    let name = c"user.rookery".as_ptr() as c_long;
    call(463, &[AT_CWD, it.file.as_ptr() as c_long, 0, name, value.as_ptr() as c_long, 16])
}

fn file_setattr(it: &Target) -> io::Result<()> {
    let attributes = [0_u64; 3];
    call(469, &[AT_CWD, it.file.as_ptr() as c_long, attributes.as_ptr() as c_long, 24, 0])
}

fn request(it: &Target, request: c_long) -> io::Result<()> {
    let mut room = [0_u8; 4096];
    call(libc::SYS_ioctl, &[it.open().as_raw_fd().into(), request, room.as_mut_ptr() as c_long])
}

fn mount(_: &Target) -> io::Result<()> {
    let (none, at) = (c"none".as_ptr() as c_long, c".".as_ptr() as c_long);
    call(libc::SYS_mount, &[none, at, c"tmpfs".as_ptr() as c_long, 0, 0])?;
    call(libc::SYS_umount2, &[at, libc::MNT_DETACH.into()])
}

/// The child ends at once.
fn clone(flags: i32) -> io::Result<()> {
    // SAFETY: as fork does it; the child only ends.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) };
    ended(pid)
}

fn clone3(_: &Target) -> io::Result<()> {
    let mut args = [0_u64; 8];
    args[4] = libc::SIGCHLD as u64;
    // SAFETY: as fork does it; the child only ends.
    ended(unsafe { libc::syscall(libc::SYS_clone3, args.as_ptr(), size_of_val(&args)) })
}

fn ended(pid: c_long) -> io::Result<()> {
    match pid {
        // SAFETY: nothing is run on the way out.
        0 => unsafe { libc::_exit(0) },
        1.. => call(libc::SYS_wait4, &[pid, 0, 0, 0]),
        _ => Err(io::Error::last_os_error()),
    }
}

fn map(kind: i32, length: usize) -> io::Result<()> {
    let flags = kind | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: new memory that is not in use.
    let at = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn system_v_memory(_: &Target) -> io::Result<()> {
    // SAFETY: no addresses are among the arguments.
    let id = unsafe { libc::syscall(libc::SYS_shmget, 0, 4096, 0o600) };
    if id < 0 {
        return Err(io::Error::last_os_error());
    }
    call(libc::SYS_shmctl, &[id, 0, 0])
}

fn message_queue(_: &Target) -> io::Result<()> {
    let name = c"rookery-attack".as_ptr() as c_long;
    call(libc::SYS_mq_open, &[name, (libc::O_RDWR | libc::O_CREAT).into(), 0o600, 0])?;
    call(libc::SYS_mq_unlink, &[name])
}

/// Makes one call and says whether it was refused.
#[expect(clippy::print_stderr, reason = "the test that started this reads it")]
pub(crate) fn probe(args: &[String]) -> ExitCode {
    let [name, pid, file] = args else { return ExitCode::FAILURE };
    let attack = ATTACKS.iter().map(|(known, _, call)| (known, call));
    let all = attack.chain(FREE.iter().map(|(known, call)| (known, call)));
    let Some((_, call)) = all.into_iter().find(|(known, _)| *known == name) else {
        return ExitCode::FAILURE;
    };
    let file = CString::new(file.as_str()).expect("no NUL");
    match call(&Target { pid: pid.parse().expect("a number"), file }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(REFUSED as u8)
        }
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for user in attackers() {
        let who = user.map_or("this_user", |_| "another_user");
        let held = move || all_are_held(user);
        trials.push(trial(format!("calls_are_refused_to_{who}"), held));
        trials.push(trial(format!("own_matters_stay_free_to_{who}"), move || are_free(user)));
        trials.push(trial(format!("limits_and_powers_of_{who}"), move || has_no_powers(user)));
    }
    trials
}

fn attempt(ground: &Ground, sandbox: Option<&Sandbox>, name: &str) -> (i32, String) {
    let (victim, file) = (ground.victim(), ground.file("work/file", "text"));
    let exe = ground.exe();
    let argv = [
        exe.to_str().expect("a name"),
        PROBE,
        name,
        &victim.pid().to_string(),
        file.to_str().expect("a name"),
    ];
    let out = ground.run(sandbox, &argv);
    let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    (out.status.code().unwrap_or(-1), said)
}

fn all_are_held(user: Option<u32>) -> Result<(), Failed> {
    let ground = Ground::new(user);
    let is_root = user.is_none() && rustix::process::geteuid().is_root();
    let mut complaints = Vec::new();
    for (name, outside, _) in ATTACKS {
        let works = *outside == Works || (*outside == RootOnly && is_root);
        if works {
            let (code, said) = attempt(&ground, None, name);
            if code != 0 {
                complaints.push(format!("{name} shows nothing, it fails outside as well: {said}"));
            }
        }
        let (code, said) = attempt(&ground, Some(&Sandbox::reading()), name);
        if code != REFUSED {
            complaints.push(format!("{name} came through: {code} {said}"));
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n").into()) }
}

fn are_free(user: Option<u32>) -> Result<(), Failed> {
    let ground = Ground::new(user);
    for (name, _) in FREE {
        let (code, said) = attempt(&ground, Some(&Sandbox::reading()), name);
        assert_eq!((code, said.as_str()), (0, ""), "{name}");
    }
    Ok(())
}

fn has_no_powers(user: Option<u32>) -> Result<(), Failed> {
    let ground = Ground::new(user);
    let script = "grep -E '^Cap(Prm|Eff|Bnd|Amb):|^NoNewPrivs:' /proc/self/status; \
                  ulimit -d; ulimit -c; cat /proc/self/oom_score_adj";
    let out = ground.run(Some(&Sandbox::reading()), &["sh", "-c", script]);
    let said = String::from_utf8_lossy(&out.stdout);
    let is_root = user.is_none() && rustix::process::geteuid().is_root();
    // Reading what others own is the one power that root keeps.
    let kept = if is_root { "0000000000000004" } else { "0000000000000000" };
    for set in ["CapPrm", "CapEff"] {
        assert!(said.contains(&format!("{set}:\t{kept}\n")), "{said}");
    }
    if is_root {
        assert!(said.contains(&format!("CapBnd:\t{kept}\n")), "{said}");
    }
    assert!(said.contains("NoNewPrivs:\t1\n"), "{said}");
    assert!(said.ends_with("2097152\n0\n1000\n"), "{said}");
    Ok(())
}
