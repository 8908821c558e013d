//! Providers as tasks bring them: by the name of a service, with an address and a key if they have them;
//! and how they are kept.

use serde::{Deserialize, Serialize};
use url::Url;

use super::settings::{Kind, Settings};
use crate::settings::Secret;

/// The longest address, and the longest key.
const LIMIT: usize = 4096;
/// The freest answer.
const MAX_TEMPERATURE: f64 = 2.0;

/// One service: its name, its protocol, where it usually is, and whether an address without a path means
/// `/v1` of that server.
type Row = (&'static str, Kind, &'static str, bool);

const SERVICES: &[Row] = &[
    ("anthropic", Kind::Anthropic, "https://api.anthropic.com", false),
    ("baseten", Kind::OpenaiChat, "https://inference.baseten.co/v1", false),
    ("cerebras", Kind::OpenaiChat, "https://api.cerebras.ai/v1", false),
    ("chutes", Kind::OpenaiChat, "https://llm.chutes.ai/v1", false),
    ("deepinfra", Kind::OpenaiChat, "https://api.deepinfra.com/v1/openai", false),
    ("deepseek", Kind::OpenaiChat, "https://api.deepseek.com", false),
    ("doubao", Kind::OpenaiChat, "https://ark.cn-beijing.volces.com/api/v3", false),
    ("featherless", Kind::OpenaiChat, "https://api.featherless.ai/v1", false),
    ("fireworks", Kind::OpenaiChat, "https://api.fireworks.ai/inference/v1", false),
    ("gemini", Kind::OpenaiChat, "https://generativelanguage.googleapis.com/v1beta/openai", false),
    ("groq", Kind::OpenaiChat, "https://api.groq.com/openai/v1", false),
    ("huggingface", Kind::OpenaiChat, "https://router.huggingface.co/v1", false),
    ("io-intelligence", Kind::OpenaiChat, "https://api.intelligence.io.solutions/api/v1", false),
    ("litellm", Kind::OpenaiChat, "http://127.0.0.1:4000/v1", true),
    ("lmstudio", Kind::OpenaiChat, "http://127.0.0.1:1234/v1", true),
    ("minimax", Kind::OpenaiChat, "https://api.minimax.io/v1", false),
    ("mistral", Kind::OpenaiChat, "https://api.mistral.ai/v1", false),
    ("moonshot", Kind::OpenaiChat, "https://api.moonshot.ai/v1", false),
    ("ollama", Kind::OpenaiChat, "http://127.0.0.1:11434/v1", true),
    ("openai", Kind::OpenaiChat, "https://api.openai.com/v1", false),
    ("openai-native", Kind::OpenaiResponses, "https://api.openai.com/v1", true),
    ("openrouter", Kind::OpenaiChat, "https://openrouter.ai/api/v1", false),
    ("poe", Kind::OpenaiChat, "https://api.poe.com/v1", false),
    ("requesty", Kind::OpenaiChat, "https://router.requesty.ai/v1", true),
    ("sambanova", Kind::OpenaiChat, "https://api.sambanova.ai/v1", false),
    ("unbound", Kind::OpenaiChat, "https://api.getunbound.ai/v1", true),
    ("vercel-ai-gateway", Kind::OpenaiChat, "https://ai-gateway.vercel.sh/v1", false),
    ("xai", Kind::OpenaiChat, "https://api.x.ai/v1", false),
    ("zai", Kind::OpenaiChat, "https://api.z.ai/api/paas/v4", false),
    ("fake-ai", Kind::Mock, "", false),
];

/// What a task says about its provider.
#[derive(Clone, Debug, Default)]
pub struct TaskProvider<'a> {
    pub service: &'a str,
    /// Where it is; none is its usual place.
    pub base_url: Option<&'a str>,
    pub key: Option<&'a str>,
    /// Headers to send.
    pub headers: Vec<(String, String)>,
    /// The one model that is used.
    pub model: Option<&'a str>,
    /// How many tokens an answer may have.
    pub max_tokens: Option<u64>,
    /// How freely it answers, from 0 to 2.
    pub temperature: Option<f64>,
    /// What it was before: if it is the same service, what is not given now is taken from that.
    pub kept: Option<Settings>,
}

/// Why a provider of a task cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskProviderError {
    /// It is not among those that are spoken to here.
    #[error("provider {0} is not supported; use one with an OpenAI-compatible or Anthropic API")]
    Unknown(String),
    /// Its address is none.
    #[error("{0} is not an http or https address without user and password")]
    Address(String),
    /// A key, a header or the address is too long or has characters that no request can carry.
    #[error("{0} is too long, or has characters that no request can carry")]
    Unusable(&'static str),
}

