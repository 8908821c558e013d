//! Pending waits on one screen, matched on what changed.
//!
//! The emulator calls in before it destroys anything that was not looked at
//! yet, and at the end of every feed. So a text that is shown and wiped within
//! one chunk of output is still seen, and nothing is ever polled.

use std::sync::Arc;
use std::time::Duration;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::matcher::{Matcher, Needs};
use crate::snapshot::{Detail, Snapshot};
use crate::tail::Tail;

/// From this many needles on, one automaton is cheaper than one search each.
const AUTOMATON_FROM: usize = 4;

/// Names a pending wait on one screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitId(u64);

/// A wait that came true, with the screen of that very moment.
#[derive(Clone, Debug)]
pub struct Matched {
    /// Which wait.
    pub id: WaitId,
    /// The screen when it came true.
    pub snapshot: Arc<Snapshot>,
    /// The tail of the transcript then.
    pub transcript_tail: Tail,
    /// How long nothing had been printed, counted from the start of the wait at the earliest.
    pub stable_for: Duration,
    /// Whether the process was gone.
    pub exited: bool,
    /// Characters ever written up to then.
    pub chars_written: u64,
}

struct Waiter {
    id: WaitId,
    matcher: Matcher,
    detail: Detail,
    needs: Needs,
    started: Duration,
    /// When it was last judged as a whole; silence that was long enough by then has been seen.
    judged: Duration,
}

/// A wait that holds: which, since when, and what it wants to see.
pub(crate) struct Done {
    pub(crate) id: WaitId,
    pub(crate) started: Duration,
    pub(crate) detail: Detail,
}

/// All pending waits on one screen.
#[derive(Default)]
pub(crate) struct WatchSet {
    next_id: u64,
    waiters: Vec<Waiter>,
    index: Option<NeedleIndex>,
}

/// One automaton over the needles of all waiters.
struct NeedleIndex {
    automaton: Option<AhoCorasick>,
    /// Needle and the waiter it belongs to, by position.
    needles: Vec<(String, usize)>,
}

/// Why a look is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Something is about to be destroyed or a feed ended; only these lines changed.
    Changed,
    /// A feed ended: the transcript grew as well.
    FeedEnded,
    /// Time passed, or the process ended: anything may hold now.
    Anything,
    /// A wait was added: only that one is judged.
    Added,
}

impl WatchSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiters.len()
    }

    pub(crate) fn add(&mut self, matcher: Matcher, detail: Detail, now: Duration) -> WaitId {
        let id = WaitId(self.next_id);
        self.next_id += 1;
        let needs = matcher.needs();
        self.waiters.push(Waiter { id, matcher, detail, needs, started: now, judged: now });
        self.index = None;
        id
    }

    pub(crate) fn remove(&mut self, id: WaitId) -> bool {
        let before = self.waiters.len();
        self.waiters.retain(|waiter| waiter.id != id);
        self.index = None;
        self.waiters.len() != before
    }

    /// Waits that cannot come true any more once the process is gone.
    pub(crate) fn take_hopeless(&mut self) -> Vec<WaitId> {
        let hopeless = self.waiters.iter().filter(|waiter| waiter.needs.stable.is_empty());
        let ids: Vec<WaitId> = hopeless.map(|waiter| waiter.id).collect();
        self.waiters.retain(|waiter| !waiter.needs.stable.is_empty());
        self.index = None;
        ids
    }

    /// The moment at which silence alone could make a wait true. It may have passed already: what
    /// counts is that the wait was not judged since.
    pub(crate) fn next_due(&self, last_output: Duration) -> Option<Duration> {
        self.waiters
            .iter()
            .flat_map(|waiter| {
                let since = waiter.started.max(last_output);
                let dues = waiter.needs.stable.iter().map(move |min| since.saturating_add(*min));
                dues.filter(|due| *due > waiter.judged)
            })
            .min()
    }

    /// Whether the changed lines must be rendered as text for a look.
    pub(crate) fn wants_lines(&self) -> bool {
        self.waiters
            .iter()
            .any(|waiter| !waiter.needs.needles.is_empty() || !waiter.needs.patterns.is_empty())
    }

    /// Takes out the waits that hold now. `lines` is the text of the lines that changed.
    pub(crate) fn look(
        &mut self,
        occasion: Occasion,
        lines: &str,
        now: Duration,
        holds: &dyn Fn(&Matcher, Duration) -> bool,
    ) -> Vec<Done> {
        let candidates = self.candidates(occasion, lines);
        let mut done = Vec::new();
        for index in candidates {
            let waiter = &mut self.waiters[index];
            waiter.judged = now;
            if holds(&waiter.matcher, waiter.started) {
                done.push(Done { id: waiter.id, started: waiter.started, detail: waiter.detail });
            }
        }
        if !done.is_empty() {
            self.waiters.retain(|waiter| done.iter().all(|done| done.id != waiter.id));
            self.index = None;
        }
        done
    }

    /// Positions of the waiters that the change could have made true, ascending.
    fn candidates(&mut self, occasion: Occasion, lines: &str) -> Vec<usize> {
        match occasion {
            Occasion::Anything => return (0..self.waiters.len()).collect(),
            Occasion::Added => return self.waiters.len().checked_sub(1).into_iter().collect(),
            Occasion::Changed | Occasion::FeedEnded => {}
        }
        let mut found = vec![false; self.waiters.len()];
        for (index, waiter) in self.waiters.iter().enumerate() {
            let needs = &waiter.needs;
            found[index] = needs.every_change
                || (needs.transcript && occasion == Occasion::FeedEnded)
                || (!lines.is_empty()
                    && needs.patterns.iter().any(|pattern| pattern.is_match(lines)));
        }
        if !lines.is_empty() {
            self.needle_index().mark(lines, &mut found);
        }
        found.iter().enumerate().filter_map(|(index, hit)| hit.then_some(index)).collect()
    }

    fn needle_index(&mut self) -> &NeedleIndex {
        let waiters = &self.waiters;
        self.index.get_or_insert_with(|| NeedleIndex::build(waiters))
    }
}

impl NeedleIndex {
    fn build(waiters: &[Waiter]) -> NeedleIndex {
        let needles: Vec<(String, usize)> = waiters
            .iter()
            .enumerate()
            .flat_map(|(index, waiter)| {
                waiter.needs.needles.iter().map(move |needle| (needle.clone(), index))
            })
            .collect();
        let automaton = (needles.len() >= AUTOMATON_FROM)
            .then(|| {
                // Only asked whether anything matches, so the kind with the fastest search will do.
                let mut builder = AhoCorasick::builder();
                builder
                    .match_kind(MatchKind::LeftmostFirst)
                    .build(needles.iter().map(|(needle, _)| needle))
                    .ok()
            })
            .flatten();
        NeedleIndex { automaton, needles }
    }

    fn mark(&self, lines: &str, found: &mut [bool]) {
        // Most looks find nothing, so the fast search decides whether each needle is looked for.
        if self.automaton.as_ref().is_some_and(|automaton| !automaton.is_match(lines)) {
            return;
        }
        for (needle, waiter) in &self.needles {
            found[*waiter] |= memchr::memmem::find(lines.as_bytes(), needle.as_bytes()).is_some();
        }
    }
}
