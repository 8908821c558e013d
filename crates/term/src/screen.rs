//! The screen: what the rest of Rookery drives. Bytes in; text, cells, events and replies out.

use std::sync::Arc;
use std::time::Duration;

use alacritty_terminal::vte::ansi::{Processor, Timeout};

use crate::bin::Damaged;
use crate::colors::Colors;
use crate::emulator::{Emulator, FeedContext};
use crate::feed::{complete_char, hold_back, leave_osc, take_sequence};
use crate::history::{BlockStore, History};
use crate::matcher::Matcher;
use crate::osc::{Osc, ShellMark};
use crate::palette::Palette;
use crate::pointer::PointerShape;
use crate::scanner::{Scanner, partial_char_len};
use crate::selection::Selection;
use crate::snapshot::{Cursor, Detail, Modes, Snapshot, join_rows};
use crate::tail::Tail;
use crate::watch::{Matched, Occasion, WaitId};

/// Rows, columns and pixels of a screen. Rows and columns are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// Rows, at least 1.
    pub rows: u16,
    /// Columns, at least 1.
    pub cols: u16,
    /// Width in pixels, 0 when unknown.
    pub pixel_width: u16,
    /// Height in pixels, 0 when unknown.
    pub pixel_height: u16,
}

impl ScreenSize {
    /// A size without known pixels; zeros become ones.
    pub fn new(rows: u16, cols: u16) -> ScreenSize {
        ScreenSize { rows: rows.max(1), cols: cols.max(1), pixel_width: 0, pixel_height: 0 }
    }
}

/// Something a program did that others may care about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenEvent {
    /// The title changed; none when a saved empty title came back.
    Title(Option<String>),
    /// The bell rang.
    Bell,
    /// An OSC other than titles and colors.
    Osc(Osc),
    /// A shell integration mark and the number of the row it was made on.
    Mark(ShellMark, u64),
}

/// Gives the tail of the byte stream as text, including the bytes being fed.
pub trait Transcript {
    /// The last [`crate::matcher::TRANSCRIPT_TAIL`] characters.
    fn tail(&self) -> Tail;
}

/// What a feed brought about.
#[derive(Default)]
pub struct FeedResult {
    /// Bytes to write back to the program.
    pub replies: Vec<u8>,
    /// What happened, in order.
    pub events: Vec<ScreenEvent>,
    /// Waits that came true.
    pub matched: Vec<Matched>,
}

/// How a screen is set up.
#[derive(Clone, Debug)]
pub struct ScreenConfig {
    /// Its first size.
    pub size: ScreenSize,
    /// Rows of scrollback to keep.
    pub scrollback: usize,
    /// Colors to report.
    pub palette: Palette,
}

/// Synchronized output is ended by the caller, who has a clock; the engine only needs to know that it began.
#[derive(Default)]
pub(crate) struct SyncGate {
    pending: bool,
}

impl Timeout for SyncGate {
    fn set_timeout(&mut self, _: Duration) {
        self.pending = true;
    }
    fn clear_timeout(&mut self) {
        self.pending = false;
    }
    fn pending_timeout(&self) -> bool {
        self.pending
    }
}

/// One terminal screen with its history, pending waits and parser state.
pub struct Screen {
    pub(crate) emulator: Emulator,
    pub(crate) processor: Processor<SyncGate>,
    pub(crate) scanner: Scanner,
    /// The beginning of a character whose end has not arrived.
    pub(crate) partial: Vec<u8>,
}

impl Screen {
    /// An empty screen. Sealed history blocks go to `blocks`.
    pub fn new(config: ScreenConfig, blocks: Box<dyn BlockStore>) -> Screen {
        let history = History::new(config.scrollback, blocks);
        Screen {
            emulator: Emulator::new(config.size, config.palette, history),
            processor: Processor::new(),
            scanner: Scanner::default(),
            partial: Vec::new(),
        }
    }

    /// Parses a chunk of output. `now` is any monotonic clock, always the same one.
    pub fn feed(&mut self, bytes: &[u8], transcript: &dyn Transcript, now: Duration) -> FeedResult {
        let mut matched = Vec::new();
        self.emulator.last_output = now;
        self.emulator.told_colors = Arc::clone(&self.emulator.colors);
        self.emulator.sequence += 1;
        self.emulator.tally.count(bytes);
        let mut context =
            FeedContext { emulator: &mut self.emulator, transcript, matched: &mut matched, now };
        let mut rest = complete_char(&mut context, &mut self.partial, bytes);
        while !rest.is_empty() {
            if self.processor.sync_timeout().pending_timeout() {
                rest = hold_back(&mut context, &mut self.processor, &mut self.scanner, rest);
            } else if self.scanner.is_ground() {
                let end = memchr::memchr(0x1b, rest);
                let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
                let cut = if end.is_none() { partial_char_len(text) } else { 0 };
                let (whole, partial) = text.split_at(text.len() - cut);
                context.text(whole);
                self.partial.extend_from_slice(partial);
                rest = after;
                if end.is_some() {
                    rest = match context.everyday_sgr(rest) {
                        Some(length) => &rest[length..],
                        None => take_sequence(
                            &mut context,
                            &mut self.processor,
                            &mut self.scanner,
                            rest,
                        ),
                    };
                }
            } else {
                rest = take_sequence(&mut context, &mut self.processor, &mut self.scanner, rest);
            }
        }
        if !context.emulator.watch.is_empty() {
            context.look(Occasion::FeedEnded);
        }
        self.fed(matched)
    }

