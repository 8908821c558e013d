//! Random choices that come back when the seed does. Good enough to vary a test, for nothing else.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of random numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        // Zero would stay zero.
        Random(seed | 1 << 63)
    }

    /// A seed from the environment variable, or else from the clock. Print it.
    pub fn seed(variable: &str) -> u64 {
        let from_clock = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::from(since.subsec_nanos()) ^ since.as_secs()
        };
        std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or_else(from_clock)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    /// One of `choices`, which are not empty.
    pub fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_sequence_within_bounds() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(5), numbers(5));
        assert_ne!(numbers(5), numbers(6));
        assert!((0..10).all(|wanted| numbers(7).contains(&wanted)));
        assert!(numbers(0).iter().any(|number| *number > 0));
    }
}
