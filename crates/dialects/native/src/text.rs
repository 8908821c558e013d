//! The one exit for text that programs wrote: redacted, unless the caller asked for it as it is.

use std::{borrow::Cow, sync::LazyLock};

use rookery_term::redact::Policy;

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::strict);

/// The text without secrets.
pub(crate) fn redacted(text: &str) -> Cow<'_, str> {
    POLICY.redact(text)
}

/// The text without secrets, given what stands before it: a secret that begins there is hidden as well.
pub(crate) fn redacted_below<'t>(above: &str, text: &'t str) -> Cow<'t, str> {
    POLICY.redact_below(above, text)
}

/// The words of a command without secrets.
pub(crate) fn redacted_words(words: &[String]) -> Vec<String> {
    POLICY.redact_words(words)
}

/// Whether secrets may leave with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Secrets are replaced.
    Redacted,
    /// The caller asked for the text as it is.
    Exposed,
}

impl Exposure {
    /// From a request's `redact` member.
    pub(crate) fn from_request(redact: bool) -> Self {
        if redact { Self::Redacted } else { Self::Exposed }
    }

    /// The text as it may leave, and whether anything was hidden.
    pub(crate) fn apply(self, text: String) -> (String, bool) {
        self.apply_below("", text)
    }

    /// The same, given what stands before it.
    pub(crate) fn apply_below(self, above: &str, text: String) -> (String, bool) {
        match self {
            Self::Exposed => (text, false),
            Self::Redacted => match redacted_below(above, &text) {
                Cow::Borrowed(_) => (text, false),
                Cow::Owned(hidden) => (hidden, true),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_leave_only_when_asked_for() {
        let secret = "key AKIAIOSFODNN7EXAMPLE end".to_owned();
        let (text, hidden) = Exposure::from_request(true).apply(secret.clone());
        assert!(hidden && !text.contains("IOSFODNN7"), "{text}");
        assert_eq!(Exposure::from_request(false).apply(secret.clone()), (secret, false));
        assert_eq!(Exposure::Redacted.apply("plain".into()), ("plain".into(), false));
    }
}
