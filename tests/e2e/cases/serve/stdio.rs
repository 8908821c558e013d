//! What stdin and stdout of a server can be.

use std::io::pipe;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, mknodat};

use super::*;

/// A screen whose cells are a large reply.
const LARGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"cat","rows":60,"cols":200}}"#;
const SNAPSHOT: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"session.snapshot","params":{"session":"s1"}}"#;
const SNAPSHOTS: usize = 4;

/// The server's side of stdin or stdout, and ours.
type Ends = (OwnedFd, fs::File);

fn pipe_in() -> Ends {
    let (reader, writer) = pipe().unwrap();
    (reader.into(), OwnedFd::from(writer).into())
}

fn pipe_out() -> Ends {
    let (reader, writer) = pipe().unwrap();
    (writer.into(), OwnedFd::from(reader).into())
}

fn socket() -> Ends {
    let (theirs, ours) = UnixStream::pair().unwrap();
    (theirs.into(), OwnedFd::from(ours).into())
}

fn is_blocking(fd: &impl AsFd) -> bool {
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

fn start(home: &Home, stdin: &OwnedFd, stdout: &OwnedFd) -> Child {
    let mut command = command(home, &["--stdio"]);
    command.stdin(stdin.try_clone().unwrap()).stdout(stdout.try_clone().unwrap());
    command.stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Asks for much more than any pipe holds before anything is read.
#[track_caller]
fn assert_serves((stdin, to): Ends, (stdout, from): Ends) {
    let home = Home::new();
    let mut child = start(&home, &stdin, &stdout);
    let requests = format!("{LARGE}\n{}", format!("{SNAPSHOT}\n").repeat(SNAPSHOTS));
    (&to).write_all(requests.as_bytes()).unwrap();
    let mut replies = BufReader::new(from).lines().map(Result::unwrap);
    assert_eq!(replies.next().unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":{"session":"s1"}}"#);
    // It works on descriptors that we hold as well, and we may go on as before.
    assert!(is_blocking(&stdin) && is_blocking(&stdout));
    for _ in 0..SNAPSHOTS {
        let reply = replies.next().unwrap();
        assert!(reply.len() > 2_000_000, "{}", reply.len());
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(reply["result"]["cells"].as_array().unwrap().len(), 60 * 200);
    }
    // A socket that is both has two holders here.
    let _ = rustix::net::shutdown(&to, rustix::net::Shutdown::Write);
    drop((stdin, stdout, to));
    let status = eventually("the server ends", PATIENCE, || child.try_wait().unwrap());
    assert_eq!((status.code(), replies.next()), (Some(0), None));
    assert_nothing_left(&home);
}

#[test]
fn large_replies_arrive_whole_over_pipes() {
    assert_serves(pipe_in(), pipe_out());
}

#[test]
fn large_replies_arrive_whole_over_sockets() {
    assert_serves(socket(), socket());
    let (theirs, ours) = socket();
    assert_serves(
        (theirs.try_clone().unwrap(), ours.try_clone().unwrap()),
        (theirs, ours.try_clone().unwrap()),
    );
}

#[test]
fn stdin_and_stdout_need_not_be_alike() {
    assert_serves(pipe_in(), socket());
    assert_serves(socket(), pipe_out());
}

#[test]
fn a_named_pipe_and_a_file_will_do() {
    let home = Home::new();
    let fifo = home.join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut both = fs::File::options().read(true).write(true).open(&fifo).unwrap();
    let stdin = OwnedFd::from(fs::File::open(&fifo).unwrap());
    let output = home.join("output");
    let stdout = OwnedFd::from(fs::File::create(&output).unwrap());
    both.write_all(format!("{LIST}\n{LIST}").as_bytes()).unwrap();
    // Its writer is gone before the server looks.
    drop(both);
    let mut child = start(&home, &stdin, &stdout);
    let status = eventually("the server ends", PATIENCE, || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert_eq!(fs::read_to_string(&output).unwrap(), format!("{EMPTY}\n{EMPTY}\n"));
}

#[test]
fn there_may_be_no_input_and_no_reader() {
    let home = Home::new();
    let mut silent = command(&home, &["--stdio"]);
    silent.stdin(Stdio::null());
    assert_eq!(Finished::of(silent).success(), "");

    for (theirs, ours) in [pipe_out(), socket()] {
        drop(ours);
        let (stdin, mut to) = pipe_in();
        let mut child = start(&home, &stdin, &theirs);
        to.write_all(format!("{LIST}\n").as_bytes()).unwrap();
        let status = eventually("the server ends", PATIENCE, || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(1));
        let mut said = String::new();
        child.stderr.unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "ptywright: io error: Broken pipe (os error 32)\n");
    }

    let null = OwnedFd::from(fs::File::create("/dev/null").unwrap());
    let (stdin, mut to) = pipe_in();
    let mut child = start(&home, &stdin, &null);
    to.write_all(format!("{LIST}\n").as_bytes()).unwrap();
    drop((stdin, to));
    let status = eventually("the server ends", PATIENCE, || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}
