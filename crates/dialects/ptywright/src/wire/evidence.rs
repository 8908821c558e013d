//! Which branch of a matcher held, on the wire.

use rookery_term::Evidence;
use schemars::JsonSchema;
use serde::Serialize;

use super::matcher::Predicate;

/// Why a wait ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Matched {
    /// The screen contains the text.
    ContainsText {
        /// The text.
        text: String,
    },
    /// The expression was found on the screen.
    ScreenRegex {
        /// The expression.
        pattern: String,
        /// Its first group, or all it matched.
        capture: String,
    },
    /// The transcript contains the text.
    TranscriptContains {
        /// The text.
        text: String,
    },
    /// The expression was found in the transcript.
    TranscriptRegex {
        /// The expression.
        pattern: String,
        /// Its first group, or all it matched.
        capture: String,
    },
    /// The cursor is there.
    CursorAt {
        /// Row from the top.
        row: u16,
        /// Column from the left.
        col: u16,
    },
    /// Nothing was printed for so long.
    ScreenStable {
        /// Milliseconds that were asked for.
        min_ms: u64,
    },
    /// The child is gone.
    ProcessExited,
    /// One branch held.
    Any {
        /// The first that did.
        matched: Box<Matched>,
    },
    /// All branches held.
    All {
        /// Each of them.
        matched: Vec<Matched>,
    },
    /// A predicate of a plugin held.
    Lua {
        /// The plugin.
        plugin: String,
        /// The function.
        predicate: String,
        /// What it said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        evidence: Option<String>,
        /// What it found.
        #[serde(skip_serializing_if = "Option::is_none")]
        capture: Option<String>,
    },
}

/// A predicate that was judged to hold, and what was said about it.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) predicate: &'a Predicate,
    pub(crate) evidence: Option<String>,
    pub(crate) capture: Option<String>,
}

impl Matched {
    /// Evidence in this dialect's words. `judged` gives the predicate of a number, and `hide` takes
    /// secrets out of what was found.
    pub(crate) fn new<'a>(
        evidence: Evidence,
        judged: &dyn Fn(u32) -> Option<Judged<'a>>,
        hide: &dyn Fn(String) -> String,
    ) -> Self {
        let convert = |evidence| Self::new(evidence, judged, hide);
        match evidence {
            Evidence::ContainsText(text) => Self::ContainsText { text },
            Evidence::ScreenRegex { pattern, capture } => {
                Self::ScreenRegex { pattern, capture: hide(capture) }
            }
            Evidence::TranscriptContains(text) => Self::TranscriptContains { text },
            Evidence::TranscriptRegex { pattern, capture } => {
                Self::TranscriptRegex { pattern, capture: hide(capture) }
            }
            Evidence::CursorAt { row, col } => Self::CursorAt { row, col },
            Evidence::ScreenStable(min) => {
                Self::ScreenStable { min_ms: u64::try_from(min.as_millis()).unwrap_or(u64::MAX) }
            }
            Evidence::ProcessExited => Self::ProcessExited,
            Evidence::Any(branch) => Self::Any { matched: Box::new(convert(*branch)) },
            Evidence::All(branches) => {
                Self::All { matched: branches.into_iter().map(convert).collect() }
            }
            Evidence::Outside(number) => match judged(number) {
                Some(judged) => Self::Lua {
                    plugin: judged.predicate.plugin.clone(),
                    predicate: judged.predicate.predicate.clone(),
                    evidence: judged.evidence.map(hide),
                    capture: judged.capture.map(hide),
                },
                // Only what was judged can be evidence.
                None => Self::All { matched: Vec::new() },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn the_example_of_the_contract() {
        let regex = Evidence::ScreenRegex { pattern: "h(el+)o".into(), capture: "ell".into() };
        let evidence = Evidence::All(vec![
            Evidence::Any(Box::new(regex)),
            Evidence::ScreenStable(Duration::from_millis(300)),
        ]);
        let matched = Matched::new(evidence, &|_| None, &|text| text);
        assert_eq!(
            serde_json::to_value(matched).unwrap(),
            json!({"kind": "all", "matched": [
                {"kind": "any", "matched":
                    {"kind": "screen_regex", "pattern": "h(el+)o", "capture": "ell"}},
                {"kind": "screen_stable", "min_ms": 300},
            ]})
        );
    }

    #[test]
    fn predicates_are_named_and_secrets_hidden() {
        let predicate = Predicate { plugin: "p".into(), predicate: "is_done".into(), params: None };
        let judged = |number| {
            (number == 3).then(|| Judged {
                predicate: &predicate,
                evidence: Some("token=abc".into()),
                capture: None,
            })
        };
        let hide = |text: String| text.replace("abc", "***");
        let matched = Matched::new(Evidence::Outside(3), &judged, &hide);
        assert_eq!(
            serde_json::to_value(matched).unwrap(),
            json!({"kind": "lua", "plugin": "p", "predicate": "is_done", "evidence": "token=***"})
        );
    }
}
