//! How an effort is sent to Anthropic: as a budget of tokens, or as it is to models that adapt.

use serde_json::{Map, Value, json};

use crate::providers::catalog;

/// How long an answer may be by default, without and with thoughts.
const MAX_TOKENS: u64 = 8_192;
const MAX_TOKENS_THINKING: u64 = 32_000;

/// The smallest budget that the API takes, and what is left for the answer at least.
const MIN_BUDGET: u64 = 1_024;
const MIN_ANSWER: u64 = 1_024;

/// Tokens to think with, by effort.
const BUDGETS: [(&str, u64); 7] = [
    ("minimal", 1_024),
    ("low", 4_096),
    ("medium", 10_240),
    ("high", 16_384),
    ("xhigh", 24_576),
    ("max", 30_976),
    ("ultra", 30_976),
];

/// Efforts as adaptive models know them, where they do not know ours.
const ADAPTED: [(&str, &str); 2] = [("minimal", "low"), ("ultra", "max")];

/// Why the API would refuse thoughts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThinkingConflicts {
    /// A tool is forced.
    pub(super) is_forced: bool,
    /// What the model says goes on from a message without a thought; adaptive models do not mind.
    pub(super) lacks_thought: bool,
}

/// Adds the limit of the answer and, unless it is barred, how hard to think.
pub(super) fn insert(
    body: &mut Map<String, Value>,
    model: &str,
    effort: Option<&str>,
    max_tokens: Option<u64>,
    bars: ThinkingConflicts,
) {
    let effort = effort.filter(|effort| *effort != "none");
    let known = catalog::find(&catalog::ANTHROPIC, model);
    if known.is_some_and(|known| known.is_adaptive) {
        insert_adaptive(body, effort, max_tokens, bars.is_forced);
        return;
    }
    let limit = max_tokens.unwrap_or(MAX_TOKENS_THINKING);
    let budget = effort
        .filter(|_| !bars.is_forced && !bars.lacks_thought)
        .and_then(|effort| budget(effort, limit));
    match budget {
        Some(budget) => {
            body.insert("max_tokens".into(), json!(limit));
            body.insert("thinking".into(), json!({ "type": "enabled", "budget_tokens": budget }));
        }
        None => {
            body.insert("max_tokens".into(), json!(max_tokens.unwrap_or(MAX_TOKENS)));
        }
    }
}

fn insert_adaptive(
    body: &mut Map<String, Value>,
    effort: Option<&str>,
    max_tokens: Option<u64>,
    is_forced: bool,
) {
    // These think by default, so that even without an effort there must be room for it.
    body.insert("max_tokens".into(), json!(max_tokens.unwrap_or(MAX_TOKENS_THINKING)));
    let Some(effort) = effort else { return };
    let adapted =
        ADAPTED.iter().find(|(ours, _)| *ours == effort).map_or(effort, |(_, theirs)| theirs);
    body.insert("output_config".into(), json!({ "effort": adapted }));
    if !is_forced {
        body.insert("thinking".into(), json!({ "type": "adaptive", "display": "summarized" }));
    }
}

/// Lets a model adapt that does not take a budget, as models do that are newer than the catalog.
/// Whether there was a budget to give up.
pub(super) fn adapt(body: &mut Value, message: &str) -> bool {
    let is_about_it =
        ["budget_tokens", "adaptive", "thinking.type"].iter().any(|words| message.contains(words));
    let has_budget = body.pointer("/thinking/type").and_then(Value::as_str) == Some("enabled");
    if is_about_it && has_budget {
        body["thinking"] = json!({ "type": "adaptive", "display": "summarized" });
    }
    is_about_it && has_budget
}

/// The tokens to think with, if the limit leaves room for them.
fn budget(effort: &str, limit: u64) -> Option<u64> {
    let wanted = BUDGETS.iter().find(|(known, _)| *known == effort).map(|(_, budget)| *budget)?;
    Some(wanted.min(limit.saturating_sub(MIN_ANSWER))).filter(|budget| *budget >= MIN_BUDGET)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        model: &str,
        effort: Option<&str>,
        max_tokens: Option<u64>,
        is_barred: bool,
        expected: Value,
    ) {
        let mut body = Map::new();
        let bars = ThinkingConflicts { is_forced: false, lacks_thought: is_barred };
        insert(&mut body, model, effort, max_tokens, bars);
        assert_eq!(Value::Object(body), expected);
    }

    #[test]
    fn an_effort_is_a_budget() {
        check("claude-x", None, None, false, json!({"max_tokens": 8192}));
        check("claude-x", Some("none"), None, false, json!({"max_tokens": 8192}));
        let thinking = json!({"type": "enabled", "budget_tokens": 10240});
        check(
            "claude-x",
            Some("medium"),
            None,
            false,
            json!({"max_tokens": 32000, "thinking": thinking}),
        );
        check("claude-x", Some("medium"), None, true, json!({"max_tokens": 8192}));
        let thinking = json!({"type": "enabled", "budget_tokens": 2976});
        check(
            "claude-x",
            Some("high"),
            Some(4000),
            false,
            json!({"max_tokens": 4000, "thinking": thinking}),
        );
        check("claude-x", Some("high"), Some(2000), false, json!({"max_tokens": 2000}));
        check("claude-x", Some("strange"), None, false, json!({"max_tokens": 8192}));
    }

    #[test]
    fn adaptive_models_are_told_the_effort() {
        check("claude-opus-5-5", None, None, false, json!({"max_tokens": 32000}));
        check(
            "claude-opus-5-5",
            Some("ultra"),
            None,
            false,
            json!({
                "max_tokens": 32000,
                "output_config": {"effort": "max"},
                "thinking": {"type": "adaptive", "display": "summarized"},
            }),
        );
    }

    #[test]
    fn a_refused_budget_is_given_up() {
        let mut body = json!({"thinking": {"type": "enabled", "budget_tokens": 5000}});
        assert!(!adapt(&mut body, "no such model"));
        assert!(adapt(&mut body, "\"thinking.type.enabled\" is not supported for this model"));
        assert_eq!(body, json!({"thinking": {"type": "adaptive", "display": "summarized"}}));
        assert!(!adapt(&mut body, "adaptive thinking is not supported"));
        assert!(!adapt(&mut json!({}), "adaptive"));
    }
}
