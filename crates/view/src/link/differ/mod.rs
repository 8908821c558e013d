//! What a viewer is to be sent, given what it was sent before.
//!
//! The pure half of the daemon's side: no sockets, no clocks, no pace. A connection keeps order, so a
//! frame is the difference to the frame before it; acknowledgments only say how many may be on their
//! way. The mirror in `crates/face` is the other end.

mod row;
mod styles;
mod term;

use std::collections::{BTreeMap, BTreeSet};

use self::styles::Numbers;
use self::term::Sent;
pub use self::term::{Mask, TermNow};
use super::{Frame, Resync, RowsFound, Scene, bound};

/// What one viewer was sent.
#[derive(Debug, Default)]
pub struct Differ {
    /// The number of the last frame.
    n: u64,
    acknowledged: u64,
    input: u64,
    check: bool,
    scene: Scene,
    /// Whether the scene is to be sent whole.
    scene_lost: bool,
    /// Whether parts of it are still to be sent.
    is_scene_behind: bool,
    terms: BTreeMap<u64, Sent>,
    numbers: Numbers,
    /// Whether numbers were begun anew and the viewer does not have all of the view since.
    is_renumbering: bool,
    /// The frame in the making.
    draft: Frame,
    /// Bytes of rows that it may still take.
    room: usize,
}

impl Differ {
    /// A viewer that was just opened and knows this scene. With `check`, checksums go with the rows.
    pub fn new(scene: Scene, check: bool) -> Differ {
        let room = bound::FRAME_ROW_BYTES;
        Differ { scene, check, room, is_renumbering: true, ..Differ::default() }
    }

    /// Whether another frame may be sent now.
    pub fn may_send(&self) -> bool {
        self.n - self.acknowledged < bound::FRAMES_IN_FLIGHT
    }

    /// The number of the last frame.
    pub fn last(&self) -> u64 {
        self.n
    }

    /// The viewer has painted a frame, and those before it. False for one that was never sent.
    pub fn acknowledge(&mut self, n: u64) -> bool {
        if n > self.n {
            return false;
        }
        self.acknowledged = self.acknowledged.max(n);
        true
    }

    /// The viewer has lost track of these.
    pub fn resync(&mut self, lost: &Resync) {
        self.scene_lost |= lost.scene;
        for terminal in &lost.terms {
            self.terms.remove(terminal);
        }
    }

    /// Terminals outside of the view are forgotten; when they come back they are sent in full.
    pub fn retain(&mut self, in_view: &BTreeSet<u64>) {
        self.terms.retain(|terminal, _| in_view.contains(terminal));
    }

    /// Puts the parts of the scene into the draft that the viewer does not know.
    pub fn scene(&mut self, now: &Scene) {
        let known = if std::mem::take(&mut self.scene_lost) {
            Scene::default()
        } else {
            std::mem::take(&mut self.scene)
        };
        let mut news = now.since(&known);
        self.is_scene_behind = news.shrink(bound::SCENE_BYTES);
        self.scene = match self.is_scene_behind {
            true => {
                let mut told = known;
                told.apply(news.clone());
                told
            }
            false => now.clone(),
        };
        if let Some(panes) = &news.panes {
            // The mirror forgets what these do not name.
            let in_view = panes.iter().flat_map(|panes| &panes.areas).map(|area| area.t);
            self.retain(&in_view.collect());
        }
        if !news.is_empty() {
            self.draft.scene.get_or_insert_with(Box::default).apply(news);
        }
    }

    /// Whether parts of the scene are left that had no room in the last frame.
    pub fn is_scene_behind(&self) -> bool {
        self.is_scene_behind
    }

    /// Puts what is new about a terminal into the draft. Rows beyond the bound of a frame wait for the
    /// next: see [`Differ::is_behind`].
    pub fn term(&mut self, now: &TermNow<'_>) {
        let sent = self.terms.entry(now.t).or_default();
        let entry = sent.diff(now, &mut self.numbers, &mut self.room, self.check);
        self.draft.terms.extend(entry);
    }

    /// Rows of a terminal in view by their numbers, for `view/rows`. Styles that are new to the viewer
    /// come with them. Nothing if the epoch is another by now, or the terminal is not in view.
    pub fn rows(&mut self, now: &TermNow<'_>, epoch: u64, from: u64, count: u64) -> RowsFound {
        let count = count.min(bound::ROWS);
        let found = RowsFound { epoch: now.screen.epoch(), ..RowsFound::default() };
        if found.epoch != epoch {
            return found;
        }
        let Some(sent) = self.terms.get_mut(&now.t) else { return found };
        sent.rows(now, from..from.saturating_add(count), &mut self.numbers, found)
    }

    /// Rows that are held for comparing: never more than the viewer shows.
    pub fn rows_held(&self) -> usize {
        self.terms.values().map(Sent::rows_held).sum()
    }

    /// Whether something is left that had no room in the last frame: rows, or numbers for styles.
    pub fn is_behind(&self) -> bool {
        self.is_scene_behind
            || self.numbers.are_used_up()
            || self.terms.values().any(Sent::is_behind)
    }

    /// Whether there is anything in the draft.
    pub fn has_news(&self) -> bool {
        !self.draft.is_empty()
    }

    /// Ends the draft: gives the frame to send, or nothing if there is nothing new. `rest` has what is no
    /// state to be compared: threads, cards, notices, clip, raise, shoot, resize and bye. Input that was accepted is told
    /// even if nothing else is new, and the first frame is always sent.
    pub fn finish(&mut self, input: u64, rest: Frame) -> Option<Frame> {
        let mut frame = std::mem::take(&mut self.draft);
        self.room = bound::FRAME_ROW_BYTES;
        if self.numbers.are_used_up() && !self.is_renumbering {
            // Numbers begin again with the next frame, so every terminal does.
            self.numbers = Numbers::default();
            self.terms.values_mut().for_each(Sent::forget);
            self.is_renumbering = true;
        } else {
            // A view that needs more than there are has to do without: beginning anew would not help.
            self.numbers.do_without();
            self.is_renumbering &= self.is_behind();
        }
        let Frame { threads, cards, notices, clip, raise, shoot, resize, bye, .. } = rest;
        (frame.threads, frame.cards, frame.notices) = (threads, cards, notices);
        (frame.clip, frame.raise, frame.shoot, frame.bye) = (clip, raise, shoot, bye);
        frame.resize = resize;
        if input > self.input {
            self.input = input;
            frame.input = Some(input);
        }
        if frame.is_empty() && self.n > 0 {
            return None;
        }
        self.n += 1;
        frame.n = self.n;
        Some(frame)
    }
}
