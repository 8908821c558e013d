//! When the next frame may go: never more often than the viewer asked for, but what comes of a key does not wait
//! behind a flood beside it.

use std::time::Duration;

use rookery_core::Progress;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Runner;

/// How long a redraw may take to be whole before it is sent.
const REDRAW: Duration = Duration::from_millis(2);
/// A change of more rows than this is taken to be a redraw.
const FEW_ROWS: usize = 3;

/// The pace of one viewer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    period: Duration,
    /// From when on a frame may go.
    free_at: Option<Instant>,
}

impl Pace {
    pub(super) fn new(fps: u16) -> Pace {
        Pace { period: Duration::from_secs(1) / u32::from(fps.max(1)), free_at: None }
    }

    pub(super) fn period(&self) -> Duration {
        self.period
    }

    /// A frame goes now. One that goes early is paid for by the next, which waits as much longer.
    pub(super) fn sent(&mut self, now: Instant) {
        self.free_at = Some(self.free_at.map_or(now, |free| free.max(now)) + self.period);
    }

    pub(super) fn has_sent(&self) -> bool {
        self.free_at.is_some()
    }

    /// Until when the next frame has to wait; what comes of input may go a period early.
    pub(super) fn wait(&self, now: Instant, is_echo: bool) -> Option<Instant> {
        let early = if is_echo { self.period } else { Duration::ZERO };
        self.free_at.filter(|free| now + early < *free).map(|free| free - early)
    }
}

impl Runner {
    /// Not faster than the viewer asked for, and a redraw not in two. What comes of a key does not wait for
    /// what floods beside it.
    pub(super) async fn wait_for_pace(&mut self) {
        let mut was_early = false;
        while let Some(free) = self.pace.wait(Instant::now(), false) {
            if self.echo().is_none() {
                let typed = self.session.look(|state| state.typed);
                let typed = typed.and_then(|id| self.progress.get_mut(&id));
                tokio::select! {
                    () = sleep_until(free) => {}
                    () = changed(typed) => {}
                    () = self.session.woken() => {}
                }
                self.take_due();
                continue;
            }
            was_early = true;
            match self.pace.wait(Instant::now(), true) {
                Some(early) => sleep_until(early).await,
                None => break,
            }
        }
        let touched = match was_early {
            true => self.echo().unwrap_or(0),
            false => self.touched(),
        };
        // What is around terminals changes in several steps as well: a mood, the request behind it, its notice.
        if self.pace.has_sent() && ((self.is_scene_due && !was_early) || touched > FEW_ROWS) {
            sleep_until(Instant::now() + REDRAW).await;
        }
    }

    /// How many rows changed where a key was typed, if any did that were not sent.
    fn echo(&self) -> Option<usize> {
        let typed = self.session.look(|state| state.typed)?;
        let handle = self.core.terminals().get(typed).ok()?.seen_by(self.viewer);
        Some(self.touched_in(&handle)).filter(|rows| *rows > 0)
    }
}

/// Waits until a terminal that is followed has printed something.
async fn changed(progress: Option<&mut watch::Receiver<Progress>>) {
    if let Some(progress) = progress
        && progress.changed().await.is_ok()
    {
        return;
    }
    // That it is gone is for whoever waits for news.
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);

    #[test]
    fn frames_keep_their_distance() {
        let (mut pace, start) = (Pace::new(10), Instant::now());
        assert_eq!(pace.wait(start, false), None);
        pace.sent(start);
        assert_eq!(pace.wait(start + PERIOD / 4, false), Some(start + PERIOD));
        assert_eq!(pace.wait(start + PERIOD, false), None);
        // Rest is not saved up.
        pace.sent(start + PERIOD * 9);
        assert_eq!(pace.wait(start + PERIOD * 9, false), Some(start + PERIOD * 10));
    }

    #[test]
    fn an_echo_goes_early_and_the_next_frame_pays_for_it() {
        let (mut pace, start) = (Pace::new(10), Instant::now());
        pace.sent(start);
        assert_eq!(pace.wait(start + PERIOD / 4, true), None);
        pace.sent(start + PERIOD / 4);
        assert_eq!(pace.wait(start + PERIOD / 2, false), Some(start + PERIOD * 2));
        // A second one has to wait for what the first one took.
        assert_eq!(pace.wait(start + PERIOD / 2, true), Some(start + PERIOD));
        assert_eq!(pace.wait(start + PERIOD, true), None);
    }
}
