//! What a terminal shows and what happens on it: how far it is scrolled back, what is selected, and
//! what a mouse does. Kept beside the screen, under the same lock.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rookery_model::{Error, Result, ViewerId};
use rookery_term::mouse::{self, MouseButton, MouseEvent, MouseKind};
use rookery_term::{Detail, Modes, Place, Screen, Selection, SelectionKind, Snapshot, Span, paste};

use rookery_view::settings::CopyOnSelect;

use super::composition::Composition;
use super::engine::Engine;
use super::handle::{Seat, TerminalHandle};
use crate::seats::Clipboard;

/// A cell of what is shown, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewCell {
    pub row: u16,
    /// Column.
    pub col: u16,
}

/// How much a repeated click selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    Word,
    Line,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Its text; none if nothing is selected.
    pub text: Option<String>,
    /// Whether the place where it began is shown.
    pub anchor_visible: bool,
    /// Whether its other end is shown.
    pub head_visible: bool,
}

/// What came of something that the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseOutcome {
    /// The program was notified.
    Reported,
    /// Another part of the text is shown.
    Scrolled,
    /// Something was typed in its place.
    Typed,
    /// The selection is another one, or none.
    Selected,
    /// A selection is complete.
    Finished,
    Nothing,
}

/// Presses at one place within this time are one double or triple click.
const DOUBLE_CLICK: Duration = Duration::from_millis(500);

/// How a terminal is looked at, by each who does.
#[derive(Default)]
pub(crate) struct Displays {
    /// In the virtual window of the daemon.
    headless: Display,
    viewers: HashMap<ViewerId, Display>,
}

impl Displays {
    /// How it is looked at from a seat.
    pub(super) fn of(&mut self, seat: Seat) -> &mut Display {
        match seat {
            Some(viewer) => self.viewers.entry(viewer).or_default(),
            None => &mut self.headless,
        }
    }

    /// A viewer is gone. What the desk left is the imagined window's.
    pub(crate) fn forget(&mut self, viewer: ViewerId, was_desk: bool) {
        let display = self.viewers.remove(&viewer);
        if let Some(display) = display.filter(|_| was_desk) {
            self.headless = display;
        }
    }

    /// Lines wrap elsewhere from now on.
    pub(crate) fn rewrapped(&mut self) {
        self.viewers.values_mut().chain([&mut self.headless]).for_each(Display::rewrapped);
    }
}

/// How a terminal is looked at.
#[derive(Default)]
pub(crate) struct Display {
    /// Number of the row shown first while scrolled back; none follows the output.
    top: Option<u64>,
    /// It stays there, also where that is the newest rows.
    is_held: bool,
    selection: Option<Selection>,
    /// Where the button went down that is still held.
    drag: Option<Place>,
    /// The last press: where, when, and how many in a row there were.
    last_press: Option<(Place, Instant, u32)>,
    /// What was last reported of the mouse to the program.
    reported: Option<Reported>,
    pub(super) composition: Composition,
}

/// The place of the mouse as it was reported to a program, and how much of the mouse it wanted then.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reported {
    col: u16,
    row: u16,
    wanted: [bool; 3],
}

impl Display {
    /// Rows scrolled back now.
    fn offset(&self, screen: &Screen) -> usize {
        self.top.map_or(0, |top| screen.offset_of(top))
    }

    fn scroll_to(&mut self, screen: &Screen, offset: usize) {
        let top = screen.first_row().saturating_sub(offset as u64);
        self.top = (screen.offset_of(top) > 0).then_some(top.max(screen.oldest_row()));
        self.is_held = false;
    }

    /// Number of the row that is shown first.
    pub(super) fn first_shown(&self, screen: &Screen) -> u64 {
        screen.first_row() - self.offset(screen) as u64
    }

    /// Shows rows from this one on, as far as there are any.
    pub(super) fn show_from(&mut self, screen: &Screen, row: u64) {
        let offset = screen.first_row().saturating_sub(row);
        self.scroll_to(screen, usize::try_from(offset).unwrap_or(usize::MAX));
    }

