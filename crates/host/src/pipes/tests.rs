//! Real programs on pipes.

use rustix::process::test_kill_process;

use super::*;

async fn sh(text: &str) -> Pipes {
    let argv = ["sh", "-c", text].map(OsString::from).to_vec();
    Pipes::start(PipeCommand { argv, ..PipeCommand::default() }).await.unwrap()
}

fn text(pipes: &Pipes, stream: PipeStream) -> String {
    String::from_utf8(pipes.read(stream, 0).bytes).unwrap()
}

/// Waits until a program has written a whole line, and gives it.
async fn line(pipes: &Pipes) -> String {
    loop {
        let said = text(pipes, PipeStream::Both);
        if let Some((line, _)) = said.split_once('\n') {
            return line.to_owned();
        }
        tokio::task::yield_now().await;
    }
}

fn is_alive(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    test_kill_process(pid).is_ok() && !stat.unwrap_or_default().contains(") Z ")
}

async fn gone(pid: &str) {
    let look = async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), look).await.expect("the process is still there");
}

#[tokio::test]
async fn outputs_are_kept_apart_and_together() {
    let pipes = sh("echo out; echo err >&2; exit 3").await;
    assert_eq!(pipes.wait().await, 3);
    assert_eq!(text(&pipes, PipeStream::Stdout), "out\n");
    assert_eq!(text(&pipes, PipeStream::Stderr), "err\n");
    assert_eq!(text(&pipes, PipeStream::Both).len(), 8);
    let rest = pipes.read(PipeStream::Stdout, 2);
    assert_eq!(
        (rest.bytes.as_slice(), rest.next, rest.lost, rest.ended),
        (&b"t\n"[..], 4, 0, Some(3))
    );
}

#[tokio::test]
async fn input_is_read_while_it_runs() {
    let pipes = sh("read a; echo got $a; cat; echo end").await;
    pipes.write(b"one\n".to_vec()).unwrap();
    assert_eq!(line(&pipes).await, "got one");
    assert_eq!(pipes.read(PipeStream::Both, 0).ended, None);
    pipes.write(b"two\n".to_vec()).unwrap();
    pipes.close_input().unwrap();
    assert_eq!(pipes.wait().await, 0);
    assert_eq!(text(&pipes, PipeStream::Stdout), "got one\ntwo\nend\n");
    assert!(pipes.write(b"x".to_vec()).is_err());
}

#[tokio::test]
async fn a_program_that_does_not_read_holds_up_no_caller() {
    let pipes = sh("exec sleep 1000").await;
    let full = (0..MAX_INPUTS * 2).any(|_| pipes.write(vec![0; 1 << 20]).is_err());
    assert!(full, "input is bounded");
    assert_eq!(pipes.end().await, -15);
}

#[tokio::test]
async fn much_output_is_kept_in_part() {
    let pipes = sh("head -c 5000000 /dev/zero; echo done").await;
    assert_eq!(pipes.wait().await, 0);
    let output = pipes.read(PipeStream::Both, 0);
    assert_eq!((output.bytes.len(), output.next), (1 << 20, 5_000_005));
    assert_eq!(output.lost, 5_000_005 - (1 << 20));
    assert!(output.bytes.ends_with(b"done\n"));
}

#[tokio::test]
async fn ending_it_takes_everything_along() {
    // One child in the group, one in a session of its own, and all are deaf to being asked.
    let pipes = sh("trap '' TERM\nsleep 1000 & one=$!\nsetsid sh -c 'trap \"\" TERM; echo $$; sleep 1000; :' &\n\
                    echo $one >&2; wait")
    .await;
    let both = loop {
        let said = text(&pipes, PipeStream::Both);
        if said.lines().count() == 2 && said.ends_with('\n') {
            break said;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(pipes.end().await, -9);
    for pid in both.lines() {
        gone(pid).await;
    }
}

#[tokio::test]
async fn strays_die_even_if_the_root_ends_politely() {
    let pipes = sh("setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000; :' & wait").await;
    let pid = line(&pipes).await;
    assert_eq!(pipes.end().await, -15);
    gone(&pid).await;
}

#[tokio::test]
async fn dropping_it_kills_it() {
    let pipes = sh("echo $$; exec sleep 1000").await;
    let pid = line(&pipes).await;
    drop(pipes);
    gone(&pid).await;
}

#[tokio::test]
async fn what_stays_in_the_background_does_not_hold_up_the_end() {
    let pipes = sh("sleep 1000 & echo $!").await;
    let pid = line(&pipes).await;
    assert_eq!(pipes.wait().await, 0);
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let nothing = Pipes::start(PipeCommand::default()).await.unwrap_err();
    assert_eq!(nothing, "no program is named");
    let argv = vec![OsString::from("/nowhere/at/all")];
    let missing = Pipes::start(PipeCommand { argv, ..PipeCommand::default() }).await.unwrap_err();
    assert!(missing.starts_with("cannot start /nowhere/at/all: "), "{missing}");
}

async fn partner(text: &str) -> (PipedProgram, PartnerPipes) {
    let argv = ["sh", "-c", text].map(OsString::from).to_vec();
    PipedProgram::start(PipeCommand { argv, ..PipeCommand::default() }).await.unwrap()
}

async fn first_line(pipes: &mut PartnerPipes) -> String {
    use tokio::io::AsyncBufReadExt as _;
    let mut line = String::new();
    tokio::io::BufReader::new(&mut pipes.stdout).read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn a_partner_that_ends_takes_along_what_it_started() {
    let (partner, mut pipes) = partner("sleep 1000 & echo $!; read a; exit 4").await;
    let left = first_line(&mut pipes).await;
    assert!(is_alive(&left));
    assert_eq!(partner.ended(), None);
    pipes.stdin.write_all(b"go\n").await.unwrap();
    assert_eq!(partner.wait().await, 4);
    assert_eq!(partner.ended(), Some(4));
    gone(&left).await;
}

#[tokio::test]
async fn a_partner_whose_handle_is_dropped_is_killed_with_all_it_started() {
    let (partner, mut pipes) = partner("setsid sleep 1000 & echo $!; wait").await;
    let left = first_line(&mut pipes).await;
    let id = partner.id().to_string();
    drop(partner);
    gone(&left).await;
    gone(&id).await;
}

#[tokio::test]
async fn a_partner_that_does_not_listen_is_killed() {
    let (partner, mut pipes) = partner("trap '' TERM; echo up; while :; do read a; done").await;
    first_line(&mut pipes).await;
    assert_eq!(partner.end().await, -9);
    let missing = PipeCommand { argv: vec!["/no/such/program".into()], ..PipeCommand::default() };
    let error = PipedProgram::start(missing).await.unwrap_err();
    assert!(error.starts_with("cannot start /no/such/program: "), "{error}");
}
