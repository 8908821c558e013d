//! Doors for the fuzz targets; not for other crates.

use std::time::Duration;

use serde_json::json;

use crate::instance::Instance;
use crate::limits::Limits;
use crate::load::Plugin;
use crate::manifest::{Kind, Manifest, Permission, Runtime};
use crate::pattern::{Search, replace};

/// Looks for a pattern and replaces it, on a small budget.
pub fn patterns(text: &[u8], pattern: &[u8], replacement: &[u8]) {
    let late = || false;
    let mut search = Search::new(text, pattern, 100_000, &late);
    if let Ok(Some(found)) = search.find(0) {
        assert!(found.start <= found.end && found.end <= text.len());
    }
    let longest = 1 << 16;
    if let Ok((result, count)) = replace(&mut search, replacement, u64::MAX, longest) {
        assert!(count <= text.len() as u64 + 1);
        assert!(result.len() <= longest + text.len());
    }
}

/// Runs a plugin's code and calls what it returns, on a small budget.
pub fn source(text: &str) {
    let manifest = Manifest {
        name: "fuzz".to_owned(),
        kind: Kind::Adapter,
        version: "1".to_owned(),
        runtime: Some(Runtime::Lua),
        entrypoint: Some("plugin.lua".to_owned()),
        permissions: Permission::ALL.to_vec(),
        default_target: None,
    };
    let plugin = Plugin::unchecked(manifest, text, false);
    let limits = Limits { memory: 4 << 20, instructions: 20_000, time: Duration::from_millis(200) };
    let Ok(mut instance) = Instance::start(&plugin, limits) else { return };
    let Ok(description) = instance.describe() else { return };
    for intent in description.intents.iter().take(4) {
        let name = intent["name"].as_str().unwrap_or_default();
        // Any answer will do, but there must be one.
        let _ = instance.intent(name, &json!({ "text": "x", "n": 1 }));
        let _ = instance.matcher(name, &json!([]));
    }
}
