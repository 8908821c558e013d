//! Names of signals, with and without `SIG`.

use libc as sys;

const SIGNALS: &[(&str, i32)] = &[
    ("HUP", sys::SIGHUP),
    ("INT", sys::SIGINT),
    ("QUIT", sys::SIGQUIT),
    ("ABRT", sys::SIGABRT),
    ("KILL", sys::SIGKILL),
    ("USR1", sys::SIGUSR1),
    ("USR2", sys::SIGUSR2),
    ("PIPE", sys::SIGPIPE),
    ("ALRM", sys::SIGALRM),
    ("TERM", sys::SIGTERM),
    ("CHLD", sys::SIGCHLD),
    ("CONT", sys::SIGCONT),
    ("STOP", sys::SIGSTOP),
    ("TSTP", sys::SIGTSTP),
    ("TTIN", sys::SIGTTIN),
    ("TTOU", sys::SIGTTOU),
    ("WINCH", sys::SIGWINCH),
];

/// The highest signal number there is.
const MAX: i32 = 64;

/// The number of the signal called `name`: `INT`, `sigint` or `2`.
pub(crate) fn number(name: &str) -> Option<i32> {
    if let Ok(number) = name.parse() {
        return valid(number);
    }
    let upper = name.to_ascii_uppercase();
    let short = upper.strip_prefix("SIG").unwrap_or(&upper);
    SIGNALS.iter().find(|(known, _)| *known == short).map(|(_, number)| *number)
}

/// The number, if there can be such a signal.
pub(crate) fn valid(number: i32) -> Option<i32> {
    (1..=MAX).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for name in ["TERM", "term", "SIGTERM", "sigterm", "15"] {
            assert_eq!(number(name), Some(15), "{name}");
        }
        for name in ["", "SIG", "0", "65", "-9", "NOPE"] {
            assert_eq!(number(name), None, "{name}");
        }
    }
}
