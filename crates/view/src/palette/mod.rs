//! The palette: one for all, a stack of filtered lists.
//!
//! Core owns a [`Palette`], hands in facts as [`Content`] and carries out the [`Effect`]s it gets
//! back. Nothing here runs, reads or waits; a list that takes time is asked for with a [`Ticket`]
//! and used only if the frame that asked is still showing.

pub mod agents;
mod content;
pub mod filter;
pub mod launch;
pub mod provider;
mod row;
mod shown;

pub use agents::{AgentInput, Metrics};
pub use content::{Answer, Content, INBOX_ROWS, InboxEntry, Question};
pub use row::AgentDetail;
pub use shown::{Frame, Item, PaletteState};

use rookery_model::TerminalId;

use self::provider::{Listing, Phase};
use self::row::{Row, Target};
use self::shown::Shown;
use crate::keys::Action;
use crate::scene::PaletteOverlay;
use crate::settings::{Command, Provider};

/// Providers may lead deeper and deeper; at this depth a list replaces the one before it.
const DEEPEST: usize = 64;

/// Which frame of which opening asked for something, and for the how-manieth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    session: u64,
    serial: u64,
    run: u64,
}

/// What the owner must do after an operation, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Run an action, as its key would. The palette is closed.
    Run(Action),
    /// Gather the frame's content and hand it to [`Palette::push`]. The palette stays.
    Drill {
        /// The frame to fill.
        frame: Frame,
        /// To be given back.
        ticket: Ticket,
    },
    /// Show this theme until it is applied or reverted.
    PreviewTheme(String),
    /// Show this font until it is applied or reverted.
    PreviewFont(String),
    /// Show this theme again, the preview is over.
    RevertTheme(String),
    /// Show this font again, the preview is over.
    RevertFont(String),
    /// Use this theme and write it into the settings. The palette is closed.
    ApplyTheme(String),
    /// Use this font and write it into the settings. The palette is closed.
    ApplyFont(String),
    /// Focus this tab and clear its notification. The palette is closed.
    FocusTab(TerminalId),
    /// Open a tab for this command. The palette is closed.
    Launch(Box<Command>),
    /// Run a provider and hand what it gave to [`Palette::provided`]. The palette stays. An earlier
    /// run that is still under way will not be used any more.
    RunProvider(Box<ProviderCall>),
    /// Answer the question of this session. The palette is closed.
    Picked {
        /// What [`Palette::ask`] returned.
        session: u64,
        /// The chosen row.
        id: String,
    },
    /// Tell the asker of this session that nothing was chosen.
    Dismissed {
        /// What [`Palette::ask`] returned.
        session: u64,
    },
}

/// A provider to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderCall {
    /// To be given back.
    pub ticket: Ticket,
    /// Which one.
    pub provider: Provider,
    /// What it shall do.
    pub phase: Phase,
    /// What stood in the filter.
    pub query: String,
}

/// There is no visible row with this id, or no palette at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such row in the palette")]
pub struct NoSuchRow;

/// The palette, open or closed.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// Counts openings, so that late results find out they are late.
    session: u64,
    next_serial: u64,
    /// Numbers the lists of providers within a session.
    lists: u64,
    stack: Vec<Shown>,
}

impl Palette {
    /// Opens a frame in place of whatever is open.
    pub fn open(&mut self, content: &Content) -> Vec<Effect> {
        let effects = self.begin();
        let shown = Shown::of_content(self.serial(), content);
        self.stack.push(shown);
        effects
    }

    /// Opens a question in place of whatever is open; the number names it in later effects.
    pub fn ask(&mut self, question: &Question) -> (u64, Vec<Effect>) {
        let effects = self.begin();
        let shown = Shown::new(self.serial(), Frame::Present, question.prompt(), question.rows());
        self.stack.push(shown);
        (self.session, effects)
    }

    fn begin(&mut self) -> Vec<Effect> {
        let effects = self.dismiss();
        self.session += 1;
        self.lists = 0;
        effects
    }

    fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    /// Puts the frame that [`Effect::Drill`] asked for on top. Too late is no error and does nothing.
    pub fn push(&mut self, ticket: Ticket, content: &Content) -> bool {
        if !self.is_current(ticket) {
            return false;
        }
        let shown = Shown::of_content(self.serial(), content);
        self.stack.push(shown);
        true
    }

    /// Whether the frame that got this ticket still shows and has asked for nothing since.
    pub fn is_current(&self, ticket: Ticket) -> bool {
        let top = self.stack.last();
        self.session == ticket.session
            && top.is_some_and(|top| top.serial == ticket.serial && top.run == ticket.run)
    }

    /// Takes new facts for the frames of this kind that are open: query and selected row stay.
    pub fn refresh(&mut self, content: &Content) -> Vec<Effect> {
        let selected = self.stack.last().and_then(Shown::selected_id);
        for shown in self.stack.iter_mut().filter(|shown| shown.frame == content.frame()) {
            shown.replace(content);
        }
        // The selection did not move, so a preview changes only if the selected row went away.
        let is_same = selected == self.stack.last().and_then(Shown::selected_id);
        if is_same { Vec::new() } else { self.preview() }
    }

    /// Whether a frame of this kind is open, so that its facts are worth gathering.
    pub fn has(&self, frame: Frame) -> bool {
        self.stack.iter().any(|shown| shown.frame == frame)
    }

    /// Filters the frame on top and selects its first row. Nothing happens while closed.
    pub fn query(&mut self, query: &str) -> Vec<Effect> {
        if let Some(top) = self.stack.last_mut() {
            top.set_query(query);
        }
        self.preview()
    }