    fn fed(&mut self, matched: Vec<Matched>) -> FeedResult {
        self.emulator.tally.note(&self.emulator.events);
        FeedResult {
            replies: std::mem::take(&mut self.emulator.replies),
            events: std::mem::take(&mut self.emulator.events),
            matched,
        }
    }

    /// Characters that the stream brought since the terminal was opened.
    pub fn chars_written(&self) -> u64 {
        self.emulator.tally.chars()
    }

    /// The newest marks of the shell, oldest first.
    pub fn shell_marks(&self) -> Vec<crate::osc::ShellMark> {
        self.emulator.tally.marks()
    }

    /// Whether synchronized output is being held back; end it with [`Screen::stop_sync`] after 150 ms.
    pub fn is_sync_pending(&self) -> bool {
        self.processor.sync_timeout().pending_timeout()
    }

    /// Shows what synchronized output held back, because its end did not come in time.
    pub fn stop_sync(&mut self, transcript: &dyn Transcript, now: Duration) -> FeedResult {
        let mut matched = Vec::new();
        let mut context =
            FeedContext { emulator: &mut self.emulator, transcript, matched: &mut matched, now };
        context.emulator.sequence += 1;
        self.processor.stop_sync(&mut context);
        leave_osc(&mut context, &mut self.processor, &self.scanner);
        if !context.emulator.watch.is_empty() {
            context.look(Occasion::FeedEnded);
        }
        self.fed(matched)
    }

    /// Changes the size; lines are wrapped anew and waits see the result. A program that wants to know is
    /// told by [`Screen::take_replies`].
    pub fn resize(
        &mut self,
        size: ScreenSize,
        transcript: &dyn Transcript,
        now: Duration,
    ) -> Vec<Matched> {
        let size = ScreenSize { rows: size.rows.max(1), cols: size.cols.max(1), ..size };
        let is_news = size != self.emulator.size;
        self.emulator.sequence += 1;
        self.emulator.resize(size);
        if is_news && self.emulator.shadow.wants_size {
            self.emulator.reply_size();
        }
        self.look_at_all(transcript, now)
    }

    /// Judges every pending wait afresh: after time passed, a resize, or the end of the process.
    pub fn look_at_all(&mut self, transcript: &dyn Transcript, now: Duration) -> Vec<Matched> {
        let mut matched = Vec::new();
        if !self.emulator.watch.is_empty() {
            FeedContext { emulator: &mut self.emulator, transcript, matched: &mut matched, now }
                .look(Occasion::Anything);
        }
        matched
    }

    /// Adds a wait. If it holds already it comes back at once and nothing stays pending.
    pub fn wait(
        &mut self,
        matcher: Matcher,
        detail: Detail,
        transcript: &dyn Transcript,
        now: Duration,
    ) -> (WaitId, Option<Matched>) {
        let id = self.emulator.watch.add(matcher, detail, now);
        let mut matched = Vec::new();
        FeedContext { emulator: &mut self.emulator, transcript, matched: &mut matched, now }
            .look(Occasion::Added);
        (id, matched.pop())
    }

    /// Gives a pending wait up.
    pub fn cancel_wait(&mut self, id: WaitId) -> bool {
        self.emulator.watch.remove(id)
    }

    /// Number of pending waits.
    pub fn pending_waits(&self) -> usize {
        self.emulator.watch.len()
    }

    /// The moment at which silence alone may make a wait true, perhaps past; call
    /// [`Screen::look_at_all`] then.
    pub fn next_due(&self) -> Option<Duration> {
        self.emulator.watch.next_due(self.emulator.last_output)
    }

    /// The process is gone: waits for that match, and those without hope are returned as the second list.
    pub fn process_exited(
        &mut self,
        transcript: &dyn Transcript,
        now: Duration,
    ) -> (Vec<Matched>, Vec<WaitId>) {
        self.emulator.exited = true;
        let matched = self.look_at_all(transcript, now);
        (matched, self.emulator.watch.take_hopeless())
    }

    /// Whether [`Screen::process_exited`] was called.
    pub fn has_exited(&self) -> bool {
        self.emulator.exited
    }

