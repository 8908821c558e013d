//! Every provider there is: the built-in ones and those that settings add, with their keys.

mod private;
mod registered;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use rookery_host::http::Client;
use rookery_model::{Edit, Prices};
use rookery_signin::{Account, Accounts};
use serde_json::Value;

use self::private::Private;
use self::registered::{Registered, key_variables, program_keys};
use super::builtin::{self, BUILTINS};
use super::call::Keys;
use super::catalog::{self, Known};
use super::efforts::{self, Fitted, UnsupportedEffort};
use super::listing::Cache;
use super::loans::{Loan, Loans};
use super::settings::{Environment, Retry, Settings, mask};
use crate::provider::{Auth, ModelInfo, Provider, ProviderInfo};
use crate::settings::Secret;
use crate::tool::ToolOutput;

/// What all providers share.
#[derive(Clone)]
pub struct RegistryOptions {
    /// The way out.
    pub client: Client,
    /// Where variables are looked up.
    pub environment: Environment,
    /// When failed calls are tried again.
    pub retry: Retry,
    /// Where lists of models are kept across restarts.
    pub cache_file: Option<PathBuf>,
    /// Accounts whose tokens providers may be sent.
    pub accounts: Accounts,
}

/// A key cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no such provider.
    #[error("unknown provider: {0}")]
    UnknownProvider(String),
    /// The key has nothing in it.
    #[error("api key for {0} is empty")]
    EmptyKey(String),
    /// It does not take a key by that name.
    #[error("{0} takes no key from {1}")]
    UnknownVariable(String, String),
    /// It is a program, and nothing says where it finds a key.
    #[error("{0} takes no key: name its variable with `api_key_env` in its settings")]
    NoVariable(String),
}

/// All providers. Keys change while it is in use; everything else is as it was built.
pub struct Registry {
    providers: BTreeMap<String, Arc<Registered>>,
    /// Those that tasks brought.
    private: Private,
    options: RegistryOptions,
    keys: Keys,
    loans: Loans,
    variables: BTreeSet<String>,
    listings: Arc<Cache>,
}

/// Shorter keys are not looked for in what tools find.
const SHORTEST_SECRET: usize = 8;

fn mask_text(text: &mut String, secrets: &[String]) {
    // Looked for first: hardly any text has one, and then nothing is copied.
    if secrets.iter().any(|secret| text.contains(secret.as_str())) {
        *text = mask(text, secrets);
    }
}

/// Lines that hold a key are not kept as they were, so that they cannot be brought back.
fn mask_edit(edit: &mut Edit, secrets: &[String]) {
    let has_key = |text: &str| secrets.iter().any(|secret| text.contains(secret));
    if edit.lines.iter().any(|line| has_key(&line.text)) {
        edit.lines.iter_mut().for_each(|line| mask_text(&mut line.text, secrets));
        edit.obstacle = Some("the change holds a key, which is not kept".to_owned());
    }
}

