//! The outer terminal: raw mode and modes that are undone on every way out, a thread that reads and
//! one that writes. A terminal that takes its time holds up the writer and nothing else.

use std::io;
use std::sync::{Mutex, Once, PoisonError, mpsc as blocking};
use std::time::Duration;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

use crate::out::Modes;

/// Reads that may wait.
const QUEUE: usize = 64;
/// How long the end waits for the terminal to take what was written.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// What a panic has to undo.
static RESTORE: Mutex<Option<(Termios, Modes)>> = Mutex::new(None);

enum Order {
    Write(Vec<u8>),
    Frame(Vec<u8>),
    Last(Vec<u8>),
}

/// What happens at the terminal.
pub(super) enum Event {
    /// Bytes came.
    Typed(Vec<u8>),
    /// A frame was taken.
    Written,
    Gone,
}

/// The outer terminal, taken over.
pub(super) struct Tty {
    before: Termios,
    modes: Modes,
    orders: blocking::Sender<Order>,
    done: mpsc::UnboundedReceiver<bool>,
    left: mpsc::UnboundedReceiver<()>,
    typed: mpsc::Receiver<Vec<u8>>,
}

/// Columns and rows of the outer terminal.
pub(super) fn size() -> (u16, u16) {
    match tcgetwinsize(rustix::stdio::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
        _ => (80, 24),
    }
}

fn write_all(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let fd = rustix::stdio::stdout();
                let mut polled = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::OUT)];
                let _ = rustix::event::poll(&mut polled, None);
            }
            Err(_) => return false,
        }
    }
    true
}

/// A panic leaves the terminal as it was before it says anything.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let restore = RESTORE.try_lock().map(|mut held| held.take());
            if let Ok(Some((termios, modes))) = restore {
                write_all(modes.leave().as_bytes());
                let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &termios);
            }
            before(info);
        }));
    });
}

fn remember(held: Option<(Termios, Modes)>) {
    *RESTORE.lock().unwrap_or_else(PoisonError::into_inner) = held;
}

impl Tty {
    /// Takes the terminal over.
    pub(super) fn enter(modes: Modes) -> io::Result<Tty> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        restore_on_panic();
        remember(Some((before.clone(), modes)));
        make_raw(&before)?;
        let (orders, done, left) = writer()?;
        let typed = typed()?;
        let tty = Tty { before, modes, orders, done, left, typed };
        tty.write(modes.enter().into_bytes());
        Ok(tty)
    }

    /// Waits for the next thing that happens at the terminal.
    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            done = self.done.recv() => match done {
                Some(true) => Event::Written,
                _ => Event::Gone,
            },
            typed = self.typed.recv() => typed.map_or(Event::Gone, Event::Typed),
        }
    }

    /// Whether bytes have come that were not handed on yet.
    pub(super) fn has_input(&self) -> bool {
        let fd = rustix::stdio::stdin();
        let mut polled = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_readable = rustix::event::poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0);
        is_readable || !self.typed.is_empty()
    }

    /// Writes beside the picture.
    pub(super) fn write(&self, bytes: Vec<u8>) {
        // A writer that is gone has told so.
        let _ = self.orders.send(Order::Write(bytes));
    }

    /// Writes a picture; [`Event::Written`] tells when it was taken.
    pub(super) fn write_frame(&self, bytes: Vec<u8>) {
        let _ = self.orders.send(Order::Frame(bytes));
    }

    pub(super) fn modes(&self) -> Modes {
        self.modes
    }

    /// Changes modes.
    pub(super) fn change(&mut self, to: Modes) {
        let bytes = self.modes.change(&to);
        if !bytes.is_empty() {
            self.write(bytes.into_bytes());
        }
        if self.modes != to {
            self.modes = to;
            remember(Some((self.before.clone(), to)));
        }
    }

    async fn give_back(&mut self) {
        let _ = self.orders.send(Order::Last(self.modes.leave().into_bytes()));
        let _ = tokio::time::timeout(LAST_WRITE, self.left.recv()).await;
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }

    /// Leaves the terminal as it was.
    pub(super) async fn leave(mut self) {
        self.give_back().await;
        remember(None);
    }

    /// Stops the process with the terminal as it was, and takes it over again afterwards.
    pub(super) async fn suspend(&mut self) {
        self.give_back().await;
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        while self.done.try_recv().is_ok() {}
        self.resume();
    }

    /// Sets again what other programs may have changed while this one was stopped; what the
    /// terminal counts is left alone.
    pub(super) fn assert_modes(&mut self) {
        let _ = make_raw(&self.before);
        self.write(b"\x1b[?7l\x1b[?2004h\x1b[?1004h".to_vec());
        let none = Modes { kitty: self.modes.kitty, ..Modes::default() };
        self.write(none.change(&self.modes).into_bytes());
    }

    /// Takes the terminal over again.
    fn resume(&mut self) {
        let _ = make_raw(&self.before);
        self.write(self.modes.enter().into_bytes());
        if self.modes.motion {
            self.write(b"\x1b[?1003h".to_vec());
        }
    }
}

