//! A terminal as a viewer needs it: its screen without a copy, its place in it by row numbers, and
//! whether its program has what was typed.

use rookery_term::{Expand, Link, Place, Screen, Selection};

use super::handle::TerminalHandle;
use super::input::Input;
use crate::log::Shows;

/// A screen and how one looks at it, for as long as it is not changed.
pub struct ScreenView<'a> {
    pub screen: &'a Screen,
    /// Number of the row that is shown first.
    pub top: u64,
    /// Whether the newest rows are shown.
    pub follows: bool,
    /// What is selected.
    pub selection: Option<Selection>,
}

/// Where to go in what a terminal printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollTo {
    /// By rows; negative ones are older.
    By(i64),
    /// To the oldest row.
    Top,
    /// To the newest rows, following the output.
    Bottom,
    /// So that this row is the first.
    Row(u64),
    /// The same, or what is shown now; it stays there whatever is printed, also at the newest rows.
    Hold(Option<u64>),
    PromptBefore,
    PromptAfter,
}

impl TerminalHandle {
    /// Looks at the screen. Short: the terminal waits meanwhile.
    pub fn look<T>(&self, work: impl FnOnce(ScreenView<'_>) -> T) -> T {
        let seat = self.seat();
        self.live().with_engine(|engine| {
            let (display, screen) = engine.display_and_screen(seat);
            let top = display.first_shown(screen);
            let (follows, selection) = (top == screen.first_row(), display.selected_range());
            work(ScreenView { screen, top, follows, selection })
        })
    }

    /// The viewer whose place changed has something else to show.
    pub(super) fn notify_viewer(&self) {
        if self.seat().is_some() {
            self.core().inner.signals.raise(Shows::Seats);
        }
    }

    /// Shows another part of the output.
    pub fn scroll_to(&self, to: ScrollTo) {
        let seat = self.seat();
        self.live().with_engine(|engine| {
            let (display, screen) = engine.display_and_screen(seat);
            let top = display.first_shown(screen);
            let first = screen.first_row();
            let target = match to {
                ScrollTo::By(rows) => top.saturating_add_signed(rows),
                ScrollTo::Top => 0,
                ScrollTo::Bottom => first,
                ScrollTo::Row(row) => row,
                ScrollTo::Hold(row) => row.unwrap_or(top),
                ScrollTo::PromptBefore => screen.prompt_before(top).unwrap_or(top),
                ScrollTo::PromptAfter => screen.prompt_after(top).unwrap_or(first),
            };
            display.show_from(screen, target);
            if matches!(to, ScrollTo::Hold(_)) {
                display.hold(screen);
            }
        });
        self.notify_viewer();
    }

    /// Selects from place to place, both included, grown to whole characters, words or lines; none takes
    /// the selection back. Gives the places as they are settled.
    pub fn select_range(&self, range: Option<Selection>, expand: Expand) -> Option<Selection> {
        let (seat, words) = (self.seat(), self.core().seats().word_chars());
        self.live().with_engine(|engine| {
            let (display, screen) = engine.display_and_screen(seat);
            display.set_selected(range.map(|range| screen.settle(&range, expand, &words)))
        })
    }

    /// The link at a place.
    pub fn link_at(&self, place: Place) -> Option<Link> {
        self.live().with_engine(|engine| engine.screen().link_at(place))
    }

    /// This moment, for [`TerminalHandle::pending_input`].
    pub fn input_mark(&self) -> InputMark {
        InputMark(self.live().input.dropped())
    }

    /// What was typed since a moment, unless the kernel has all of it.
    pub fn pending_input(&self, since: InputMark) -> Option<PendingInput> {
        let pending = PendingInput { handle: self.clone(), since };
        (pending.is_dropped() || self.live().input.is_pending()).then_some(pending)
    }
}

/// A moment in what is typed into a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputMark(u64);

/// What was typed up to some moment and waits for the program.
pub struct PendingInput {
    handle: TerminalHandle,
    since: InputMark,
}

impl PendingInput {
    /// Waits until the kernel has it; false if it was dropped instead, because the program ended.
    pub async fn taken(&self) -> bool {
        let input: &Input = &self.handle.live().input;
        loop {
            let mut room = std::pin::pin!(input.room());
            // Before the look, so that room made in between is not missed.
            room.as_mut().enable();
            if self.is_settled() {
                return !self.is_dropped();
            }
            room.await;
        }
    }

    /// Whether the kernel has it, or never will.
    pub fn is_settled(&self) -> bool {
        self.is_dropped() || !self.handle.live().input.is_pending()
    }

    fn is_dropped(&self) -> bool {
        self.handle.input_mark() != self.since
    }
}
