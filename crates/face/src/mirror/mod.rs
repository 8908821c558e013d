//! What a viewer was sent, put together again.

mod term;

use std::collections::{BTreeMap, BTreeSet};

use rookery_view::link::{
    Bye, CardNews, Clip, Frame, Notice, Opened, Resync, RowsFound, Scene, Shoot, ThreadNews,
    WindowPoints,
};

pub use self::term::MirrorTerm;

/// The daemon's state as one viewer sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mirror {
    /// The number of the last frame.
    n: u64,
    /// The highest input number that the kernel has accepted.
    input: u64,
    scene: Scene,
    terms: BTreeMap<u64, MirrorTerm>,
    /// Terminals of which something is missing, until they come in full.
    lost_terms: BTreeSet<u64>,
    lost_scene: bool,
    /// Parts that came since the scene was lost.
    found: Scene,
}

/// What a frame changed, and what it brought that is no state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// The frame to acknowledge once it is painted; none if it was not applied.
    pub n: Option<u64>,
    /// Whether a part of the scene is new.
    pub scene: bool,
    /// Terminals with something new.
    pub terms: Vec<u64>,
    /// The greatest number of rows of one terminal that are new, for choosing when to paint.
    pub rows: usize,
    /// The highest input number that was accepted, if that is news.
    pub input: Option<u64>,
    /// News of the open thread.
    pub threads: Vec<ThreadNews>,
    /// News of the open card.
    pub cards: Vec<CardNews>,
    /// Notices to show, or to take back.
    pub notices: Vec<Notice>,
    /// What a program put on a clipboard.
    pub clip: Option<Clip>,
    /// Whether the face should come to the front.
    pub raise: bool,
    /// A picture that is asked for.
    pub shoot: Option<Shoot>,
    /// A size that the window is asked to have.
    pub resize: Option<WindowPoints>,
    /// Why the daemon closes the connection.
    pub bye: Option<Bye>,
    /// What must be asked for again.
    pub resync: Resync,
}

impl Mirror {
    /// What a viewer knows once it is open.
    pub fn opened(opened: &Opened) -> Mirror {
        Mirror { scene: opened.scene.clone(), ..Mirror::default() }
    }

    /// The number of the last frame.
    pub fn last(&self) -> u64 {
        self.n
    }

    /// The highest input number that was accepted.
    pub fn input(&self) -> u64 {
        self.input
    }

    /// Everything around terminals.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// A terminal in view.
    pub fn term(&self, terminal: u64) -> Option<&MirrorTerm> {
        self.terms.get(&terminal)
    }

    /// Every terminal that is known.
    pub fn terms(&self) -> impl Iterator<Item = (u64, &MirrorTerm)> {
        self.terms.iter().map(|(terminal, term)| (*terminal, term))
    }

    /// Whether something of a terminal is missing that was asked for again. What is known of it may be
    /// painted meanwhile.
    pub fn is_lost(&self, terminal: u64) -> bool {
        self.lost_terms.contains(&terminal)
    }

    /// Whether parts of the scene are missing that were asked for again.
    pub fn is_scene_lost(&self) -> bool {
        self.lost_scene
    }

    /// Takes a frame over. One that came before is passed over; after one that is missing everything is
    /// asked for again.
    pub fn apply(&mut self, frame: Frame) -> Changed {
        let mut changed = Changed::default();
        if frame.n <= self.n {
            return changed;
        }
        let was_lost = self.lost_scene;
        if frame.n != self.n + 1 {
            self.lost_scene = true;
            self.found = Scene::default();
            self.lost_terms.extend(self.terms.keys());
            changed.resync =
                Resync { scene: true, terms: self.lost_terms.iter().copied().collect() };
        }
        self.n = frame.n;
        changed.n = Some(frame.n);
        if let Some(input) = frame.input.filter(|input| *input > self.input) {
            self.input = input;
            changed.input = Some(input);
        }
        if let Some(scene) = frame.scene {
            changed.scene = true;
            self.take_scene(*scene);
        }
        for entry in frame.terms {
            let terminal = entry.t;
            changed.rows = changed.rows.max(entry.rows.len());
            if self.take_term(entry) {
                changed.terms.push(terminal);
            } else {
                self.lost_terms.insert(terminal);
                if !changed.resync.terms.contains(&terminal) {
                    changed.resync.terms.push(terminal);
                }
            }
        }
        if was_lost && !self.lost_scene {
            // A terminal may have come into view with a frame that is missing.
            let unknown = self.in_panes().filter(|terminal| !self.terms.contains_key(terminal));
            let unknown: Vec<u64> = unknown.collect();
            self.lost_terms.extend(&unknown);
            changed.resync.terms.extend(unknown);
        }
        // One that came in full is not missing after all.
        changed.resync.terms.retain(|terminal| self.lost_terms.contains(terminal));
        changed.threads = frame.threads;
        changed.cards = frame.cards;
        changed.notices = frame.notices;
        (changed.clip, changed.raise, changed.bye) = (frame.clip, frame.raise, frame.bye);
        (changed.shoot, changed.resize) = (frame.shoot, frame.resize);
        changed
    }

    fn take_scene(&mut self, scene: Scene) {
        if self.lost_scene {
            // A large one comes in several frames.
            self.found.apply(scene.clone());
            self.lost_scene = !is_whole(&self.found);
        }
        if !self.lost_scene {
            self.found = Scene::default();
        }
        let has_panes = scene.panes.is_some();
        self.scene.apply(scene);
        if has_panes {
            // Those that come back come in full.
            let shown: BTreeSet<u64> = self.in_panes().collect();
            self.retain(|terminal| shown.contains(&terminal));
        }
    }

    /// The terminals that the scene says are in view.
    fn in_panes(&self) -> impl Iterator<Item = u64> + '_ {
        let panes = self.scene.panes.as_ref().and_then(Option::as_ref);
        panes.into_iter().flat_map(|panes| panes.areas.iter().map(|area| area.t))
    }

    /// Whether an entry could be taken over.
    fn take_term(&mut self, entry: rookery_view::link::Term) -> bool {
        let terminal = entry.t;
        if entry.full {
            return match MirrorTerm::begin(entry) {
                Some(term) => {
                    self.terms.insert(terminal, term);
                    self.lost_terms.remove(&terminal);
                    true
                }
                None => false,
            };
        }
        if self.lost_terms.contains(&terminal) {
            return false;
        }
        self.terms.get_mut(&terminal).is_some_and(|term| term.apply(entry))
    }

    /// Takes over the styles that came with rows outside of the view; false if the rows are of another
    /// epoch and must not be shown.
    pub fn take_rows(&mut self, terminal: u64, found: &RowsFound) -> bool {
        match self.terms.get_mut(&terminal) {
            Some(term) if term.epoch == found.epoch => {
                term.learn(&found.styles, &found.links);
                true
            }
            _ => false,
        }
    }

    /// Forgets terminals that are not shown any more.
    fn retain(&mut self, is_shown: impl Fn(u64) -> bool) {
        self.terms.retain(|terminal, _| is_shown(*terminal));
        self.lost_terms.retain(|terminal| is_shown(*terminal));
    }
}

/// Whether every part is there, as after a resync.
fn is_whole(scene: &Scene) -> bool {
    scene.page.is_some()
        && scene.title.is_some()
        && scene.status.is_some()
        && scene.theme.is_some()
        && scene.sidebar.is_some()
        && scene.strip.is_some()
        && scene.panes.is_some()
        && scene.palette.is_some()
        && scene.inbox.is_some()
        && scene.dialog.is_some()
        && scene.toasts.is_some()
}
