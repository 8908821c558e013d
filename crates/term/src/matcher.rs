//! Matchers: conditions on a screen, as a tree, and what each of them needs to be watched cheaply.

use std::time::Duration;

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Characters of the transcript that transcript matchers look at.
pub const TRANSCRIPT_TAIL: usize = 16_384;

/// Matchers nested deeper than this are refused by [`Matcher::depth`]'s callers.
pub const MAX_DEPTH: usize = 32;

/// A condition on a terminal. There is no negation: a condition becomes true only when a leaf does.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// The screen's text contains this.
    ContainsText(String),
    /// The pattern is found in the screen's text.
    ScreenRegex(Pattern),
    /// The tail of the transcript contains this.
    TranscriptContains(String),
    /// The pattern is found in the tail of the transcript.
    TranscriptRegex(Pattern),
    /// The cursor is exactly here, from 0.
    CursorAt {
        /// Row from the top.
        row: u16,
        /// Column from the left; equals the width when a wrap is pending.
        col: u16,
    },
    /// No output arrived for this long since the wait began.
    ScreenStable(Duration),
    /// The child side of the terminal is closed, or the terminal was killed.
    ProcessExited,
    /// At least one holds.
    Any(Vec<Matcher>),
    /// Every one holds.
    All(Vec<Matcher>),
    /// Judged by someone else, who knows it by this number; never true in the eyes of a screen.
    Outside(u32),
}

/// Bytes of a compiled pattern.
const SIZE_LIMIT: usize = 1 << 20;

/// A regular expression. One that does not compile never matches, as ptywright defines it.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    regex: Option<Regex>,
    /// Cannot match across a line break nor at the ends of the whole text.
    is_line_local: bool,
}

impl Pattern {
    /// Compiles a pattern, with a bound on the size of its program.
    pub fn new(source: &str) -> Pattern {
        let regex = regex::RegexBuilder::new(source).size_limit(SIZE_LIMIT).build().ok();
        let is_line_local =
            regex.is_some() && regex_syntax::parse(source).is_ok_and(|hir| is_line_local(&hir));
        Pattern { source: source.to_owned(), regex, is_line_local }
    }

    /// The pattern as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it compiled at all.
    pub fn is_valid(&self) -> bool {
        self.regex.is_some()
    }

    /// Why a pattern does not compile, on one line; none if it does.
    pub fn fault(source: &str) -> Option<String> {
        match regex::RegexBuilder::new(source).size_limit(SIZE_LIMIT).build().err()? {
            regex::Error::Syntax(text) => {
                // The last line names the fault; those before draw the pattern.
                let last = text.lines().rev().find(|line| !line.trim().is_empty());
                let fault = last.unwrap_or("it is wrong").trim();
                Some(fault.strip_prefix("error: ").unwrap_or(fault).to_owned())
            }
            _ => Some("it is too large".to_owned()),
        }
    }

    /// Whether it is found in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }

    /// What it captured: group 1 if the pattern has one, else the whole match.
    pub fn capture(&self, text: &str) -> Option<String> {
        let captures = self.regex.as_ref()?.captures(text)?;
        captures.get(1).or_else(|| captures.get(0)).map(|found| found.as_str().to_owned())
    }
}

fn is_line_local(hir: &Hir) -> bool {
    let looks = hir.properties().look_set();
    if looks.contains(Look::Start)
        || looks.contains(Look::End)
        || hir.properties().minimum_len() == Some(0)
    {
        return false;
    }
    !can_match_newline(hir)
}

fn can_match_newline(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Repetition(repetition) => can_match_newline(&repetition.sub),
        HirKind::Capture(capture) => can_match_newline(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(can_match_newline),
    }
}

/// What a matcher is judged by.
pub trait Facts {
    fn screen_text(&self) -> &str;
    fn transcript_tail(&self) -> &str;
    /// Cursor row and column.
    fn cursor(&self) -> (u16, u16);
    /// How long no output arrived, counted from the start of the wait at the earliest.
    fn stable_for(&self) -> Duration;
    /// Whether the child side is closed.
    fn has_exited(&self) -> bool;
    /// Whether the condition of this number holds, which is judged outside of the screen.
    fn outside(&self, number: u32) -> bool {
        let _ = number;
        false
    }
}

impl Matcher {
    /// Whether the condition holds.
    pub fn holds(&self, facts: &dyn Facts) -> bool {
        match self {
            Matcher::ContainsText(needle) => facts.screen_text().contains(needle.as_str()),
            Matcher::ScreenRegex(pattern) => pattern.is_match(facts.screen_text()),
            Matcher::TranscriptContains(needle) => {
                facts.transcript_tail().contains(needle.as_str())
            }
            Matcher::TranscriptRegex(pattern) => pattern.is_match(facts.transcript_tail()),
            Matcher::CursorAt { row, col } => facts.cursor() == (*row, *col),
            Matcher::ScreenStable(min) => facts.stable_for() >= *min,
            Matcher::ProcessExited => facts.has_exited(),
            Matcher::Outside(number) => facts.outside(*number),
            Matcher::Any(branches) => branches.iter().any(|branch| branch.holds(facts)),
            Matcher::All(branches) => branches.iter().all(|branch| branch.holds(facts)),
        }
    }

