//! The user's own command for what waits while no one looks: it gets the notice as JSON on its standard
//! input, to hand it on to a phone, a chat or a mailbox.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rookery_core::{Core, Shows};
use rookery_host::{End, Script};
use rookery_model::RequestId;
use rookery_view::link::NewNotice;
use tokio::time::{Instant, timeout_at};

/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(5);
/// Commands that run at once; the others come after them.
const AT_ONCE: usize = 4;

/// Follows what waits until the core stops.
pub(crate) fn follow(core: &Core) {
    // Watched from here on, so that nothing is missed before the task runs.
    let changes = core.log().changes(&[Shows::Requests, Shows::Seats]);
    let core = core.clone();
    tokio::spawn(async move {
        let mut changes = changes;
        let mut waiting = Waiting::default();
        let mut running = tokio::task::JoinSet::new();
        loop {
            let (settings, _) = core.seats().settings();
            let Some(command) = settings.faces.notify_command else {
                waiting = Waiting::default();
                match changes.next().await {
                    Ok(_) => continue,
                    Err(_) => return,
                }
            };
            let after = Duration::from_millis(settings.faces.notify_after_ms.into());
            let open = core.requests().list().into_iter().map(|request| request.id).collect();
            let now = Instant::now();
            waiting.note(&open, now);
            let is_watched = core.seats().has_keyboard();
            for id in waiting.due(now, after, is_watched) {
                if running.len() >= AT_ONCE {
                    running.join_next().await;
                }
                if let Some(notice) = rookery_link::notice_of(&core, id) {
                    running.spawn(run(command.clone(), notice));
                }
            }
            let next = waiting.next(after).filter(|_| !is_watched);
            let changed = async {
                match next {
                    Some(at) => {
                        timeout_at(at, changes.next()).await.unwrap_or_else(|_| Ok(Vec::new()))
                    }
                    None => changes.next().await,
                }
            };
            if changed.await.is_err() {
                return;
            }
        }
    });
}

/// What waits, since when it was seen to, and of what the user was told.
#[derive(Debug, Default)]
struct Waiting {
    since: BTreeMap<RequestId, Instant>,
    told: BTreeSet<RequestId>,
}

impl Waiting {
    /// These wait now.
    fn note(&mut self, open: &BTreeSet<RequestId>, now: Instant) {
        self.since.retain(|id, _| open.contains(id));
        self.told.retain(|id| open.contains(id));
        for id in open {
            self.since.entry(*id).or_insert(now);
        }
    }

    /// Those that have waited for long enough while no viewer has the keyboard; each once.
    fn due(&mut self, now: Instant, after: Duration, is_watched: bool) -> Vec<RequestId> {
        if is_watched {
            return Vec::new();
        }
        let is_due = |(id, since): &(&RequestId, &Instant)| {
            **since + after <= now && !self.told.contains(id)
        };
        let due: Vec<RequestId> = self.since.iter().filter(is_due).map(|(id, _)| *id).collect();
        self.told.extend(&due);
        due
    }

    /// When the next one is due.
    fn next(&self, after: Duration) -> Option<Instant> {
        let untold = self.since.iter().filter(|(id, _)| !self.told.contains(id));
        untold.map(|(_, since)| *since + after).min()
    }
}

async fn run(command: String, notice: NewNotice) {
    let mut script = Script::new(["/bin/sh", "-c", &command]);
    script.timeout = LIMIT;
    script.stdin = match serde_json::to_vec(&notice) {
        Ok(mut json) => {
            json.push(b'\n');
            json
        }
        Err(error) => return tracing::error!(%error, "a notice cannot be written as JSON"),
    };
    let outcome = script.run().await;
    let complaint = outcome.last_error_line.unwrap_or_default();
    match outcome.end {
        End::Exited(0) => {}
        End::Exited(code) => tracing::warn!(code, complaint, "notify-command failed"),
        End::Signaled(signal) => tracing::warn!(signal, complaint, "notify-command was ended"),
        End::TimedOut => tracing::warn!("notify-command took longer than {LIMIT:?}"),
        End::TooMuchOutput => tracing::warn!("notify-command wrote too much"),
        End::Failed(reason) => tracing::warn!(reason, "notify-command could not be run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Duration = Duration::from_secs(30);

    fn open(ids: &[u128]) -> BTreeSet<RequestId> {
        ids.iter().map(|id| RequestId::new(*id)).collect()
    }

    #[test]
    fn each_is_reported_once_after_it_waited_and_only_while_no_one_looks() {
        let (mut waiting, start) = (Waiting::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        waiting.note(&open(&[1]), at(0));
        waiting.note(&open(&[1, 2]), at(10));
        assert_eq!(waiting.next(AFTER), Some(at(30)));
        assert_eq!(waiting.due(at(29), AFTER, false), []);
        assert_eq!(waiting.due(at(35), AFTER, true), [], "a person can see it");
        assert_eq!(waiting.due(at(35), AFTER, false), [RequestId::new(1)]);
        assert_eq!(waiting.due(at(36), AFTER, false), [], "once");
        assert_eq!(waiting.next(AFTER), Some(at(40)));
        waiting.note(&open(&[1]), at(38));
        assert_eq!((waiting.due(at(99), AFTER, false), waiting.next(AFTER)), (vec![], None));
        // A number that comes again is another one.
        waiting.note(&open(&[1, 2]), at(100));
        assert_eq!(waiting.due(at(129), AFTER, false), []);
        assert_eq!(waiting.due(at(130), AFTER, false), [RequestId::new(2)]);
    }
}
