//! Many measurements, few figures.

use std::time::Duration;

use serde::Serialize;

use crate::report::Better;

/// A measured value, with how far single measurements were from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// The value that counts.
    pub(crate) value: f64,
    /// The least that was measured.
    pub(crate) low: f64,
    /// The most that was measured.
    pub(crate) high: f64,
    /// The middle of what was measured.
    pub(crate) median: f64,
    /// How often it was measured.
    pub(crate) samples: usize,
}

impl Figure {
    /// A value that was measured once.
    pub(crate) fn once(value: f64) -> Figure {
        Figure { value, low: value, high: value, median: value, samples: 1 }
    }

    /// The same in another unit.
    pub(crate) fn divided_by(self, divisor: f64) -> Figure {
        let Figure { value, low, high, median, samples } = self;
        let [value, low, high, median] = [value, low, high, median].map(|figure| figure / divisor);
        Figure { value, low, high, median, samples }
    }

    /// The best of some measurements; none if there are none. Whatever disturbs a measurement makes it worse, so the best
    /// one is the least disturbed.
    pub(crate) fn best(samples: &[f64], better: Better) -> Option<Figure> {
        let share = match better {
            Better::Lower => 0.0,
            Better::Higher => 1.0,
        };
        Figure::quantile(samples, share)
    }

    /// The value below which that share of the measurements lies.
    pub(crate) fn quantile(samples: &[f64], share: f64) -> Option<Figure> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        Some(Figure { value: at(share), low, high, median: at(0.5), samples: sorted.len() })
    }
}

/// Times of single events in microseconds, in batches of which the least disturbed counts.
#[derive(Default)]
pub(crate) struct Times(Vec<Vec<f64>>);

/// One figure of many measurements, such as their median.
pub(crate) type Share = fn(&Times) -> Option<Figure>;

/// The shares that every row of latencies has, by name.
pub(crate) const SHARES: [(&str, Share); 2] = [("p50", Times::p50), ("p99", Times::p99)];

impl Times {
    /// Begins a batch.
    pub(crate) fn begin(&mut self) {
        self.0.push(Vec::new());
    }

    /// Adds a time to the batch that was begun last.
    pub(crate) fn push(&mut self, time: Duration) {
        if let Some(batch) = self.0.last_mut() {
            batch.push(time.as_secs_f64() * 1e6);
        }
    }

    /// The median of the best batch.
    pub(crate) fn p50(&self) -> Option<Figure> {
        self.best(0.50)
    }

    /// What 99 percent of the best batch stay below.
    pub(crate) fn p99(&self) -> Option<Figure> {
        self.best(0.99)
    }

    fn best(&self, share: f64) -> Option<Figure> {
        let batches = self.0.iter().filter_map(|batch| Figure::quantile(batch, share));
        batches.min_by(|one, other| one.value.total_cmp(&other.value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_measured_values() {
        let samples = [5.0, 1.0, 3.0, 2.0, 4.0];
        let median = Figure { value: 3.0, low: 1.0, high: 5.0, median: 3.0, samples: 5 };
        assert_eq!(Figure::quantile(&samples, 0.5), Some(median));
        assert_eq!(Figure::best(&samples, Better::Higher).unwrap().value, 5.0);
        assert_eq!(Figure::best(&samples, Better::Lower).unwrap().value, 1.0);
        assert_eq!(Figure::quantile(&samples, 0.99).unwrap().value, 5.0);
        assert_eq!(Figure::best(&[], Better::Lower), None);
    }

    #[test]
    fn the_best_batch_counts_in_microseconds() {
        let mut times = Times::default();
        assert_eq!(times.p50(), None);
        for millis in [[4, 5, 6], [1, 2, 9]] {
            times.begin();
            millis.into_iter().for_each(|millis| times.push(Duration::from_millis(millis)));
        }
        assert_eq!((times.p50().unwrap().value, times.p99().unwrap().value), (2000.0, 6000.0));
    }

    proptest! {
        #[test]
        fn a_quantile_lies_between_the_extremes(samples in prop::collection::vec(0.0_f64..1e9, 1..50), share in 0.0_f64..=1.0) {
            let figure = Figure::quantile(&samples, share).unwrap();
            prop_assert!(figure.low <= figure.value && figure.value <= figure.high);
        }
    }
}
