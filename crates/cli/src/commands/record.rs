//! `rookery record`: what a terminal shows from now on, as a file that players understand.

mod sink;

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    pin::pin,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rookery_model::TerminalId;
use rookery_native::{
    TerminalRef, notification,
    wire::{self, Attach, Attached, Base64, Output, OutputNotification, Terminal, TerminalGet},
};
use rookery_term::redact::Policy;
use rookery_wire::{Client, ClientError, client::Notification};
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout},
};

use crate::{
    args,
    asciicast::{About, Recorder, Size},
    attach::exit_code,
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    output, resolve,
    stop::Stop,
};
use sink::Sink;

/// How long output that may be the beginning of a secret waits for more.
const HOLD: Duration = Duration::from_millis(50);

/// How long the last lines may take to be written.
const GRACE: Duration = Duration::from_secs(1);

/// Later than anything.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

pub(super) async fn run(args: args::Record) -> Outcome {
    let client = link::connect().await?;
    let named = resolve::terminal(&client, &args.target.id).await?;
    let terminal = call(&client, TerminalGet { terminal: named }).await?;
    let connection = Connection::open(client, terminal.id).await?;
    let Some(connection) = connection else { return Err(Failure::no_daemon()) };
    let mut stop = Stop::new()?;
    let sink = Sink::open(target(&args, terminal.id), args.force)?;
    let mut recording = Recording::new(&args, &terminal, &connection, sink);
    let end = recording.run(connection, &mut stop).await;
    recording.recorder.end();
    let written = recording.write(&mut stop).await;
    recording.print_end(&end);
    end?;
    written?;
    done()
}

/// Where the recording goes; none is stdout.
fn target(args: &args::Record, id: u64) -> Option<PathBuf> {
    match &args.file {
        Some(file) if file.as_os_str() == "-" => None,
        Some(file) => Some(file.clone()),
        None if !io::stdout().is_terminal() => None,
        None => Some(format!("rookery-{id}-{}.cast", unix_time()).into()),
    }
}

/// What runs in the terminal. Arguments hold secrets of all shapes, so only the program is named
/// unless everything is wanted.
fn command(argv: &[String], is_whole: bool) -> Option<String> {
    let words = if is_whole { argv } else { argv.get(..1)? };
    (!words.is_empty()).then(|| words.join(" "))
}

fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exited,
    Closed,
    /// The user wants no more, or no more for so long.
    Stopped,
}

impl End {
    fn words(self) -> &'static str {
        match self {
            Self::Exited => "the program ended",
            Self::Closed => "the terminal was closed",
            Self::Stopped => "stopped",
        }
    }
}

/// A connection that follows a terminal's output.
struct Connection {
    client: Client,
    messages: mpsc::Receiver<Notification>,
    attached: Attached,
}