    /// What is shown stays, also if it is the newest rows and more come.
    pub(super) fn hold(&mut self, screen: &Screen) {
        self.top = Some(self.first_shown(screen));
        self.is_held = true;
    }

    pub(super) fn selected_range(&self) -> Option<Selection> {
        self.selection
    }

    pub(super) fn set_selected(&mut self, selection: Option<Selection>) -> Option<Selection> {
        (self.selection, self.drag) = (selection, None);
        selection
    }

    /// Shows the newest rows again; false if it did.
    pub(crate) fn follow(&mut self) -> bool {
        self.is_held = false;
        self.top.take().is_some()
    }

    /// How many presses in a row this one at a place is; `told` if who sent it has counted.
    fn presses(&mut self, place: Place, told: u8) -> u32 {
        let now = Instant::now();
        let count = match self.last_press {
            _ if told > 0 => u32::from(told),
            Some((before, at, count)) if before == place && now < at + DOUBLE_CLICK => count + 1,
            _ => 1,
        };
        self.last_press = Some((place, now, count));
        count
    }

    /// Whether a program has to be informed of this. The pointer moves by pixels and a program sees cells:
    /// a motion within the cell that it was sent last is none.
    fn is_news(&mut self, modes: &Modes, event: MouseEvent) -> bool {
        let wanted = [modes.mouse_clicks, modes.mouse_drag, modes.mouse_motion];
        let now = Reported { col: event.col, row: event.row, wanted };
        let before = self.reported.replace(now);
        event.kind != MouseKind::Motion || before != Some(now)
    }

    /// Lines wrap elsewhere from now on, so what was selected is somewhere else.
    pub(crate) fn rewrapped(&mut self) {
        (self.selection, self.drag) = (None, None);
    }

    /// The place of a cell that is shown; cells beyond the edge count as those at it.
    fn place(&self, screen: &Screen, cell: ViewCell) -> Place {
        let size = screen.size();
        let row = cell.row.min(size.rows.saturating_sub(1));
        let first = screen.first_row() - self.offset(screen) as u64;
        Place { row: first + u64::from(row), col: cell.col.min(size.cols.saturating_sub(1)) }
    }

    fn shows(&self, screen: &Screen, place: Place) -> bool {
        let first = screen.first_row() - self.offset(screen) as u64;
        (first..first + u64::from(screen.size().rows)).contains(&place.row)
    }
}

fn text_selection(anchor: Place, head: Place) -> Selection {
    Selection { anchor, head, kind: SelectionKind::Text }
}

fn check_cell(screen: &Screen, field: &'static str, cell: ViewCell) -> Result<()> {
    let size = screen.size();
    if cell.row < size.rows && cell.col < size.cols {
        return Ok(());
    }
    let ViewCell { row, col } = cell;
    let grid = format!("{} rows and {} columns", size.rows, size.cols);
    Err(Error::invalid(field, format!("row {row}, column {col} is outside of {grid}")))
}

impl Engine {
    /// What is shown now.
    fn viewport(&mut self, seat: Seat, detail: Detail) -> Arc<Snapshot> {
        let (display, screen) = self.display_and_screen(seat);
        let offset = display.offset(screen);
        if offset == 0 {
            if !display.is_held {
                display.follow();
            }
            return self.snapshot(detail);
        }
        Arc::new(self.screen().view_at(offset, detail))
    }

    fn scroll(&mut self, seat: Seat, rows: i64) {
        let (display, screen) = self.display_and_screen(seat);
        let offset = i64::try_from(display.offset(screen)).unwrap_or(i64::MAX);
        let target = usize::try_from(offset.saturating_add(rows)).unwrap_or(0);
        display.scroll_to(screen, target);
    }

    fn select(&mut self, seat: Seat, anchor: ViewCell, head: ViewCell) -> Result<()> {
        let (display, screen) = self.display_and_screen(seat);
        check_cell(screen, "anchor", anchor)?;
        check_cell(screen, "cursor", head)?;
        let (anchor, head) = (display.place(screen, anchor), display.place(screen, head));
        display.selection = Some(text_selection(anchor, head));
        Ok(())
    }

