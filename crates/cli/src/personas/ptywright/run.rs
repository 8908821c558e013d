//! `ptywright run`: a program in a terminal of its own, between this stdin and this stdout.
//!
//! Questions of the program to its terminal are answered here, as in any session; if this process
//! has a terminal too, that one sees neither the questions nor answers for it.

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use rookery_daemon::serve::{LogsOf, PtywrightHome, start_logs};
use rookery_keeper::protocol::ExitStatus;
use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
use tokio::{
    io::{AsyncWriteExt as _, Stdout, stdout},
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
    time::{Instant, sleep_until, timeout_at},
};

use super::{child::Child, input::InputFilter, serve::signal_code};
use crate::{
    attach::{Filter, RawTty, tty},
    commands::block_on,
    failure::{Failure, Outcome},
    output,
};

/// Input that may wait for a program that does not read; then stdin is not read either.
const MOST_INPUT: usize = 64 << 10;
const CHUNK: usize = 16 << 10;
/// How long the rest of a sequence may take; then it was a key.
const SEQUENCE_PATIENCE: Duration = Duration::from_millis(25);
/// Silence after which a program that has ended has nothing more to show, and how long at most to look.
const QUIET: Duration = Duration::from_millis(100);
const LAST_WORDS: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct Run {
    /// Number of rows [default: the terminal's, else 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=2000))]
    pub(super) rows: Option<u16>,
    /// Number of columns [default: the terminal's, else 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=2000))]
    pub(super) cols: Option<u16>,
    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) command: Vec<String>,
}

impl Run {
    /// What was asked for, else what this terminal has, else the usual.
    fn size(&self) -> (u16, u16) {
        let own = tty::size().filter(|_| tty::is_usable());
        let rows = self.rows.or(own.map(|size| size.rows)).unwrap_or(24);
        let cols = self.cols.or(own.map(|size| size.cols)).unwrap_or(80);
        (rows, cols)
    }
}

pub(super) fn run(args: Run) -> Outcome {
    start_logs(&PtywrightHome::from_env(), LogsOf::Run);
    block_on(bridge(args))
}

async fn bridge(args: Run) -> Outcome {
    let size = args.size();
    let program = args.command.first().cloned().unwrap_or_default();
    let mut child = Child::start(args.command.clone(), size)
        .map_err(|error| Failure::new(format!("pty backend error: {error}")))?;
    tracing::info!(program, "started");
    let raw = io::stdin().is_terminal().then(RawTty::enter).transpose();
    let raw = raw.map_err(Failure::doing("cannot set up this terminal"))?;
    let mut bridge = Bridge::new(args, size, raw.is_some());
    let ended = bridge.run(&mut child).await;
    if !matches!(ended, Ok(Ended::Exited(ExitStatus::Code(_)))) {
        bridge.restore();
    }
    drop(raw);
    child.end().await;
    tracing::info!(program, ?ended, "ended");
    match ended.map_err(Failure::doing("io error"))? {
        // What exit(2) keeps of a code.
        Ended::Exited(ExitStatus::Code(code)) => Ok(ExitCode::from((code & 0xff) as u8)),
        Ended::Exited(_) => Ok(ExitCode::from(1)),
        Ended::Signal(number) => Ok(signal_code(number)),
        Ended::StdoutClosed => Err(Failure::quiet(141)),
    }
}

#[derive(Debug)]
enum Ended {
    Exited(ExitStatus),
    /// This process received a signal to end.
    Signal(i32),
    /// The reader of stdout has gone.
    StdoutClosed,
}

/// Everything between the program and this process.
struct Bridge {
    args: Run,
    screen: Screen,
    since: Instant,
    /// Only where a terminal would answer the program's questions once more.
    shown: Option<Filter>,
    /// Only where a terminal talks by itself.
    typed: Option<InputFilter>,
    to_child: Vec<u8>,
    stdout: Stdout,
}

impl Bridge {
    fn new(args: Run, (rows, cols): (u16, u16), has_keyboard: bool) -> Self {
        let size = ScreenSize::new(rows, cols);
        let config = ScreenConfig { size, scrollback: 0, palette: Palette::default() };
        Self {
            args,
            screen: Screen::new(config, Box::new(MemoryBlocks::default())),
            since: Instant::now(),
            shown: io::stdout().is_terminal().then(Filter::default),
            typed: has_keyboard.then(InputFilter::default),
            to_child: Vec::new(),
            stdout: stdout(),
        }
    }