    /// Nesting depth of the tree; a leaf is 1.
    pub fn depth(&self) -> usize {
        match self {
            Matcher::Any(branches) | Matcher::All(branches) => {
                1 + branches.iter().map(Matcher::depth).max().unwrap_or(0)
            }
            _ => 1,
        }
    }

    /// Times of silence that any leaf waits for.
    pub fn stable_times(&self) -> Vec<Duration> {
        self.needs().stable
    }

    /// Whether any leaf waits for the screen to be stable.
    pub fn waits_for_stability(&self) -> bool {
        !self.needs().stable.is_empty()
    }

    /// What must be watched so that no moment in which it could become true is missed.
    pub(crate) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        self.collect_needs(&mut needs);
        needs
    }

    fn collect_needs(&self, needs: &mut Needs) {
        match self {
            Matcher::ContainsText(needle) if needle.is_empty() || needle.contains('\n') => {
                needs.every_change = true;
            }
            Matcher::ContainsText(needle) => needs.needles.push(needle.clone()),
            Matcher::ScreenRegex(pattern) => match &pattern.regex {
                Some(regex) if pattern.is_line_local => needs.patterns.push(regex.clone()),
                Some(_) => needs.every_change = true,
                None => {}
            },
            Matcher::TranscriptContains(_) | Matcher::TranscriptRegex(_) => needs.transcript = true,
            Matcher::CursorAt { .. } => needs.every_change = true,
            Matcher::ScreenStable(min) => needs.stable.push(*min),
            Matcher::ProcessExited | Matcher::Outside(_) => {}
            Matcher::Any(branches) | Matcher::All(branches) => {
                branches.iter().for_each(|branch| branch.collect_needs(needs));
            }
        }
    }
}

/// What a matcher must be shown: only a change in one of these can make it true.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    /// Texts within one line.
    pub(crate) needles: Vec<String>,
    /// Patterns within one line.
    pub(crate) patterns: Vec<Regex>,
    /// Something that must be looked at whole whenever anything changed.
    pub(crate) every_change: bool,
    pub(crate) transcript: bool,
    /// Times of silence.
    pub(crate) stable: Vec<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Still<'a>(&'a str);

    impl Facts for Still<'_> {
        fn screen_text(&self) -> &str {
            self.0
        }
        fn transcript_tail(&self) -> &str {
            "tail\r\n"
        }
        fn cursor(&self) -> (u16, u16) {
            (1, 2)
        }
        fn stable_for(&self) -> Duration {
            Duration::from_millis(300)
        }
        fn has_exited(&self) -> bool {
            false
        }
    }

    #[test]
    fn leaves_and_branches_hold_as_defined() {
        let facts = Still("one\ntwo");
        let text = |needle: &str| Matcher::ContainsText(needle.to_owned());
        for (matcher, expected) in [
            (text("e\nt"), true),
            (text(""), true),
            (text("ONE"), false),
            (Matcher::ScreenRegex(Pattern::new("^one$")), false),
            (Matcher::ScreenRegex(Pattern::new("(?m)^two$")), true),
            (Matcher::ScreenRegex(Pattern::new("(unclosed")), false),
            (Matcher::ScreenRegex(Pattern::new("(?=look)")), false),
            (Matcher::TranscriptContains("l\r\n".to_owned()), true),
            (Matcher::CursorAt { row: 1, col: 2 }, true),
            (Matcher::ScreenStable(Duration::from_millis(300)), true),
            (Matcher::ScreenStable(Duration::from_millis(301)), false),
            (Matcher::ProcessExited, false),
            (Matcher::Any(vec![]), false),
            (Matcher::All(vec![]), true),
            (Matcher::All(vec![text("one"), Matcher::Any(vec![text("x"), text("two")])]), true),
        ] {
            assert_eq!(matcher.holds(&facts), expected, "{matcher:?}");
        }
    }

    #[test]
    fn patterns_know_whether_they_stay_within_a_line() {
        for (source, local) in [
            ("error: .*", true),
            (r"(?m)^\w+\$ $", true),
            ("^start", false),
            (r"a\s+b", false),
            ("(?s)a.b", false),
            ("[^x]", false),
            ("x*", false),
        ] {
            assert_eq!(Pattern::new(source).is_line_local, local, "{source}");
        }
    }

    #[test]
    fn a_capture_is_group_one_or_the_whole() {
        assert_eq!(Pattern::new("h(el+)o").capture("hello").as_deref(), Some("ell"));
        assert_eq!(Pattern::new("l+").capture("hello").as_deref(), Some("ll"));
        assert_eq!(Pattern::new("z").capture("hello"), None);
    }
}