    fn selected(&mut self, seat: Seat) -> Selected {
        let (display, screen) = self.display_and_screen(seat);
        let Some(selection) = display.selection else { return Selected::default() };
        Selected {
            text: Some(screen.selected_text(&selection)),
            anchor_visible: display.shows(screen, selection.anchor),
            head_visible: display.shows(screen, selection.head),
        }
    }

    fn expand(
        &mut self,
        seat: Seat,
        cell: ViewCell,
        by: Expansion,
        word_chars: &str,
    ) -> Result<Span> {
        let (display, screen) = self.display_and_screen(seat);
        let field = if cell.row < screen.size().rows { "col" } else { "row" };
        check_cell(screen, field, cell)?;
        let place = display.place(screen, cell);
        let found = match by {
            Expansion::Word => screen.word_at(place, word_chars),
            Expansion::Line => screen.line_at(place.row),
        };
        let span = found.ok_or_else(|| Error::not_found("there is no text at this place"))?;
        display.selection = Some(span.selection());
        Ok(span)
    }

    /// What the mouse does to the selection when the program does not want it.
    fn drag(&mut self, seat: Seat, event: MouseEvent, clicks: u8, words: &str) -> MouseOutcome {
        let (display, screen) = self.display_and_screen(seat);
        let place = display.place(screen, ViewCell { row: event.row, col: event.col });
        match (event.kind, event.button, display.drag) {
            (MouseKind::Press, MouseButton::Left, _) => {
                display.drag = Some(place);
                let presses = display.presses(place, clicks);
                let span = match presses {
                    1 => None,
                    2 => screen.word_at(place, words),
                    _ => screen.line_at(place.row),
                };
                display.selection = span.map(|span| span.selection());
                MouseOutcome::Selected
            }
            // A hand that trembles after a double click does not unselect the word.
            (MouseKind::Motion, _, Some(anchor)) if anchor == place => MouseOutcome::Nothing,
            (MouseKind::Motion, MouseButton::Left | MouseButton::None, Some(anchor)) => {
                display.selection = Some(text_selection(anchor, place));
                MouseOutcome::Selected
            }
            (MouseKind::Release, MouseButton::Left, Some(_)) => {
                display.drag = None;
                let is_any = display.selection.is_some();
                if is_any { MouseOutcome::Finished } else { MouseOutcome::Nothing }
            }
            _ => MouseOutcome::Nothing,
        }
    }
}

impl TerminalHandle {
    /// What is shown now, which may be scrolled back.
    pub fn viewport(&self, detail: Detail) -> Arc<Snapshot> {
        self.live().with_engine(|engine| engine.viewport(self.seat(), detail))
    }

    /// Scrolls back by this number of rows, or forth if it is negative.
    pub fn scroll(&self, rows: i64) {
        self.live().with_engine(|engine| engine.scroll(self.seat(), rows));
        self.notify_viewer();
    }

    /// Shows the newest rows again and follows the output.
    pub fn scroll_to_bottom(&self) {
        let was_back = self.live().with_engine(|engine| engine.displays.of(self.seat()).follow());
        if was_back {
            self.notify_viewer();
        }
    }

    /// Selects from one cell that is shown to another, both included.
    pub fn select(&self, anchor: ViewCell, head: ViewCell) -> Result<()> {
        self.live().with_engine(|engine| engine.select(self.seat(), anchor, head))
    }

    /// Drops the selection, if there is one.
    pub fn clear_selection(&self) {
        self.live().with_engine(|engine| engine.displays.of(self.seat()).rewrapped());
    }

    /// What is selected, wherever it is now.
    pub fn selected(&self) -> Selected {
        self.live().with_engine(|engine| engine.selected(self.seat()))
    }

    /// The selection itself, to be painted.
    pub fn selection(&self) -> Option<Selection> {
        self.live().with_engine(|engine| engine.displays.of(self.seat()).selection)
    }

    /// Selects the word or the line at a cell that is shown; `word_chars` belong to words besides
    /// letters and digits. `NotFound` where there is no text.
    pub fn expand_selection(
        &self,
        cell: ViewCell,
        by: Expansion,
        word_chars: &str,
    ) -> Result<Span> {
        self.live().with_engine(|engine| engine.expand(self.seat(), cell, by, word_chars))
    }

