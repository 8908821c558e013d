//! Waiting for conditions without an event: check, pause, check again, fail at the timeout.

use std::thread;
use std::time::{Duration, Instant};

/// How long to rest between two looks.
const REST: Duration = Duration::from_millis(4);

/// The first value that `look` finds; panics if there is none within `patience`.
#[track_caller]
pub fn eventually<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited {patience:?} in vain until {what}");
        // This thread is never unparked; parking is only a pause.
        thread::park_timeout(REST);
    }
}

/// Waits until `condition` holds; panics if it does not within `patience`.
#[track_caller]
pub fn wait_until(what: &str, patience: Duration, mut condition: impl FnMut() -> bool) {
    eventually(what, patience, || condition().then_some(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_is_looked_at_until_it_holds() {
        let mut looks = 0;
        wait_until("the third look", Duration::from_secs(10), || {
            looks += 1;
            looks == 3
        });
        assert_eq!(looks, 3);
    }

    #[test]
    #[should_panic(expected = "in vain until pigs fly")]
    fn patience_ends() {
        wait_until("pigs fly", Duration::from_millis(10), || false);
    }
}
