//! Matchers as they are written, and their meaning for the terminal engine.

use std::time::{Duration, Instant};

use rookery_term::{Matcher as Condition, Pattern, matcher::MAX_DEPTH};
use rookery_wire::rpc::RpcError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Parts of one tree; each may hold a compiled expression.
const MAX_PARTS: usize = 1024;

/// Expressions of one tree.
const MAX_PATTERNS: usize = 256;
/// How long all expressions of a tree may take to compile.
const COMPILE_LIMIT: Duration = Duration::from_secs(1);
/// Expressions shorter than this in all, and without counted repetitions, are compiled in no time.
const SHORT: usize = 256;

/// Longer times mean the same, and arithmetic on clocks stays far from its ends.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A condition on a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Matcher {
    /// The screen contains this text.
    ContainsText(String),
    /// The expression is found on the screen.
    ScreenRegex(String),
    /// The tail of the transcript contains this text.
    TranscriptContains(String),
    /// The expression is found in the tail of the transcript.
    TranscriptRegex(String),
    /// The cursor is exactly here.
    CursorAt(Position),
    /// No output for some time.
    ScreenStable(Stable),
    /// The child is gone.
    ProcessExited,
    /// At least one holds.
    Any(Vec<Matcher>),
    /// Every one holds.
    All(Vec<Matcher>),
    /// A predicate of a plugin; a plain session has none, so there it never holds.
    Lua(Predicate),
}

/// A place on the screen, from 0.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Position {
    /// Row from the top.
    pub row: u16,
    /// Column from the left.
    pub col: u16,
}

/// How long nothing may happen.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Stable {
    /// Milliseconds without output, counted from the start of the wait at the earliest.
    pub min_ms: u64,
}

/// A function of a plugin.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Predicate {
    /// The plugin's name.
    pub plugin: String,
    /// The function's name.
    pub predicate: String,
    /// What the function is given.
    #[serde(default)]
    pub params: Option<Value>,
}

impl Matcher {
    /// The condition that the engine watches, and the predicates that someone else must judge, in the
    /// order of the numbers by which the condition knows them. What takes its time to compile does so
    /// where no other task waits for it.
    ///
    /// # Errors
    /// If the tree is too deep, too large or takes too long to compile.
    pub(crate) async fn compiled(self) -> Result<(Condition, Vec<Predicate>), RpcError> {
        let (mut patterns, mut bytes, mut has_counts) = (0, 0, false);
        self.visit_patterns(&mut |source| {
            patterns += 1;
            bytes += source.len();
            has_counts |= source.contains('{');
        });
        if patterns > MAX_PATTERNS {
            let message = format!("matcher has more than {MAX_PATTERNS} expressions");
            return Err(RpcError::invalid_params(message));
        }
        if bytes <= SHORT && !has_counts {
            return self.into_condition_and_predicates();
        }
        let compiling = tokio::task::spawn_blocking(|| self.into_condition_and_predicates());
        compiling.await.map_err(|error| RpcError::internal(error.to_string()))?
    }

    fn visit_patterns(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::ScreenRegex(source) | Self::TranscriptRegex(source) => visit(source),
            Self::Any(branches) | Self::All(branches) => {
                branches.iter().for_each(|branch| branch.visit_patterns(visit));
            }
            _ => {}
        }
    }

    fn into_condition_and_predicates(self) -> Result<(Condition, Vec<Predicate>), RpcError> {
        if self.parts() > MAX_PARTS {
            let message = format!("matcher has more than {MAX_PARTS} parts");
            return Err(RpcError::invalid_params(message));
        }
        let mut made = Made { predicates: Vec::new(), until: Instant::now() + COMPILE_LIMIT };
        let condition = self.translate(&mut made);
        if Instant::now() > made.until {
            let message = "the expressions of the matcher take too long to compile";
            return Err(RpcError::invalid_params(message));
        }
        if condition.depth() > MAX_DEPTH {
            let message = format!("matcher is nested deeper than {MAX_DEPTH} levels");
            return Err(RpcError::invalid_params(message));
        }
        Ok((condition, made.predicates))
    }

    fn parts(&self) -> usize {
        match self {
            Self::Any(branches) | Self::All(branches) => {
                1 + branches.iter().map(Self::parts).sum::<usize>()
            }
            _ => 1,
        }
    }

    fn translate(self, made: &mut Made) -> Condition {
        let mut all = |branches: Vec<Self>| {
            branches.into_iter().map(|branch| branch.translate(made)).collect()
        };
        match self {
            Self::ContainsText(text) => Condition::ContainsText(text),
            Self::ScreenRegex(source) => Condition::ScreenRegex(made.pattern(&source)),
            Self::TranscriptContains(text) => Condition::TranscriptContains(text),
            Self::TranscriptRegex(source) => Condition::TranscriptRegex(made.pattern(&source)),
            Self::CursorAt(Position { row, col }) => Condition::CursorAt { row, col },
            Self::ScreenStable(Stable { min_ms }) => Condition::ScreenStable(milliseconds(min_ms)),
            Self::ProcessExited => Condition::ProcessExited,
            Self::Any(branches) => Condition::Any(all(branches)),
            Self::All(branches) => Condition::All(all(branches)),
            Self::Lua(predicate) => {
                made.predicates.push(predicate);
                Condition::Outside(made.predicates.len() as u32 - 1)
            }
        }
    }
}

