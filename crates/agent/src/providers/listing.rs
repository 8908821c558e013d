//! The models that servers say they have, asked rarely and remembered across restarts.

mod file;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::http::Request;
use rookery_model::Prices;
use serde_json::Value;
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

use super::call::{Remote, status_failure};
use super::loans::Loan;
use super::settings::mask;
use crate::provider::{ModelInfo, Provider};

/// How long a caller waits at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a list is good, and how long it is not asked for again after a failure.
const FRESH: Duration = Duration::from_secs(600);
const FAILED: Duration = Duration::from_secs(30);

/// How long a server has to answer.
const FETCH_LIMIT: Duration = Duration::from_secs(30);

/// How long a list may be, in bytes and in models.
const BODY_LIMIT: usize = 8 * 1024 * 1024;
const MODEL_LIMIT: usize = 5_000;

/// Millionths of a dollar for a million tokens, where a server says dollars for one.
const A_MILLION_MILLIONTHS: f64 = 1e12;

/// What is remembered of every provider's models.
pub(crate) struct Cache {
    slots: Mutex<HashMap<String, Slot>>,
    /// Told whenever a server answered or did not.
    changed: watch::Sender<()>,
    file: Option<PathBuf>,
    loaded: OnceCell<()>,
}

#[derive(Default)]
struct Slot {
    models: Option<Vec<ModelInfo>>,
    /// Until when the list is fresh.
    good_until: Option<Instant>,
    is_asking: bool,
}

impl Cache {
    /// A cache, kept in a file if there is one.
    pub(crate) fn new(file: Option<PathBuf>) -> Arc<Self> {
        let (changed, _) = watch::channel(());
        Arc::new(Self { slots: Mutex::default(), changed, file, loaded: OnceCell::new() })
    }

