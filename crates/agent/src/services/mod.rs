//! Servers that are asked for one thing and answer at once: vectors of texts, or images. Both speak
//! OpenAI's API. It knows neither what the answers are for nor where they are kept.

mod embeddings;
mod images;
#[cfg(test)]
mod tests;

use std::time::Duration;

use bytes::Bytes;
use rookery_host::http::{self, Client, Request};
use serde_json::Value;

use crate::providers::Environment;
use crate::settings::{Secret, ServiceSettings};

pub use embeddings::{MOST_INPUTS, embed};
pub use images::{ImageInput, ImageRequest, MadeImage, MadeImages, make_images};

/// How much of an error's text is passed on, in characters.
const SHOWN: usize = 300;
/// The longest answer that is an error.
const ERROR_LIMIT: usize = 64 << 10;

/// A server, and how it knows us.
#[derive(Clone)]
pub struct Service {
    settings: ServiceSettings,
    environment: Environment,
    client: Client,
}

/// What is sent.
struct Body {
    content_type: String,
    bytes: Bytes,
}

impl Service {
    /// A server as the settings describe it.
    pub fn new(settings: ServiceSettings, environment: Environment, client: Client) -> Self {
        Self { settings, environment, client }
    }

    /// The model that it is asked for unless another is named.
    pub fn model(&self) -> &str {
        &self.settings.model
    }

    /// Whether it has the key that it needs.
    pub fn is_usable(&self) -> bool {
        self.settings.api_key_env.is_none() || self.key().is_some()
    }

    fn key(&self) -> Option<Secret> {
        Secret::key(&(self.environment)(self.settings.api_key_env.as_deref()?)?)
    }

    /// Asks, and reads the whole answer. No error shows the key.
    async fn ask(
        &self,
        path: &str,
        body: Body,
        limit: usize,
        idle: Duration,
    ) -> Result<Value, String> {
        let key = self.key();
        if let (None, Some(variable)) = (&key, &self.settings.api_key_env) {
            return Err(format!("its key is missing; set {variable} in the daemon's environment"));
        }
        let mut headers = vec![("content-type".to_owned(), body.content_type)];
        if let Some(key) = &key {
            headers.push(("authorization".to_owned(), format!("Bearer {}", key.expose())));
        }
        let request = Request {
            url: format!("{}{path}", self.settings.base_url),
            headers,
            body: Some(body.bytes),
            idle,
            ..Request::default()
        };
        let masked = |text: String| match &key {
            Some(key) => text.replace(key.expose(), "[REDACTED]"),
            None => text,
        };
        let mut answer =
            self.client.send(request).await.map_err(|error| masked(error.to_string()))?;
        if answer.status() != 200 {
            let said = answer.bytes(ERROR_LIMIT).await.unwrap_or_default();
            return Err(masked(refusal(answer.status(), &said)));
        }
        let bytes = answer.bytes(limit + 1).await.map_err(|error| masked(error.to_string()))?;
        if bytes.len() > limit {
            return Err(format!("its answer has more than {limit} bytes"));
        }
        serde_json::from_slice(&bytes).map_err(|_| "its answer is not JSON".to_owned())
    }
}

fn json_body(value: &Value) -> Body {
    Body { content_type: "application/json".to_owned(), bytes: value.to_string().into() }
}

/// What a server said no with.
fn refusal(status: u16, said: &[u8]) -> String {
    let said: Value = serde_json::from_slice(said).unwrap_or_default();
    let error = &said["error"];
    let message = error["message"].as_str().or(error.as_str()).or(said["message"].as_str());
    let reason = http::reason(status).unwrap_or("an error");
    match message {
        None => format!("the server answered {status} ({reason})"),
        Some(message) => {
            let shown: String = message.chars().take(SHOWN).collect();
            format!("the server answered {status} ({reason}): {shown}")
        }
    }
}