fn mask_value(value: &mut Value, secrets: &[String]) {
    match value {
        Value::String(text) => mask_text(text, secrets),
        Value::Array(values) => values.iter_mut().for_each(|value| mask_value(value, secrets)),
        Value::Object(members) => {
            members.values_mut().for_each(|value| mask_value(value, secrets));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Registry {
    /// Every built-in provider, changed by the settings of its id, and those that only settings know.
    pub fn new(settings: Vec<Settings>, options: &RegistryOptions) -> Self {
        let keys = Keys::default();
        let mut all: BTreeMap<String, Settings> = BUILTINS
            .iter()
            .map(|builtin| {
                (
                    builtin.id.to_owned(),
                    Settings { id: builtin.id.to_owned(), ..Settings::default() },
                )
            })
            .collect();
        for mut one in settings {
            one.id = builtin::normalize(&one.id);
            all.insert(one.id.clone(), one);
        }
        all.remove("");
        for one in all.values() {
            keys.write().extend(one.api_key.clone().map(|key| (one.id.clone(), key)));
        }
        let variables = all.values().flat_map(|one| {
            let usual = key_variables(one, builtin::find(&one.id));
            usual.into_iter().chain(program_keys(one))
        });
        let variables = variables.chain(builtin::OTHER_KEYS.map(str::to_owned)).collect();
        let register =
            |one: Settings| (one.id.clone(), Arc::new(Registered::new(one, &keys, options)));
        let providers = all.into_values().map(register).collect();
        let listings = Cache::new(options.cache_file.clone());
        Self {
            providers,
            private: Private::default(),
            options: options.clone(),
            keys,
            loans: Loans::default(),
            variables,
            listings,
        }
    }

    /// An id as we spell it.
    pub fn normalize(&self, id: &str) -> String {
        builtin::normalize(id)
    }

    /// A provider, by any spelling of its id.
    pub fn get(&self, id: &str) -> Option<Arc<dyn Provider>> {
        self.find(id).map(|registered| Arc::clone(&registered.provider))
    }

    /// Whether a provider is a program: an agent with tools of its own.
    pub fn is_program(&self, id: &str) -> bool {
        self.find(id).is_some_and(|registered| registered.acp.is_some())
    }

    /// A provider as clients see it now.
    pub fn info(&self, id: &str) -> Option<ProviderInfo> {
        self.find(id).map(|registered| registered.info())
    }

    /// All providers as clients see them now, in the order of a list.
    pub fn infos(&self) -> Vec<ProviderInfo> {
        let mut infos: Vec<ProviderInfo> =
            self.providers.values().map(|registered| registered.info()).collect();
        infos.sort_by(|one, other| {
            (one.sort_order, &one.name).cmp(&(other.sort_order, &other.name))
        });
        infos
    }

    /// A provider's models; empty if it is unknown or does not tell. Never waits long for the network.
    pub async fn models(&self, id: &str) -> Vec<ModelInfo> {
        let Some(registered) = self.find(id) else { return Vec::new() };
        if !registered.models.is_empty() {
            return registered.models.clone();
        }
        if self.is_private(&registered.info.id) {
            return self.listings.passing(Arc::clone(&registered.provider), None).await;
        }
        self.listings.models(&registered.info.id, Arc::clone(&registered.provider)).await
    }

    /// The models that are available with these lent keys.
    pub async fn models_with(&self, id: &str, keys: &[Loan]) -> Vec<ModelInfo> {
        let Some(registered) = self.find(id) else { return Vec::new() };
        match keys.iter().find(|loan| loan.provider() == registered.info.id) {
            Some(loan) if registered.models.is_empty() => {
                self.listings.passing(Arc::clone(&registered.provider), Some(loan.clone())).await
            }
            _ => self.models(id).await,
        }
    }

    /// Takes a key for the calls that it is handed to, and for nothing else. It is never stored, and
    /// forgotten when the loan is dropped. A provider that is a program may find keys in more than one
    /// variable, the usual one first.
    ///
    /// # Errors
    /// If there is no such provider, it knows no such variable, or the key is blank.
    pub fn lend(&self, id: &str, variable: Option<&str>, key: &str) -> Result<Loan, KeyError> {
        let id = self.known_id(id)?;
        let key = Secret::key(key).ok_or_else(|| KeyError::EmptyKey(id.clone()))?;
        let Some(registered) = self.find(&id) else { return Err(KeyError::UnknownProvider(id)) };
        let Registered { acp, variables, .. } = &*registered;
        let variable = match variable {
            Some(name) if variables.iter().any(|known| known == name) => Some(name.to_owned()),
            Some(name) => return Err(KeyError::UnknownVariable(id, name.to_owned())),
            None if acp.is_none() => None,
            None => Some(variables.first().cloned().ok_or(KeyError::NoVariable(id.clone()))?),
        };
        Ok(self.loans.lend(id, variable, key))
    }

    /// A model of a provider that is known without asking.
    pub fn known_model(&self, id: &str, model: &str) -> Option<ModelInfo> {
        let registered = self.find(id)?;
        let listed = registered.models.iter().find(|info| info.id == model);
        listed.cloned().or_else(|| catalog::find(registered.known, model).map(Known::info))
    }

    /// What tokens of a model cost, as far as its provider has reported it. Nothing is asked for it.
    pub fn prices(&self, id: &str, model: &str) -> Option<Prices> {
        let listed = || self.listings.remembered(&self.find(id)?.info.id, model);
        let known = self.known_model(id, model).and_then(|model| model.prices);
        known.or_else(|| listed().and_then(|model| model.prices))
    }

    /// How many tokens an answer of a provider may have, if that was set.
    pub fn max_tokens(&self, id: &str) -> Option<u64> {
        self.find(id)?.endpoint.as_ref()?.max_tokens
    }

    /// The model to begin with: the first that is known without asking.
    pub fn default_model(&self, id: &str) -> Option<String> {
        self.find(id)?.models.first().map(|model| model.id.clone())
    }

    /// The effort of a model that is nearest to the one wanted. An unknown model is not judged.
    ///
    /// # Errors
    /// If a known model is asked for what is no effort at all.
    pub fn fit_effort(
        &self,
        id: &str,
        model: &str,
        effort: &str,
    ) -> Result<Fitted, UnsupportedEffort> {
        let known = self.find(id).and_then(|registered| catalog::find(registered.known, model));
        let wanted = || Ok(Fitted::wanted(effort));
        known.map_or_else(wanted, |known| efforts::fit(&known.info(), effort))
    }

    /// The default effort of a known model.
    pub fn usual_effort(&self, id: &str, model: &str) -> Option<&'static str> {
        catalog::find(self.find(id)?.known, model)?.default_reasoning
    }

    /// Sets a provider's key from the next call on.
    pub fn set_key(&self, id: &str, key: &str) -> Result<(), KeyError> {
        let id = self.known_id(id)?;
        let key = Secret::key(key).ok_or_else(|| KeyError::EmptyKey(id.clone()))?;
        self.keys.write().insert(id.clone(), key);
        self.listings.forget_age(&id);
        Ok(())
    }

    /// Forgets a provider's key from the next call on; the environment may still have one.
    pub fn clear_key(&self, id: &str) -> Result<(), KeyError> {
        let id = self.known_id(id)?;
        self.keys.write().remove(&id);
        self.listings.forget_age(&id);
        Ok(())
    }

    /// Lists of models of providers that are sent tokens of an account may be others now. Whether there are any
    /// such providers.
    pub fn account_changed(&self, account: Account) -> bool {
        let of_account =
            |registered: &&Arc<Registered>| registered.info.auth == Auth::OAuth(account);
        let ids: Vec<&String> = self
            .providers
            .values()
            .filter(of_account)
            .map(|registered| &registered.info.id)
            .collect();
        ids.iter().for_each(|id| self.listings.forget_age(id));
        !ids.is_empty()
    }

    /// Takes every key that is known now, set or from the environment, out of what a tool found, so
    /// that no conversation has it.
    #[must_use]
    pub fn mask(&self, mut output: ToolOutput) -> ToolOutput {
        let secrets = self.secrets();
        if !secrets.is_empty() {
            mask_text(&mut output.text, &secrets);
            mask_value(&mut output.data, &secrets);
            output.edits.iter_mut().for_each(|edit| mask_edit(edit, &secrets));
        }
        output
    }

    /// The variables that keys are taken from, whether or not they are set.
    pub fn key_variables(&self) -> &BTreeSet<String> {
        &self.variables
    }

    /// Whether a text has a key in it that is known now.
    pub fn has_key(&self, text: &str) -> bool {
        self.secrets().iter().any(|secret| text.contains(secret))
    }

    /// Keys that are long enough to differ from ordinary words.
    fn secrets(&self) -> Vec<String> {
        let set = self.keys.read().values().map(|key| key.expose().to_owned()).collect::<Vec<_>>();
        let private = self.private.all();
        let all = self.providers.values().chain(&private);
        let endpoints = all.filter_map(|registered| registered.endpoint.as_ref());
        let used =
            endpoints.flat_map(|endpoint| endpoint.secrets(endpoint.key().ok().flatten().as_ref()));
        let tokens = self.options.accounts.secrets();
        let lent = self.loans.keys();
        let mut all: Vec<String> = set.into_iter().chain(used).chain(lent).chain(tokens).collect();
        all.retain(|secret| secret.len() >= SHORTEST_SECRET);
        // The longest first: one may be the beginning of another.
        all.sort_by(|one, other| (other.len(), other).cmp(&(one.len(), one)));
        all.dedup();
        all
    }

    fn find(&self, id: &str) -> Option<Arc<Registered>> {
        let id = builtin::normalize(id);
        self.providers.get(&id).cloned().or_else(|| self.private.get(&id))
    }

    fn known_id(&self, id: &str) -> Result<String, KeyError> {
        let id = builtin::normalize(id);
        if self.find(&id).is_some() { Ok(id) } else { Err(KeyError::UnknownProvider(id)) }
    }
}