impl Connection {
    /// None if the daemon is gone.
    async fn open(client: Client, terminal: u64) -> Outcome<Option<Self>> {
        let Some(messages) = client.notifications() else { return Ok(None) };
        let terminal = TerminalRef::Number(TerminalId::new(terminal));
        // A passive viewer sets no size.
        let params = Attach { terminal, rows: None, cols: None, shown: false };
        match client.send(params).await {
            Ok(attached) => Ok(Some(Self { client, messages, attached })),
            Err(ClientError::Closed | ClientError::Io(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The next thing the terminal does; none if some of it was lost.
    async fn next(&mut self) -> Option<Output> {
        while self.client.missed() == 0 {
            let message = self.messages.recv().await?;
            if message.method != notification::OUTPUT {
                continue;
            }
            let output = serde_json::from_str::<OutputNotification>(message.params.get());
            if let Ok(output) = output
                && output.attachment == self.attached.attachment
            {
                return Some(output.output);
            }
        }
        None
    }
}

/// A recording from beginning to end, across connections.
struct Recording {
    terminal: u64,
    recorder: Recorder,
    sink: Sink,
    size: Size,
    begun: Instant,
    until: Instant,
    /// The request to stop came during a write.
    is_stopped: bool,
    /// Nothing can be written any more.
    has_failed: bool,
    shows_progress: bool,
    quiet: bool,
}

impl Recording {
    fn new(args: &args::Record, terminal: &Terminal, connection: &Connection, sink: Sink) -> Self {
        let size = size(connection.attached.size);
        let about = About {
            size,
            timestamp: unix_time(),
            idle_limit: args.idle_limit,
            command: command(&terminal.argv, args.no_redact),
            title: Some(args.title.clone().unwrap_or_else(|| terminal.title.clone())),
        };
        let recorder = Recorder::new(about, (!args.no_redact).then(Policy::strict));
        let begun = Instant::now();
        Self {
            terminal: terminal.id,
            recorder,
            size,
            begun,
            is_stopped: false,
            has_failed: false,
            until: begun + args.duration.unwrap_or(FOREVER).min(FOREVER),
            // Not while the recording itself may be on its way to this very terminal.
            shows_progress: !args.quiet && sink.path().is_some() && io::stderr().is_terminal(),
            quiet: args.quiet,
            sink,
        }
    }

    /// Records through any number of daemons.
    async fn run(&mut self, mut connection: Connection, stop: &mut Stop) -> Outcome<End> {
        loop {
            if let Some(end) = self.follow(&mut connection, stop).await? {
                return Ok(end);
            }
            // A new connection also when only output was dropped: its queue begins empty.
            drop(connection);
            connection = tokio::select! {
                fresh = reconnect(self.terminal) => fresh?,
                _ = stop.requested() => return Ok(End::Stopped),
                () = sleep_until(self.until) => return Ok(End::Stopped),
            };
        }
    }

    /// Records what one connection tells; none if it is lost.
    async fn follow(
        &mut self,
        connection: &mut Connection,
        stop: &mut Stop,
    ) -> Outcome<Option<End>> {
        self.size = size(connection.attached.size);
        self.recorder.repaint(self.begun.elapsed(), &connection.attached.redraw.0, self.size);
        let mut progress = interval(Duration::from_secs(1));
        progress.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            self.write(stop).await?;
            if self.is_stopped {
                return Ok(Some(End::Stopped));
            }
            let flush_at = self.recorder.held_since().map(|since| self.begun + since + HOLD);
            tokio::select! {
                output = connection.next() => match output {
                    None => return Ok(None),
                    Some(output) => if let Some(end) = self.take(output) {
                        return Ok(Some(end));
                    },
                },
                () = sleep_until(flush_at.unwrap_or(self.until)), if flush_at.is_some() => {
                    self.recorder.flush();
                }
                _ = progress.tick(), if self.shows_progress => self.print_progress(),
                () = sleep_until(self.until) => return Ok(Some(End::Stopped)),
                _ = stop.requested() => return Ok(Some(End::Stopped)),
            }
        }
    }

    fn take(&mut self, output: Output) -> Option<End> {
        let at = self.begun.elapsed();
        match output {
            Output::Data(Base64(bytes)) => self.recorder.output(at, &bytes),
            Output::Redraw(Base64(bytes)) => self.recorder.repaint(at, &bytes, self.size),
            Output::Resized(new) => {
                self.size = size(new);
                self.recorder.resize(at, self.size);
            }
            Output::Exited(exit) => {
                let code = (!matches!(exit, wire::Exit::Unknown(_))).then(|| exit_code(exit));
                self.recorder.exit(at, code);
                return Some(End::Exited);
            }
            Output::Closed(_) => return Some(End::Closed),
        }
        None
    }

    /// Writes what is buffered. A reader that does not read must not keep us from ending.
    async fn write(&mut self, stop: &mut Stop) -> Outcome<()> {
        let lines = self.recorder.take();
        if lines.is_empty() || self.has_failed {
            return Ok(());
        }
        let mut writing = pin!(self.sink.write(&lines));
        let written = tokio::select! {
            biased;
            written = &mut writing => written,
            code = stop.requested() => {
                self.is_stopped = true;
                let cut = Failure::new("the recording is incomplete: its reader does not read").code(code);
                timeout(GRACE, writing).await.unwrap_or(Err(cut))
            }
        };
        self.has_failed = written.is_err();
        written
    }

    fn print_progress(&self) {
        let (seconds, events) = (self.begun.elapsed().as_secs(), self.recorder.events());
        let id = self.terminal;
        output::status(format_args!(
            "recording terminal {id}: {seconds} s, {events} events; Ctrl-C stops"
        ));
    }

    fn print_end(&self, end: &Outcome<End>) {
        if self.shows_progress {
            output::status("");
        }
        let (false, Some(path)) = (self.quiet, self.sink.path()) else { return };
        let why = end.as_ref().map_or("cut short", |end| end.words());
        let seconds = self.begun.elapsed().as_secs_f64();
        output::note(format_args!(
            "[{why}; {seconds:.1} s are in {0}; play it with `rookery replay {0}`]",
            path.display()
        ));
    }
}

/// A connection to whichever daemon comes next.
async fn reconnect(terminal: u64) -> Outcome<Connection> {
    loop {
        if let Some(fresh) = Connection::open(link::reconnect().await?, terminal).await? {
            return Ok(fresh);
        }
    }
}

fn size(size: wire::Size) -> Size {
    Size { cols: size.cols, rows: size.rows }
}