    /// Does what the mouse does: reported to a program that wants it, unless Shift is held; else the
    /// wheel scrolls, the middle button pastes `clipboard` and the left one selects. `clicks` is how many presses
    /// in a row this is; with 0 they are counted here.
    pub fn mouse(
        &self,
        event: MouseEvent,
        clicks: u8,
        clipboard: Option<&str>,
    ) -> Result<MouseOutcome> {
        let modes = self.modes();
        if !event.mods.shift
            && let Some(report) = mouse::encode(&modes, event)
        {
            if !self
                .live()
                .with_engine(|engine| engine.displays.of(self.seat()).is_news(&modes, event))
            {
                return Ok(MouseOutcome::Nothing);
            }
            self.live().send_by_hand(&report)?;
            return Ok(MouseOutcome::Reported);
        }
        if !event.mods.shift && mouse::wants_mouse(&modes) {
            return Ok(MouseOutcome::Nothing);
        }
        let is_press = event.kind == MouseKind::Press;
        match event.button {
            MouseButton::WheelUp | MouseButton::WheelDown if is_press => {
                self.wheel(event.button == MouseButton::WheelUp)
            }
            MouseButton::Middle if is_press => match clipboard {
                Some(text) => {
                    self.paste(&paste::without_markers(text))?;
                    Ok(MouseOutcome::Typed)
                }
                None => Ok(MouseOutcome::Nothing),
            },
            _ => {
                let words = self.core().seats().word_chars();
                let outcome = self
                    .live()
                    .with_engine(|engine| engine.drag(self.seat(), event, clicks, &words));
                if outcome == MouseOutcome::Finished {
                    self.copy_on_select();
                }
                Ok(outcome)
            }
        }
    }

    /// Puts what was just selected where the settings want it.
    fn copy_on_select(&self) {
        let clipboards: &[Clipboard] = match self.core().inner.seats.copy_on_select() {
            CopyOnSelect::Off => &[],
            CopyOnSelect::Selection => &[Clipboard::Selection],
            CopyOnSelect::Clipboard => &[Clipboard::System, Clipboard::Selection],
        };
        let Some(text) = self.selected().text.filter(|text| !text.is_empty()) else { return };
        for clipboard in clipboards {
            if let Err(error) = self.core().seats().set_clipboard(*clipboard, &text) {
                tracing::debug!(%error, "what was selected is not put on the clipboard");
            }
        }
    }

    fn wheel(&self, is_up: bool) -> Result<MouseOutcome> {
        let modes = self.modes();
        let rows = self.core().inner.seats.wheel_rows();
        if let Some(keys) = mouse::wheel_keys(&modes, is_up, rows) {
            self.live().send_by_hand(&keys)?;
            return Ok(MouseOutcome::Typed);
        }
        let rows = i64::from(rows);
        self.scroll(if is_up { rows } else { -rows });
        Ok(MouseOutcome::Scrolled)
    }

    /// Tells a program that wants to know whether its terminal has the keyboard.
    pub fn report_focus(&self, is_focused: bool) -> Result<()> {
        match mouse::focus(&self.modes(), is_focused) {
            Some(report) => self.live().send_by_hand(report),
            None => Ok(()),
        }
    }

