//! Well-known models of providers that do not tell what theirs can do.

use super::efforts::described;
use crate::provider::ModelInfo;

/// One well-known model.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) context_window: u64,
    pub(crate) default_reasoning: Option<&'static str>,
    pub(crate) efforts: &'static [&'static str],
    /// Whether it decides by itself how long it thinks, and takes an effort instead of a budget.
    pub(crate) is_adaptive: bool,
}

const GPT_5_6: &[&str] = &["none", "low", "medium", "high", "xhigh", "max"];
const GPT_5_5: &[&str] = &["none", "low", "medium", "high", "xhigh"];
const CODEX: &[&str] = &["low", "medium", "high", "xhigh"];
const GPT_5: &[&str] = &["minimal", "low", "medium", "high"];
const O_SERIES: &[&str] = &["low", "medium", "high"];
const CLAUDE_5: &[&str] = &["low", "medium", "high", "xhigh", "max"];
const CLAUDE_4_6: &[&str] = &["low", "medium", "high", "max"];
const CLAUDE_BUDGET: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

const fn known(
    id: &'static str,
    name: &'static str,
    context_window: u64,
    default_reasoning: Option<&'static str>,
    efforts: &'static [&'static str],
) -> Known {
    Known { id, name, context_window, default_reasoning, efforts, is_adaptive: false }
}

const fn adaptive(model: Known) -> Known {
    Known { is_adaptive: true, ..model }
}

/// OpenAI's models.
pub(crate) static OPENAI: [Known; 13] = [
    known("gpt-5.6", "GPT-5.6", 1_050_000, Some("medium"), GPT_5_6),
    known("gpt-5.6-sol", "GPT-5.6 Sol", 1_050_000, Some("medium"), GPT_5_6),
    known("gpt-5.6-terra", "GPT-5.6 Terra", 1_050_000, Some("medium"), GPT_5_6),
    known("gpt-5.6-luna", "GPT-5.6 Luna", 1_050_000, Some("medium"), GPT_5_6),
    known("gpt-5.5", "GPT-5.5", 1_050_000, Some("medium"), GPT_5_5),
    known("gpt-5.4", "GPT-5.4", 1_050_000, Some("medium"), GPT_5_5),
    known("gpt-5.4-mini", "GPT-5.4 mini", 400_000, Some("medium"), GPT_5_5),
    known("gpt-5.3-codex", "GPT-5.3 Codex", 400_000, Some("medium"), CODEX),
    known("gpt-5", "GPT-5", 400_000, Some("medium"), GPT_5),
    known("gpt-5-mini", "GPT-5 mini", 400_000, Some("medium"), GPT_5),
    known("o3", "o3", 200_000, Some("medium"), O_SERIES),
    known("o4-mini", "o4-mini", 200_000, Some("medium"), O_SERIES),
    known("gpt-4.1", "GPT-4.1", 1_047_576, None, &[]),
];

/// Anthropic's models.
pub(crate) static ANTHROPIC: [Known; 13] = [
    adaptive(known("claude-opus-5-5", "Claude Opus 5.5", 1_000_000, Some("medium"), CLAUDE_5)),
    adaptive(known("claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000, Some("high"), CLAUDE_5)),
    adaptive(known("claude-haiku-5-5", "Claude Haiku 5.5", 200_000, Some("medium"), CLAUDE_5)),
    adaptive(known("claude-fable-5-1", "Claude Fable 5.1", 1_000_000, Some("high"), CLAUDE_5)),
    adaptive(known("claude-opus-5", "Claude Opus 5", 1_000_000, Some("high"), CLAUDE_5)),
    adaptive(known("claude-sonnet-5", "Claude Sonnet 5", 1_000_000, Some("high"), CLAUDE_5)),
    adaptive(known("claude-opus-4-8", "Claude Opus 4.8", 1_000_000, Some("high"), CLAUDE_5)),
    adaptive(known("claude-opus-4-7", "Claude Opus 4.7", 1_000_000, Some("high"), CLAUDE_5)),
    adaptive(known("claude-opus-4-6", "Claude Opus 4.6", 1_000_000, Some("high"), CLAUDE_4_6)),
    adaptive(known("claude-sonnet-4-6", "Claude Sonnet 4.6", 1_000_000, Some("high"), CLAUDE_4_6)),
    known("claude-opus-4-5", "Claude Opus 4.5", 200_000, None, CLAUDE_BUDGET),
    known("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, None, CLAUDE_BUDGET),
    known("claude-haiku-4-5", "Claude Haiku 4.5", 200_000, None, CLAUDE_BUDGET),
];

/// The mock's one model.
pub(crate) static MOCK: [Known; 1] = [known("mock", "Mock", 128_000, None, &[])];

impl Known {
    /// As clients see it.
    pub(crate) fn info(&self) -> ModelInfo {
        ModelInfo {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            context_window: Some(self.context_window),
            default_reasoning: self.default_reasoning.map(str::to_owned),
            reasoning: described(self.efforts),
            prices: None,
        }
    }
}

/// A model by its id, or by its id with a date behind it.
pub(crate) fn find<'a>(table: &'a [Known], id: &str) -> Option<&'a Known> {
    let is_dated = |known: &Known| {
        let rest = id.strip_prefix(known.id).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|date| {
            date.len() >= 8 && date.chars().all(|digit| digit.is_ascii_digit() || digit == '-')
        })
    };
    table.iter().find(|known| known.id == id).or_else(|| table.iter().find(|known| is_dated(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_does_not_change_a_model() {
        assert_eq!(
            find(&ANTHROPIC, "claude-sonnet-4-5-20250929").map(|known| known.id),
            Some("claude-sonnet-4-5")
        );
        assert_eq!(find(&OPENAI, "gpt-5-2025-08-07").map(|known| known.id), Some("gpt-5"));
        assert_eq!(find(&OPENAI, "gpt-5-turbo").map(|known| known.id), None);
        assert_eq!(find(&OPENAI, "gpt-5-mini").map(|known| known.id), Some("gpt-5-mini"));
    }

    #[test]
    fn defaults_are_among_the_efforts() {
        for known in OPENAI.iter().chain(&ANTHROPIC).chain(&MOCK) {
            assert!(
                known.default_reasoning.is_none_or(|effort| known.efforts.contains(&effort)),
                "{}",
                known.id
            );
            assert_eq!(known.info().reasoning.len(), known.efforts.len(), "{}", known.id);
        }
    }
}
