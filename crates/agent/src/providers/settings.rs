//! What is set about one provider: where it is, how it is spoken to, its key and its patience.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rookery_signin::Account;

use crate::settings::Secret;

/// Looks up a variable of the environment, at the time it is asked.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// How long a server may be silent by default.
const IDLE: Duration = Duration::from_secs(60);

/// The longest silence that can be asked for.
const IDLE_LIMIT: Duration = Duration::from_secs(3600);

/// What stands in a text where a key stood.
const MASK: &str = "***";

/// Shorter secrets are not looked for in texts: they would be found everywhere.
const MASKED_LENGTH: usize = 4;

/// Which protocol a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Chat Completions, which most others speak.
    #[default]
    OpenaiChat,
    /// Anthropic's Messages.
    Anthropic,
    /// The Agent Client Protocol, spoken with a program.
    Acp,
    /// None: answers come from the conversation itself.
    Mock,
}

/// The kinds by the names that settings use.
const KINDS: [(&str, Kind); 5] = [
    ("openai_responses", Kind::OpenaiResponses),
    ("openai_chat", Kind::OpenaiChat),
    ("anthropic", Kind::Anthropic),
    ("acp", Kind::Acp),
    ("mock", Kind::Mock),
];

impl Kind {
    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// When a failed call is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// How often it is tried altogether.
    pub max_attempts: u32,
    /// The wait before the second attempt.
    pub initial_backoff: Duration,
    /// How much longer each further wait is.
    pub backoff_factor: f64,
    /// The statuses worth another attempt.
    pub status_codes: Vec<u16>,
    /// Whether an empty answer is worth another attempt.
    pub retry_empty_body: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            initial_backoff: Duration::from_secs(1),
            backoff_factor: 2.0,
            status_codes: vec![408, 409, 429, 500, 502, 503, 504, 529],
            retry_empty_body: true,
        }
    }
}

/// What is set about one provider. What is not set comes from the table of built-in ones.
#[derive(Clone, Default)]
pub struct Settings {
    pub id: String,
    /// The protocol; none is the built-in one of this id, or Chat Completions.
    pub kind: Option<Kind>,
    /// Its name for people.
    pub name: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// The variable that holds its key, asked before the usual one.
    pub api_key_env: Option<String>,
    /// The account whose token it is sent in place of a key.
    pub account: Option<Account>,
    /// Headers to send besides ours; they win over ours.
    pub headers: Vec<(String, String)>,
    /// The models it has; empty means that it is asked.
    pub models: Vec<String>,
    /// How many tokens an answer may have.
    pub max_tokens: Option<u64>,
    /// How freely it answers; models that think may not take it.
    pub temperature: Option<f64>,
    /// The page that OpenRouter shall think we are.
    pub http_referer: Option<String>,
    /// The name that OpenRouter shall show for us.
    pub app_title: Option<String>,
    /// When a failed call is tried again; none is the registry's.
    pub retry: Option<Retry>,
    /// How long the server may be silent; the environment wins.
    pub idle_timeout: Option<Duration>,
    /// The program that is the provider, with its arguments.
    pub command: Vec<String>,
    /// Variables that the program gets.
    pub env: Vec<(String, Secret)>,
    /// Whether a task brought it: it is in no list, and finds no key in the environment.
    pub is_private: bool,
}

impl fmt::Debug for Settings {
    /// Headers may hold keys: only their names are shown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        out.debug_struct("Settings")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key)
            .field("headers", &headers)
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

/// How long a server may be silent, by its settings and `RODER_<P>_STREAM_IDLE_TIMEOUT_MS`.
pub(crate) fn idle_timeout(id: &str, set: Option<Duration>, environment: &Environment) -> Duration {
    let name = format!("RODER_{}_STREAM_IDLE_TIMEOUT_MS", variable_part(id));
    let from_environment = environment(&name)
        .and_then(|text| text.trim().parse::<u64>().ok())
        .filter(|millis| *millis > 0)
        .map(Duration::from_millis);
    from_environment.or(set).unwrap_or(IDLE).min(IDLE_LIMIT)
}

/// An id as it stands in the name of a variable.
pub(crate) fn variable_part(id: &str) -> String {
    let upper = |character: char| {
        if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' }
    };
    id.chars().map(upper).collect()
}

/// A text without the secrets in it.
pub(crate) fn mask(text: &str, secrets: &[String]) -> String {
    let mut masked = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.len() >= MASKED_LENGTH) {
        masked = masked.replace(secret.as_str(), MASK);
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&'static str, &'static str)]) -> Environment {
        Arc::new(move |name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn neither_key_nor_headers_are_shown() {
        let key = Secret::new("sk-secret");
        let headers = vec![("api-key".to_owned(), "also secret".to_owned())];
        let settings = Settings { api_key: Some(key), headers, ..Settings::default() };
        assert!(!format!("{settings:?}").contains("secret"));
    }

    #[test]
    fn secrets_are_masked_everywhere_in_a_text() {
        let secrets = ["sk-secret".to_owned(), "abc".to_owned()];
        assert_eq!(mask("sk-secret, abc, sk-secret!", &secrets), "***, abc, ***!");
    }

    #[test]
    fn the_environment_says_how_long_silence_may_be() {
        let set = Some(Duration::from_secs(5));
        let named = environment(&[("RODER_MY_BOX_STREAM_IDLE_TIMEOUT_MS", "250")]);
        assert_eq!(idle_timeout("my-box", set, &named), Duration::from_millis(250));
        assert_eq!(idle_timeout("other", set, &named), Duration::from_secs(5));
        assert_eq!(idle_timeout("other", None, &named), IDLE);
        let nonsense = environment(&[("RODER_OPENAI_STREAM_IDLE_TIMEOUT_MS", "soon")]);
        assert_eq!(idle_timeout("openai", None, &nonsense), IDLE);
    }

    #[test]
    fn kinds_have_names() {
        assert_eq!(Kind::parse("anthropic"), Some(Kind::Anthropic));
        assert_eq!(Kind::parse("Anthropic"), None);
        for (name, kind) in KINDS {
            assert_eq!((Kind::parse(name), kind.name()), (Some(kind), name));
        }
    }
}