/// What comes along when a tree is translated.
struct Made {
    predicates: Vec<Predicate>,
    until: Instant,
}

impl Made {
    /// Compiles an expression, unless the time for that is over: then nothing needs it any more.
    fn pattern(&self, source: &str) -> Pattern {
        Pattern::new(if Instant::now() > self.until { "" } else { source })
    }
}

/// Milliseconds as a duration that clocks can carry.
pub(crate) fn milliseconds(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{testing::refusal, wait::Wait};

    fn condition(text: &str) -> Result<Condition, RpcError> {
        serde_json::from_str::<Matcher>(text)
            .unwrap()
            .into_condition_and_predicates()
            .map(|(condition, _)| condition)
    }

    fn refused(matcher: &str) -> String {
        refusal::<Wait>(&format!(r#"{{"session":"s1","matcher":{matcher}}}"#))
    }

    #[test]
    fn every_type_has_its_condition() {
        let table = [
            (r#"{"type":"contains_text","value":"a"}"#, r#"ContainsText("a")"#),
            (r#"{"value":"a","type":"transcript_contains","x":[]}"#, r#"TranscriptContains("a")"#),
            (r#"{"type":"cursor_at","value":{"row":1,"col":2}}"#, "CursorAt { row: 1, col: 2 }"),
            (r#"{"type":"screen_stable","value":{"min_ms":300}}"#, "ScreenStable(300ms)"),
            (r#"{"type":"process_exited"}"#, "ProcessExited"),
            (r#"{"type":"process_exited","value":null}"#, "ProcessExited"),
            (r#"{"type":"any","value":[]}"#, "Any([])"),
            (r#"{"type":"all","value":[{"type":"process_exited"}]}"#, "All([ProcessExited])"),
            (r#"{"type":"lua","value":{"plugin":"p","predicate":"f"}}"#, "Outside(0)"),
        ];
        for (text, expected) in table {
            assert_eq!(format!("{:?}", condition(text).unwrap()), expected, "{text}");
        }
        for kind in ["screen_regex", "transcript_regex"] {
            for (source, valid) in [("a.c", true), ("(?=x)", false), ("(", false)] {
                let text = format!(r#"{{"type":"{kind}","value":"{source}"}}"#);
                let pattern = match condition(&text).unwrap() {
                    Condition::ScreenRegex(pattern) | Condition::TranscriptRegex(pattern) => {
                        pattern
                    }
                    other => panic!("{other:?}"),
                };
                assert_eq!((pattern.source(), pattern.is_valid()), (source, valid));
            }
        }
    }

    #[test]
    fn refusals_name_the_fault() {
        assert!(refused(r#"{"value":"x"}"#).ends_with("missing field `type`"));
        assert!(refused(r#"{"type":"contains_text"}"#).ends_with("missing field `value`"));
        let message = refused(r#"{"type":"contains","value":"x"}"#);
        assert!(message.contains(
            "unknown variant `contains`, expected one of `contains_text`, `screen_regex`"
        ));
        assert!(refused(r#"{"type":"screen_stable","value":300}"#).contains("integer `300`"));
        assert!(
            refused(r#"{"type":"cursor_at","value":{"row":-1,"col":0}}"#)
                .contains("integer `-1`, expected u16")
        );
        assert!(
            refused(r#"{"type":"cursor_at","value":{"row":1}}"#).contains("missing field `col`")
        );
        assert!(refused(r#"{"type":"any","value":{}}"#).contains("expected a sequence"));
        assert!(refused(r#"{"type":"process_exited","value":1}"#).contains("expected unit"));
        assert!(
            refused(r#"{"type":"lua","value":{"plugin":"p"}}"#)
                .contains("missing field `predicate`")
        );
    }

    fn nested(depth: usize) -> String {
        let leaf = r#"{"type":"process_exited"}"#.to_owned();
        (1..depth).fold(leaf, |inner, _| format!(r#"{{"value":[{inner}],"type":"any"}}"#))
    }

    #[test]
    fn trees_are_bounded() {
        assert_eq!(condition(&nested(MAX_DEPTH)).unwrap().depth(), MAX_DEPTH);
        let error = condition(&nested(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error, RpcError::new(-32602, "matcher is nested deeper than 32 levels"));
        let leaves = vec![r#"{"type":"process_exited"}"#; MAX_PARTS].join(",");
        let error = condition(&format!(r#"{{"type":"all","value":[{leaves}]}}"#)).unwrap_err();
        assert_eq!(error, RpcError::new(-32602, "matcher has more than 1024 parts"));
    }

    #[test]
    fn endless_times_stay_within_the_clock() {
        assert_eq!(milliseconds(u64::MAX), LONGEST);
        assert_eq!(milliseconds(5), Duration::from_millis(5));
    }

    proptest! {
        #[test]
        fn arbitrary_values_never_panic(
            kind in "(contains_text|screen_regex|cursor_at|screen_stable|any|all|lua|x)",
            value in r#"([0-9-]{1,3}|"[a-z(*+]{0,9}"|\[\]|\{\}|null|\[\{"type":"any","value":\[\]\}\])"#,
        ) {
            let text = format!(r#"{{"type":"{kind}","value":{value}}}"#);
            if let Ok(matcher) = serde_json::from_str::<Matcher>(&text) {
                prop_assert!(matcher.into_condition_and_predicates().map(|(condition, _)| condition).is_ok());
            }
        }
    }
}
