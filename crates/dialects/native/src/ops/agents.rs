//! Who answers in new threads, and who could. Nothing is asked over the network.

use crate::{
    Cx, Error,
    wire::{DefaultModel, ListProviders, Provider, Providers},
};

pub(crate) async fn providers(cx: Cx, _params: ListProviders) -> Result<Providers, Error> {
    let choice = cx.core.agents().default_choice();
    let providers = cx.core.agents().provider_states().into_iter().map(|state| Provider {
        id: state.id,
        name: state.name,
        usable: state.is_usable,
        key_variable: state.key_variable,
        wanted_keys: state.wanted_keys,
    });
    Ok(Providers {
        default: DefaultModel {
            provider: choice.provider,
            model: choice.model,
            chosen: cx.core.agents().has_chosen_provider(),
        },
        providers: providers.collect(),
    })
}
