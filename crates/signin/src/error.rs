//! Why a sign-in did not happen. No message has a token, a code or a verifier in it.

use std::time::Duration;

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing is kept here.
    #[error("auth persistence is disabled: this server keeps no sign-in")]
    Disabled,
    /// A setting is missing or wrong; the text begins with its key.
    #[error("{0}")]
    Settings(String),
    /// There are no tokens, or they are of no use any more.
    #[error("not signed in to {account}: {reason}; run `rookery login {account}`")]
    NotSignedIn {
        account: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The issuer cannot be reached, or does not answer.
    #[error("the issuer of {account} cannot be reached: {reason}")]
    Unreachable {
        account: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The issuer said something that is wrong or cannot be read.
    #[error("the issuer of {account} cannot be used: {reason}")]
    Issuer {
        account: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The issuer refused.
    #[error("the issuer of {account} refused the sign-in ({reason})")]
    Refused {
        account: &'static str,
        /// What it said.
        reason: String,
    },
    /// The person refused.
    #[error("the sign-in was denied")]
    Denied,
    /// The code was not entered in time.
    #[error("the code has expired; sign in again to get another one")]
    Expired,
    /// The login took longer than it may.
    #[error("the sign-in was not finished within {} seconds{note}", .limit.as_secs())]
    TimedOut {
        /// How long it had.
        limit: Duration,
        /// What else happened meanwhile; empty, or begins with a separator.
        note: String,
    },
    /// Another login took its place.
    #[error("superseded by another sign-in to the same account")]
    Superseded,
    /// A logout ended it.
    #[error("the sign-in was cancelled by a sign-out")]
    Cancelled,
    /// This machine said no.
    #[error("{0}")]
    Machine(String),
}

impl Error {
    /// Whether another attempt may succeed without a person doing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, Error::Unreachable { .. })
    }
}