    async fn run(&mut self, child: &mut Child) -> io::Result<Ended> {
        let mut stdin = Some(rookery_tui::typed()?);
        let mut signals = Signals::new()?;
        let mut is_open = true;
        let mut release_at = None;
        let status = loop {
            let wants_input = self.to_child.len() < MOST_INPUT;
            if !self.typed.as_ref().is_some_and(InputFilter::is_holding) {
                release_at = None;
            } else if release_at.is_none() {
                release_at = Some(Instant::now() + SEQUENCE_PATIENCE);
            }
            tokio::select! {
                biased;
                status = &mut child.exit => break status.unwrap_or(ExitStatus::Unknown),
                signal = signals.next() => match signal {
                    Some(number) => return Ok(Ended::Signal(number)),
                    None => self.resize(child),
                },
                ready = child.master.readable(), if is_open => {
                    let mut ready = ready?;
                    let mut chunk = [0; CHUNK];
                    match ready.try_io(|master| Ok(rustix::io::read(master, &mut chunk)?)) {
                        Ok(Ok(count @ 1..)) => if !self.show(&chunk[..count]).await? {
                            return Ok(Ended::StdoutClosed);
                        },
                        // The other side is closed everywhere.
                        Ok(_) => is_open = false,
                        Err(_) => {}
                    }
                }
                ready = child.master.writable(), if is_open && !self.to_child.is_empty() => {
                    let written = ready?.try_io(|master| {
                        Ok(rustix::io::write(master, &self.to_child)?)
                    });
                    if let Ok(result) = written {
                        self.to_child.drain(..result.unwrap_or(self.to_child.len()));
                    }
                }
                typed = next(&mut stdin), if stdin.is_some() && wants_input => match typed {
                    Some(typed) => self.take(&typed),
                    None => {
                        stdin = None;
                        if self.typed.is_some() {
                            return Ok(Ended::Signal(SignalKind::hangup().as_raw_value()));
                        }
                        // Ends the line, so that the next character means the end of input.
                        self.to_child.extend_from_slice(b"\n\x04");
                    }
                },
                () = until(release_at), if release_at.is_some() => {
                    if let Some(typed) = &mut self.typed {
                        typed.release(&mut self.to_child);
                    }
                }
            }
        };
        Ok(if self.last_words(child).await? { Ended::Exited(status) } else { Ended::StdoutClosed })
    }

    /// Shows what the program left behind; something it started may hold the terminal open.
    async fn last_words(&mut self, child: &Child) -> io::Result<bool> {
        let until = Instant::now() + LAST_WORDS;
        loop {
            let quiet = Instant::now() + QUIET;
            let ready = timeout_at(until.min(quiet), child.master.readable());
            let Ok(ready) = ready.await else { return Ok(true) };
            let mut chunk = [0; CHUNK];
            match ready?.try_io(|master| Ok(rustix::io::read(master, &mut chunk)?)) {
                Ok(Ok(count @ 1..)) => {
                    if !self.show(&chunk[..count]).await? {
                        return Ok(false);
                    }
                }
                Ok(_) => return Ok(true),
                Err(_) => {}
            }
        }
    }

    fn take(&mut self, typed: &[u8]) {
        match &mut self.typed {
            Some(filter) => filter.push(typed, &mut self.to_child),
            None => self.to_child.extend_from_slice(typed),
        }
    }

    /// Writes output to stdout and answers questions in it; false if stdout has no reader.
    async fn show(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let fed = self.screen.feed(bytes, &NoTranscript, self.since.elapsed());
        if self.to_child.len() < MOST_INPUT {
            self.to_child.extend_from_slice(&fed.replies);
        }
        let mut visible = Vec::with_capacity(bytes.len());
        match &mut self.shown {
            Some(filter) => filter.push(bytes, &mut visible),
            None => visible.extend_from_slice(bytes),
        }
        let written = async {
            self.stdout.write_all(&visible).await?;
            self.stdout.flush().await
        };
        match written.await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn resize(&mut self, child: &Child) {
        let (rows, cols) = self.args.size();
        let size = ScreenSize::new(rows, cols);
        self.screen.resize(size, &NoTranscript, self.since.elapsed());
        child.resize((rows, cols));
    }

    /// Undoes what a program that could not do so left of this terminal.
    fn restore(&self) {
        if let Some(filter) = &self.shown {
            let _ = output::write(&filter.undo());
        }
    }
}

/// The next input; never if there is none any more.
async fn next(stdin: &mut Option<mpsc::Receiver<Vec<u8>>>) -> Option<Vec<u8>> {
    match stdin {
        Some(stdin) => stdin.recv().await,
        None => std::future::pending().await,
    }
}

/// The moment itself; never if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Signals that matter meanwhile.
struct Signals {
    resized: Signal,
    ending: [(SignalKind, Signal); 3],
}

impl Signals {
    fn new() -> io::Result<Self> {
        let watch = |kind| Ok::<_, io::Error>((kind, signal(kind)?));
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            ending: [
                watch(SignalKind::interrupt())?,
                watch(SignalKind::terminate())?,
                watch(SignalKind::hangup())?,
            ],
        })
    }

    /// The signal that ends this process; none if its terminal got another size.
    async fn next(&mut self) -> Option<i32> {
        let [(first, a), (second, b), (third, c)] = &mut self.ending;
        let kind = tokio::select! {
            _ = self.resized.recv() => return None,
            _ = a.recv() => first,
            _ = b.recv() => second,
            _ = c.recv() => third,
        };
        Some(kind.as_raw_value())
    }
}
