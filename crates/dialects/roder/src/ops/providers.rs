//! Providers, their keys, and the choice of a model.

use rookery_agent::provider::{Auth, Capabilities, ModelInfo, ProviderInfo};
use rookery_core::FittedChoice;
use rookery_model as model;
use rookery_wire::rpc::NoParams;

use crate::context::{Cx, Link};
use crate::errors::Error;
use crate::wire::provider::{
    AuthType, ModelSelectParams, ModelSelectResult, Provider, ProviderCapabilities, ProviderModel,
    ProvidersClearParams, ProvidersClearResult, ProvidersConfigureParams, ProvidersConfigureResult,
    ProvidersListResult, ProvidersSelectParams, ProvidersSelectResult, ReasoningEffort, Selection,
};
use crate::{ids, show};

pub(crate) async fn list(cx: Cx, _: NoParams) -> Result<ProvidersListResult, Error> {
    let choice = cx.choice();
    let providers = cx.core.agents().model_providers(&cx.client.keys()).await;
    Ok(ProvidersListResult {
        selection_mode: show::selection(&choice),
        active_reasoning: show::effort(&cx, &choice),
        active_provider: choice.provider,
        active_model: choice.model,
        routing_options: Vec::new(),
        providers: providers.into_iter().map(|(info, models)| provider(info, models)).collect(),
    })
}

fn provider(info: ProviderInfo, models: Vec<ModelInfo>) -> Provider {
    let (auth_type, auth_label, auth_detail) = match info.auth {
        Auth::None => (AuthType::None, None, None),
        Auth::ApiKey(variable) => (AuthType::ApiKey, Some(variable), None),
        Auth::OAuth(account) => {
            let wanted = format!("sign in with auth/{}/login", account.name());
            let detail = (!info.is_authenticated).then_some(wanted);
            (AuthType::OAuth, Some(account.name().to_owned()), detail)
        }
    };
    Provider {
        id: info.id,
        name: info.name,
        description: info.description,
        auth_type,
        auth_label,
        authenticated: info.is_authenticated,
        auth_detail,
        recommended: info.is_recommended,
        sort_order: i32::try_from(info.sort_order).unwrap_or(i32::MAX),
        capabilities: capabilities(info.capabilities),
        models: models.into_iter().map(provider_model).collect(),
    }
}

fn capabilities(it: Capabilities) -> ProviderCapabilities {
    ProviderCapabilities {
        streaming: it.streaming,
        tool_calls: it.tool_calls,
        parallel_tool_calls: it.parallel_tool_calls,
        reasoning_summaries: it.reasoning_summaries,
        structured_output: it.structured_output,
        image_input: it.image_input,
        prompt_cache: it.prompt_cache,
        provider_metadata: it.provider_metadata,
        tool_search: it.tool_search,
    }
}

fn provider_model(model: ModelInfo) -> ProviderModel {
    let efforts = model.reasoning.into_iter();
    let efforts: Vec<ReasoningEffort> =
        efforts.map(|(effort, description)| ReasoningEffort { effort, description }).collect();
    ProviderModel {
        id: model.id,
        name: model.name,
        context_window: model.context_window,
        default_reasoning: model.default_reasoning,
        supported_reasoning: (!efforts.is_empty()).then_some(efforts),
    }
}

pub(crate) async fn configure(
    cx: Cx,
    params: ProvidersConfigureParams,
) -> Result<ProvidersConfigureResult, Error> {
    let provider =
        cx.core.agents().configure_provider(&params.provider, params.api_key.expose()).await?;
    Ok(ProvidersConfigureResult { provider, authenticated: true })
}

pub(crate) async fn clear(
    cx: Cx,
    params: ProvidersClearParams,
) -> Result<ProvidersClearResult, Error> {
    let provider = cx.core.agents().clear_provider(&params.provider).await?;
    Ok(ProvidersClearResult { provider })
}

pub(crate) async fn select(
    cx: Cx,
    params: ProvidersSelectParams,
) -> Result<ProvidersSelectResult, Error> {
    let choice = model::Choice {
        provider: params.provider,
        model: params.model.unwrap_or_default(),
        reasoning: params.reasoning,
    };
    let Switch { before, now } = switch(&cx, choice, params.thread_id.as_deref()).await?;
    Ok(ProvidersSelectResult {
        model_switch_summary: summary(&before, &now),
        reasoning: show::effort(&cx, &now),
        provider: now.provider,
        model: now.model,
        model_profile: None,
    })
}

pub(crate) async fn select_model(
    cx: Cx,
    params: ModelSelectParams,
) -> Result<ModelSelectResult, Error> {
    let choice = match params.selection {
        Selection::Manual { provider, model, reasoning } => {
            model::Choice { provider, model: model.unwrap_or_default(), reasoning }
        }
        Selection::Auto { option_id } => {
            return Err(Error::invalid(format!("unknown routing option: {option_id}")));
        }
    };
    let Switch { before, now } = switch(&cx, choice, params.thread_id.as_deref()).await?;
    Ok(ModelSelectResult {
        model_switch_summary: summary(&before, &now),
        selection_mode: show::selection(&now),
        reasoning: show::effort(&cx, &now),
        provider: now.provider,
        model: now.model,
        model_profile: None,
    })
}

/// What was chosen, and what is.
struct Switch {
    before: model::Choice,
    now: model::Choice,
}

/// Chooses for a thread, or for all that will be.
async fn switch(cx: &Cx, choice: model::Choice, thread: Option<&str>) -> Result<Switch, Error> {
    // An empty name would otherwise mean what is chosen already.
    if choice.provider.trim().is_empty() {
        return Err(Error::runtime("unknown provider: "));
    }
    let Some(text) = thread else {
        let before = cx.choice();
        let now = cx.core.agents().select_default(choice).await?;
        // What this client's server was started with no longer counts.
        let link = cx.client.link();
        cx.client.set_link(Link { choice: model::Choice::default(), ..link });
        return Ok(Switch { before, now });
    };
    let id = ids::thread(text)?;
    let seen = cx.core.threads().get(id).ok_or_else(|| ids::thread_not_found(text))?;
    let before = seen.thread.choice;
    let mut usual = before.clone();
    if !choice.model.trim().is_empty() {
        usual.reasoning = None;
    }
    let FittedChoice { choice: now, warning } =
        cx.core.agents().fit_choice(choice, &usual, &cx.client.keys()).await?;
    cx.core.threads().choose(id, now.clone()).await?;
    if let Some(warning) = warning {
        cx.core.log().warn(Some(id), warning);
    }
    Ok(Switch { before, now })
}

/// What changes, in words; nothing if nothing does.
fn summary(before: &model::Choice, now: &model::Choice) -> Option<String> {
    let name = |choice: &model::Choice| match &choice.reasoning {
        Some(effort) => format!("{}/{} ({effort})", choice.provider, choice.model),
        None => format!("{}/{}", choice.provider, choice.model),
    };
    (before != now).then(|| format!("switched from {} to {}", name(before), name(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_reported_in_words() {
        let choice = |model: &str, reasoning: Option<&str>| model::Choice {
            provider: "p".to_owned(),
            model: model.to_owned(),
            reasoning: reasoning.map(str::to_owned),
        };
        assert_eq!(summary(&choice("a", None), &choice("a", None)), None);
        assert_eq!(
            summary(&choice("a", None), &choice("b", Some("low"))).as_deref(),
            Some("switched from p/a to p/b (low)")
        );
    }
}
