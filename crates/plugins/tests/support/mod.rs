//! What the tests of this crate share.
#![allow(dead_code, reason = "each file of tests uses its own part")]

use std::path::PathBuf;

use regex::Regex;
use serde_json::Value;

/// The folder in which plugins lie.
pub(crate) fn plugins_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plugins").canonicalize().unwrap()
}

/// Whether a tree of matchers holds for a screen that is stable, with a process that runs.
pub(crate) fn holds(matcher: &Value, screen: &str) -> Result<bool, String> {
    let kind = matcher["type"].as_str().ok_or_else(|| format!("{matcher} has no type"))?;
    let value = &matcher["value"];
    let text = || value.as_str().ok_or_else(|| format!("{matcher} needs a string"));
    let list = || value.as_array().ok_or_else(|| format!("{matcher} needs a list"));
    match kind {
        "contains_text" | "transcript_contains" => Ok(screen.contains(text()?)),
        "screen_regex" | "transcript_regex" => Regex::new(text()?)
            .map(|regex| regex.is_match(screen))
            .map_err(|error| error.to_string()),
        "screen_stable" if value["min_ms"].is_u64() => Ok(true),
        "process_exited" => Ok(false),
        "any" => list()?.iter().try_fold(false, |any, part| Ok(holds(part, screen)? || any)),
        "all" => list()?.iter().try_fold(true, |all, part| Ok(holds(part, screen)? && all)),
        _ => Err(format!("{matcher} is not a matcher that can be judged here")),
    }
}
