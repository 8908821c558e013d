//! What is wrong with a setting, by its key; never by its value, which can be a key of another kind.

use std::fmt;

/// A setting that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// Its name, with those of the tables around it.
    pub(super) key: String,
    pub(super) kind: ProblemKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProblemKind {
    /// Its value is not one of these.
    WrongValue(String),
    /// No setting has that name; the one that was probably meant.
    Unknown(Option<String>),
}

impl Problem {
    /// Whether policy may be another than it was meant to be. A name that is like none of ours may be of
    /// another version; one that is like one of ours is meant to be it.
    pub(super) fn concerns_policy(&self) -> bool {
        let table = self.key.split('.').next().unwrap_or_default();
        let is_certain = match &self.kind {
            ProblemKind::WrongValue(_) => true,
            ProblemKind::Unknown(meant) => meant.is_some(),
        };
        ["policy_modes", "tools"].contains(&table) && is_certain
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.kind {
            ProblemKind::WrongValue(wanted) => write!(f, "setting {key} must be {wanted}"),
            ProblemKind::Unknown(None) => write!(f, "unknown setting {key} is ignored"),
            ProblemKind::Unknown(Some(meant)) => {
                write!(f, "unknown setting {key} is ignored; did you mean `{meant}`?")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certain_to_be_meant_for_policy_concerns_it() {
        let problem = |key: &str, kind| Problem { key: key.to_owned(), kind };
        let wrong = || ProblemKind::WrongValue("true or false".to_owned());
        let meant = || ProblemKind::Unknown(Some("deny".to_owned()));
        for (problem, concerns) in [
            (problem("policy_modes.mode", wrong()), true),
            (problem("tools", wrong()), true),
            (problem("tools.denny", meant()), true),
            (problem("tools.of_tomorrow", ProblemKind::Unknown(None)), false),
            // A value in another table that speaks of policy.
            (problem("providers.policy_modes", wrong()), false),
            (problem("model", wrong()), false),
        ] {
            assert_eq!(problem.concerns_policy(), concerns, "{problem}");
        }
    }
}
