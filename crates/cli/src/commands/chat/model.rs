//! Who answers: what was asked for, what is set up, or a provider whose key is in this environment. A
//! key that the daemon does not have is lent to it for what this command starts.

use rookery_native::wire::{LendKey, ListProviders, Provider, Providers};
use rookery_wire::{Client, Secret};

use crate::{
    failure::{Failure, Outcome},
    link::call,
};

/// The provider that scripts of tests answer for.
const MOCK: &str = "mock";

/// Who answers in a new thread; none leaves it to what is set up.
#[derive(Debug, PartialEq, Eq)]
enum Answers {
    Named(String),
    AsSetUp,
    /// A provider whose key only this environment has.
    ByKey(String),
    Nothing,
}

/// Finds out who answers in a new thread, and lends the key that it needs.
pub(super) async fn of_new_thread(client: &Client, named: Option<&str>) -> Outcome<Option<String>> {
    let known: Providers = call(client, ListProviders).await?;
    let provider = match decide(&known, named, has_variable) {
        Answers::Named(id) | Answers::ByKey(id) => Some(id),
        Answers::AsSetUp => None,
        Answers::Nothing => return Err(nothing_set_up(&known)),
    };
    let used = provider.clone().unwrap_or_else(|| known.default.provider.clone());
    lend(client, &known, &used).await?;
    Ok(provider)
}

/// Lends the key of the provider that answers in a thread.
pub(super) async fn of_thread(client: &Client, provider: &str) -> Outcome<()> {
    let known: Providers = call(client, ListProviders).await?;
    lend(client, &known, provider).await
}

fn decide(known: &Providers, named: Option<&str>, has: impl Fn(&str) -> bool) -> Answers {
    if let Some(id) = named {
        return Answers::Named(id.to_owned());
    }
    if known.default.chosen {
        return Answers::AsSetUp;
    }
    let has_key = |one: &&Provider| one.key_variable.as_deref().is_some_and(&has);
    match known.providers.iter().find(has_key) {
        Some(provider) => Answers::ByKey(provider.id.clone()),
        None => Answers::Nothing,
    }
}

/// Hands over the key of a provider that the daemon has none for, if this environment has one.
async fn lend(client: &Client, known: &Providers, provider: &str) -> Outcome<()> {
    let id = provider.trim().to_lowercase();
    let Some(found) = known.providers.iter().find(|one| one.id == id) else {
        // The daemon knows other spellings as well, and says what is wrong with it.
        return Ok(());
    };
    for variable in &found.wanted_keys {
        // A program may do without: it may have a login of its own.
        if let Some(key) = key(variable) {
            let (provider, variable) = (found.id.clone(), Some(variable.clone()));
            let params = LendKey { provider, key: Secret::new(key), variable };
            call(client, params).await?;
        }
    }
    if found.usable || found.id == MOCK {
        return Ok(());
    }
    let Some(variable) = found.key_variable.as_deref() else { return Ok(()) };
    let Some(key) = key(variable) else {
        return Err(Failure::new(format!("{} has no API key", found.name))
            .hint(format!("set {variable}, or choose another with `rookery setup`")));
    };
    let params = LendKey { provider: found.id.clone(), key: Secret::new(key), variable: None };
    call(client, params).await?;
    Ok(())
}

pub(super) fn has_variable(name: &str) -> bool {
    key(name).is_some()
}

fn key(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|key| !key.trim().is_empty())
}

fn nothing_set_up(known: &Providers) -> Failure {
    let variables = known.providers.iter().filter_map(|one| one.key_variable.as_deref());
    let variables: Vec<&str> = variables.take(2).collect();
    Failure::new("no provider is set up").hint(format!(
        "run `rookery setup`, set a key such as {}, or choose a provider with --provider",
        variables.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(provider: &str, chosen: bool) -> Providers {
        let with_key = |id: &str| json!({"id": id, "name": id, "usable": false, "keyVariable": format!("{id}_KEY")});
        serde_json::from_value(json!({
            "default": {"provider": provider, "model": "m", "chosen": chosen},
            "providers": [with_key("one"), with_key("two"),
                {"id": "mock", "name": "Mock", "usable": true}],
        }))
        .unwrap()
    }

    #[test]
    fn the_mock_answers_only_if_it_was_chosen() {
        let none = |_: &str| false;
        let nothing = known("mock", false);
        assert_eq!(decide(&nothing, None, none), Answers::Nothing);
        assert_eq!(decide(&nothing, Some("mock"), none), Answers::Named("mock".into()));
        assert_eq!(decide(&known("mock", true), None, none), Answers::AsSetUp);
        assert_eq!(decide(&known("two", true), None, none), Answers::AsSetUp);
    }

    #[test]
    fn a_key_of_this_environment_counts_where_nothing_is_chosen() {
        let two = |name: &str| name == "two_KEY";
        assert_eq!(decide(&known("mock", false), None, two), Answers::ByKey("two".into()));
        assert_eq!(decide(&known("one", true), None, two), Answers::AsSetUp);
        let message = format!("{:?}", nothing_set_up(&known("mock", false)));
        assert!(message.contains("rookery setup") && message.contains("one_KEY"), "{message}");
    }
}
