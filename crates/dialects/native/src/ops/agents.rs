//! Who answers in new threads, and who could, with which models and keys.

use rookery_agent::provider::ModelInfo;

use crate::{
    Cx, Error,
    wire::{
        DefaultModel, Empty, LendKey, ListProviders, Model, ModelList, Models, Provider, Providers,
    },
};

/// Asks nothing over the network.
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

pub(crate) async fn models(cx: Cx, params: ModelList) -> Result<Models, Error> {
    let usual = || cx.core.agents().default_choice().provider;
    let provider = params.provider.unwrap_or_else(usual);
    let models = cx.core.agents().models(&provider, &cx.keys()).await?;
    Ok(Models { provider, models: models.into_iter().map(model).collect() })
}

fn model(info: ModelInfo) -> Model {
    Model {
        id: info.id,
        name: info.name,
        context_window: info.context_window,
        reasoning: info.reasoning.into_iter().map(|(effort, _)| effort).collect(),
        default_reasoning: info.default_reasoning,
    }
}

pub(crate) async fn lend(cx: Cx, params: LendKey) -> Result<Empty, Error> {
    let LendKey { provider, key, variable } = params;
    let loan = cx.core.agents().lend_key(&provider, variable.as_deref(), key.expose())?;
    cx.key_ring.add(loan);
    Ok(Empty {})
}