/// The settings of a provider that a task brought; see [`Registry::add_private`](super::Registry::add_private).
///
/// # Errors
/// If the service is not known, or what it comes with cannot be used.
pub fn of_task(task: TaskProvider<'_>) -> Result<Settings, TaskProviderError> {
    let service = task.service.trim();
    let row = SERVICES.iter().find(|(name, ..)| *name == service);
    let Some(&(name, kind, usual, is_versioned)) = row else {
        let shown: String = service.chars().take(60).flat_map(char::escape_debug).collect();
        return Err(TaskProviderError::Unknown(shown));
    };
    let kept = task.kept.filter(|kept| kept.name.as_deref() == Some(name)).unwrap_or_default();
    let given = task.base_url.map(str::trim).filter(|url| !url.is_empty());
    let base_url = match given {
        Some(given) if kind != Kind::Mock => address(given, is_versioned)?,
        _ => kept.base_url.clone().unwrap_or_else(|| usual.to_owned()),
    };
    let kept_url = kept.base_url;
    // What was kept for one address is not sent to another.
    let is_same_place = kept_url.is_none_or(|kept| kept == base_url);
    let (kept_key, kept_headers) =
        if is_same_place { (kept.api_key, kept.headers) } else { (None, Vec::new()) };
    let api_key = task.key.and_then(Secret::key).or(kept_key);
    if api_key.as_ref().is_some_and(|key| !is_sendable(key.expose())) {
        return Err(TaskProviderError::Unusable("the key"));
    }
    let is_header = |(name, value): &(String, String)| {
        http::HeaderName::from_bytes(name.as_bytes()).is_ok() && is_sendable(value)
    };
    if !task.headers.iter().all(is_header) {
        return Err(TaskProviderError::Unusable("a header"));
    }
    let temperature = task.temperature.filter(|value| value.is_finite());
    Ok(Settings {
        kind: Some(kind),
        name: Some(name.to_owned()),
        base_url: Some(base_url),
        api_key,
        headers: if task.headers.is_empty() { kept_headers } else { task.headers },
        models: task.model.map(str::to_owned).into_iter().collect(),
        max_tokens: task.max_tokens.filter(|limit| *limit > 0).or(kept.max_tokens),
        temperature: temperature
            .map(|value| value.clamp(0.0, MAX_TEMPERATURE))
            .or(kept.temperature),
        is_private: true,
        ..Settings::default()
    })
}

fn address(given: &str, is_versioned: bool) -> Result<String, TaskProviderError> {
    let shown: String = given.chars().take(60).flat_map(char::escape_debug).collect();
    if given.len() > LIMIT {
        return Err(TaskProviderError::Unusable("the address"));
    }
    let url = Url::parse(given).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.username().is_empty()
            && url.password().is_none()
    });
    // An address with a password in it is not shown.
    let url = url.ok_or_else(|| {
        TaskProviderError::Address(if given.contains('@') { "the address".into() } else { shown })
    })?;
    let bare = given.trim_end_matches('/');
    let is_bare = matches!(url.path(), "" | "/") && url.query().is_none();
    Ok(if is_versioned && is_bare { format!("{bare}/v1") } else { bare.to_owned() })
}

fn is_sendable(text: &str) -> bool {
    text.len() <= LIMIT && http::HeaderValue::from_str(text).is_ok()
}

#[derive(Default, Serialize, Deserialize)]
struct StoredProviders {
    providers: Vec<StoredProvider>,
}

#[derive(Serialize, Deserialize)]
struct StoredProvider {
    kind: String,
    name: Option<String>,
    base_url: Option<String>,
    api_key: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    models: Vec<String>,
    max_tokens: Option<u64>,
    temperature: Option<f64>,
}

/// Private providers as they are kept in a file, keys included.
pub fn kept_as_json(providers: &[Settings]) -> String {
    let keep = |set: &Settings| StoredProvider {
        kind: set.kind.unwrap_or_default().name().to_owned(),
        name: set.name.clone(),
        base_url: set.base_url.clone(),
        api_key: set.api_key.as_ref().map(|key| key.expose().to_owned()),
        headers: set.headers.clone(),
        models: set.models.clone(),
        max_tokens: set.max_tokens,
        temperature: set.temperature,
    };
    let kept = StoredProviders { providers: providers.iter().map(keep).collect() };
    serde_json::to_string_pretty(&kept).unwrap_or_default()
}