    /// Selects a visible row by its place; past the end is the last one.
    pub fn select(&mut self, place: usize) -> Vec<Effect> {
        if let Some(top) = self.stack.last_mut() {
            top.select(place);
        }
        self.preview()
    }

    /// Moves the selection by a number of rows, and stops at the ends.
    pub fn move_by(&mut self, rows: isize) -> Vec<Effect> {
        let place = self.stack.last().map_or(0, |top| top.selection.saturating_add_signed(rows));
        self.select(place)
    }

    fn preview(&mut self) -> Vec<Effect> {
        self.stack.last_mut().and_then(Shown::preview).into_iter().collect()
    }

    /// Acts on the visible row with this id.
    pub fn activate(&mut self, id: &str) -> Result<Vec<Effect>, NoSuchRow> {
        let top = self.stack.last().ok_or(NoSuchRow)?;
        let place = top.place_of(id).ok_or(NoSuchRow)?;
        self.activate_place(place)
    }

    /// Acts on the selected row.
    pub fn activate_selected(&mut self) -> Result<Vec<Effect>, NoSuchRow> {
        let place = self.stack.last().ok_or(NoSuchRow)?.selection;
        self.activate_place(place)
    }

    fn activate_place(&mut self, place: usize) -> Result<Vec<Effect>, NoSuchRow> {
        let top = self.stack.last_mut().ok_or(NoSuchRow)?;
        let row = top.row_at(place).ok_or(NoSuchRow)?.clone();
        if row.is_actionable() {
            top.selection = place;
        }
        Ok(self.act(row))
    }

    fn act(&mut self, row: Row) -> Vec<Effect> {
        match row.target {
            Target::Still => Vec::new(),
            Target::Drill(frame) => match self.new_ticket() {
                Some(ticket) => vec![Effect::Drill { frame, ticket }],
                None => Vec::new(),
            },
            Target::List(provider) => self.call(*provider, Phase::List),
            Target::ProviderItem => match self.stack.last().and_then(|top| top.provider.clone()) {
                Some(provider) => self.call(provider, Phase::Activate { id: row.id }),
                None => Vec::new(),
            },
            Target::Run(action) => self.finish(Effect::Run(action)),
            Target::Theme(name) => self.finish(Effect::ApplyTheme(name)),
            Target::Font(name) => self.finish(Effect::ApplyFont(name)),
            Target::Tab(tab) => self.finish(Effect::FocusTab(tab)),
            Target::Launch(command) => self.finish(Effect::Launch(command)),
            Target::Pick => self.finish(Effect::Picked { session: self.session, id: row.id }),
        }
    }

    /// Closes without dismissing anything, because something was chosen.
    fn finish(&mut self, effect: Effect) -> Vec<Effect> {
        self.stack.clear();
        vec![effect]
    }

    fn new_ticket(&mut self) -> Option<Ticket> {
        let top = self.stack.last_mut()?;
        top.run += 1;
        Some(Ticket { session: self.session, serial: top.serial, run: top.run })
    }

    fn call(&mut self, provider: Provider, phase: Phase) -> Vec<Effect> {
        let Some(ticket) = self.new_ticket() else { return Vec::new() };
        let query = self.stack.last().map(|top| top.query.clone()).unwrap_or_default();
        vec![Effect::RunProvider(Box::new(ProviderCall { ticket, provider, phase, query }))]
    }

    /// Takes what a provider gave. Too late does nothing; an activation without rows closes.
    pub fn provided(
        &mut self,
        call: &ProviderCall,
        result: Result<Listing, String>,
    ) -> Vec<Effect> {
        if !self.is_current(call.ticket) {
            return Vec::new();
        }
        let is_last_step = matches!(call.phase, Phase::Activate { .. });
        if is_last_step && result.as_ref().is_ok_and(|listing| listing.items.is_empty()) {
            return self.dismiss();
        }
        self.lists += 1;
        let placeholder = match &result {
            Ok(Listing { placeholder: Some(words), .. }) => words.clone(),
            _ => call.provider.title.clone(),
        };
        let rows = provider::rows(result, call.provider.limit);
        let frame = Frame::Provider(self.lists);
        let mut shown = Shown::new(self.serial(), frame, &placeholder, rows);
        shown.provider = Some(call.provider.clone());
        if self.stack.len() >= DEEPEST {
            self.stack.pop();
        }
        self.stack.push(shown);
        Vec::new()
    }

    /// Goes back one frame, or closes at the first.
    pub fn back(&mut self) -> Vec<Effect> {
        if self.stack.len() <= 1 {
            return self.dismiss();
        }
        self.stack.pop().and_then(|shown| shown.revert()).into_iter().collect()
    }

    /// Closes; previews are reverted and an asker is notified.
    pub fn dismiss(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(shown) = self.stack.pop() {
            effects.extend(shown.revert());
            if shown.frame == Frame::Present {
                effects.push(Effect::Dismissed { session: self.session });
            }
        }
        effects
    }

    /// Closes if this session still shows, as when its asker has gone.
    pub fn dismiss_session(&mut self, session: u64) -> Vec<Effect> {
        if self.session == session { self.dismiss() } else { Vec::new() }
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        !self.stack.is_empty()
    }

    /// Which opening this is; a later one has a higher number.
    pub fn session(&self) -> u64 {
        self.session
    }

    /// What a painter draws of it; none while closed.
    pub fn overlay(&self) -> Option<PaletteOverlay> {
        self.stack.last().map(Shown::overlay)
    }

    /// What shows.
    pub fn state(&self) -> PaletteState {
        self.stack.last().map(Shown::state).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
