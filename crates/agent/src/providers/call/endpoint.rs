//! Where a provider is and how it knows us: settings and the built-in table, put together.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use rookery_host::http::Client;

use super::retry::Failed;
use super::sign_in::SignIn;
use crate::providers::loans::Loan;
use crate::providers::settings::{self, Environment, Retry};
use crate::settings::Secret;

/// The keys that were set, by provider; changed while providers are in use.
pub(crate) type Keys = Arc<RwLock<HashMap<String, Secret>>>;

/// Headers whose values are as secret as keys.
const SECRET_NAMES: [&str; 4] = ["auth", "key", "token", "secret"];

/// A server that answers as a provider.
pub(crate) struct Endpoint {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) base_url: String,
    /// The variables that may hold the key, in order.
    pub(crate) key_variables: Vec<String>,
    /// Whether it is of no use without a key.
    pub(crate) needs_key: bool,
    /// Headers from the settings.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) retry: Retry,
    pub(crate) idle: Option<Duration>,
    pub(crate) keys: Keys,
    pub(crate) environment: Environment,
    pub(crate) client: Client,
    /// The account whose token is sent in place of a key.
    pub(crate) sign_in: Option<SignIn>,
}

impl Endpoint {
    /// The key as it is now: set, or from the environment. An error says where one is looked for.
    pub(crate) fn key(&self) -> Result<Option<Secret>, String> {
        let set = self.keys.read().get(&self.id).cloned();
        let from_environment =
            || self.key_variables.iter().find_map(|name| Secret::key(&(self.environment)(name)?));
        match set.or_else(from_environment) {
            None if self.needs_key => Err(self.missing_key()),
            key => Ok(key),
        }
    }

    /// What a call is sent with: the client's key, if one was lent for this provider, or else a token of the
    /// account or our own key.
    pub(crate) async fn credential(&self, lent: Option<&Loan>) -> Result<Option<Secret>, Failed> {
        if let Some(loan) = self.lent(lent) {
            return Ok(Some(loan.key().clone()));
        }
        match &self.sign_in {
            Some(sign_in) => sign_in.token(&self.name, &self.base_url).await.map(Some),
            None => self.key().map_err(Failed::auth),
        }
    }

    /// Whether another token takes the place of one that the server refused.
    pub(crate) async fn renews(&self, lent: Option<&Loan>, refused: Option<&Secret>) -> bool {
        match (&self.sign_in, refused, self.lent(lent)) {
            (Some(sign_in), Some(refused), None) => sign_in.renew(refused).await,
            _ => false,
        }
    }

    fn lent<'a>(&self, lent: Option<&'a Loan>) -> Option<&'a Loan> {
        lent.filter(|loan| loan.provider() == self.id)
    }

    /// Whether a call can be made now, as far as that is known without asking.
    pub(crate) fn is_usable(&self) -> bool {
        match &self.sign_in {
            Some(sign_in) => sign_in.is_signed_in(),
            None => self.key().is_ok(),
        }
    }

    /// How long the server may be silent, as of now.
    pub(crate) fn idle(&self) -> Duration {
        settings::idle_timeout(&self.id, self.idle, &self.environment)
    }

    /// What no message may show.
    pub(crate) fn secrets(&self, key: Option<&Secret>) -> Vec<String> {
        let is_secret =
            |name: &str| SECRET_NAMES.iter().any(|part| name.to_ascii_lowercase().contains(part));
        let headers = self.headers.iter().filter(|(name, _)| is_secret(name));
        // The scheme in front of a token is no secret, what follows is.
        let values = headers.map(|(_, value)| value.rsplit(' ').next().unwrap_or(value).to_owned());
        let tokens = self.sign_in.iter().flat_map(SignIn::secrets);
        key.map(|key| key.expose().to_owned()).into_iter().chain(values).chain(tokens).collect()
    }

    fn missing_key(&self) -> String {
        let variable = self.key_variables.first().map_or("its key", String::as_str);
        format!(
            "{} API key is missing; set {variable} or configure it from the provider menu",
            self.name
        )
    }
}
