//! Files of other agents that any repository may have: understood or refused with a reason. What is shown of
//! them has no value of a secret-looking key, and what is understood stays within its bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_imports::{parse_hooks, parse_manifest, parse_mcp, redacted, split_front_matter};
use serde_json::{Value, json};

const SECRET: &str = "Zq7Zq7Zq7Zq7";

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    for ending in ["json", "toml", "yaml"] {
        match parse_mcp(&text, ending) {
            Ok(file) => {
                assert!(file.servers.len() <= 256);
                for (server, raw) in &file.servers {
                    assert!(!server.name.is_empty() && !server.name.contains(char::is_control));
                    let _ = server.expanded(&|_| Some("v".to_owned()));
                    let _ = redacted(raw);
                }
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        if let Ok(Some(file)) = parse_hooks(&value) {
            assert!(file.hooks.len() <= 256);
            for hook in &file.hooks {
                assert!(!hook.command.is_empty() && hook.timeout.as_secs() <= 60);
                let _ = hook.is_for(&["Bash", "shell"]);
            }
        }
        let shown = redacted(&json!({ "around": [value, { "apiKeyToken": SECRET }] }));
        assert!(!shown.to_string().contains(SECRET));
    }
    match parse_manifest(&text) {
        Ok(manifest) => {
            let manifest = &manifest;
            let texts = [&manifest.skills, &manifest.commands, &manifest.agents, &manifest.rules];
            let lists = texts.into_iter().chain([&manifest.hooks, &manifest.servers]);
            let is_down =
                |path: &String| !path.starts_with('/') && !path.split('/').any(|p| p == "..");
            assert!(lists.flatten().all(is_down));
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
    if let Err(reason) = split_front_matter(&text) {
        assert!(!reason.is_empty());
    }
});
