//! Places for peers that have not yet said who they are: few, and fewer for each address, so that one that opens
//! connections and says nothing keeps none from others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clients without a token yet at once, at one endpoint.
pub(super) const MOST: usize = 64;
/// Clients without a token yet at once, from one address.
pub(super) const MOST_FROM_ONE: usize = 16;

/// The clients of one endpoint that have not shown a token yet, by their addresses.
#[derive(Debug, Clone, Default)]
pub(super) struct Unauthenticated(Arc<Mutex<HashMap<IpAddr, usize>>>);

impl Unauthenticated {
    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, if there is one.
    pub(super) fn take(&self, from: IpAddr) -> Option<Place> {
        let from = from.to_canonical();
        let mut counts = self.counts();
        let own = counts.get(&from).copied().unwrap_or(0);
        if own >= MOST_FROM_ONE || counts.values().sum::<usize>() >= MOST {
            return None;
        }
        counts.insert(from, own + 1);
        drop(counts);
        Some(Place { unauthenticated: self.clone(), from })
    }
}

/// The place of one such client; free again when dropped.
#[derive(Debug)]
pub(super) struct Place {
    unauthenticated: Unauthenticated,
    from: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.unauthenticated.counts();
        match counts.get_mut(&self.from) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(counts.remove(&self.from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_one_address_does_not_take_all_places() {
        let unauthenticated = Unauthenticated::default();
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        let mut places: Vec<Place> = (0..MOST_FROM_ONE)
            .map(|_| unauthenticated.take(address(1)).expect("there is room"))
            .collect();
        assert!(unauthenticated.take(address(1)).is_none());
        let mapped = address(1).to_string();
        let mapped = format!("::ffff:{mapped}").parse().unwrap();
        assert!(unauthenticated.take(mapped).is_none(), "spelled otherwise it is the same");
        places.extend((0..MOST - MOST_FROM_ONE).map(|number| {
            let last = u8::try_from(2 + number % 200).unwrap();
            unauthenticated.take(address(last)).expect("others have room")
        }));
        assert!(unauthenticated.take(address(250)).is_none());
        places.clear();
        assert!(unauthenticated.counts().is_empty());
        assert!(unauthenticated.take(address(1)).is_some());
    }
}
