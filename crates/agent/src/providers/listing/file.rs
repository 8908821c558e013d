//! Lists of models in a file: a cache, of which nothing is missed when it is gone or broken.

use std::path::Path;

use rookery_host::files;
use rookery_model::Prices;
use serde_json::{Value, json};

use crate::provider::ModelInfo;

/// A longer file is not ours.
const FILE_LIMIT: u64 = 32 * 1024 * 1024;

/// The lists of a file; none if it cannot be read.
pub(super) fn read(path: &Path) -> Vec<(String, Vec<ModelInfo>)> {
    let bytes = files::read_range(path, 0, None, FILE_LIMIT).unwrap_or_default();
    let Ok(Value::Object(lists)) = serde_json::from_slice(&bytes) else { return Vec::new() };
    lists
        .into_iter()
        .filter_map(|(id, list)| Some((id, list.as_array()?.iter().filter_map(model).collect())))
        .collect()
}

/// Replaces the file, whole or not at all.
pub(super) fn write(path: &Path, lists: &[(String, Vec<ModelInfo>)]) -> std::io::Result<()> {
    let models = |list: &[ModelInfo]| -> Value {
        let model = |model: &ModelInfo| {
            let prices = model.prices.map(|it| [it.input, it.output, it.cached, it.cache_creation]);
            json!({
                "id": model.id,
                "name": model.name,
                "context_window": model.context_window,
                "prices": prices,
            })
        };
        list.iter().map(model).collect()
    };
    let all: serde_json::Map<String, Value> =
        lists.iter().map(|(id, list)| (id.clone(), models(list))).collect();
    files::replace(path, Value::Object(all).to_string().as_bytes())
}

fn model(value: &Value) -> Option<ModelInfo> {
    let id = value.get("id")?.as_str()?.to_owned();
    let name = value.get("name").and_then(Value::as_str).unwrap_or(&id).to_owned();
    let context_window = value.get("context_window").and_then(Value::as_u64);
    let prices = value.get("prices").and_then(prices);
    Some(ModelInfo { id, name, context_window, prices, ..ModelInfo::default() })
}

fn prices(value: &Value) -> Option<Prices> {
    let [input, output, cached, cache_creation] = value.as_array()?.as_slice() else { return None };
    Some(Prices {
        input: input.as_u64()?,
        output: output.as_u64()?,
        cached: cached.as_u64()?,
        cache_creation: cache_creation.as_u64()?,
    })
}
