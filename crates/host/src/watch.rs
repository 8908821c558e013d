//! Tells when a file or the contents of a directory changed, without ever looking on a schedule.
//!
//! The kernel's news come from a thread of the `notify` crate; here they are filtered and gathered
//! into one. What does not exist yet is awaited in the nearest directory above it that does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// How long it has to be quiet before a change is reported.
const QUIET: Duration = Duration::from_millis(50);
/// How long a change is held back at most if it never gets quiet.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the places are looked for again while directories come and go.
const ROUNDS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// A file: written, replaced, created, removed.
    File(PathBuf),
    /// A directory and the files directly in it.
    Directory(PathBuf),
}

/// A running watch; it ends when it and all clones are dropped.
#[derive(Clone, Debug)]
pub struct Watch {
    changes: watch::Receiver<u64>,
}

impl Watch {
    /// Begins to watch, off the runtime's threads. Changes after this returned are reported.
    ///
    /// Must be called inside of a tokio runtime with time.
    /// It fails if the kernel has no watch left to give, or the path is not absolute.
    pub async fn start(watched: Watched) -> std::io::Result<Self> {
        if !watched.path().is_absolute() {
            return Err(std::io::Error::other("a watched path must be absolute"));
        }
        let stirred = Arc::new(Notify::new());
        let mut places = WatchedDirs::new(watched, Arc::clone(&stirred))?;
        let places = blocking(move || places.settle().map(|()| places)).await??;
        let (sender, changes) = watch::channel(0);
        tokio::spawn(attend(places, stirred, sender));
        Ok(Self { changes })
    }

    /// Waits for the next change. Changes that came close together, or before this was called,
    /// are one. False if there is nothing to wait for any more, because the watch broke down.
    pub async fn changed(&mut self) -> bool {
        self.changes.changed().await.is_ok()
    }
}

impl Watched {
    fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Directory(path) => path,
        }
    }
}

/// Gathers what comes close together, finds the places anew, and only then reports: a caller that looks
/// at the directory now will hear of anything that happens after.
async fn attend(mut places: WatchedDirs, stirred: Arc<Notify>, sender: watch::Sender<u64>) {
    loop {
        tokio::select! {
            () = stirred.notified() => {}
            () = sender.closed() => return,
        }
        let latest = Instant::now() + PATIENCE;
        while timeout_at(latest.min(Instant::now() + QUIET), stirred.notified()).await.is_ok() {
            if Instant::now() >= latest {
                break;
            }
        }
        let settled = blocking(move || places.settle().map(|()| places)).await;
        places = match settled {
            Ok(Ok(places)) => places,
            Ok(Err(error)) | Err(error) => {
                tracing::warn!(%error, "a file can no longer be watched");
                return;
            }
        };
        sender.send_modify(|count| *count += 1);
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)
}

/// The directories that are watched for the sake of one path.
struct WatchedDirs {
    watched: Watched,
    watcher: RecommendedWatcher,
    current: BTreeSet<PathBuf>,
    /// What the thread of `notify` compares the news with.
    interest: Arc<parking_lot::Mutex<Interest>>,
}

/// Whose news count.
#[derive(Default)]
struct Interest {
    /// These paths themselves: ours, those on the way to it, and what it is a link to.
    exact: BTreeSet<PathBuf>,
    /// Everything directly in these.
    inside: BTreeSet<PathBuf>,
}

impl Interest {
    fn has(&self, path: &Path) -> bool {
        self.exact.contains(path) || path.parent().is_some_and(|dir| self.inside.contains(dir))
    }
}

impl WatchedDirs {
    fn new(watched: Watched, stirred: Arc<Notify>) -> std::io::Result<Self> {
        let interest = Arc::new(parking_lot::Mutex::new(Interest::default()));
        let filter = Arc::clone(&interest);
        let news = move |event: notify::Result<Event>| {
            if event.map_or(true, |event| is_change(&event, &filter.lock())) {
                stirred.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(news).map_err(std::io::Error::other)?;
        Ok(Self { watched, watcher, current: BTreeSet::new(), interest })
    }

    /// Watches the places that matter now. Directories may appear while it does so; then it looks again.
    fn settle(&mut self) -> std::io::Result<()> {
        let mut fresh = true;
        for _ in 0..ROUNDS {
            let (places, interest) = self.wanted();
            if !fresh && places == self.current {
                break;
            }
            *self.interest.lock() = interest;
            self.move_to(places, fresh)?;
            fresh = false;
        }
        Ok(())
    }

    /// Where to watch and for whose news.
    fn wanted(&self) -> (BTreeSet<PathBuf>, Interest) {
        let path = self.watched.path();
        let is_directory = matches!(self.watched, Watched::Directory(_));
        let mut places = BTreeSet::new();
        let mut interest = Interest::default();
        let mut ways = vec![path.to_owned()];
        // What a link points to changes somewhere else.
        ways.extend(path.canonicalize().ok().filter(|real| real != path));
        for way in ways {
            interest.exact.extend(way.ancestors().map(Path::to_owned));
            places.extend(way.ancestors().skip(1).find(|dir| dir.is_dir()).map(Path::to_owned));
            if is_directory {
                interest.inside.insert(way.clone());
                places.extend(way.is_dir().then_some(way));
            }
        }
        (places, interest)
    }

    /// All of them are watched anew if they are not fresh in mind: a directory may have been
    /// replaced by another one of the same name.
    fn move_to(&mut self, places: BTreeSet<PathBuf>, all: bool) -> std::io::Result<()> {
        for old in &self.current {
            if all || !places.contains(old) {
                // Its directory may be gone, and the watch with it.
                let _ = self.watcher.unwatch(old);
            }
        }
        for new in &places {
            if all || !self.current.contains(new) {
                match self.watcher.watch(new, RecursiveMode::NonRecursive) {
                    Ok(()) => {}
                    // It went away just now, and the next round will see that.
                    Err(error) if !new.exists() => tracing::debug!(%error, "gone again"),
                    Err(error) => return Err(std::io::Error::other(error)),
                }
            }
        }
        self.current = places;
        Ok(())
    }
}

/// Reading is no change, and news about neighbors are none of ours.
fn is_change(event: &Event, interest: &Interest) -> bool {
    let is_reading = match event.kind {
        EventKind::Access(kind) => kind != AccessKind::Close(AccessMode::Write),
        _ => false,
    };
    !is_reading && (event.need_rescan() || event.paths.iter().any(|path| interest.has(path)))
}

#[cfg(test)]
mod tests;
