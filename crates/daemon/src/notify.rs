//! The user's own command for what waits while no one looks: it gets the notice as JSON on its standard
//! input, to hand it on to a phone, a chat or a mailbox.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rookery_core::{Core, Shows};
use rookery_host::{End, Script};
use rookery_model::{RequestId, Timestamp};
use rookery_view::link::NewNotice;
use tokio::time::{Instant, timeout_at};

/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(5);
/// Commands that run at once; the others come after them.
const AT_ONCE: usize = 4;
/// The name under which it is kept of what the user was told.
const KEPT: &str = "notified";

/// Follows what waits until the core stops.
pub(crate) fn follow(core: &Core) {
    // Watched from here on, so that nothing is missed before the task runs.
    let changes = core.log().changes(&[Shows::Requests, Shows::Seats]);
    let core = core.clone();
    tokio::spawn(async move {
        let mut changes = changes;
        // What a daemon before this one sent is not sent again.
        let mut waiting = match core.remembered(KEPT).await {
            Ok(kept) => Waiting::read(&kept.unwrap_or_default()),
            Err(error) => {
                tracing::warn!(%error, "which notices were given cannot be read");
                Waiting::default()
            }
        };
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
            let asked = |request: rookery_model::Request| (request.id, request.asked_at);
            let open = core.requests().list().into_iter().map(asked).collect();
            let (now, wall) = (Instant::now(), wall());
            waiting.note(&open, now, wall);
            let is_watched = core.seats().has_keyboard();
            let due = waiting.due(now, after, is_watched);
            // Written down first: each is sent once, also if the daemon ends meanwhile.
            if !due.is_empty()
                && let Err(error) = core.remember(KEPT, Some(waiting.write())).await
            {
                tracing::warn!(%error, "which notices were given cannot be written down");
            }
            for id in due {
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

/// The time of day, which requests are dated by.
fn wall() -> Timestamp {
    Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
}

/// What waits, since when it was seen to, and of what the user was told.
#[derive(Debug, Default)]
struct Waiting {
    since: BTreeMap<RequestId, Instant>,
    notified: BTreeSet<RequestId>,
}

impl Waiting {
    /// Of what the user was told, as a text.
    fn write(&self) -> String {
        let all: Vec<String> = self.notified.iter().map(ToString::to_string).collect();
        all.join(" ")
    }

    /// Reads such a text; what is no id is left out.
    fn read(text: &str) -> Self {
        let notified = text.split_whitespace().filter_map(|id| id.parse().ok()).collect();
        Self { notified, ..Self::default() }
    }

    /// These wait now, each since it was asked, which may have been before the daemon began.
    fn note(&mut self, open: &BTreeMap<RequestId, Timestamp>, now: Instant, wall: Timestamp) {
        self.since.retain(|id, _| open.contains_key(id));
        self.notified.retain(|id| open.contains_key(id));
        for (id, asked_at) in open {
            let waited = wall.as_micros().saturating_sub(asked_at.as_micros()).max(0);
            let waited = Duration::from_micros(waited.unsigned_abs());
            let since = now.checked_sub(waited).unwrap_or(now);
            self.since.entry(*id).or_insert(since);
        }
    }

    /// Those that have waited for long enough while no viewer has the keyboard; each once.
    fn due(&mut self, now: Instant, after: Duration, is_watched: bool) -> Vec<RequestId> {
        if is_watched {
            return Vec::new();
        }
        let is_due = |(id, since): &(&RequestId, &Instant)| {
            **since + after <= now && !self.notified.contains(id)
        };
        let due: Vec<RequestId> = self.since.iter().filter(is_due).map(|(id, _)| *id).collect();
        self.notified.extend(&due);
        due
    }

    /// When the next one is due.
    fn next(&self, after: Duration) -> Option<Instant> {
        let untold = self.since.iter().filter(|(id, _)| !self.notified.contains(id));
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

    /// Requests that are asked at this moment.
    fn open(ids: &[u128]) -> BTreeMap<RequestId, Timestamp> {
        ids.iter().map(|id| (RequestId::new(*id), WALL)).collect()
    }

    const WALL: Timestamp = Timestamp::from_micros(1_000_000_000);

    #[test]
    fn a_daemon_after_another_tells_nothing_again_and_waits_no_longer() {
        let (mut before, start) = (Waiting::default(), Instant::now() + AFTER * 9);
        before.note(&open(&[1]), start, WALL);
        assert_eq!(before.due(start + AFTER, AFTER, false), [RequestId::new(1)]);
        let mut waiting = Waiting::read(&format!("{} nonsense", before.write()));
        // The first was told of; the second waits for 20 s already.
        let later = |seconds: i64| Timestamp::from_micros(WALL.as_micros() + seconds * 1_000_000);
        let asked = BTreeMap::from([(RequestId::new(1), WALL), (RequestId::new(2), later(60))]);
        waiting.note(&asked, start, later(80));
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(waiting.next(AFTER), Some(at(10)));
        assert_eq!(waiting.due(at(9), AFTER, false), []);
        assert_eq!(waiting.due(at(10), AFTER, false), [RequestId::new(2)]);
        // A clock that was put back makes nothing wait longer than that.
        let mut odd = Waiting::default();
        odd.note(&open(&[3]), start, Timestamp::from_micros(0));
        assert_eq!(odd.next(AFTER), Some(start + AFTER));
    }

    #[test]
    fn each_is_reported_once_after_it_waited_and_only_while_no_one_looks() {
        let (mut waiting, start) = (Waiting::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        waiting.note(&open(&[1]), at(0), WALL);
        waiting.note(&open(&[1, 2]), at(10), WALL);
        assert_eq!(waiting.next(AFTER), Some(at(30)));
        assert_eq!(waiting.due(at(29), AFTER, false), []);
        assert_eq!(waiting.due(at(35), AFTER, true), [], "a person can see it");
        assert_eq!(waiting.due(at(35), AFTER, false), [RequestId::new(1)]);
        assert_eq!(waiting.due(at(36), AFTER, false), [], "once");
        assert_eq!(waiting.next(AFTER), Some(at(40)));
        waiting.note(&open(&[1]), at(38), WALL);
        assert_eq!((waiting.due(at(99), AFTER, false), waiting.next(AFTER)), (vec![], None));
        // A number that comes again is another one.
        waiting.note(&open(&[1, 2]), at(100), WALL);
        assert_eq!(waiting.due(at(129), AFTER, false), []);
        assert_eq!(waiting.due(at(130), AFTER, false), [RequestId::new(2)]);
    }
}
