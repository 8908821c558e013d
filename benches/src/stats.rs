//! Many measurements, few figures.

use std::time::Duration;

use serde::Serialize;

/// A measured value, with how far single measurements were from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// The value that counts.
    pub(crate) value: f64,
    /// The least that was measured.
    pub(crate) low: f64,
    /// The most that was measured.
    pub(crate) high: f64,
    /// How often it was measured.
    pub(crate) samples: usize,
}

impl Figure {
    /// A value that was measured once.
    pub(crate) fn once(value: f64) -> Figure {
        Figure { value, low: value, high: value, samples: 1 }
    }

    /// The median of some measurements; none if there are none.
    pub(crate) fn median(samples: &[f64]) -> Option<Figure> {
        Figure::quantile(samples, 0.5)
    }

    /// The value below which that share of the measurements lies.
    pub(crate) fn quantile(samples: &[f64], share: f64) -> Option<Figure> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let value = sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        Some(Figure { value, low, high, samples: sorted.len() })
    }
}

/// Times of single events, in microseconds.
#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e6);
    }

    pub(crate) fn p50(&self) -> Option<Figure> {
        Figure::quantile(&self.0, 0.50)
    }

    pub(crate) fn p99(&self) -> Option<Figure> {
        Figure::quantile(&self.0, 0.99)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_measured_values() {
        let samples = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(
            Figure::median(&samples),
            Some(Figure { value: 3.0, low: 1.0, high: 5.0, samples: 5 })
        );
        assert_eq!(Figure::quantile(&samples, 0.99).unwrap().value, 5.0);
        assert_eq!(Figure::median(&[]), None);
    }

    #[test]
    fn times_are_in_microseconds() {
        let mut times = Times::default();
        times.push(Duration::from_millis(2));
        assert_eq!(times.p50().unwrap().value, 2000.0);
    }

    proptest! {
        #[test]
        fn a_quantile_lies_between_the_extremes(samples in prop::collection::vec(0.0_f64..1e9, 1..50), share in 0.0_f64..=1.0) {
            let figure = Figure::quantile(&samples, share).unwrap();
            prop_assert!(figure.low <= figure.value && figure.value <= figure.high);
        }
    }
}
