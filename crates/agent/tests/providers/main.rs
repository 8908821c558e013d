//! Providers against a server that answers byte for byte what a test tells it to.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod accounts;
mod failures;
mod fixtures;
mod proxy;
mod server;
mod streams;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::provider::{Entry, EntryBody, ModelEvent, ModelRequest, ModelStream, ToolSpec};
use rookery_agent::providers::{Environment, Registry, RegistryOptions, Retry, Settings};
use rookery_host::http::Client;

/// The key that no message may show.
const KEY: &str = "sk-very-secret";

/// A registry whose providers all are at one address, with an environment that a test can change.
struct Setup {
    registry: Registry,
    variables: Arc<Mutex<HashMap<String, String>>>,
}

impl Setup {
    fn new(address: &str, retry: Retry) -> Self {
        let variables = Arc::new(Mutex::new(HashMap::new()));
        for provider in fixtures::ALL {
            variables.lock().insert(provider.key_variable.to_owned(), KEY.to_owned());
        }
        let known = Arc::clone(&variables);
        let environment: Environment = Arc::new(move |name| known.lock().get(name).cloned());
        let settings = fixtures::ALL
            .iter()
            .map(|provider| Settings {
                id: provider.id.into(),
                base_url: Some(format!("http://{address}/base/")),
                ..Settings::default()
            })
            .collect();
        let options = RegistryOptions {
            client: Client::new(),
            environment,
            retry,
            cache_file: None,
            accounts: rookery_signin::Accounts::none(),
        };
        Self { registry: Registry::new(settings, &options), variables }
    }

    fn set(&self, name: &str, value: &str) {
        self.variables.lock().insert(name.to_owned(), value.to_owned());
    }

    fn call(&self, id: &str) -> ModelStream {
        self.registry.get(id).unwrap().call(request())
    }

    async fn answer(&self, id: &str) -> Vec<ModelEvent> {
        drain(self.call(id)).await
    }
}

/// Attempts that follow each other at once.
fn quick(max_attempts: u32) -> Retry {
    Retry { max_attempts, initial_backoff: Duration::from_millis(1), ..Retry::default() }
}

fn request() -> ModelRequest {
    let tool = ToolSpec {
        name: "files.read".into(),
        description: "Reads".into(),
        parameters: serde_json::json!({ "type": "object" }),
    };
    ModelRequest {
        thread: "thread-1".into(),
        model: "some-model".into(),
        instructions: vec!["Be brief.".into()],
        entries: vec![Entry {
            step: 0,
            body: EntryBody::User { text: "hi".into(), images: Vec::new() },
            opaque: None,
        }],
        tools: vec![tool],
        parallel_tools: true,
        ..ModelRequest::default()
    }
}

async fn drain(mut stream: ModelStream) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.events.recv().await {
        events.push(event);
    }
    events
}

/// What an answer came to: its events with retries and failures in short.
fn told(events: &[ModelEvent]) -> Vec<String> {
    let line = |event: &ModelEvent| match event {
        ModelEvent::Retrying { attempt, reason, .. } => format!("retry {attempt}: {reason}"),
        ModelEvent::Failed(failure) => format!("failed {:?}: {}", failure.kind, failure.message),
        ModelEvent::Text { text, .. } => format!("text {text}"),
        ModelEvent::Done { stop } => format!("done {stop:?}"),
        other => format!("{other:?}"),
    };
    events.iter().map(line).collect()
}
