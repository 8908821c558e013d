//! A recording as it grows: bytes and their times become events, without secrets unless they are
//! wanted. Pure: time comes in as an argument, lines go out.

use std::{sync::Arc, time::Duration};

use rookery_term::{
    MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize, Snapshot, Width,
    redact::{CONTEXT_BYTES, Policy, StreamRedactor},
};

use super::{
    Size,
    drawing::Drawing,
    write::{About, Writer},
};

/// Takes what a terminal does.
#[derive(Debug)]
pub(crate) struct Recorder {
    writer: Writer,
    size: Size,
    /// The beginning of a character whose end has not arrived.
    partial: Vec<u8>,
    cleaner: Option<Cleaner>,
    /// When the last output arrived.
    arrived: Duration,
}

/// Leaves of the output only what draws, and no secrets.
#[derive(Debug)]
struct Cleaner {
    policy: Arc<Policy>,
    drawing: Drawing,
    redactor: StreamRedactor<Arc<Policy>>,
}

impl Recorder {
    /// The start of a recording; with a policy nothing secret gets into it.
    pub(crate) fn new(mut about: About, policy: Option<Policy>) -> Self {
        if let (Some(policy), Some(command)) = (&policy, &mut about.command) {
            *command = policy.redact(command).into_owned();
        }
        let cleaner = policy.map(|policy| {
            let policy = Arc::new(policy);
            let redactor = StreamRedactor::new(Arc::clone(&policy));
            Cleaner { policy, drawing: Drawing::default(), redactor }
        });
        Self {
            writer: Writer::new(&about),
            size: about.size,
            partial: Vec::new(),
            cleaner,
            arrived: Duration::ZERO,
        }
    }

    /// The lines since the last time this was asked.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// How many events there were.
    pub(crate) fn events(&self) -> u64 {
        self.writer.events()
    }

    /// When the last output arrived, if some of it is held back.
    pub(crate) fn held_since(&self) -> Option<Duration> {
        let is_held = self.cleaner.as_ref().is_some_and(|cleaner| cleaner.redactor.held() > 0);
        is_held.then_some(self.arrived)
    }

    /// The program wrote something.
    pub(crate) fn output(&mut self, at: Duration, bytes: &[u8]) {
        self.arrived = at;
        let text = join(&mut self.partial, bytes);
        match &mut self.cleaner {
            None => self.writer.output(at, &text),
            Some(cleaner) => {
                let drawn = cleaner.drawing.push(&text);
                self.writer.output(at, &cleaner.redactor.push(&drawn));
            }
        }
    }

    /// The screen is this from now on, whatever was drawn before: these bytes clear and paint it.
    pub(crate) fn repaint(&mut self, at: Duration, bytes: &[u8], size: Size) {
        self.resize(at, size);
        self.partial.clear();
        self.arrived = at;
        let text = String::from_utf8_lossy(bytes);
        match &mut self.cleaner {
            None => self.writer.output(at, &text),
            Some(cleaner) => self.writer.output(at, &cleaner.repaint(&text, size)),
        }
    }

    /// The terminal got a size.
    pub(crate) fn resize(&mut self, at: Duration, size: Size) {
        self.flush();
        if std::mem::replace(&mut self.size, size) != size {
            self.writer.resize(at, size);
        }
    }

    /// What was held back has waited long enough.
    pub(crate) fn flush(&mut self) {
        if let Some(cleaner) = &mut self.cleaner {
            self.writer.output(self.arrived, &cleaner.redactor.flush());
        }
    }

    /// The program ended, with a code if it is known.
    pub(crate) fn exit(&mut self, at: Duration, code: Option<u8>) {
        self.end();
        match code {
            Some(code) => self.writer.exit(at, code),
            None => self.writer.comment("the program's exit status is not known"),
        }
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) {
        self.flush();
        if !std::mem::take(&mut self.partial).is_empty() {
            self.writer.output(self.arrived, "\u{fffd}");
        }
    }
}

impl Cleaner {
    /// The painting without secrets; from now on output follows it.
    fn repaint(&mut self, text: &str, size: Size) -> String {
        self.drawing = Drawing::default();
        let snapshot = painted(text, size);
        let drawn = Drawing::default().push(&apart(text, &snapshot));
        let clean = self.policy.redact(&drawn);
        let shown = if *clean == *drawn {
            drawn
        } else {
            // A replacement may be longer than the secret; the last row must not scroll.
            clean.replacen("\x1b[2J", "\x1b[2J\x1b[?7l", 1) + "\x1b[?7h"
        };
        // A secret that began on the screen may go on where the cursor is.
        self.redactor = StreamRedactor::new(Arc::clone(&self.policy));
        self.redactor.push(&before_cursor(&snapshot));
        self.redactor.flush();
        shown
    }
}

/// Text of bytes that may be cut in the middle of a character; the rest stays in `partial`.
fn join(partial: &mut Vec<u8>, bytes: &[u8]) -> String {
    let mut all = std::mem::take(partial);
    all.extend_from_slice(bytes);
    let is_whole = |tail: &[u8]| {
        std::str::from_utf8(tail).err().is_none_or(|error| error.error_len().is_some())
    };
    let begun = (1..=3.min(all.len())).map(|count| all.len() - count);
    // Only the last character can be cut off, and its first byte says that it is one.
    if let Some(start) = begun.into_iter().find(|start| all[*start] >= 0xc0)
        && !is_whole(&all[start..])
    {
        *partial = all.split_off(start);
    }
    String::from_utf8_lossy(&all).into_owned()
}

fn painted(text: &str, size: Size) -> Snapshot {
    let config = ScreenConfig {
        size: ScreenSize::new(size.rows, size.cols),
        scrollback: 0,
        palette: Palette::default(),
    };
    let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
    screen.feed(text.as_bytes(), &NoTranscript, Duration::ZERO);
    screen.snapshot()
}

/// The painting with a line feed after every row with text that does not run on into the next, so
/// that the two are not read as one. The cursor is placed anyway.
fn apart(text: &str, snapshot: &Snapshot) -> String {
    let mut out = String::with_capacity(text.len() + usize::from(snapshot.rows));
    let mut rest = text;
    for row in 1..snapshot.rows {
        let Some(at) = rest.find(&format!("\x1b[{};1H", row + 1)) else { break };
        out.push_str(&rest[..at]);
        if !is_full(snapshot, row - 1) && has_text(snapshot, row - 1) {
            out.push('\n');
        }
        rest = &rest[at..];
    }
    out + rest
}

fn has_text(snapshot: &Snapshot, row: u16) -> bool {
    snapshot.row(row).any(|cell| !cell.text().trim().is_empty())
}

fn is_full(snapshot: &Snapshot, row: u16) -> bool {
    let last = snapshot.row(row).last();
    last.is_some_and(|cell| cell.width() == Width::Continuation || !cell.text().trim().is_empty())
}

/// The text on the screen up to the cursor, as far as it can matter for what follows.
fn before_cursor(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    let cursor = snapshot.cursor;
    for row in 0..=cursor.row {
        let cols = if row == cursor.row { cursor.col } else { snapshot.cols };
        for cell in snapshot.row(row).take(usize::from(cols)) {
            let before = text.len();
            cell.push_text(&mut text);
            if text.len() == before && cell.width() == Width::Narrow {
                text.push(' ');
            }
        }
        if row < cursor.row && !is_full(snapshot, row) {
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
    }
    let start = text.ceil_char_boundary(text.len().saturating_sub(CONTEXT_BYTES));
    text.split_off(start)
}

#[cfg(test)]
mod tests;
