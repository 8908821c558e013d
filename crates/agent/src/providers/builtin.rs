//! The table of providers that are known without any setting.

use super::catalog::{self, Known};
use super::settings::Kind;
use crate::provider::Capabilities;

/// One built-in provider.
pub(crate) struct Builtin {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) kind: Kind,
    pub(crate) base_url: &'static str,
    /// The variable that usually holds its key; none if it wants none.
    pub(crate) key_variable: Option<&'static str>,
    pub(crate) is_recommended: bool,
    pub(crate) sort_order: u32,
    /// Its well-known models; empty means that it is asked.
    pub(crate) models: &'static [Known],
    /// What else people call it.
    aliases: &'static [&'static str],
}

/// The place of providers that settings add: behind the built-in ones, before the mock.
pub(crate) const ADDED_SORT_ORDER: u32 = 50;

/// Variables with keys of agents and services that are no providers here, but whose programs may run
/// as one.
pub(crate) const OTHER_KEYS: [&str; 9] = [
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODEX_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
];

/// The built-in providers.
pub(crate) static BUILTINS: [Builtin; 7] = [
    Builtin {
        id: "openai",
        name: "OpenAI",
        description: "GPT models by OpenAI's Responses API",
        kind: Kind::OpenaiResponses,
        base_url: "https://api.openai.com/v1",
        key_variable: Some("OPENAI_API_KEY"),
        is_recommended: true,
        sort_order: 0,
        models: &catalog::OPENAI,
        aliases: &["open-ai", "open_ai"],
    },
    Builtin {
        id: "anthropic",
        name: "Anthropic",
        description: "Claude models by Anthropic's Messages API",
        kind: Kind::Anthropic,
        base_url: "https://api.anthropic.com",
        key_variable: Some("ANTHROPIC_API_KEY"),
        is_recommended: true,
        sort_order: 1,
        models: &catalog::ANTHROPIC,
        aliases: &["claude"],
    },
    Builtin {
        id: "openrouter",
        name: "OpenRouter",
        description: "Models of many makers behind one key",
        kind: Kind::OpenaiChat,
        base_url: "https://openrouter.ai/api/v1",
        key_variable: Some("OPENROUTER_API_KEY"),
        is_recommended: false,
        sort_order: 2,
        models: &[],
        aliases: &["open-router", "open_router"],
    },
    Builtin {
        id: "xai",
        name: "xAI",
        description: "Grok models by xAI's Responses API",
        kind: Kind::OpenaiResponses,
        base_url: "https://api.x.ai/v1",
        key_variable: Some("XAI_API_KEY"),
        is_recommended: false,
        sort_order: 3,
        models: &[],
        aliases: &["x-ai", "x_ai", "grok"],
    },
    Builtin {
        id: "ollama",
        name: "Ollama",
        description: "Models on this machine, run by Ollama",
        kind: Kind::OpenaiChat,
        base_url: "http://127.0.0.1:11434/v1",
        key_variable: None,
        is_recommended: false,
        sort_order: 10,
        models: &[],
        aliases: &[],
    },
    Builtin {
        id: "lmstudio",
        name: "LM Studio",
        description: "Models on this machine, run by LM Studio",
        kind: Kind::OpenaiChat,
        base_url: "http://127.0.0.1:1234/v1",
        key_variable: None,
        is_recommended: false,
        sort_order: 11,
        models: &[],
        aliases: &["lm-studio", "lm_studio"],
    },
    Builtin {
        id: "mock",
        name: "Mock",
        description: "Scripted answers without any network, for tests",
        kind: Kind::Mock,
        base_url: "",
        key_variable: None,
        is_recommended: false,
        sort_order: 100,
        models: &catalog::MOCK,
        aliases: &["fake"],
    },
];

/// A built-in provider, as setup offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownProvider {
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The variable that usually holds its key; none for a server on this machine.
    pub key_variable: Option<&'static str>,
    /// Where it is.
    pub base_url: &'static str,
}

/// The built-in providers that are somewhere, in the order of a list.
pub fn known_providers() -> impl Iterator<Item = KnownProvider> {
    let is_somewhere = |builtin: &&Builtin| !builtin.base_url.is_empty();
    BUILTINS.iter().filter(is_somewhere).map(|builtin| KnownProvider {
        id: builtin.id,
        name: builtin.name,
        key_variable: builtin.key_variable,
        base_url: builtin.base_url,
    })
}

/// A built-in provider by its id.
pub(crate) fn find(id: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.id == id)
}

/// An id as we spell it: trimmed, in lower case, and by its usual name.
pub fn normalize(id: &str) -> String {
    let id = id.trim().to_lowercase();
    let known = BUILTINS.iter().find(|builtin| builtin.aliases.contains(&id.as_str()));
    known.map_or(id, |builtin| builtin.id.to_owned())
}

/// What a protocol can do.
pub(crate) fn capabilities(kind: Kind) -> Capabilities {
    let common = Capabilities {
        streaming: true,
        tool_calls: true,
        parallel_tool_calls: true,
        image_input: true,
        ..Capabilities::default()
    };
    match kind {
        Kind::OpenaiResponses | Kind::Anthropic => Capabilities {
            reasoning_summaries: true,
            prompt_cache: true,
            provider_metadata: true,
            ..common
        },
        Kind::OpenaiChat | Kind::Mock => common,
        Kind::Acp => Capabilities { parallel_tool_calls: false, ..common },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_spelling() {
        assert_eq!(normalize("  X-AI "), "xai");
        assert_eq!(normalize("OpenAI"), "openai");
        assert_eq!(normalize("My-Box"), "my-box");
    }

    #[test]
    fn no_name_means_two_providers() {
        let mut all: Vec<&str> = BUILTINS
            .iter()
            .flat_map(|builtin| builtin.aliases.iter().copied().chain([builtin.id]))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