/// The private providers of such a file; those whose kind is not known are left out.
///
/// # Errors
/// If it is no such file.
pub fn kept_from_json(text: &str) -> Result<Vec<Settings>, serde_json::Error> {
    let kept: StoredProviders = serde_json::from_str(text)?;
    let provider = |kept: StoredProvider| {
        Some(Settings {
            kind: Some(Kind::parse(&kept.kind)?),
            name: kept.name,
            base_url: kept.base_url,
            api_key: kept.api_key.as_deref().and_then(Secret::key),
            headers: kept.headers,
            models: kept.models,
            max_tokens: kept.max_tokens,
            temperature: kept.temperature,
            is_private: true,
            ..Settings::default()
        })
    };
    Ok(kept.providers.into_iter().filter_map(provider).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(service: &str, base_url: Option<&str>) -> Result<Settings, TaskProviderError> {
        of_task(TaskProvider { service, base_url, ..TaskProvider::default() })
    }

    #[test]
    fn what_was_kept_fills_gaps_but_a_key_stays_with_its_address() {
        let first = TaskProvider {
            service: "openai",
            base_url: Some("http://here/v1"),
            key: Some("sk-kept"),
            ..TaskProvider::default()
        };
        let kept = of_task(first).unwrap();
        let with = |base_url| TaskProvider {
            service: "openai",
            base_url,
            model: Some("m"),
            kept: Some(kept.clone()),
            ..TaskProvider::default()
        };
        for place in [None, Some("http://here/v1")] {
            let same = of_task(with(place)).unwrap();
            assert_eq!(same.base_url.as_deref(), Some("http://here/v1"));
            assert_eq!(same.api_key, kept.api_key);
        }
        assert!(of_task(with(Some("http://elsewhere/v1"))).unwrap().api_key.is_none());
        let other = TaskProvider { service: "xai", ..with(None) };
        assert!(of_task(other).unwrap().api_key.is_none());
    }

    #[test]
    fn every_service_has_a_protocol_and_a_place() {
        for (name, kind, usual, _) in SERVICES {
            let set = of(name, None).unwrap();
            assert_eq!((set.kind, set.base_url.as_deref()), (Some(*kind), Some(*usual)));
            assert_eq!(*kind == Kind::Mock, usual.is_empty(), "{name}");
        }
        assert_eq!(of("openai", None).unwrap().kind, Some(Kind::OpenaiChat));
        assert_eq!(of("openai-native", None).unwrap().kind, Some(Kind::OpenaiResponses));
        assert_eq!(of("nowhere", None).unwrap_err(), TaskProviderError::Unknown("nowhere".into()));
    }

    #[test]
    fn a_server_without_a_path_means_its_first_version() {
        let base = |service, url| of(service, Some(url)).unwrap().base_url.unwrap();
        assert_eq!(base("ollama", "http://box:11434/"), "http://box:11434/v1");
        assert_eq!(base("ollama", "http://box:11434/v1/"), "http://box:11434/v1");
        assert_eq!(base("openai", " http://box:8080 "), "http://box:8080");
        assert_eq!(base("fake-ai", "http://box"), "");
        for url in ["box", "ftp://box", "http://u:secret@box", "http://"] {
            let said = of("openai", Some(url)).unwrap_err().to_string();
            assert!(said.contains("is not an http or https address"), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn what_no_request_can_carry_is_refused() {
        let with = |change: &dyn Fn(&mut TaskProvider<'_>)| {
            let mut task = TaskProvider { service: "openai", ..TaskProvider::default() };
            change(&mut task);
            of_task(task)
        };
        let unusable = |what| TaskProviderError::Unusable(what);
        assert_eq!(with(&|task| task.key = Some("a\nb")).unwrap_err(), unusable("the key"));
        let header = with(&|task| task.headers = vec![("a b".into(), "x".into())]);
        assert_eq!(header.unwrap_err(), unusable("a header"));
        let set = with(&|task| {
            task.key = Some(" sk-1 ");
            task.temperature = Some(9.0);
            task.max_tokens = Some(0);
        });
        let set = set.unwrap();
        assert_eq!(set.api_key.unwrap().expose(), "sk-1");
        assert_eq!((set.temperature, set.max_tokens), (Some(2.0), None));
        assert_eq!(with(&|task| task.temperature = Some(f64::NAN)).unwrap().temperature, None);
    }

    #[test]
    fn what_is_kept_comes_back() {
        let task = TaskProvider {
            service: "openrouter",
            key: Some("sk-or-1"),
            headers: vec![("x-title".into(), "me".into())],
            model: Some("m"),
            max_tokens: Some(100),
            temperature: Some(0.5),
            ..TaskProvider::default()
        };
        let set = of_task(task).unwrap();
        let back = kept_from_json(&kept_as_json(std::slice::from_ref(&set))).unwrap().remove(0);
        assert_eq!(back.api_key, set.api_key);
        assert_eq!((&back.headers, &back.models), (&set.headers, &set.models));
        assert_eq!((back.max_tokens, back.temperature), (Some(100), Some(0.5)));
        assert!(back.is_private && back.base_url == set.base_url && back.kind == set.kind);
        assert!(kept_from_json("nonsense").is_err());
        let newer = r#"{"providers": [{"kind": "telepathy"}]}"#;
        assert!(kept_from_json(newer).unwrap().is_empty());
    }
}
