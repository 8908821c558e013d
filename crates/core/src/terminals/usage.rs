//! When a terminal was last used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::live::Live;
use crate::clock;
use crate::rooms::Terminals;

/// Remembers when a terminal was last used, to the second.
#[derive(Default)]
pub(crate) struct Usage(AtomicU64);

impl Usage {
    /// Notes a use; true if it is the first in a while.
    fn note(&self, now: Duration) -> bool {
        let second = now.as_secs() + 1;
        self.0.swap(second, Ordering::Relaxed) != second
    }
}

impl Terminals {
    /// Notes input to a terminal. Told to the world at most once a second, and stored only when
    /// the terminal is stored anyway.
    pub(super) fn was_used(&self, live: &Live) {
        if !live.usage.note(live.clock.now()) {
            return;
        }
        let noted = self.core.transact(|tx| {
            tx.world.terminal_mut(live.id)?.last_active = clock::wall();
            Ok(())
        });
        if let Err(error) = noted {
            tracing::debug!(%error, terminal = %live.id, "the use of a terminal was not noted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_within_a_second_count_once() {
        let usage = Usage::default();
        let noted = [0, 10, 999, 1_000, 1_500, 5_000]
            .map(|millis| usage.note(Duration::from_millis(millis)));
        assert_eq!(noted, [true, false, false, true, false, true]);
    }
}
