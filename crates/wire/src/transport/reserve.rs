//! Descriptors kept back for connections, so that clients are served, or at least told, when everything else has used
//! up what this process may open. One reserve for all endpoints of the process.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Descriptors kept back.
const KEPT: usize = 32;
/// The last ones of these are only used to tell clients why they are turned away.
pub(super) const FOR_REFUSALS: usize = 4;

static RESERVE: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

fn reserve() -> MutexGuard<'static, Vec<OwnedFd>> {
    RESERVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills the reserve as far as that is possible now.
pub(super) fn refill() {
    let mut reserve = reserve();
    while reserve.len() < KEPT {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(spare) = rustix::fs::open(c"/", flags, Mode::empty()) else { return };
        reserve.push(spare);
    }
}

/// Frees one descriptor for whatever is opened next, and says how many are left; none if there was none.
pub(super) fn give_up_one() -> Option<usize> {
    let mut reserve = reserve();
    reserve.pop().map(|_| reserve.len())
}

/// Whether it failed for want of descriptors.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}
