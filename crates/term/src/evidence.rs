//! Which part of a matcher held, and what it found.

use std::time::Duration;

use crate::matcher::{Facts, Matcher};

/// Why a matcher holds: the tree of the branches that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The screen contains this text.
    ContainsText(String),
    /// The pattern was found on the screen.
    ScreenRegex {
        /// The pattern as it was written.
        pattern: String,
        /// Its first group, or the whole match.
        capture: String,
    },
    /// The transcript contains this text.
    TranscriptContains(String),
    /// The pattern was found in the transcript.
    TranscriptRegex {
        /// The pattern as it was written.
        pattern: String,
        /// Its first group, or the whole match.
        capture: String,
    },
    /// The cursor is here.
    CursorAt {
        /// Row from the top.
        row: u16,
        /// Column from the left.
        col: u16,
    },
    /// Nothing was printed for this long.
    ScreenStable(Duration),
    /// The process is gone.
    ProcessExited,
    /// The first branch that holds.
    Any(Box<Evidence>),
    /// All branches.
    All(Vec<Evidence>),
    /// What someone else judged, by number.
    Outside(u32),
}

impl Matcher {
    /// Why it holds, or none if it does not.
    pub fn evidence(&self, facts: &dyn Facts) -> Option<Evidence> {
        let found = match self {
            Matcher::ScreenRegex(pattern) => {
                let capture = pattern.capture(facts.screen_text())?;
                return Some(Evidence::ScreenRegex { pattern: pattern.source().into(), capture });
            }
            Matcher::TranscriptRegex(pattern) => {
                let capture = pattern.capture(facts.transcript_tail())?;
                let pattern = pattern.source().into();
                return Some(Evidence::TranscriptRegex { pattern, capture });
            }
            Matcher::Any(branches) => {
                let first = branches.iter().find_map(|branch| branch.evidence(facts))?;
                return Some(Evidence::Any(Box::new(first)));
            }
            Matcher::All(branches) => {
                let all = branches.iter().map(|branch| branch.evidence(facts));
                return all.collect::<Option<_>>().map(Evidence::All);
            }
            Matcher::ContainsText(text) => Evidence::ContainsText(text.clone()),
            Matcher::TranscriptContains(text) => Evidence::TranscriptContains(text.clone()),
            Matcher::CursorAt { row, col } => Evidence::CursorAt { row: *row, col: *col },
            Matcher::ScreenStable(min) => Evidence::ScreenStable(*min),
            Matcher::ProcessExited => Evidence::ProcessExited,
            Matcher::Outside(number) => Evidence::Outside(*number),
        };
        self.holds(facts).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::Pattern;

    struct Scene;

    impl Facts for Scene {
        fn screen_text(&self) -> &str {
            "say hello"
        }
        fn transcript_tail(&self) -> &str {
            "say \x1b[mhello\r\n"
        }
        fn cursor(&self) -> (u16, u16) {
            (0, 9)
        }
        fn stable_for(&self) -> Duration {
            Duration::from_millis(300)
        }
        fn has_exited(&self) -> bool {
            false
        }
        fn outside(&self, number: u32) -> bool {
            number == 7
        }
    }

    #[test]
    fn the_branches_that_hold_are_named() {
        let stable = Duration::from_millis(300);
        let matcher = Matcher::All(vec![
            Matcher::Any(vec![
                Matcher::ContainsText("nothing".into()),
                Matcher::Outside(6),
                Matcher::ScreenRegex(Pattern::new("h(el+)o")),
                Matcher::ContainsText("say".into()),
            ]),
            Matcher::ScreenStable(stable),
            Matcher::TranscriptRegex(Pattern::new("hel+o")),
            Matcher::CursorAt { row: 0, col: 9 },
            Matcher::Outside(7),
        ]);
        let regex = Evidence::ScreenRegex { pattern: "h(el+)o".into(), capture: "ell".into() };
        let expected = Evidence::All(vec![
            Evidence::Any(Box::new(regex)),
            Evidence::ScreenStable(stable),
            Evidence::TranscriptRegex { pattern: "hel+o".into(), capture: "hello".into() },
            Evidence::CursorAt { row: 0, col: 9 },
            Evidence::Outside(7),
        ]);
        assert_eq!(matcher.evidence(&Scene), Some(expected));
    }

    #[test]
    fn what_does_not_hold_has_no_evidence() {
        let fails = [
            Matcher::ProcessExited,
            Matcher::Any(Vec::new()),
            Matcher::All(vec![Matcher::ContainsText("say".into()), Matcher::Outside(1)]),
            Matcher::ScreenRegex(Pattern::new("(")),
            Matcher::ScreenStable(Duration::from_secs(1)),
        ];
        for matcher in fails {
            assert_eq!(matcher.evidence(&Scene), None, "{matcher:?}");
            assert!(!matcher.holds(&Scene), "{matcher:?}");
        }
        assert_eq!(Matcher::All(Vec::new()).evidence(&Scene), Some(Evidence::All(Vec::new())));
    }
}
