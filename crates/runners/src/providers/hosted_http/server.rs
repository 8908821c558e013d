//! The server of a hosted runner: where it is, how it is spoken to, and what it answers.

use std::time::Duration;

use bytes::Bytes;
use rookery_host::http::{self, Method, Request};
use serde_json::Value;

use super::{IDLE, MAX_ANSWER};
use crate::RunnerError;
use crate::config::Fields;
use crate::replies::{Answer, answer};

pub(super) struct Settings {
    pub(super) base_url: String,
    pub(super) token: Option<String>,
    pub(super) token_env: Option<String>,
}

impl Settings {
    pub(super) fn read(config: &Value) -> Result<Self, RunnerError> {
        let fields = Fields::new(config)?;
        let base_url = fields.required("base_url")?;
        let wrong = |why: &str| RunnerError::invalid("base_url", format!("config.base_url {why}"));
        let address = url::Url::parse(&base_url).map_err(|_| wrong("is not an address"))?;
        if address.password().is_some()
            || !address.username().is_empty()
            || address.query().is_some()
        {
            return Err(wrong("must hold no credentials; use config.token or config.token_env"));
        }
        let is_here = match address.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        match address.scheme() {
            "https" => {}
            "http" if is_here => {}
            _ => return Err(wrong("must be https, or http on this machine")),
        }
        let base_url = base_url.trim_end_matches('/').to_owned();
        let (token, token_env) = (fields.text("token")?, fields.text("token_env")?);
        if token.is_some() && token_env.is_some() {
            let message = "config.token and config.token_env exclude each other";
            return Err(RunnerError::invalid("token", message));
        }
        Ok(Self { base_url, token, token_env })
    }
}

/// A text as one part of an address.
pub(super) fn part(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The server and how it is spoken to.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) base: String,
    pub(super) token: Option<String>,
    pub(super) client: http::Client,
}

impl Server {
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<(&'static str, Bytes)>,
        idle: Duration,
    ) -> Result<Vec<u8>, RunnerError> {
        let mut headers = Vec::new();
        if let Some(token) = &self.token {
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        let body = body.map(|(kind, bytes)| {
            headers.push(("content-type".to_owned(), kind.to_owned()));
            bytes
        });
        let url = format!("{}{path}", self.base);
        let request = Request { url, headers, method: Some(method), body, idle };
        let lost = |error: http::Error| RunnerError::failed(format!("runner server: {error}"));
        let mut response = self.client.send(request).await.map_err(lost)?;
        let status = response.status();
        let answer = response.bytes(MAX_ANSWER + 1).await.map_err(lost)?;
        match status {
            200..=299 if answer.len() <= MAX_ANSWER => Ok(answer),
            200..=299 => Err(RunnerError::failed("runner server: the answer is too large")),
            401 | 403 => {
                Err(RunnerError::failed("runner server: the token was refused; check config.token"))
            }
            404 => Err(RunnerError::NotFound(path.split('?').next().unwrap_or(path).to_owned())),
            _ => {
                let reason = http::reason(status).unwrap_or("unknown status");
                Err(RunnerError::failed(format!("runner server: {status} {reason}")))
            }
        }
    }

    pub(super) async fn json<T: Answer>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<T, RunnerError> {
        self.json_within(method, path, body, IDLE).await
    }

    pub(super) async fn json_within<T: Answer>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        idle: Duration,
    ) -> Result<T, RunnerError> {
        let body = body.map(|body| ("application/json", Bytes::from(body.to_string())));
        answer(&self.call(method, path, body, idle).await?)
    }
}
