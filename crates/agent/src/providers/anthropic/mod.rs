//! Anthropic's Messages: `POST {base}/v1/messages`.

mod decode;
mod encode;
#[cfg(test)]
mod tests;
mod thinking;

use serde_json::Value;

use super::call::{Decoder, Endpoint, Failed, Protocol};
use super::names::{Names, Spelling};
use crate::provider::ModelRequest;
use crate::settings::Secret;

/// The version of the API that is spoken here.
const VERSION: &str = "2023-06-01";

/// The protocol.
#[derive(Debug)]
pub(crate) struct Anthropic;

/// An address below the API's version, whether or not the base names it already.
fn versioned(base: &str, rest: &str) -> String {
    if base.ends_with("/v1") { format!("{base}/{rest}") } else { format!("{base}/v1/{rest}") }
}

impl Protocol for Anthropic {
    fn url(&self, base: &str) -> String {
        versioned(base, "messages")
    }

    fn models_url(&self, base: &str) -> String {
        versioned(base, "models?limit=1000")
    }

    fn auth(&self, key: &Secret) -> (String, String) {
        ("x-api-key".to_owned(), key.expose().to_owned())
    }

    fn headers(&self) -> Vec<(String, String)> {
        vec![("anthropic-version".to_owned(), VERSION.to_owned())]
    }

    fn spelling(&self) -> Spelling {
        Spelling::DotAsTwo
    }

    fn encode(&self, request: &ModelRequest, names: &Names, endpoint: &Endpoint) -> Value {
        encode::encode(request, names, endpoint.max_tokens)
    }

    fn decoder(&self, names: Names) -> Box<dyn Decoder> {
        Box::new(decode::Messages::new(names))
    }

    fn amend(&self, failed: &Failed, body: &mut Value) -> bool {
        failed.status == Some(400) && thinking::adapt(body, &failed.failure.message)
    }
}
