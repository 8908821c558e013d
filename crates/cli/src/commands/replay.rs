//! `rookery replay`: a recording, as it was or as text. Recordings of others are not trusted: on a
//! terminal only what draws is shown.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal as _},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};
use tokio::{
    io::AsyncWriteExt as _,
    sync::mpsc,
    time::{Instant, sleep_until},
};

use crate::{
    args,
    asciicast::{Broken, Drawing, EntryKind, Event, Header, PlainText, Reader, Size},
    attach::{self, Filter},
    commands::done,
    failure::{Failure, Outcome},
    output,
    stop::Stop,
};

/// Events read ahead; each may be as long as a line.
const AHEAD: usize = 2;

/// Longer pauses are not waited for in full.
const LONGEST_PAUSE: Duration = Duration::from_secs(365 * 24 * 3600);

/// Undoes what drawing may have changed, besides what the filter of attachments undoes: reverse
/// video, margins, tabs and the shape of the cursor.
const UNDO: &[u8] = b"\x18\x1b[?5;69l\x1b[?5W\x1b[0 q";

type Recording = Reader<Box<dyn BufRead + Send>>;

pub(super) async fn run(args: args::Replay) -> Outcome {
    let is_stdin = args.file.as_os_str() == "-";
    let name = if is_stdin { "stdin".to_owned() } else { args.file.display().to_string() };
    let (header, recording) = open(&args.file, &name)?;
    if args.dump {
        dump(&header, recording, &name)
    } else if args.text {
        text(recording, &name)
    } else {
        let speed = Speed {
            factor: args.speed,
            idle_limit: args.idle_limit.or(header.idle_limit).unwrap_or(LONGEST_PAUSE),
        };
        play(&header, recording, &name, speed).await
    }
}

fn open(path: &Path, name: &str) -> Outcome<(Header, Recording)> {
    let input: Box<dyn BufRead + Send> = if path.as_os_str() == "-" {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(path).map_err(|error| {
            Failure::new(format!("cannot read {name}: {error}"))
                .hint("create one with `rookery record TERMINAL FILE`")
        })?;
        Box::new(BufReader::new(file))
    };
    Reader::open(input).map_err(|broken| is_broken(name, &broken))
}

fn is_broken(name: &str, broken: &Broken) -> Failure {
    Failure::new(format!("{name} is not a complete recording: {broken}"))
        .hint("recordings are asciicast files of version 2 or 3; `rookery record` writes them")
}

/// The final screen.
fn dump(header: &Header, mut recording: Recording, name: &str) -> Outcome {
    let config =
        ScreenConfig { size: cells(header.size), scrollback: 0, palette: Palette::default() };
    let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
    let now = Duration::ZERO;
    let end = loop {
        match recording.next() {
            Ok(Some(event)) => match event.what {
                EntryKind::Output(text) => drop(screen.feed(text.as_bytes(), &NoTranscript, now)),
                EntryKind::Resized(size) => drop(screen.resize(cells(size), &NoTranscript, now)),
                EntryKind::Other => {}
            },
            Ok(None) => break Ok(()),
            Err(broken) => break Err(is_broken(name, &broken)),
        }
    };
    screen.stop_sync(&NoTranscript, now);
    let text = screen.plain_text();
    if !text.is_empty() {
        output::line(text.trim_end_matches('\n'))?;
    }
    end?;
    done()
}

fn cells(size: Size) -> ScreenSize {
    ScreenSize::new(size.rows, size.cols)
}

/// Everything that was written, as lines.
fn text(mut recording: Recording, name: &str) -> Outcome {
    let mut plain = PlainText::default();
    let end = loop {
        match recording.next() {
            Ok(Some(Event { what: EntryKind::Output(text), .. })) => {
                output::write(plain.push(&text).as_bytes())?;
            }
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(broken) => break Err(is_broken(name, &broken)),
        }
    };
    output::write(plain.end().as_bytes())?;
    end?;
    done()
}

