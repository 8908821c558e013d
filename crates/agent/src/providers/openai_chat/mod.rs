//! Chat Completions, which OpenRouter, Ollama, LM Studio and most others speak:
//! `POST {base}/chat/completions`.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::call::{Decoder, Endpoint, Failed, Protocol};
use super::names::Names;
use crate::provider::ModelRequest;
use crate::settings::Secret;

/// The protocol.
#[derive(Debug)]
pub(crate) struct OpenaiChat;

impl Protocol for OpenaiChat {
    fn url(&self, base: &str) -> String {
        format!("{base}/chat/completions")
    }

    fn models_url(&self, base: &str) -> String {
        format!("{base}/models")
    }

    fn auth(&self, key: &Secret) -> (String, String) {
        ("authorization".to_owned(), format!("Bearer {}", key.expose()))
    }

    fn encode(&self, request: &ModelRequest, names: &Names, endpoint: &Endpoint) -> Value {
        let limit =
            endpoint.max_tokens.map(|limit| (encode::limit_name(&endpoint.base_url), limit));
        encode::encode(request, names, limit)
    }

    fn decoder(&self, names: Names) -> Box<dyn Decoder> {
        Box::new(decode::Chat::new(names))
    }

    /// Some servers do not know `stream_options`; without it they only do not count tokens.
    fn amend(&self, failed: &Failed, body: &mut Value) -> bool {
        let names_it = failed.failure.message.contains("stream_options");
        failed.status == Some(400)
            && names_it
            && body.as_object_mut().is_some_and(|body| body.remove("stream_options").is_some())
    }
}