    pub fn type_text(&self, text: &str) -> Result<()> {
        self.type_bytes(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rookery_keeper::ring::{self, Ring};
    use rookery_term::mouse::MouseMods;
    use rookery_term::{Palette, ScreenSize};

    use super::super::engine::EngineSettings;
    use super::*;

    fn engine(rows: u16, cols: u16) -> Engine {
        let ring = Ring::open(ring::create(0).unwrap()).unwrap();
        let settings = EngineSettings {
            size: ScreenSize::new(rows, cols),
            scrollback: 100,
            transcript_chars: 1000,
            palette: Palette::default(),
            wants_raw: false,
        };
        Engine::new(ring, settings)
    }

    fn feed(engine: &mut Engine, text: &str) {
        engine.feed(text.as_bytes(), Duration::ZERO);
    }

    fn shown(engine: &mut Engine) -> String {
        engine.viewport(None, Detail::Cells).row_texts().join("|")
    }

    fn event(kind: MouseKind, row: u16, col: u16) -> MouseEvent {
        let mods = MouseMods::default();
        MouseEvent { kind, button: MouseButton::Left, row, col, mods }
    }

    #[test]
    fn what_is_scrolled_back_stays_until_it_leaves_the_history() {
        let mut engine = engine(2, 10);
        feed(&mut engine, "1\r\n2\r\n3\r\n4");
        assert_eq!(shown(&mut engine), "3|4");
        engine.scroll(None, 1);
        assert_eq!(shown(&mut engine), "2|3");
        feed(&mut engine, "\r\n5\r\n6");
        assert_eq!(shown(&mut engine), "2|3");
        engine.scroll(None, i64::MAX);
        assert_eq!(shown(&mut engine), "1|2");
        feed(&mut engine, &"\r\nx".repeat(1000));
        assert_eq!(shown(&mut engine), "x|x");
        engine.scroll(None, i64::MIN);
        assert_eq!(engine.displays.of(None).top, None);
        assert_eq!(engine.viewport(None, Detail::Cells).offset, 0);
    }

    #[test]
    fn the_alternate_screen_is_not_scrolled() {
        let mut engine = engine(2, 10);
        feed(&mut engine, "1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[Halt");
        engine.scroll(None, 1);
        assert_eq!(shown(&mut engine), "alt|");
    }

    #[test]
    fn presses_that_a_face_counted_are_not_counted_again() {
        let mut engine = engine(2, 20);
        feed(&mut engine, "one two\r\nthree");
        let selected = |engine: &mut Engine, clicks| {
            let press = event(MouseKind::Press, 0, 4);
            assert_eq!(engine.drag(None, press, clicks, ""), MouseOutcome::Selected);
            engine.selected(None).text
        };
        assert_eq!(selected(&mut engine, 1), None);
        // However quickly it follows: for this face it is the first.
        assert_eq!(selected(&mut engine, 1), None);
        assert_eq!(selected(&mut engine, 2).as_deref(), Some("two"));
        assert_eq!(selected(&mut engine, 3).as_deref(), Some("one two"));
        // Who does not count has it counted.
        assert_eq!(selected(&mut engine, 1), None);
        assert_eq!(selected(&mut engine, 0).as_deref(), Some("two"));
    }

    #[test]
    fn a_drag_beyond_the_edge_ends_at_it_and_follows_its_text() {
        let mut engine = engine(2, 5);
        feed(&mut engine, "abcde\r\nfgh");
        assert_eq!(engine.drag(None, event(MouseKind::Motion, 0, 1), 0, ""), MouseOutcome::Nothing);
        assert_eq!(engine.drag(None, event(MouseKind::Press, 0, 3), 0, ""), MouseOutcome::Selected);
        assert_eq!(engine.selected(None), Selected::default());
        assert_eq!(
            engine.drag(None, event(MouseKind::Motion, 900, 900), 0, ""),
            MouseOutcome::Selected
        );
        assert_eq!(
            engine.drag(None, event(MouseKind::Release, 900, 900), 0, ""),
            MouseOutcome::Finished
        );
        assert_eq!(engine.selected(None).text.as_deref(), Some("de\nfgh"));
        feed(&mut engine, "\r\nnext");
        let selected = engine.selected(None);
        assert_eq!(selected.text.as_deref(), Some("de\nfgh"));
        assert_eq!((selected.anchor_visible, selected.head_visible), (false, true));
        engine.resize(rookery_model::Size::new(2, 6).unwrap(), Duration::ZERO);
        assert_eq!(engine.selected(None), Selected::default());
    }

    #[test]
    fn output_across_the_end_of_the_ring_is_one_piece() {
        let mut engine = engine(2, 10);
        let piece = vec![b'x'; 9_999];
        for _ in 0..400 {
            engine.feed(&piece, Duration::ZERO);
        }
        feed(&mut engine, "\r\nend");
        assert_eq!(shown(&mut engine), "xxxxxxxxxx|end");
    }
}
