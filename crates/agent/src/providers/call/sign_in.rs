//! A provider that knows us by a token of an account: the token as it is now, and another one if it is refused.

use rookery_signin::{self as signin, Account, Accounts};

use super::retry::Failed;
use crate::provider::{Failure, FailureKind};
use crate::settings::Secret;

/// The account of a provider.
#[derive(Clone)]
pub(crate) struct SignIn {
    pub(crate) accounts: Accounts,
    pub(crate) account: Account,
}

impl SignIn {
    /// The token, renewed if need be. It is not sent in the clear to another machine.
    pub(crate) async fn token(&self, name: &str, base_url: &str) -> Result<Secret, Failed> {
        if !signin::may_carry_tokens(base_url) {
            let message = format!("{name} gets no token: its base_url must be set, and use https");
            return Err(Failed::auth(message));
        }
        match self.accounts.access(self.account).await {
            Ok(token) => Ok(Secret::new(token.expose())),
            Err(error) => {
                let is_retryable = error.is_transient();
                let kind = if is_retryable { FailureKind::Unavailable } else { FailureKind::Auth };
                let failure = Failure { message: format!("{name}: {error}"), kind };
                Err(Failed { failure, status: None, is_retryable, retry_after: None })
            }
        }
    }

    /// Whether another token takes the place of a refused one.
    pub(crate) async fn renew(&self, refused: &Secret) -> bool {
        let refused = signin::Secret::new(refused.expose());
        match self.accounts.renew(self.account, &refused).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(account = self.account.name(), "a token cannot be renewed: {error}");
                false
            }
        }
    }

    pub(crate) fn is_signed_in(&self) -> bool {
        self.accounts.last_seen(self.account).is_signed_in
    }

    pub(crate) fn secrets(&self) -> Vec<String> {
        self.accounts.secrets()
    }
}