    /// A provider's models: what is remembered, or what it says within a short time. What it says
    /// later is remembered for the next who asks.
    pub(crate) async fn models(
        self: &Arc<Self>,
        id: &str,
        provider: Arc<dyn Provider>,
    ) -> Vec<ModelInfo> {
        self.load().await;
        let mut changes = self.changed.subscribe();
        let (known, is_good, begins) = {
            let mut slots = self.slots.lock();
            let slot = slots.entry(id.to_owned()).or_default();
            let is_good = slot.good_until.is_some_and(|until| Instant::now() < until);
            let begins = !is_good && !slot.is_asking;
            slot.is_asking |= begins;
            (slot.models.clone(), is_good, begins)
        };
        if begins {
            let (cache, id) = (Arc::clone(self), id.to_owned());
            tokio::spawn(async move { cache.refresh(&id, provider).await });
        }
        if is_good || known.is_some() {
            return known.unwrap_or_default();
        }
        let answered = async {
            while self.slots.lock().get(id).is_some_and(|slot| slot.is_asking) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        // The caller gets the cached list; the answer is cached when it comes.
        let _is_late = tokio::time::timeout(PATIENCE, answered).await;
        self.slots.lock().get(id).and_then(|slot| slot.models.clone()).unwrap_or_default()
    }

    /// A model of a provider that was listed before.
    pub(crate) fn remembered(&self, id: &str, model: &str) -> Option<ModelInfo> {
        let slots = self.slots.lock();
        slots.get(id)?.models.as_ref()?.iter().find(|info| info.id == model).cloned()
    }

    /// A provider's models for one who asks, perhaps with a lent key: those may be others, so nothing
    /// is remembered.
    pub(crate) async fn passing(
        &self,
        provider: Arc<dyn Provider>,
        key: Option<Loan>,
    ) -> Vec<ModelInfo> {
        let listed = tokio::time::timeout(PATIENCE, provider.models(key)).await;
        listed.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// A provider's list may be another one now, as with another key.
    pub(crate) fn forget_age(&self, id: &str) {
        if let Some(slot) = self.slots.lock().get_mut(id) {
            slot.good_until = None;
        }
    }

    async fn refresh(&self, id: &str, provider: Arc<dyn Provider>) {
        let listed = match tokio::time::timeout(FETCH_LIMIT, provider.models(None)).await {
            Ok(listed) => listed,
            Err(_) => Err("it took too long".to_owned()),
        };
        let is_changed = {
            let mut slots = self.slots.lock();
            let slot = slots.entry(id.to_owned()).or_default();
            slot.is_asking = false;
            match listed {
                Ok(models) => {
                    slot.good_until = Some(Instant::now() + FRESH);
                    let is_changed = slot.models.as_ref() != Some(&models);
                    slot.models = Some(models);
                    is_changed
                }
                Err(reason) => {
                    tracing::debug!(provider = id, "cannot list models: {reason}");
                    slot.good_until = Some(Instant::now() + FAILED);
                    false
                }
            }
        };
        self.changed.send_replace(());
        if is_changed {
            self.save().await;
        }
    }

    async fn load(&self) {
        let Some(path) = self.file.clone() else { return };
        self.loaded
            .get_or_init(|| async {
                let read = tokio::task::spawn_blocking(move || file::read(&path))
                    .await
                    .unwrap_or_default();
                let mut slots = self.slots.lock();
                for (id, models) in read {
                    slots.entry(id).or_default().models.get_or_insert(models);
                }
            })
            .await;
    }

    async fn save(&self) {
        let Some(path) = self.file.clone() else { return };
        let lists: Vec<(String, Vec<ModelInfo>)> = {
            let slots = self.slots.lock();
            slots.iter().filter_map(|(id, slot)| Some((id.clone(), slot.models.clone()?))).collect()
        };
        let written = tokio::task::spawn_blocking(move || file::write(&path, &lists)).await;
        if let Ok(Err(error)) = written {
            tracing::debug!("cannot keep the list of models: {error}");
        }
    }
}

/// Asks a server for its models.
pub(crate) async fn fetch(remote: &Remote, lent: Option<Loan>) -> Result<Vec<ModelInfo>, String> {
    let endpoint = &remote.endpoint;
    let key = endpoint.credential(lent.as_ref()).await.map_err(|failed| failed.failure.message)?;
    let request = Request {
        method: None,
        url: remote.protocol.models_url(&endpoint.base_url),
        headers: remote.request_headers(key.as_ref()),
        body: None,
        idle: endpoint.idle(),
    };
    let hide = |text: String| mask(&text, &endpoint.secrets(key.as_ref()));
    let mut response =
        endpoint.client.send(request).await.map_err(|error| hide(error.to_string()))?;
    let body = response.bytes(BODY_LIMIT).await.map_err(|error| hide(error.to_string()))?;
    if response.status() != 200 {
        return Err(hide(status_failure(&endpoint.name, response.status(), &body).message));
    }
    parse(&body)
        .ok_or_else(|| format!("{} sent a list of models that cannot be read", endpoint.name))
}

/// Reads a list of models: `data[].id`, and what else servers tell of them.
fn parse(body: &[u8]) -> Option<Vec<ModelInfo>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let data = body.get("data")?.as_array()?;
    Some(data.iter().filter_map(model).take(MODEL_LIMIT).collect())
}

fn model(value: &Value) -> Option<ModelInfo> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = text("id")?;
    let sizes = [
        "context_length",
        "context_window",
        "max_model_len",
        "max_input_tokens",
        "max_context_length",
    ];
    Some(ModelInfo {
        id: id.to_owned(),
        name: text("name").or_else(|| text("display_name")).unwrap_or(id).to_owned(),
        context_window: sizes.iter().find_map(|key| value.get(key)?.as_u64()),
        prices: value.get("pricing").and_then(prices),
        ..ModelInfo::default()
    })
}

/// What a server says that a token costs, in dollars. Some models have a price that is only known later,
/// which is reported as less than nothing.
fn prices(value: &Value) -> Option<Prices> {
    let price = |names: [&str; 2]| {
        let value = names.iter().find_map(|name| value.get(name))?;
        let dollars = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        // A saturating cast: what is too much is the most there is.
        (dollars.is_finite() && dollars >= 0.0)
            .then(|| (dollars * A_MILLION_MILLIONTHS).round() as u64)
    };
    let input = price(["prompt", "input"])?;
    Some(Prices {
        input,
        output: price(["completion", "output"])?,
        cached: price(["input_cache_read", "cache_read"]).unwrap_or(input),
        cache_creation: price(["input_cache_write", "cache_write"]).unwrap_or(input),
    })
}
