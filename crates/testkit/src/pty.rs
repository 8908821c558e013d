//! A terminal to run clients in: a PTY whose other side is a real emulator's screen.

use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::caller::PATIENCE;
use crate::daemon::Home;
use crate::patience::{eventually, wait_until};
use crate::processes::children_of;

/// What kind of terminal a program gets.
#[derive(Clone, Copy, Debug)]
pub struct Outer<'a> {
    /// Rows and columns.
    pub size: (u16, u16),
    /// Variables of the program, besides those of its home.
    pub env: &'a [(&'a str, &'a str)],
    /// Whether every byte that is written to it is kept, for [`TestPty::written`].
    pub keeps_bytes: bool,
    /// Whether it says that it takes a clipboard by OSC 52.
    pub has_clipboard: bool,
    /// Bytes that a slow line brings at once, and how long each such piece takes.
    pub line: Option<(usize, Duration)>,
}

impl Default for Outer<'_> {
    fn default() -> Self {
        Outer { size: (30, 100), env: &[], keeps_bytes: false, has_clipboard: false, line: None }
    }
}

/// What the emulator answers when it is asked who it is, and what one with a clipboard answers.
const PLAIN: &str = "\x1b[?62;22c";
const CLIPBOARD: &str = "\x1b[?62;22;52c";

/// A program in a terminal of its own.
pub struct TestPty {
    master: OwnedFd,
    child: Child,
    screen: Arc<Mutex<Screen>>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl TestPty {
    /// Runs a program of this home with arguments in a new terminal.
    pub fn spawn(home: &Home, program: &std::path::Path, args: &[&str], size: (u16, u16)) -> Self {
        TestPty::spawn_in(home, program, args, &Outer { size, ..Outer::default() })
    }

    /// The same in a terminal of this kind.
    pub fn spawn_in(
        home: &Home,
        program: &std::path::Path,
        args: &[&str],
        outer: &Outer<'_>,
    ) -> Self {
        let size = outer.size;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = openpt(flags | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let far = ioctl_tiocgptpeer(&master, flags | OpenptFlags::CLOEXEC).unwrap();
        set_size(&master, size);
        // The program must have the terminal as its own, or it is not told of a new size.
        let mut command: Command = home.command("setsid");
        command.args(["--ctty", "--wait"]).arg(program).args(args).env("TERM", "xterm-256color");
        command.envs(outer.env.iter().copied());
        command.stdin(Stdio::from(far.try_clone().unwrap()));
        command.stdout(Stdio::from(far.try_clone().unwrap())).stderr(Stdio::from(far));
        let child = command.spawn().unwrap();
        // What the command holds of the far side would keep it open.
        drop(command);
        let screen = Arc::new(Mutex::new(new_screen(size)));
        let mut input = std::fs::File::from(master.try_clone().unwrap());
        let shown = Arc::clone(&screen);
        let written = Arc::new(Mutex::new(Vec::new()));
        let kept = outer.keeps_bytes.then(|| Arc::clone(&written));
        let (line, has_clipboard) = (outer.line, outer.has_clipboard);
        thread::spawn(move || {
            // Nothing is ever sent: what comes in is held back for as long as the line takes.
            let (_held, never) = std::sync::mpsc::channel::<()>();
            let mut chunk = [0; 4096];
            let most = line.map_or(chunk.len(), |(bytes, _)| bytes.min(chunk.len()));
            while let Ok(count @ 1..) = input.read(&mut chunk[..most]) {
                if let Some(kept) = &kept {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&chunk[..count]);
                }
                let replies = {
                    let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    shown.feed(&chunk[..count], &NoTranscript, Duration::ZERO).replies
                };
                let replies = match has_clipboard {
                    true => String::from_utf8_lossy(&replies).replace(PLAIN, CLIPBOARD).into(),
                    false => replies,
                };
                let _ = rustix::io::write(&input, &replies);
                if let Some((_, pause)) = line {
                    let _ = never.recv_timeout(pause);
                }
            }
        });
        TestPty { master, child, screen, written }
    }

    /// Every byte that was written to the terminal, if those are kept.
    pub fn written(&self) -> Vec<u8> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The process id of the program.
    pub fn program(&self) -> u32 {
        // `setsid` becomes the program, unless it had to fork.
        let own = self.child.id();
        children_of(own).first().copied().unwrap_or(own)
    }

    fn screen(&self) -> std::sync::MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The screen with its cells, as it is now.
    pub fn snapshot(&self) -> rookery_term::Snapshot {
        self.screen().snapshot()
    }

    /// What the terminal shows.
    pub fn text(&self) -> String {
        self.screen().plain_text()
    }

    /// Waits until the terminal shows a text.
    #[track_caller]
    pub fn wait_text(&self, text: &str) {
        let what = format!("the terminal shows {text:?}");
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(&what, PATIENCE, || self.text().contains(text));
        }));
        assert!(found.is_ok(), "waited in vain until {what}; it shows:\n{}", self.text());
    }

    /// Types bytes.
    pub fn send(&self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = rustix::io::write(&self.master, rest).unwrap();
            rest = &rest[count..];
        }
    }

    /// Gives the terminal another size, as a user who drags a window does.
    pub fn resize(&self, size: (u16, u16)) {
        let new = ScreenSize::new(size.0, size.1);
        self.screen().resize(new, &NoTranscript, Duration::ZERO);
        set_size(&self.master, size);
    }

    /// The settings of the terminal.
    pub fn settings(&self) -> Termios {
        tcgetattr(self.master.as_fd()).unwrap()
    }

    /// Modes that the program has set.
    pub fn modes(&self) -> rookery_term::Modes {
        self.screen().modes()
    }

    /// Whether the cursor can be seen.
    pub fn shows_cursor(&self) -> bool {
        self.screen().cursor().visible
    }

    /// How much was ever written to the terminal, as a number that grows with every change.
    pub fn sequence(&self) -> u64 {
        self.screen().sequence()
    }

    /// Sends a signal to the program itself.
    #[expect(clippy::disallowed_methods, reason = "a test sends a signal by its name")]
    pub fn signal_program(&self, signal: &str) {
        let program = self.program();
        let sent = Command::new("kill").args(["-s", signal, &program.to_string()]).status();
        assert!(sent.unwrap().success(), "{signal} to {program}");
    }

    /// Waits until the program has ended.
    #[track_caller]
    pub fn wait_ended(&mut self) -> ExitStatus {
        eventually("the program in the terminal ends", PATIENCE, || self.child.try_wait().unwrap())
    }
}

impl Drop for TestPty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn set_size(master: &OwnedFd, (rows, cols): (u16, u16)) {
    let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

fn new_screen((rows, cols): (u16, u16)) -> Screen {
    let size = ScreenSize::new(rows, cols);
    let config = ScreenConfig { size, scrollback: 1000, palette: Palette::default() };
    Screen::new(config, Box::new(MemoryBlocks::default()))
}
