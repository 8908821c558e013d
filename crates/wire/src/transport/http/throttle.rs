//! How long a peer that guesses tokens has to wait. Pure: the time is passed in.

use std::{collections::HashMap, net::IpAddr, time::Duration};

use tokio::time::Instant;

/// Failures in a row that cost nothing.
const FREE_FAILURES: u32 = 2;
/// The first wait doubles this many times at most: 1, 2, 4, 8, 16, 32 seconds.
const MOST_DOUBLINGS: u32 = 5;
/// Peers remembered; the one not heard of for longest is forgotten first.
const MAX_PEERS: usize = 4096;

/// What is known of one address.
#[derive(Debug, Clone, Copy)]
struct Record {
    failures: u32,
    /// No attempt is looked at before this.
    closed_until: Option<Instant>,
    last: Instant,
}

/// Counts failures by address; ports do not matter.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    peers: HashMap<IpAddr, Record>,
}

impl Throttle {
    /// How many whole seconds, rounded up, this address still has to wait before an attempt is
    /// looked at.
    pub(crate) fn wait(&self, peer: IpAddr, now: Instant) -> Option<u64> {
        let until = self.peers.get(&peer.to_canonical())?.closed_until?;
        let left = until.checked_duration_since(now).filter(|left| !left.is_zero())?;
        Some(left.as_secs() + u64::from(left.subsec_nanos() > 0))
    }

    /// Notes a failure; tells the seconds to wait if it costs any.
    pub(crate) fn failed(&mut self, peer: IpAddr, now: Instant) -> Option<u64> {
        let peer = peer.to_canonical();
        if self.peers.len() >= MAX_PEERS && !self.peers.contains_key(&peer) {
            self.forget_one();
        }
        let fresh = Record { failures: 0, closed_until: None, last: now };
        let record = self.peers.entry(peer).or_insert(fresh);
        record.failures = record.failures.saturating_add(1);
        record.last = now;
        let costly = record.failures.checked_sub(FREE_FAILURES + 1)?;
        let seconds = 1 << costly.min(MOST_DOUBLINGS);
        record.closed_until = Some(now + Duration::from_secs(seconds));
        Some(seconds)
    }

    /// Notes a success, after which everything begins anew.
    pub(crate) fn succeeded(&mut self, peer: IpAddr) {
        self.peers.remove(&peer.to_canonical());
    }

    fn forget_one(&mut self) {
        let oldest = self.peers.iter().min_by_key(|(_, record)| record.last);
        if let Some(peer) = oldest.map(|(peer, _)| *peer) {
            self.peers.remove(&peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));

    #[test]
    fn waits_double_to_a_cap_and_a_success_resets() {
        let mut throttle = Throttle::default();
        let mut now = Instant::now();
        for cost in [None, None, Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), Some(32)] {
            assert_eq!(throttle.wait(PEER, now), None);
            assert_eq!(throttle.failed(PEER, now), cost);
            assert_eq!(throttle.wait(PEER, now), cost);
            now += Duration::from_secs(cost.unwrap_or(0));
        }
        throttle.succeeded(PEER);
        assert_eq!(throttle.failed(PEER, now), None);
        assert_eq!(throttle.failed(PEER, now), None);
        assert_eq!(throttle.failed(PEER, now), Some(1));
    }

    #[test]
    fn what_is_left_is_rounded_up() {
        let mut throttle = Throttle::default();
        let now = Instant::now();
        for _ in 0..4 {
            throttle.failed(PEER, now);
        }
        let after = |millis| throttle.wait(PEER, now + Duration::from_millis(millis));
        assert_eq!(after(1), Some(2));
        assert_eq!(after(1000), Some(1));
        assert_eq!(after(1999), Some(1));
        assert_eq!(after(2000), None);
    }

    #[test]
    fn addresses_are_counted_apart_and_both_spellings_of_one_together() {
        let mut throttle = Throttle::default();
        let now = Instant::now();
        let mapped = IpAddr::V6(Ipv4Addr::new(10, 0, 0, 7).to_ipv6_mapped());
        throttle.failed(PEER, now);
        throttle.failed(mapped, now);
        assert_eq!(throttle.failed(IpAddr::V6(Ipv6Addr::LOCALHOST), now), None);
        assert_eq!(throttle.failed(PEER, now), Some(1));
        assert_eq!(throttle.wait(mapped, now), Some(1));
    }

    #[test]
    fn the_number_of_remembered_addresses_is_bounded() {
        let mut throttle = Throttle::default();
        let start = Instant::now();
        let address = |n: usize| IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(n).unwrap()));
        for n in 0..MAX_PEERS + 10 {
            throttle.failed(address(n), start + Duration::from_millis(n as u64));
        }
        assert_eq!(throttle.peers.len(), MAX_PEERS);
        assert!(!throttle.peers.contains_key(&address(9)));
        assert!(throttle.peers.contains_key(&address(10)));
    }
}
