//! In memory always; with a desktop where an X server is installed to play it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use ClipboardTarget::{Selection, System};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::*;

#[tokio::test]
async fn without_a_display_the_last_write_is_read_back() {
    let clipboards = Clipboards::start(false);
    assert_eq!(clipboards.read(System).await, None);
    clipboards.write(System, "one").unwrap();
    assert_eq!(clipboards.taken(System).await, Ok(()));
    clipboards.write(Selection, "two").unwrap();
    clipboards.clone().write(System, "three").unwrap();
    assert_eq!(clipboards.read(System).await.as_deref(), Some("three"));
    assert_eq!(clipboards.read(Selection).await.as_deref(), Some("two"));
    clipboards.write(System, "").unwrap();
    assert_eq!(clipboards.read(System).await, None);
}

#[tokio::test]
async fn a_text_that_is_too_long_changes_nothing() {
    let clipboards = Clipboards::start(false);
    let text = "x".repeat(CLIPBOARD_LIMIT);
    clipboards.write(System, &text).unwrap();
    assert_eq!(clipboards.write(System, &(text.clone() + "x")), Err(TooLong));
    assert_eq!(clipboards.read(System).await, Some(text));
}

#[test]
fn what_the_desktop_says_late_does_not_undo_a_newer_write() {
    let memory = Memory::default();
    memory.write(System, "old".into());
    let (version, _) = memory.uncarried(System).unwrap();
    assert_eq!(memory.version_on_desktop(System), None);
    memory.carried(System, version);
    assert_eq!(memory.version_on_desktop(System), Some((version, true)));
    memory.write(System, "new".into());
    memory.learn(System, Answer { version, text: "theirs".into() });
    assert_eq!(&*memory.text(System), "new");
    let (newer, _) = memory.uncarried(System).unwrap();
    memory.carried(System, newer);
    memory.carried(System, version);
    assert_eq!(memory.uncarried(System), Some((newer, "new".into())), "the late one came last");
}

/// The variable that holds the X server's process number while the test below runs inside of it.
const SERVER: &str = "ROOKERY_TEST_X_SERVER";

/// The display is the environment's business, so this test runs itself again with another one.
#[test]
fn ours_and_the_desktops_are_one_clipboard_and_it_survives_the_desktop() {
    if let Ok(server) = std::env::var(SERVER) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return runtime.unwrap().block_on(share_with_the_desktop(server.parse().unwrap()));
    }
    if !["Xvfb", "xclip"].into_iter().all(is_installed) {
        println!("not tested: needs Xvfb (Debian package xvfb) and xclip (Debian package xclip)");
        return;
    }
    let mut server = Ended(
        program("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "64x64x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut number = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
    let name =
        "clipboard::tests::ours_and_the_desktops_are_one_clipboard_and_it_survives_the_desktop";
    let status = program(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", name])
        .env("DISPLAY", format!(":{}", number.trim()))
        .env_remove("WAYLAND_DISPLAY")
        .env(SERVER, server.0.id().to_string())
        .status()
        .unwrap();
    assert!(status.success());
}

async fn share_with_the_desktop(server: i32) {
    let clipboards = Clipboards::start(true);
    assert_eq!(clipboards.read(System).await, None);
    for (target, name) in [(System, "clipboard"), (Selection, "primary")] {
        clipboards.write(target, "früher").unwrap();
        clipboards.write(target, "ours").unwrap();
        // Said to be taken, it is what others get, without a question in between.
        assert_eq!(clipboards.taken(target).await, Ok(()));
        assert_eq!(xclip_reads(name), "ours");
        assert_eq!(clipboards.read(target).await.as_deref(), Some("ours"));
        assert_eq!(xclip_reads(name), "ours");
        xclip_writes(name, "theirs: ü");
        assert_eq!(clipboards.read(target).await.as_deref(), Some("theirs: ü"));
        clipboards.write(target, "ours again").unwrap();
        assert_eq!(clipboards.read(target).await.as_deref(), Some("ours again"));
        assert_eq!(xclip_reads(name), "ours again");
        clipboards.write(target, "").unwrap();
        assert_eq!(clipboards.read(target).await, None);
    }

    // An owner that does not answer blocks other clients only briefly, and later writes arrive.
    let mut frozen = Ended(
        program("xclip")
            .args(["-quiet", "-selection", "clipboard", "-in"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    frozen.0.stdin.take().unwrap().write_all(b"frozen").unwrap();
    while clipboards.read(System).await.as_deref() != Some("frozen") {}
    signal(frozen.0.id().cast_signed(), Signal::STOP);
    assert_eq!(clipboards.read(System).await.as_deref(), Some("frozen"));
    clipboards.write(System, "thawed").unwrap();
    assert_eq!(clipboards.read(System).await.as_deref(), Some("thawed"));
    assert_eq!(xclip_reads("clipboard"), "thawed");

    // It cleans up after itself only if it is asked to go.
    signal(server, Signal::TERM);
    let handle = pidfd_open(Pid::from_raw(server).unwrap(), PidfdFlags::empty()).unwrap();
    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&handle, PollFlags::IN)], None)).unwrap();
    assert_eq!(clipboards.read(System).await.as_deref(), Some("thawed"));
    clipboards.write(System, "alone").unwrap();
    assert_eq!(clipboards.taken(System).await, Err(ClipboardRefused));
    assert_eq!(clipboards.read(System).await.as_deref(), Some("alone"));
}

fn xclip_reads(selection: &str) -> String {
    let output = program("xclip").args(["-selection", selection, "-out"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns when the selection has changed hands; a process that xclip leaves behind takes and serves it.
fn xclip_writes(selection: &str, text: &str) {
    let mut child = program("xclip")
        .args(["-selection", selection, "-in"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    while xclip_reads(selection) != text {}
}

#[expect(clippy::disallowed_methods, reason = "the desktop and another program on it")]
fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(name)
}

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// A child that ends with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // Asked to go and not killed, so that it leaves nothing behind; one that is stopped has to wake up for it.
        if let Ok(None) = self.0.try_wait() {
            signal(self.0.id().cast_signed(), Signal::TERM);
            signal(self.0.id().cast_signed(), Signal::CONT);
        }
        let _ = self.0.wait();
    }
}
