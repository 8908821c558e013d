//! The task that sends news between requests. It sleeps until a session changes.

use std::{pin::Pin, sync::Arc, time::Duration};

use futures_util::{
    StreamExt as _,
    future::{Future, pending},
    stream::FuturesUnordered,
};
use rookery_core::Progress;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, sleep, sleep_until},
};

use super::{Notifier, Remaining, Urgency};

/// Changes within this time of the last message are sent together.
const COALESCE: Duration = Duration::from_millis(8);

type Change = Pin<Box<dyn Future<Output = Option<Receiver<Progress>>> + Send>>;

/// One change of one session.
fn change(mut progress: Receiver<Progress>) -> Change {
    Box::pin(async move { progress.changed().await.is_ok().then_some(progress) })
}

/// Sends what is new whenever something is, until it is dropped.
pub(super) async fn run(notifier: Arc<Notifier>) {
    let [mut terminals, mut adapters] = notifier.rosters();
    let mut changes = FuturesUnordered::new();
    let mut left = Remaining::Nothing;
    // At the start, and whenever sessions came or went, all of them are watched anew.
    let mut is_stale = true;
    loop {
        if is_stale {
            terminals.mark_unchanged();
            adapters.mark_unchanged();
            left = notifier.say(Urgency::Usual);
            changes = notifier.watched().into_iter().map(change).collect();
            is_stale = false;
        }
        let room = async {
            match left {
                Remaining::Blocked => drop(notifier.connection.outbox().reserve().await),
                Remaining::Until(at) => sleep_until(Instant::from_std(at)).await,
                Remaining::Nothing => pending().await,
            }
        };
        tokio::select! {
            changed = changes.next(), if !changes.is_empty() => {
                if let Some(Some(progress)) = changed {
                    changes.push(change(progress));
                }
            }
            came_or_went = terminals.changed() => match came_or_went {
                Ok(()) => is_stale = true,
                Err(_) => return,
            },
            came_or_went = adapters.changed() => match came_or_went {
                Ok(()) => is_stale = true,
                Err(_) => return,
            },
            () = notifier.changed.notified() => is_stale = true,
            () = room => {}
        }
        if !is_stale {
            left = notifier.say(Urgency::Usual);
            sleep(COALESCE).await;
        }
    }
}

impl Notifier {
    /// Where to hear of changes of the sessions that are reported.
    fn watched(&self) -> Vec<Receiver<Progress>> {
        let state = self.state.lock();
        let feeds = state.subscription.iter().flat_map(|subscription| subscription.feeds.values());
        feeds.filter(|feed| feed.is_wanted).map(super::feed::SessionFeed::progress).collect()
    }
}
