//! Signing in to accounts whose tokens providers are sent. How that is done is [`rookery_signin`]'s; here it takes
//! effect, and clients hear of it.

use std::sync::Arc;

use rookery_host::http;
use rookery_model::{Error, ErrorKind, Result};
use rookery_signin::{
    self as signin, Account, Accounts, Login, LoginRequest, Options, Pending, SignedIn, SystemClock,
};

use super::AgentConfig;
use crate::core::Core;
use crate::log::{NoticeBody, SettingsChange};
use crate::rooms::Agents;

/// The accounts of these settings. Blocks for as long as small files take.
pub(super) fn accounts(config: &AgentConfig, client: &http::Client) -> Accounts {
    let auth = &config.settings.auth;
    Accounts::new(Options {
        dir: config.auth_dir.clone().filter(|_| auth.persist),
        configs: auth.accounts.clone(),
        client: client.clone(),
        clock: Arc::new(SystemClock),
    })
}

/// A login that waits for a person. Dropping it ends it.
pub struct SigningIn {
    core: Core,
    account: Account,
    login: Login,
}

impl Agents {
    /// Begins to sign in to an account. A login to the same account that is under way is superseded.
    ///
    /// # Errors
    /// If tokens are not kept here, a setting is missing, or the issuer cannot be used.
    pub async fn sign_in(&self, account: Account, request: LoginRequest) -> Result<SigningIn> {
        let login = self.accounts().begin(account, request).await.map_err(failed)?;
        Ok(SigningIn { core: self.core.clone(), account, login })
    }

    /// Whether an account is signed in, from what is kept alone.
    ///
    /// # Errors
    /// If what is kept cannot be read.
    pub async fn signed_in(&self, account: Account) -> Result<SignedIn> {
        self.accounts().status(account).await.map_err(failed)
    }

    /// Whether enough is set about an account to sign in.
    pub fn can_sign_in(&self, account: Account) -> bool {
        self.accounts().is_enabled() && self.accounts().config(account).is_complete()
    }

    /// Forgets the tokens of an account, and ends a login to it that is under way.
    ///
    /// # Errors
    /// If tokens are not kept here, or they cannot be removed.
    pub async fn sign_out(&self, account: Account) -> Result<SignedIn> {
        let signed_out = self.accounts().logout(account).await.map_err(failed)?;
        changed(&self.core, account);
        Ok(signed_out)
    }

    fn accounts(&self) -> &Accounts {
        &self.core.inner.agents.accounts
    }
}

impl SigningIn {
    /// What a person needs to know to finish it.
    pub fn pending(&self) -> &Pending {
        self.login.pending()
    }

    /// Waits for the person, and keeps the tokens.
    ///
    /// # Errors
    /// Why it came to nothing; nothing is kept then.
    pub async fn finish(self) -> Result<SignedIn> {
        let signed_in = self.login.finish().await.map_err(failed)?;
        changed(&self.core, self.account);
        Ok(signed_in)
    }
}

/// Providers that are sent tokens of an account can be used now, or cannot any more.
fn changed(core: &Core, account: Account) {
    if core.inner.agents.registry.account_changed(account) {
        let notice = NoticeBody::Settings(SettingsChange::Providers);
        core.inner.log.spine().send(None, [notice]);
    }
}

fn failed(error: signin::Error) -> Error {
    let kind = match error {
        signin::Error::TimedOut { .. } => ErrorKind::Timeout,
        _ => ErrorKind::Failed,
    };
    Error::new(kind, error.to_string())
}
