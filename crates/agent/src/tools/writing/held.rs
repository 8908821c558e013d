//! Files at runners that are being changed: by their session and path, so that a machine that does not answer
//! keeps only those waiting who want the same file of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use parking_lot::{Condvar, Mutex};

/// A file of a session.
type Place = (String, PathBuf);

/// All that are being changed.
static HELD: Mutex<BTreeSet<Place>> = Mutex::new(BTreeSet::new());
/// Some of them are not any more.
static LET_GO: Condvar = Condvar::new();

/// Files that are ours until this is dropped.
pub(crate) struct Held {
    places: Vec<Place>,
}

/// Waits until none of these files of a session is being changed. All are taken at once, so that two who want the
/// same ones never wait for each other.
pub(crate) fn hold(session: &str, paths: impl Iterator<Item = PathBuf>) -> Held {
    let places: Vec<Place> = paths.map(|path| (session.to_owned(), path)).collect();
    let mut held = HELD.lock();
    while places.iter().any(|place| held.contains(place)) {
        LET_GO.wait(&mut held);
    }
    held.extend(places.iter().cloned());
    Held { places }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = HELD.lock();
        for place in &self.places {
            held.remove(place);
        }
        LET_GO.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{TryRecvError, channel};

    use super::*;

    fn of(names: &[&str]) -> impl Iterator<Item = PathBuf> {
        names.iter().map(PathBuf::from).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn only_the_same_file_of_the_same_session_is_waited_for() {
        let first = hold("s1", of(&["/w/a", "/w/b", "/w/a"]));
        // None of these waits.
        drop((hold("s1", of(&["/w/c"])), hold("s2", of(&["/w/a"])), hold("s1", of(&[]))));
        let (sender, waits) = channel();
        let waiter = std::thread::spawn(move || {
            let _second = hold("s1", of(&["/w/c", "/w/b"]));
            sender.send(()).unwrap();
        });
        assert_eq!(waits.try_recv(), Err(TryRecvError::Empty));
        drop(first);
        waiter.join().unwrap();
        waits.recv().unwrap();
        assert!(HELD.lock().iter().all(|(session, _)| session != "s1"));
    }
}
