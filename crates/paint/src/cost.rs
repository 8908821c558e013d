//! What one picture costs, counted on the thread that draws it.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// What it took to draw a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Pieces of text that were put on it.
    pub texts: u64,
    /// Texts of which it was found out anew how much fits their room.
    pub elided: u64,
    /// The time that took.
    pub eliding: Duration,
    /// The time it took to build the tree of what is drawn.
    pub view: Duration,
}

thread_local! {
    static COST: Cell<Cost> = const { Cell::new(Cost {
        texts: 0,
        elided: 0,
        eliding: Duration::ZERO,
        view: Duration::ZERO,
    }) };
}

fn add(change: impl FnOnce(&mut Cost)) {
    COST.with(|cost| {
        let mut now = cost.get();
        change(&mut now);
        cost.set(now);
    });
}

/// A piece of text is drawn.
pub(crate) fn text() {
    add(|cost| cost.texts += 1);
}

/// Finds out how much of a text fits.
pub(crate) fn eliding<T>(work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    add(|cost| {
        cost.elided += 1;
        cost.eliding += started.elapsed();
    });
    done
}

/// Builds the tree.
pub(crate) fn viewing<T>(work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    add(|cost| cost.view += started.elapsed());
    done
}

/// What was counted since this was last asked for.
pub(crate) fn take() -> Cost {
    COST.with(Cell::take)
}
