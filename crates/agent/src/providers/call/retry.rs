//! When a failed attempt is followed by another one.

use std::time::{Duration, SystemTime};

use crate::provider::{Failure, FailureKind};
use crate::providers::settings::Retry;

/// The longest wait that a server may ask for.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// How far a wait may be from its length, to either side.
const JITTER: f64 = 0.2;

/// An attempt that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    /// The error of the turn if this was the last attempt.
    pub(crate) failure: Failure,
    /// The status, if there was an answer.
    pub(crate) status: Option<u16>,
    /// Whether another attempt may help, and would not say anything twice.
    pub(crate) is_retryable: bool,
    /// How long the server wants to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

impl Failed {
    /// There is nothing to know us by.
    pub(crate) fn auth(message: String) -> Self {
        let failure = Failure { message, kind: FailureKind::Auth };
        Self { failure, status: None, is_retryable: false, retry_after: None }
    }
}

/// How long to wait before the attempt after this one; none if there is none. `random` is from 0 to 1.
pub(crate) fn delay(retry: &Retry, attempt: u32, failed: &Failed, random: f64) -> Option<Duration> {
    if !failed.is_retryable || attempt >= retry.max_attempts {
        return None;
    }
    if let Some(wait) = failed.retry_after {
        return Some(wait.min(WAIT_LIMIT));
    }
    let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
    let jitter = 1.0 + JITTER * (2.0 * random - 1.0);
    let seconds =
        retry.initial_backoff.as_secs_f64() * retry.backoff_factor.powi(exponent) * jitter;
    let wait = Duration::try_from_secs_f64(seconds).unwrap_or(WAIT_LIMIT);
    Some(wait.min(WAIT_LIMIT))
}

/// Reads a `Retry-After` header: seconds or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(is_retryable: bool, retry_after: Option<Duration>) -> Failed {
        let failure = Failure { message: String::new(), kind: FailureKind::Unavailable };
        Failed { failure, status: None, is_retryable, retry_after }
    }

    #[test]
    fn waits_double_and_end() {
        let retry = Retry { max_attempts: 4, ..Retry::default() };
        let waits: Vec<_> =
            (1..=4).map(|attempt| delay(&retry, attempt, &failed(true, None), 0.5)).collect();
        assert_eq!(
            waits,
            [1, 2, 4]
                .map(|seconds| Some(Duration::from_secs(seconds)))
                .into_iter()
                .chain([None])
                .collect::<Vec<_>>()
        );
        assert_eq!(delay(&retry, 1, &failed(false, None), 0.5), None);
    }

    #[test]
    fn waits_differ_by_a_fifth() {
        let retry = Retry::default();
        assert_eq!(delay(&retry, 1, &failed(true, None), 0.0), Some(Duration::from_millis(800)));
        assert_eq!(delay(&retry, 2, &failed(true, None), 1.0), Some(Duration::from_millis(2400)));
    }

    #[test]
    fn the_server_wins_within_bounds() {
        let wait = |seconds| {
            delay(&Retry::default(), 1, &failed(true, Some(Duration::from_secs(seconds))), 0.9)
        };
        assert_eq!(wait(7), Some(Duration::from_secs(7)));
        assert_eq!(wait(3600), Some(Duration::from_secs(60)));
    }

    #[test]
    fn strange_settings_stay_bounded() {
        let retry = Retry { max_attempts: u32::MAX, backoff_factor: f64::NAN, ..Retry::default() };
        assert_eq!(delay(&retry, 9, &failed(true, None), 0.5), Some(WAIT_LIMIT));
        let retry = Retry { backoff_factor: 1e300, ..retry };
        assert_eq!(delay(&retry, 1_000_000, &failed(true, None), 0.5), Some(WAIT_LIMIT));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read(" 5 "), Some(Duration::from_secs(5)));
        assert_eq!(read("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:57 GMT"), Some(Duration::from_secs(20)));
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!((read("-1"), read("soon"), read("NaN"), read("")), (None, None, None, None));
    }
}
