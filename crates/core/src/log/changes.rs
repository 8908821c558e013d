//! Signals for those who show how things are: each of core's rooms says that it changed, and no more.
//!
//! A viewer waits for the rooms that it shows, then looks at them. However much happens meanwhile, it
//! looks once, and while nothing of it changes it sleeps.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use futures_util::future::select_all;
use parking_lot::{Mutex, MutexGuard};
use rookery_model::{Error, Result};
use tokio::sync::watch;

/// Declares what can be shown, and its place among the signals.
macro_rules! shows {
    ($($(#[$doc:meta])* $Name:ident,)*) => {
        /// Something that a viewer shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Shows {
            $($(#[$doc])* $Name,)*
        }

        impl Shows {
            /// All there is.
            pub const ALL: &'static [Shows] = &[$(Shows::$Name,)*];
        }
    };
}

shows! {
    /// Providers, models and settings of agents.
    Agents,
    /// Snapshots of work trees.
    Checkpoints,
    /// What child agents did.
    Children,
    /// Programs that clients run.
    Commands,
    /// Browsers and programs elsewhere that were paired, their connections, and codes that are open.
    Devices,
    /// What happened to files, and what was taken back of it.
    FileChanges,
    /// Work that one session hands to another.
    Handoffs,
    /// Files of other agents, and what was decided about them.
    Imports,
    /// Events.
    Log,
    /// Catalogs of plugins, and the plugins that are installed.
    Marketplaces,
    /// Images and other files that are kept.
    Media,
    /// What is to be known in other threads as well.
    Memories,
    /// What programs that clients run print.
    Output,
    /// What asks for attention, and the timeline.
    Queue,
    /// What waits for an answer, and what was answered lately.
    Requests,
    /// Reviews of changes.
    Reviews,
    /// Places where tools and tasks run.
    Runners,
    /// What viewers have in front of them.
    Seats,
    /// Terminals and threads as supervisors see them.
    Sessions,
    /// Background tasks. Not what they write.
    Tasks,
    /// Teams of agents, their members and what was sent to them.
    Teams,
    /// Terminals, their titles, states and places. Not their screens, which tell their own progress.
    Terminals,
    /// The heads of threads, and the mode that holds for all of them.
    Threads,
    /// Runs of workflows.
    Workflows,
    /// Projects, their order, and what is selected.
    Workspace,
    /// Work trees of repositories that were made, landed or removed here. Not what git does to them.
    Worktrees,
}

/// One signal for each thing that can be shown. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Signals(Arc<[watch::Sender<()>]>);

impl Default for Signals {
    fn default() -> Signals {
        Signals(Shows::ALL.iter().map(|_| watch::Sender::new(())).collect())
    }
}

impl Signals {
    pub(crate) fn raise(&self, shows: Shows) {
        self.0[shows as usize].send_replace(());
    }

    pub(super) fn watch(&self, shows: &[Shows], stopping: watch::Receiver<bool>) -> Changes {
        let signals = shows.iter().map(|one| (*one, self.0[*one as usize].subscribe())).collect();
        Changes { signals, stopping }
    }
}

/// What a room keeps beside the world and viewers show: changing it raises the signal, by type.
pub(crate) struct Signalled<T> {
    value: Mutex<T>,
    shows: Shows,
    signals: Signals,
}

impl<T> Signalled<T> {
    pub(crate) fn new(value: T, shows: Shows, signals: &Signals) -> Self {
        Signalled { value: Mutex::new(value), shows, signals: signals.clone() }
    }

    /// For a change that does not show.
    pub(crate) fn lock_quietly(&self) -> MutexGuard<'_, T> {
        self.value.lock()
    }

    pub(crate) fn lock(&self) -> SignalledGuard<'_, T> {
        SignalledGuard { of: self, value: Some(self.value.lock()), is_changed: false }
    }
}

/// Raises the signal when it is let go of, if it was used to change something.
pub(crate) struct SignalledGuard<'a, T> {
    of: &'a Signalled<T>,
    /// None only while it is dropped.
    value: Option<MutexGuard<'a, T>>,
    is_changed: bool,
}

impl<T> Deref for SignalledGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> DerefMut for SignalledGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.is_changed = true;
        self.value.as_mut().expect("it is there until it is dropped")
    }
}

impl<T> Drop for SignalledGuard<'_, T> {
    fn drop(&mut self) {
        // Unlocked first, so that the viewer that wakes can lock it.
        self.value = None;
        if self.is_changed {
            self.of.signals.raise(self.of.shows);
        }
    }
}

/// Says that something changed.
pub struct Changes {
    signals: Vec<(Shows, watch::Receiver<()>)>,
    stopping: watch::Receiver<bool>,
}

impl Changes {
    /// Waits until something changed since the last call, or since it was asked for; says what. What
    /// changed several times is said once.
    ///
    /// # Errors
    /// If the daemon stops, or nothing is watched.
    pub async fn next(&mut self) -> Result<Vec<Shows>> {
        if self.signals.is_empty() {
            return Err(Error::invalid("shows", "nothing is watched"));
        }
        let waiting = self.signals.iter_mut().map(|(_, signal)| Box::pin(signal.changed()));
        let (changed, at, _) = tokio::select! {
            biased;
            first = select_all(waiting) => first,
            _ = self.stopping.wait_for(|is_stopping| *is_stopping) => return Err(stops()),
        };
        changed.map_err(|_| stops())?;
        let mut changed = vec![self.signals[at].0];
        for (shows, signal) in &mut self.signals {
            if signal.has_changed().unwrap_or(false) {
                signal.mark_unchanged();
                changed.push(*shows);
            }
        }
        changed.sort_unstable();
        Ok(changed)
    }
}

fn stops() -> Error {
    Error::closed("the daemon is stopping")
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_change_is_reported_once_to_those_who_show_it() {
        let (signals, stopping) = (Signals::default(), watch::Sender::new(false));
        let mut changes = signals.watch(&[Shows::Queue, Shows::Threads], stopping.subscribe());
        assert!(changes.next().now_or_never().is_none());
        signals.raise(Shows::Terminals);
        assert!(changes.next().now_or_never().is_none());
        for shows in [Shows::Threads, Shows::Threads, Shows::Queue] {
            signals.raise(shows);
        }
        assert_eq!(changes.next().await.unwrap(), [Shows::Queue, Shows::Threads]);
        assert!(changes.next().now_or_never().is_none());
        signals.raise(Shows::Threads);
        stopping.send_replace(true);
        assert_eq!(changes.next().await.unwrap(), [Shows::Threads]);
        assert!(changes.next().await.is_err());
    }

    #[tokio::test]
    async fn what_is_kept_beside_the_world_raises_its_signal_when_it_changes() {
        let (signals, stopping) = (Signals::default(), watch::Sender::new(false));
        let mut changes = signals.watch(&[Shows::Seats], stopping.subscribe());
        let kept = Signalled::new(vec![1], Shows::Seats, &signals);
        assert_eq!(kept.lock().len(), 1);
        assert!(changes.next().now_or_never().is_none());
        kept.lock().push(2);
        assert_eq!(changes.next().await.unwrap(), [Shows::Seats]);
    }

    #[test]
    fn every_room_has_a_signal() {
        let signals: Vec<String> =
            Shows::ALL.iter().map(|shows| format!("{shows:?}").to_lowercase()).collect();
        // Seats are handles of one viewer; there are as many as viewers.
        for room in crate::rooms::NAMES.iter().copied().chain(["seats"]) {
            assert!(signals.contains(&room.replace('_', "")), "{room} has none");
        }
    }
}