/// How fast a recording is played.
#[derive(Debug, Clone, Copy)]
struct Speed {
    factor: f64,
    idle_limit: Duration,
}

impl Speed {
    fn pause(self, recorded: Duration) -> Duration {
        let seconds = recorded.min(self.idle_limit).as_secs_f64() / self.factor;
        Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
    }
}

async fn play(header: &Header, recording: Recording, name: &str, speed: Speed) -> Outcome {
    let mut stop = Stop::new()?;
    let mut events = read_ahead(recording)?;
    let mut screen = Shown::new();
    screen.warn_if_small(header.size);
    let mut due = Instant::now();
    let end = loop {
        let event = tokio::select! {
            event = events.recv() => event,
            code = stop.requested() => break Ok(ExitCode::from(code)),
        };
        let event = match event {
            Some(Ok(event)) => event,
            Some(Err(broken)) => break Err(is_broken(name, &broken)),
            None => break done(),
        };
        // Not from now: the time that showing takes must not add up.
        due = due.checked_add(speed.pause(event.pause)).unwrap_or(due);
        let show = async {
            sleep_until(due).await;
            match &event.what {
                EntryKind::Output(text) => screen.show(text).await,
                EntryKind::Resized(_) | EntryKind::Other => Ok(()),
            }
        };
        tokio::select! {
            shown = show => if let Err(failure) = shown {
                break Err(failure);
            },
            code = stop.requested() => break Ok(ExitCode::from(code)),
        }
    };
    screen.leave();
    end
}

/// Events, read by a thread of its own: a pipe may take its time.
fn read_ahead(mut recording: Recording) -> Outcome<mpsc::Receiver<Result<Event, Broken>>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let read = move || {
        while let Some(event) = recording.next().transpose() {
            let is_last = event.is_err();
            if sender.blocking_send(event).is_err() || is_last {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("recording".to_owned())
        .spawn(read)
        .map_err(Failure::doing("cannot start a thread"))?;
    Ok(receiver)
}

/// Stdout, which may be a terminal that is not to be harmed.
struct Shown {
    terminal: Option<(Drawing, Filter)>,
}

impl Shown {
    fn new() -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { terminal: is_terminal.then(Default::default) }
    }

    fn warn_if_small(&self, recorded: Size) {
        if self.terminal.is_some()
            && let Some(own) = attach::own_size()
            && (own.cols < recorded.cols || own.rows < recorded.rows)
        {
            output::note(format_args!(
                "rookery: the recording is {recorded}, this terminal {}x{}; make it larger",
                own.cols, own.rows
            ));
        }
    }

    async fn show(&mut self, text: &str) -> Outcome<()> {
        let bytes = match &mut self.terminal {
            None => text.as_bytes().to_vec(),
            Some((drawing, filter)) => {
                let mut safe = Vec::with_capacity(text.len());
                filter.push(drawing.push(text).as_bytes(), &mut safe);
                safe
            }
        };
        let mut stdout = tokio::io::stdout();
        let written = match stdout.write_all(&bytes).await {
            Ok(()) => stdout.flush().await,
            failed => failed,
        };
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::quiet(141),
            _ => Failure::new(format!("cannot write the output: {error}")),
        })
    }

    /// Gives the terminal back as a shell expects it.
    fn leave(&self) {
        if let Some((_, filter)) = &self.terminal {
            let _ = output::write(&[UNDO, &filter.undo()].concat());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_capped_then_shortened_and_never_too_long() {
        let speed = |factor, limit| Speed { factor, idle_limit: Duration::from_secs(limit) };
        let ten = Duration::from_secs(10);
        assert_eq!(speed(2.0, 100).pause(ten), Duration::from_secs(5));
        assert_eq!(speed(2.0, 4).pause(ten), Duration::from_secs(2));
        assert_eq!(speed(1e-300, 100).pause(ten), LONGEST_PAUSE);
        assert_eq!(speed(1e300, u64::MAX).pause(Duration::MAX), Duration::ZERO);
    }
}