fn make_raw(before: &Termios) -> io::Result<()> {
    let mut raw = before.clone();
    raw.make_raw();
    Ok(tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?)
}

type Writer = (blocking::Sender<Order>, mpsc::UnboundedReceiver<bool>, mpsc::UnboundedReceiver<()>);

fn writer() -> io::Result<Writer> {
    let (orders, queue) = blocking::channel::<Order>();
    let (tell_done, done) = mpsc::unbounded_channel();
    let (tell_left, left) = mpsc::unbounded_channel();
    let write = move || {
        for order in queue {
            let is_fine = match &order {
                Order::Write(bytes) | Order::Frame(bytes) | Order::Last(bytes) => write_all(bytes),
            };
            if matches!(order, Order::Frame(_)) || !is_fine {
                let _ = tell_done.send(is_fine);
            }
            if matches!(order, Order::Last(_)) {
                let _ = tell_left.send(());
            }
        }
    };
    std::thread::Builder::new().name("tty-out".to_owned()).spawn(write)?;
    Ok((orders, done, left))
}

/// What is typed, read by a thread of its own that ends with the process.
///
/// # Errors
/// If no thread can be started.
pub fn typed() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let read = move || {
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
                Ok(0) => return,
                Ok(count) => {
                    if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                        return;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().name("tty-in".to_owned()).spawn(read)?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
    use rustix::termios::LocalModes;

    use super::*;

    /// The variable that makes this test's process the one that panics.
    const CHILD: &str = "ROOKERY_TEST_PANICS_IN_A_TERMINAL";

    /// Not a test of its own: what the next one runs in a terminal.
    #[test]
    fn panics_with_the_terminal_taken_over() {
        if std::env::var_os(CHILD).is_none() {
            return;
        }
        let modes = Modes { mouse: true, motion: false, kitty: Some(1), title: true };
        let mut tty = Tty::enter(modes).unwrap();
        tty.change(Modes { motion: true, kitty: Some(31), ..modes });
        tty.write(b"\x1b]2;Rookery\x1b\\\x1b[?25lpicture".to_vec());
        tty.write_frame(Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // What was written is out before the panic, as in the face, which waits for it as well.
        runtime.block_on(tty.next());
        panic!("on purpose");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the panic happens in a process of its own")]
    fn a_panic_leaves_the_terminal_as_it_was() {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = openpt(flags | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let far = ioctl_tiocgptpeer(&master, flags | OpenptFlags::CLOEXEC).unwrap();
        let before = tcgetattr(&master).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "run::tty::tests::panics_with_the_terminal_taken_over"])
            .arg("--nocapture")
            .env(CHILD, "1")
            // A backtrace would push the message off the screen.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::from(far.try_clone().unwrap()))
            .stdout(Stdio::from(far.try_clone().unwrap()))
            .stderr(Stdio::from(far))
            .spawn()
            .unwrap();
        let size = ScreenSize::new(24, 80);
        let config = ScreenConfig { size, scrollback: 10, palette: Palette::default() };
        let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
        let unset = screen.modes();
        let mut input = std::fs::File::from(master.try_clone().unwrap());
        let mut chunk = [0; 4096];
        let mut was_taken = false;
        while let Ok(count @ 1..) = input.read(&mut chunk) {
            screen.feed(&chunk[..count], &NoTranscript, Duration::ZERO);
            was_taken |= screen.modes() != unset;
        }
        assert!(!child.wait().unwrap().success());
        assert!(was_taken || screen.sequence() > 0);
        assert_eq!(screen.modes(), unset);
        assert!(screen.cursor().visible);
        let text = screen.plain_text();
        assert!(text.contains("on purpose") && !text.contains("picture"), "{text}");
        let after = tcgetattr(&master).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
        assert!(after.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    }
}
