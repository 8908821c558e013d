//! What the keeper promises, one promise per case.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use rookery_keeper::client::connect;
use rookery_keeper::protocol::{
    ErrorCode, ExitStatus, Frame, PROTOCOL_VERSION, Reply, Request, Scope, Spawn, State,
};
use rookery_keeper::ring::Ring;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::client::{Client, Home, read_all, read_until, shell, wait_readable};

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub(crate) const CASES: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
    };
}

cases![
    hello_names_version_and_pid,
    a_child_runs_on_its_terminal,
    exit_codes_and_signals_are_reported,
    a_failed_spawn_names_the_culprit_and_leaves_nothing,
    ids_are_unique_and_unknown_ones_refused,
    programs_relative_to_the_working_directory,
    children_start_with_a_clean_slate,
    terminals_outlive_their_client,
    exit_status_waits_for_the_next_client,
    both_clients_hear_of_an_exit,
    meta_can_be_replaced,
    signals_reach_child_or_group,
    an_ended_child_is_not_signaled,
    release_hangs_up,
    orphans_are_reaped,
    the_keeper_ends_when_nothing_is_left,
    nothing_outlives_the_last_client_if_that_was_asked_for,
    sigterm_is_ignored_while_terminals_exist,
    hangup_and_interrupt_are_ignored,
    garbage_drops_only_its_sender,
    strange_kinds_and_fields_are_tolerated,
    a_client_that_never_reads_is_dropped,
    the_seventeenth_client_is_turned_away,
    a_second_keeper_is_refused,
    a_terminal_survives_its_keeper,
    adopting_a_stranger_never_signals_it,
    long_lists_come_in_parts,
    five_hundred_spawns,
    the_ring_takes_the_output,
];

fn pidfd(pid: i32) -> std::os::fd::OwnedFd {
    pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).unwrap()
}

fn keeper_pid(client: &mut Client) -> i32 {
    match client.ask(&Request::Hello { version: 1, min_version: 1 }).reply {
        Reply::Hello { pid, .. } => pid.cast_signed(),
        other => panic!("{other:?}"),
    }
}