    /// The screen at this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.view(Detail::Cells)
    }

    /// The screen at this moment, or as much of it as is wanted.
    pub fn view(&self, detail: Detail) -> Snapshot {
        self.emulator.snapshot(detail, None)
    }

    /// The screen scrolled back by a number of rows of history, or as many as there are. The alternate
    /// screen has no history.
    pub fn view_at(&self, offset: usize, detail: Detail) -> Snapshot {
        self.emulator.snapshot_back(offset, detail)
    }

    /// How far to scroll back so that this row, or the oldest there is, comes first; 0 for the live screen.
    pub fn offset_of(&self, first_row: u64) -> usize {
        let back = self.first_row().saturating_sub(first_row);
        usize::try_from(back).unwrap_or(usize::MAX).min(self.emulator.history_len())
    }

    /// The pointer's shape as the program wants it.
    pub fn pointer(&self) -> PointerShape {
        self.emulator.shadow.pointer
    }

    /// Bytes to write to the program that a resize brought about.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.emulator.replies)
    }

    /// The screen as text: wrapped rows joined, trailing blank rows dropped.
    pub fn plain_text(&self) -> String {
        self.emulator.plain_text()
    }

    /// Raised by every chunk of output and every resize.
    pub fn sequence(&self) -> u64 {
        self.emulator.sequence
    }

    /// Lifts the sequence number, so that it never falls back after a replay.
    pub fn raise_sequence(&mut self, to: u64) {
        self.emulator.sequence = self.emulator.sequence.max(to);
    }

    pub fn size(&self) -> ScreenSize {
        self.emulator.size
    }

    pub fn cursor(&self) -> Cursor {
        self.emulator.cursor()
    }

    /// Modes a program has turned on.
    pub fn modes(&self) -> Modes {
        self.emulator.modes()
    }

    /// The title, if one was set.
    pub fn title(&self) -> Option<&str> {
        self.emulator.shadow.title.as_deref()
    }

    /// Rows of history kept above the screen.
    pub fn history_len(&self) -> usize {
        self.emulator.history.len()
    }

    /// Number of the first row on the screen; history rows have smaller numbers, which never change.
    pub fn first_row(&self) -> u64 {
        self.emulator.history.next()
    }

    /// Number of the oldest row that is kept.
    pub fn oldest_row(&self) -> u64 {
        self.first_row() - self.emulator.history.len() as u64
    }

    /// The newest `max_rows` rows of history and the screen as text, wrapped rows joined.
    pub fn text_with_history(&self, max_rows: usize) -> String {
        let next = self.emulator.history.next();
        let rows = self.emulator.history.rows(next.saturating_sub(max_rows as u64), next);
        let mut out = String::new();
        join_rows(rows.iter().map(Vec::as_slice), &mut out);
        join_rows((0..self.emulator.rows()).map(|row| self.emulator.row(row)), &mut out);
        out.truncate(out.trim_end_matches('\n').len());
        out
    }

    /// The text a selection covers, wherever its rows are now.
    pub fn selected_text(&self, selection: &Selection) -> String {
        selection.text(self)
    }

    /// Bytes that paint this screen on any terminal of the same size; see [`crate::ansi`].
    pub fn redraw(&self) -> Vec<u8> {
        crate::ansi::redraw(&self.emulator)
    }

    /// Frees memory that an idle screen does not need.
    pub fn shrink(&mut self) {
        self.emulator.history.shrink();
        self.emulator.replies.shrink_to_fit();
        self.emulator.events.shrink_to_fit();
    }

    /// Whether a checkpoint may be taken now: no sequence, character or synchronized block is half received.
    pub fn can_checkpoint(&self) -> bool {
        self.scanner.is_ground() && self.partial.is_empty() && !self.is_sync_pending()
    }

    /// The whole state as bytes, for [`Screen::restore`].
    pub fn checkpoint(&mut self) -> Vec<u8> {
        crate::checkpoint::save(self)
    }

    /// Rebuilds a screen from a checkpoint; feed it what came after to be where the old one was.
    pub fn restore(
        checkpoint: &[u8],
        config: ScreenConfig,
        blocks: Box<dyn BlockStore>,
    ) -> Result<Screen, Damaged> {
        crate::checkpoint::load(checkpoint, config, blocks)
    }

    /// The colors it shows: what the program set, over the theme.
    pub fn colors(&self) -> &Arc<Colors> {
        &self.emulator.colors
    }

    /// Changes the theme: every color that the program has not set. Gives bytes to write to the program,
    /// if it wants to be told.
    pub fn set_palette(&mut self, palette: Palette) -> Vec<u8> {
        self.emulator.set_theme(palette)
    }

    pub(crate) fn history_rows(
        &self,
        from: u64,
        to: u64,
    ) -> Vec<Vec<alacritty_terminal::term::cell::Cell>> {
        self.emulator.history.rows(from, to)
    }
}

/// A transcript that is not there, for screens that are only replayed.
pub struct NoTranscript;

impl Transcript for NoTranscript {
    fn tail(&self) -> Tail {
        Tail::from("")
    }
}

/// Shares one snapshot of a moment between many readers.
pub type SharedSnapshot = Arc<Snapshot>;
