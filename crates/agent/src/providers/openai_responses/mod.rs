//! OpenAI's Responses: `POST {base}/responses`.

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
pub(crate) struct OpenaiResponses;

impl Protocol for OpenaiResponses {
    fn url(&self, base: &str) -> String {
        format!("{base}/responses")
    }

    fn models_url(&self, base: &str) -> String {
        format!("{base}/models")
    }

    fn auth(&self, key: &Secret) -> (String, String) {
        ("authorization".to_owned(), format!("Bearer {}", key.expose()))
    }

    fn encode(&self, request: &ModelRequest, names: &Names, endpoint: &Endpoint) -> Value {
        encode::encode(request, names, endpoint.max_tokens)
    }

    fn decoder(&self, names: Names) -> Box<dyn Decoder> {
        Box::new(decode::Responses::new(names))
    }

    fn amend(&self, failed: &Failed, body: &mut Value) -> bool {
        failed.status == Some(400) && encode::without_refused(body, &failed.failure.message)
    }
}
