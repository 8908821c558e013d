//! Settings of a client as a provider: one of ours, or one of its own with its address and key.

use rookery_agent::providers::{TaskProvider, TaskProviderError, of_task};
use serde_json::Value;

use crate::context::Cx;
use crate::errors::Failure;
use crate::wire::Settings;

/// Names of settings by service: where it is, its key, its model.
type Service = (&'static str, Option<&'static str>, Option<&'static str>, Option<&'static str>);

const SERVICES: &[Service] = &[
    ("anthropic", Some("anthropicBaseUrl"), Some("apiKey"), None),
    ("openai", Some("openAiBaseUrl"), Some("openAiApiKey"), Some("openAiModelId")),
    ("openai-native", Some("openAiNativeBaseUrl"), Some("openAiNativeApiKey"), None),
    ("openrouter", Some("openRouterBaseUrl"), Some("openRouterApiKey"), Some("openRouterModelId")),
    ("ollama", Some("ollamaBaseUrl"), Some("ollamaApiKey"), Some("ollamaModelId")),
    ("lmstudio", Some("lmStudioBaseUrl"), None, Some("lmStudioModelId")),
    ("litellm", Some("litellmBaseUrl"), Some("litellmApiKey"), Some("litellmModelId")),
    ("requesty", Some("requestyBaseUrl"), Some("requestyApiKey"), Some("requestyModelId")),
    ("unbound", None, Some("unboundApiKey"), Some("unboundModelId")),
    ("vercel-ai-gateway", None, Some("vercelAiGatewayApiKey"), Some("vercelAiGatewayModelId")),
    ("deepseek", Some("deepSeekBaseUrl"), Some("deepSeekApiKey"), None),
    ("gemini", Some("googleGeminiBaseUrl"), Some("geminiApiKey"), None),
    ("mistral", None, Some("mistralApiKey"), None),
    ("moonshot", Some("moonshotBaseUrl"), Some("moonshotApiKey"), None),
    ("minimax", Some("minimaxBaseUrl"), Some("minimaxApiKey"), None),
    ("xai", None, Some("xaiApiKey"), None),
    ("baseten", None, Some("basetenApiKey"), None),
    ("sambanova", None, Some("sambaNovaApiKey"), None),
    ("zai", None, Some("zaiApiKey"), None),
    ("fireworks", None, Some("fireworksApiKey"), None),
];

/// Where a model is named, in the order in which it is looked for.
const MODELS: &[&str] = &[
    "apiModelId",
    "openRouterModelId",
    "openAiModelId",
    "ollamaModelId",
    "lmStudioModelId",
    "lmStudioDraftModelId",
    "requestyModelId",
    "unboundModelId",
    "litellmModelId",
    "vercelAiGatewayModelId",
];

/// The model that settings name: the one of their service first.
pub(crate) fn model(settings: &Settings) -> Option<&str> {
    let service = settings.text("apiProvider").and_then(service);
    let own = service.and_then(|(_, _, _, model)| *model).and_then(|name| settings.text(name));
    own.or_else(|| MODELS.iter().find_map(|name| settings.text(name)))
}

fn service(name: &str) -> Option<&'static Service> {
    SERVICES.iter().find(|(service, ..)| *service == name)
}

/// The service that settings are about; one that is not named is known by its key.
fn named(settings: &Settings) -> Option<&str> {
    let by_key = || {
        let has_key = |row: &&Service| row.2.is_some_and(|key| settings.text(key).is_some());
        SERVICES.iter().find(has_key).map(|row| row.0)
    };
    settings.text("apiProvider").or_else(by_key)
}

/// The provider that settings describe: one of ours if they bring neither address nor key, else one of
/// their own, which has what was `kept` before where they are silent.
pub(crate) async fn find(
    cx: &Cx,
    settings: &Settings,
    kept: Option<&str>,
) -> Result<Option<String>, Failure> {
    let Some(name) = named(settings) else { return Ok(kept.map(str::to_owned)) };
    if name == "fake-ai" {
        return Ok(Some("mock".to_owned()));
    }
    let (_, base, key, _) = service(name).copied().unwrap_or((name, None, None, None));
    let text = |name: Option<&str>| name.and_then(|name| settings.text(name));
    let agents = cx.core.agents();
    let kept = kept.and_then(|id| agents.private_provider(id));
    let kept = kept.filter(|kept| kept.name.as_deref() == Some(name));
    let (base_url, key, headers) = (text(base), text(key), headers(settings, name));
    let is_plain = base_url.is_none() && key.is_none() && headers.is_empty() && kept.is_none();
    let own = ours(name);
    if is_plain && agents.providers().iter().any(|info| info.id == own) {
        return Ok(Some(own.to_owned()));
    }
    let brought = TaskProvider {
        service: name,
        base_url,
        key,
        headers,
        model: model(settings),
        max_tokens: settings.number("modelMaxTokens").map(|tokens| tokens as u64),
        temperature: settings.number("modelTemperature"),
        kept,
    };
    let wrong = |error: TaskProviderError| {
        Failure::invalid("configuration.apiProvider", format!("cannot be used: {error}"))
    };
    let brought = of_task(brought).map_err(wrong)?;
    let pinned = cx.hub.profiles().providers().await?;
    Ok(Some(agents.add_private_provider(brought, pinned).await?))
}

/// Headers that a client wants sent; only one service has a setting for them.
fn headers(settings: &Settings, service: &str) -> Vec<(String, String)> {
    let headers = settings.get("openAiHeaders").filter(|_| service == "openai");
    let headers = headers.and_then(Value::as_object).into_iter().flatten();
    headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

/// What a service is called among our own providers.
fn ours(service: &str) -> &str {
    match service {
        "openai-native" | "openai-codex" => "openai",
        other => other,
    }
}