fn kill(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn hello_names_version_and_pid() {
    let home = Home::new();
    let mut client = home.connect();
    let reply = client.ask(&Request::Hello { version: 9, min_version: 1 }).reply;
    let Reply::Hello { version, pid, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(version, PROTOCOL_VERSION);
    let parent = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = parent.rsplit(") ").next().unwrap().split(' ').collect();
    assert_ne!(fields[1], std::process::id().to_string(), "not our child");
    assert_eq!(fields[3], pid.to_string(), "leads its own session");
    let error = client.refused(&Request::Hello { version: 9, min_version: 2 });
    assert_eq!(error.code, ErrorCode::Unsupported);
}

fn a_child_runs_on_its_terminal() {
    let home = Home::new();
    let mut client = home.connect();
    let shell = client.spawn(
        1,
        "echo $GREETING; tty; stty size; stty -a | grep -o ' iutf8'; read x; echo got $x",
    );
    let text = read_until(&shell.master, |text| text.contains("iutf8\r\n"));
    rustix::io::write(&shell.master, b"input\n").unwrap();
    let text = text + &read_all(&shell.master);
    assert!(text.contains("hello\r\n/dev/pts/"), "{text}");
    assert!(text.contains("24 80\r\n iutf8\r\n"), "{text}");
    assert!(text.contains("got input"), "{text}");
    assert_eq!(client.exit_of(1), ExitStatus::Code(0));
}

fn exit_codes_and_signals_are_reported() {
    let home = Home::new();
    let mut client = home.connect();
    for (id, script, status) in [
        (1, "exit 0", ExitStatus::Code(0)),
        (2, "exit 7", ExitStatus::Code(7)),
        (3, "kill -KILL $$", ExitStatus::Signal(9)),
    ] {
        client.spawn(id, script);
        assert_eq!(client.exit_of(id), status);
    }
    let states: Vec<State> = client.list().into_iter().map(|entry| entry.state).collect();
    assert_eq!(
        states,
        [ExitStatus::Code(0), ExitStatus::Code(7), ExitStatus::Signal(9)].map(State::Exited)
    );
}

fn a_failed_spawn_names_the_culprit_and_leaves_nothing() {
    let home = Home::new();
    let mut client = home.connect();
    let keeper = keeper_pid(&mut client);
    let fds = || std::fs::read_dir(format!("/proc/{keeper}/fd")).unwrap().count();
    let before = fds();
    let plain = home.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    let plain = plain.to_str().unwrap();
    for (program, cwd, errno, culprit) in [
        ("no-such-program", "/", libc::ENOENT, "no-such-program"),
        ("/no/such/program", "/", libc::ENOENT, "/no/such/program"),
        (plain, "/", libc::EACCES, plain),
        ("sh", "/no/such/directory", libc::ENOENT, "/no/such/directory"),
    ] {
        let argv = vec![program.as_bytes().to_vec()];
        let request = Spawn { argv, cwd: cwd.into(), ..shell(1, "") };
        let error = client.refused(&Request::Spawn(request));
        assert_eq!((error.code, error.errno), (ErrorCode::SpawnFailed, errno), "{program}");
        assert!(error.message.contains(culprit), "{}", error.message);
    }
    for broken in [
        Spawn { argv: Vec::new(), ..shell(1, "") },
        Spawn { cwd: b"relative".to_vec(), ..shell(1, "") },
        Spawn { env: vec![b"A=\0".to_vec()], ..shell(1, "") },
    ] {
        assert_eq!(client.refused(&Request::Spawn(broken)).code, ErrorCode::BadRequest);
    }
    assert_eq!(client.list(), []);
    assert_eq!(fds(), before, "no descriptor is left");
    let children = std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children"));
    assert_eq!(children.unwrap_or_default(), "", "no process is left");
    client.spawn(1, "exit 0");
}

fn ids_are_unique_and_unknown_ones_refused() {
    let home = Home::new();
    let mut client = home.connect();
    client.spawn(5, "read x");
    let error = client.refused(&Request::Spawn(shell(5, "exit 0")));
    assert_eq!(error.code, ErrorCode::DuplicateTerminal);
    for request in [
        Request::Attach { terminal_id: 6 },
        Request::Release { terminal_id: 6 },
        Request::SetMeta { terminal_id: 6, meta: Vec::new() },
        Request::Signal { terminal_id: 6, signal: 1, scope: Scope::Child },
    ] {
        assert_eq!(client.refused(&request).code, ErrorCode::UnknownTerminal);
    }
    assert_eq!(client.list().len(), 1);
}

fn programs_relative_to_the_working_directory() {
    let home = Home::new();
    let tool = home.path().join("tool");
    std::fs::write(&tool, "#!/bin/sh\necho \"here $(pwd)\"\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = home.connect();
    for (id, program, path) in
        [(1, "./tool", "/usr/bin:/bin"), (2, "tool", "/nowhere::/usr/bin:/bin")]
    {
        let incoming = client.ask(&Request::Spawn(Spawn {
            argv: vec![program.into()],
            env: vec![format!("PATH={path}").into_bytes()],
            cwd: home.path().to_str().unwrap().into(),
            ..shell(id, "")
        }));
        let text = read_all(&incoming.fds[0]);
        assert!(text.contains(&format!("here {}", home.path().display())), "{text}");
    }
}

fn children_start_with_a_clean_slate() {
    let home = Home::new();
    let mut client = home.connect();
    client.spawn(1, "read x");
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o22));
    rustix::process::umask(umask);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap();
    let shell = client.spawn(2, "ls -1 /proc/$$/fd; umask; ulimit -n");
    let text = read_all(&shell.master).replace('\r', "");
    let lines: Vec<&str> = text.lines().collect();
    // A shell may keep one descriptor of its own at 10 or above.
    let fds: Vec<&str> = lines.iter().copied().take_while(|line| line.len() == 1).collect();
    assert_eq!(fds, ["0", "1", "2"], "{text}");
    assert!(lines.contains(&format!("{:04o}", umask.as_raw_mode()).as_str()), "{text}");
    assert!(lines.contains(&limit.to_string().as_str()), "{text}");

    // Without a shell in between, which has its own mind about signals.
    let argv = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"].map(Vec::from).to_vec();
    let incoming = client.ask(&Request::Spawn(Spawn { argv, ..crate::client::shell(3, "") }));
    let text = read_all(&incoming.fds[0]).replace('\r', "");
    assert_eq!(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

fn terminals_outlive_their_client() {
    let home = Home::new();
    let mut first = home.connect();
    first.spawn(1, "while read x; do echo got $x; done");
    drop(first);
    let mut second = home.connect();
    let (entry, a) = second.attach(1);
    assert_eq!(
        (entry.state, entry.adopted, entry.meta),
        (State::Running, false, b"meta of 1".to_vec())
    );
    assert!(entry.spawned_at_micros > 0 && entry.exited_at_micros == 0);
    let (_, b) = second.attach(1);
    rustix::io::write(&a.master, b"one\n").unwrap();
    read_until(&b.master, |text| text.contains("got one"));
    rustix::io::write(&b.master, b"two\n").unwrap();
    read_until(&a.master, |text| text.contains("got two"));
}

fn exit_status_waits_for_the_next_client() {
    let home = Home::new();
    let mut first = home.connect();
    let shell = first.spawn(1, "read x; exit 3");
    let ended = pidfd(shell.pid);
    rustix::io::write(&shell.master, b"\n").unwrap();
    drop(first);
    wait_readable(&ended);
    let mut second = home.connect();
    let entry = second.list().remove(0);
    if entry.state == State::Running {
        assert_eq!(second.exit_of(1), ExitStatus::Code(3));
    }
    let (entry, _) = second.attach(1);
    assert_eq!(entry.state, State::Exited(ExitStatus::Code(3)));
    assert!(entry.exited_at_micros >= entry.spawned_at_micros);
}

fn both_clients_hear_of_an_exit() {
    let home = Home::new();
    let (mut a, mut b) = (home.connect(), home.connect());
    assert_eq!(b.list(), []);
    a.spawn(1, "exit 4");
    assert_eq!(a.exit_of(1), ExitStatus::Code(4));
    assert_eq!(b.exit_of(1), ExitStatus::Code(4));
}

fn meta_can_be_replaced() {
    let home = Home::new();
    let mut client = home.connect();
    client.spawn(1, "read x");
    client.ok(&Request::SetMeta { terminal_id: 1, meta: b"changed".to_vec() });
    assert_eq!(client.list()[0].meta, b"changed");
}

fn signals_reach_child_or_group() {
    let home = Home::new();
    let mut client = home.connect();
    let shell = client.spawn(1, "trap 'echo usr1' USR1; echo ready; while :; do read x; done");
    read_until(&shell.master, |text| text.contains("ready"));
    client.signal(1, libc::SIGUSR1, Scope::Child);
    read_until(&shell.master, |text| text.contains("usr1"));
    client.signal(1, 0, Scope::Group);
    client.signal(1, libc::SIGKILL, Scope::Child);
    assert_eq!(client.exit_of(1), ExitStatus::Signal(9));

    let shell = client.spawn(2, "sh -c 'echo inner $$; exec sleep 1000' & wait");
    let text = read_until(&shell.master, |text| text.contains("inner") && text.ends_with('\n'));
    let inner: i32 = text.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let inner = pidfd(inner);
    client.signal(2, libc::SIGTERM, Scope::Group);
    assert_eq!(client.exit_of(2), ExitStatus::Signal(15));
    wait_readable(&inner);
}

fn an_ended_child_is_not_signaled() {
    let home = Home::new();
    let mut client = home.connect();
    client.spawn(1, "exit 0");
    client.exit_of(1);
    for scope in [Scope::Child, Scope::Group] {
        let error = client.refused(&Request::Signal { terminal_id: 1, signal: 9, scope });
        assert_eq!((error.code, error.errno), (ErrorCode::SignalFailed, libc::ESRCH));
    }
    let error =
        client.refused(&Request::Signal { terminal_id: 1, signal: 65, scope: Scope::Child });
    assert_eq!(error.code, ErrorCode::BadRequest);
}

fn release_hangs_up() {
    let home = Home::new();
    let note = home.path().join("note");
    let mut client = home.connect();
    let script = format!(
        "trap 'echo hup > {}; exit 0' HUP; echo ready; while :; do read x; done",
        note.display()
    );
    let shell = client.spawn(1, &script);
    read_until(&shell.master, |text| text.contains("ready"));
    let ended = pidfd(shell.pid);
    drop(shell);
    client.ok(&Request::Release { terminal_id: 1 });
    wait_readable(&ended);
    assert_eq!(std::fs::read_to_string(note).unwrap(), "hup\n");
    assert_eq!(client.list(), []);
}

fn orphans_are_reaped() {
    let home = Home::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let fifo = |name: &str| {
        let path = home.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (born, die) = (fifo("born"), fifo("die"));
    let mut client = home.connect();
    let orphan = format!("trap '' HUP; exec sh -c 'echo $$ > {born}; read x < {die}'");
    let shell =
        client.spawn(1, &format!("({orphan}) & read pid < {born}; echo orphan $pid; exit 0"));
    // Not to the end: that comes only when the orphan has closed the terminal too.
    let text = read_until(&shell.master, |text| text.ends_with('\n'));
    let orphan: i32 = text.trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(client.exit_of(1), ExitStatus::Code(0));
    let ended = pidfd(orphan);
    drop(std::fs::OpenOptions::new().write(true).open(&die).unwrap());
    wait_readable(&ended);
    // Its end is now known to the kernel; the keeper reaps it within a few turns.
    let gone = (0..10_000).any(|_| {
        client.list();
        !std::path::Path::new(&format!("/proc/{orphan}")).exists()
    });
    assert!(gone, "the orphan stays a zombie");
}

fn the_keeper_ends_when_nothing_is_left() {
    let home = Home::new();
    let mut client = home.connect();
    let keeper = pidfd(keeper_pid(&mut client));
    client.spawn(1, "exit 0");
    client.exit_of(1);
    drop(client);
    let mut client = home.connect();
    assert_eq!(client.list().len(), 1, "an exit status that was not collected keeps the keeper");
    client.ok(&Request::Release { terminal_id: 1 });
    drop(client);
    wait_readable(&keeper);
    assert!(!home.socket().exists());
    home.start().unwrap();
    home.connect();
}

fn nothing_outlives_the_last_client_if_that_was_asked_for() {
    let home = Home::without_keeper();
    let socket = home.path().join("private/k.sock");
    let exe = std::env::current_exe().unwrap();
    rookery_keeper::start(&exe, &["__keeper", "--end-with-last-client"], &socket).unwrap();
    let mut first = Client::connect(&socket);
    let second = Client::connect(&socket);
    let keeper = pidfd(keeper_pid(&mut first));
    // One goes by itself, one does not care about hanging up, and one has left its session.
    let script = "trap '' HUP; setsid sleep 1000 & echo $! is away; while :; do sleep 1000; done";
    let stubborn = first.spawn(1, script);
    let text = read_until(&stubborn.master, |text| text.contains("is away"));
    let away: i32 = text.split_whitespace().next().unwrap().parse().unwrap();
    let meek = first.spawn(2, "exec sleep 1000");
    let processes = [stubborn.pid, meek.pid, away].map(pidfd);
    drop(first);
    assert!(std::fs::exists(&socket).unwrap(), "a client is still there");
    drop(second);
    for process in processes.iter().chain([&keeper]) {
        wait_readable(process);
    }
    assert!(!std::fs::exists(home.path().join("private")).unwrap());
}

fn sigterm_is_ignored_while_terminals_exist() {
    let home = Home::new();
    let mut client = home.connect();
    let pid = keeper_pid(&mut client);
    let keeper = pidfd(pid);
    client.spawn(1, "read x");
    kill(pid, rustix::process::Signal::TERM);
    assert_eq!(client.list().len(), 1);
    client.ok(&Request::Release { terminal_id: 1 });
    assert_eq!(client.list().len(), 0, "the signal was not merely delayed");
    kill(pid, rustix::process::Signal::TERM);
    wait_readable(&keeper);
}

fn hangup_and_interrupt_are_ignored() {
    let home = Home::new();
    let mut client = home.connect();
    let pid = keeper_pid(&mut client);
    for signal in [rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        kill(pid, signal);
    }
    assert_eq!(client.list(), []);
}

fn garbage_drops_only_its_sender() {
    let home = Home::new();
    let mut client = home.connect();
    client.spawn(1, "read x");
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        &[0xff; 64],
        &[0, 0, 0, 0, 4, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    ] {
        let mut stranger = UnixStream::connect(home.socket()).unwrap();
        stranger.write_all(garbage).unwrap();
        let mut end = Vec::new();
        // Hung up on: end of stream, or a reset when bytes were left unread.
        let _ = stranger.read_to_end(&mut end);
        assert_eq!(end, b"");
    }
    assert_eq!(client.list().len(), 1);
}

fn strange_kinds_and_fields_are_tolerated() {
    let home = Home::new();
    let mut client = home.connect();
    let mut raw = UnixStream::connect(home.socket()).unwrap();
    let unknown_field = [&[1, 0x70, 2, 0, 0, 0, 9, 9][..]].concat();
    let strange = Frame { kind: 0x0700, fds: 0, tag: 77, body: unknown_field.clone() };
    let list = Frame { kind: 3, fds: 0, tag: 78, body: unknown_field };
    raw.write_all(&[strange.encode().unwrap(), list.encode().unwrap()].concat()).unwrap();
    let mut reader = rookery_keeper::protocol::FrameReader::new();
    let mut frames = Vec::new();
    while frames.len() < 2 {
        let mut chunk = [0; 1024];
        let got = raw.read(&mut chunk).unwrap();
        reader.push(&chunk[..got]);
        while let Some(frame) = reader.next().unwrap() {
            frames.push((frame.tag, Reply::decode(&frame).unwrap()));
        }
    }
    assert!(
        matches!(&frames[0], (77, Reply::Error(error)) if error.code == ErrorCode::Unsupported)
    );
    assert_eq!(frames[1], (78, Reply::Listed { entries: Vec::new(), more: false }));
    assert_eq!(client.list(), []);
}

fn a_client_that_never_reads_is_dropped() {
    let home = Home::new();
    let mut good = home.connect();
    let meta = vec![b'm'; 60 << 10];
    let incoming = good.ask(&Request::Spawn(Spawn { meta, ..shell(1, "read x") }));
    assert_eq!(incoming.fds.len(), 2);
    let (requests, _unread) = connect(&home.socket()).unwrap();
    let dropped = (0..10_000)
        .any(|tag| requests.send(tag, &Request::Attach { terminal_id: 1 }, &[]).is_err());
    assert!(dropped);
    assert_eq!(good.list().len(), 1);
}

fn the_seventeenth_client_is_turned_away() {
    let home = Home::new();
    let mut clients: Vec<Client> = (0..16).map(|_| home.connect()).collect();
    for client in &mut clients {
        client.list();
    }
    let (_requests, mut replies) = connect(&home.socket()).unwrap();
    assert!(replies.next().is_err());
    for client in &mut clients {
        client.list();
    }
}

fn a_second_keeper_is_refused() {
    let home = Home::new();
    let mut client = home.connect();
    let error = home.start().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse, "{error}");
    assert_eq!(client.list(), []);
    let other = Home::without_keeper();
    std::fs::write(other.socket(), "precious").unwrap();
    let error = other.start().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{error}");
}

fn a_terminal_survives_its_keeper() {
    let home = Home::new();
    let mut client = home.connect();
    let first = keeper_pid(&mut client);
    let shell = client.spawn(1, "while read x; do echo got $x; done");
    let dead = pidfd(first);
    kill(first, rustix::process::Signal::KILL);
    wait_readable(&dead);
    assert_eq!(client.replies.next().unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);

    home.start().unwrap();
    let mut client = home.connect();
    let adopt = Request::Adopt { terminal_id: 1, pid: shell.pid, meta: b"old".to_vec() };
    assert_eq!(client.refused(&adopt).code, ErrorCode::BadRequest, "descriptors are missing");
    let tag = client.send(&adopt, &[shell.master.as_fd(), shell.ring.as_fd()]);
    assert_eq!(client.answer(tag).reply, Reply::Ok);
    let (entry, again) = client.attach(1);
    assert_eq!((entry.state, entry.adopted, entry.pid), (State::Running, true, shell.pid));
    rustix::io::write(&again.master, b"word\n").unwrap();
    read_until(&again.master, |text| text.contains("got word"));
    client.signal(1, libc::SIGKILL, Scope::Group);
    assert_eq!(client.exit_of(1), ExitStatus::Unknown);
    assert_eq!(client.list()[0].state, State::Exited(ExitStatus::Unknown));
}

fn adopting_a_stranger_never_signals_it() {
    let home = Home::new();
    let mut client = home.connect();
    let shell = client.spawn(1, "read x");
    let adopt =
        Request::Adopt { terminal_id: 2, pid: std::process::id().cast_signed(), meta: Vec::new() };
    let tag = client.send(&adopt, &[shell.master.as_fd(), shell.ring.as_fd()]);
    assert_eq!(client.answer(tag).reply, Reply::Ok);
    let error = client.refused(&Request::Signal { terminal_id: 2, signal: 9, scope: Scope::Child });
    assert_eq!((error.code, error.errno), (ErrorCode::SignalFailed, libc::ESRCH));
    let adopt = Request::Adopt { terminal_id: 3, pid: -1, meta: Vec::new() };
    let tag = client.send(&adopt, &[shell.master.as_fd(), shell.ring.as_fd()]);
    assert!(
        matches!(client.answer(tag).reply, Reply::Error(error) if error.code == ErrorCode::BadRequest)
    );
}

fn long_lists_come_in_parts() {
    let home = Home::new();
    let mut client = home.connect();
    let shell = client.spawn(0, "read x");
    for terminal_id in 1..300 {
        let meta = vec![b'm'; 64 << 10];
        let adopt = Request::Adopt { terminal_id, pid: shell.pid, meta };
        let tag = client.send(&adopt, &[shell.master.as_fd(), shell.ring.as_fd()]);
        assert_eq!(client.answer(tag).reply, Reply::Ok);
    }
    // About 19 MiB: more than a frame and more than the queue of a client may hold.
    let ids: Vec<u64> = client.list().iter().map(|entry| entry.terminal_id).collect();
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
}

fn five_hundred_spawns() {
    let home = Home::new();
    let mut client = home.connect();
    let tags: Vec<u64> =
        (0..500).map(|id| client.send(&Request::Spawn(shell(id, "exit 0")), &[])).collect();
    for tag in tags {
        let incoming = client.answer(tag);
        assert!(matches!(incoming.reply, Reply::Spawned { .. }), "{:?}", incoming.reply);
    }
    for id in 0..500 {
        assert_eq!(client.exit_of(id), ExitStatus::Code(0));
    }
    assert_eq!(client.list().len(), 500);
}

fn the_ring_takes_the_output() {
    let home = Home::new();
    let mut client = home.connect();
    let shell = client.spawn(1, "echo first; read x; echo second");
    let mut ring = Ring::open(shell.ring).unwrap();
    let read = |ring: &mut Ring| {
        loop {
            match ring.read_from(shell.master.as_fd()) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    wait_readable(&shell.master)
                }
                other => return other.is_ok_and(|got| got > 0),
            }
        }
    };
    // Dies with the last bytes read but not published; the next owner finds them.
    while read(&mut ring) && !ring.fresh().ends_with(b"first\r\n") {}
    let unpublished = ring.fresh().len() as u64;
    assert!(unpublished > 0);
    drop((ring, client));
    let mut client = home.connect();
    let (_, again) = client.attach(1);
    let mut ring = Ring::open(again.ring).unwrap();
    assert_eq!(ring.recovered(), unpublished);
    rustix::io::write(&shell.master, b"\n").unwrap();
    while read(&mut ring) {
        ring.publish();
    }
    let (a, b) = ring.slices(0, u64::MAX);
    let text = String::from_utf8([a, b].concat()).unwrap();
    assert!(text.starts_with("first\r\n") && text.ends_with("second\r\n"), "{text:?}");
}
