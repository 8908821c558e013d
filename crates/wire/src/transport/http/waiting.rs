//! Peers that have not shown a token yet: how many there may be, of one address and in all, and which
//! one has to go for the next. No silent client can keep others out.

use std::{collections::BTreeMap, net::IpAddr};

use futures_util::future::{AbortHandle, AbortRegistration};

/// Handshakes at work, the oldest first.
#[derive(Debug)]
pub(super) struct Waiting {
    limit: usize,
    limit_per_peer: usize,
    handshakes: BTreeMap<u64, (Network, AbortHandle)>,
    next: u64,
}

/// What counts as one peer: an IPv4 address, or the /64 that an IPv6 host can choose from.
type Network = u128;

impl Waiting {
    pub(super) fn new(limit: usize, limit_per_peer: usize) -> Self {
        Self { limit, limit_per_peer, handshakes: BTreeMap::new(), next: 0 }
    }

    /// Makes room for a peer by giving up an older handshake if need be: of the same address if that
    /// has its share, else of the address that has the most.
    pub(super) fn admit(&mut self, peer: IpAddr) -> (u64, AbortRegistration) {
        let network = network(peer);
        let is_own = |other: Network| other == network;
        if self.count(network) >= self.limit_per_peer {
            self.give_up_oldest(is_own);
        } else if self.handshakes.len() >= self.limit {
            let busiest = self.busiest();
            self.give_up_oldest(|other| Some(other) == busiest);
        }
        let (handle, registration) = AbortHandle::new_pair();
        let number = self.next;
        self.next += 1;
        self.handshakes.insert(number, (network, handle));
        (number, registration)
    }

    /// The handshake came to its end.
    pub(super) fn done(&mut self, number: u64) {
        self.handshakes.remove(&number);
    }

    fn count(&self, network: Network) -> usize {
        self.handshakes.values().filter(|(other, _)| *other == network).count()
    }

    fn busiest(&self) -> Option<Network> {
        let mut counts = BTreeMap::<Network, usize>::new();
        for (network, _) in self.handshakes.values() {
            *counts.entry(*network).or_default() += 1;
        }
        let most = counts.values().copied().max()?;
        // Of several, the one that has waited longest.
        let mut oldest = self.handshakes.values().map(|(network, _)| *network);
        oldest.find(|network| counts.get(network) == Some(&most))
    }

    fn give_up_oldest(&mut self, is_meant: impl Fn(Network) -> bool) {
        let meant = self.handshakes.iter().find(|(_, (network, _))| is_meant(*network));
        let Some(number) = meant.map(|(number, _)| *number) else { return };
        if let Some((_, handle)) = self.handshakes.remove(&number) {
            handle.abort();
        }
    }
}

fn network(peer: IpAddr) -> Network {
    match peer.to_canonical() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits() >> 64 << 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(waiting: &Waiting) -> Vec<Network> {
        waiting.handshakes.values().map(|(network, _)| *network).collect()
    }

    #[test]
    fn attack_one_address_displaces_only_itself() {
        let mut waiting = Waiting::new(8, 3);
        let [noisy, quiet]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
        let (_, kept) = waiting.admit(quiet);
        for _ in 0..100 {
            waiting.admit(noisy);
        }
        assert_eq!((waiting.count(network(noisy)), waiting.count(network(quiet))), (3, 1));
        assert!(!kept.handle().is_aborted());
    }

    #[test]
    fn attack_several_addresses_displace_each_other_first() {
        let mut waiting = Waiting::new(8, 3);
        let quiet: IpAddr = "10.0.0.1".parse().unwrap();
        let (number, kept) = waiting.admit(quiet);
        for turn in 0..100u8 {
            waiting.admit(IpAddr::from([10, 0, 1, turn % 4]));
        }
        assert_eq!(peers(&waiting).len(), 8);
        assert!(!kept.handle().is_aborted());
        waiting.done(number);
        assert_eq!(waiting.count(network(quiet)), 0);
    }

    #[test]
    fn attack_any_number_of_addresses_leaves_room_for_the_next() {
        let mut waiting = Waiting::new(8, 3);
        for host in 0..100u8 {
            waiting.admit(IpAddr::from([10, 0, 1, host]));
        }
        let (_, newest) = waiting.admit("10.0.0.1".parse().unwrap());
        // It has as long as it takes the others to open as many connections as there are places.
        for host in 0..7u8 {
            waiting.admit(IpAddr::from([10, 0, 2, host]));
            assert!(!newest.handle().is_aborted());
        }
        assert_eq!(peers(&waiting).len(), 8);
    }

    #[test]
    fn hosts_of_one_ipv6_network_are_one_peer() {
        let [one, two, mapped, v4]: [IpAddr; 4] =
            ["fd00::1", "fd00::2:0:0:1", "::ffff:10.0.0.1", "10.0.0.1"]
                .map(|ip| ip.parse().unwrap());
        assert_eq!(network(one), network(two));
        assert_eq!(network(mapped), network(v4));
        assert_ne!(network(v4), network("10.0.0.2".parse().unwrap()));
    }
}
