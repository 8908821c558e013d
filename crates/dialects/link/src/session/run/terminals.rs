//! What a frame has of terminals: rows that changed, whose their size is, how they ended, and what
//! searches found.

use rookery_core::{ScreenView, TerminalHandle};
use rookery_model::ExitStatus;
use rookery_view::link::differ::TermNow;
use rookery_view::link::{Ended, Owner};

use super::Runner;
use crate::ops::terminal::go_on;
use crate::session::rows::Masked;

/// A terminal that is reported.
struct Shown {
    handle: TerminalHandle,
    owner: Option<Owner>,
    ended: Option<Ended>,
}

fn range(looked: &ScreenView<'_>) -> std::ops::Range<u64> {
    looked.top..looked.top + u64::from(looked.screen.size().rows)
}

fn ended(status: ExitStatus) -> Ended {
    match status {
        ExitStatus::Code(code) => Ended { code: Some(code), ..Ended::default() },
        ExitStatus::Signal(signal) => Ended { signal: Some(signal), ..Ended::default() },
        ExitStatus::Unknown => Ended::default(),
    }
}

impl Runner {
    /// Rows that changed since the last frame.
    pub(super) fn touched(&self) -> usize {
        let shown = self.shown().into_iter().filter_map(|id| self.core.terminals().get(id).ok());
        shown.map(|handle| self.touched_in(&handle.seen_by(self.viewer))).sum()
    }

    /// Rows of one terminal that changed since the last frame.
    pub(super) fn touched_in(&self, handle: &TerminalHandle) -> usize {
        handle.look(|looked| {
            let (mark, mut count) = (self.marks.get(&handle.id()).copied(), 0);
            looked.screen.rows_since(mark, range(&looked), &mut |_| count += 1);
            count
        })
    }

    fn terminals(&self) -> Vec<Shown> {
        let (viewers, _) = self.core.seats().viewers();
        let shown = self.shown().into_iter().filter_map(|id| {
            let handle = self.core.terminals().get(id).ok()?.seen_by(self.viewer);
            let owner = self.core.seats().size_owner(id);
            let owner = owner.and_then(|owner| viewers.iter().find(|viewer| viewer.id == owner));
            let owner = owner.map(|viewer| Owner {
                viewer: viewer.id.get(),
                name: viewer.name.clone(),
                mine: viewer.id == self.viewer,
            });
            let ended = handle.progress().borrow().exit.map(ended);
            Some(Shown { handle, owner, ended })
        });
        shown.collect()
    }

    /// Puts what is new of terminals into the frame.
    pub(super) fn send_terminals(&mut self) {
        let shown = self.terminals();
        let ids = shown.iter().map(|one| one.handle.id().get()).collect();
        self.session.look(|state| state.differ.retain(&ids));
        self.marks.retain(|id, _| ids.contains(&id.get()));
        for Shown { handle, owner, ended } in shown {
            let has_changed = self.touched_in(&handle) > 0;
            let found = self.found.remove(&handle.id());
            let mark = self.session.look(|state| {
                state.typed.take_if(|typed| has_changed && *typed == handle.id());
                handle.look(|looked| {
                    let screen = looked.screen;
                    let masked = match self.opened.redacts {
                        true => Masked::of(screen, range(&looked)),
                        false => Masked::default(),
                    };
                    let mask = |number: u64| masked.row(number, screen.size().cols);
                    state.differ.term(&TermNow {
                        t: handle.id().get(),
                        screen,
                        top: Some(looked.top).filter(|_| !looked.follows),
                        ended,
                        owner,
                        found,
                        mask: self.opened.redacts.then_some(&mask),
                    });
                    screen.mark()
                })
            });
            self.marks.insert(handle.id(), mark);
        }
    }

    /// Goes on with searches that were not done in one step.
    pub(super) async fn find(&mut self) {
        self.found.clear();
        let (finders, searches) =
            self.session.look(|state| (std::mem::take(&mut state.finds), state.searches.clone()));
        for (id, search) in finders {
            let Ok(handle) = self.core.terminals().get(id) else { continue };
            let Ok((found, search)) = go_on(&handle, search).await else { continue };
            // One that began meanwhile takes its place, and nothing more is shown of this one.
            let is_latest = self.session.look(|state| {
                let is_latest = state.searches.get(&id) == searches.get(&id);
                if is_latest && found.more {
                    state.finds.insert(id, search);
                }
                is_latest
            });
            if is_latest {
                self.is_due |= found.more;
                self.found.insert(id, found);
            }
        }
    }
}
