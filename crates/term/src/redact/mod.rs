//! Redaction: which parts of a text are secrets, and the text or cells without them.
//!
//! A [`Policy`] is a set of built-in rules plus what a caller adds. [`Policy::strict`] is for our own
//! surfaces; [`Policy::ptywright_compatible`] hides what that dialect promises and nothing more.
//! Where redaction is applied, and where not, is decided elsewhere.

mod cells;
mod edits;
mod rules;

pub use cells::{CellText, LogicalLine, MaskedCell};
pub use edits::Redaction;
pub use rules::{PTYWRIGHT_RULES, Rule, TOKEN_SHAPES};

use edits::Draft;
use regex::Regex;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// What replaces a secret unless the caller chose something else.
pub const DEFAULT_REPLACEMENT: &str = "[REDACTED]";

/// Why a policy could not be built.
#[derive(Debug, thiserror::Error)]
pub enum RedactionError {
    /// An extra expression does not compile.
    #[error("invalid redaction regex `{pattern}`")]
    InvalidRegex {
        /// The expression as given.
        pattern: String,
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
}

/// Which built-in rules apply, and how rules work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// [`PTYWRIGHT_RULES`], then literals, then expressions, each over the result of the one before.
    Ptywright,
    /// [`PTYWRIGHT_RULES`], [`TOKEN_SHAPES`], literals and expressions, all over the original text;
    /// what any of them finds is hidden, and overlapping finds are one.
    Strict,
}

/// What to hide and what to show instead.
#[derive(Clone)]
pub struct Policy {
    mode: Mode,
    replacement: String,
    literals: Vec<String>,
    regexes: Vec<Regex>,
}

/// The strict policy.
impl Default for Policy {
    fn default() -> Self {
        Self::strict()
    }
}

/// Literals are secrets themselves, so only their number is shown.
impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("mode", &self.mode)
            .field("replacement", &self.replacement)
            .field("literals", &self.literals.len())
            .field("regexes", &self.regexes.len())
            .finish()
    }
}

impl Policy {
    /// All built-in rules, for our own surfaces.
    ///
    /// Rules look at the original text, so no rule can leave part of what another one knows to be
    /// secret, and a replacement from an earlier pass is not taken for a secret again.
    pub fn strict() -> Self {
        Self::with_mode(Mode::Strict)
    }

    /// Only [`PTYWRIGHT_RULES`], run in sequence, as that dialect's clients expect: access keys
    /// such as `AKIA...` or `{"password":"p"}` stay readable.
    pub fn ptywright_compatible() -> Self {
        Self::with_mode(Mode::Ptywright)
    }

    /// The strict policy with its own replacement and extras; see [`Policy::customize`].
    pub fn new(
        replacement: impl Into<String>,
        literals: impl IntoIterator<Item = impl Into<String>>,
        regexes: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, RedactionError> {
        Self::strict().customize(replacement, literals, regexes)
    }

    /// The same built-in rules with another replacement and these extras.
    ///
    /// Empty literals are skipped. `$0`, `$1` and `${name}` in the replacement are expanded for what
    /// the extra expressions find, and only there.
    pub fn customize(
        mut self,
        replacement: impl Into<String>,
        literals: impl IntoIterator<Item = impl Into<String>>,
        regexes: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, RedactionError> {
        let compile = |pattern: &str| {
            Regex::new(pattern).map_err(|source| RedactionError::InvalidRegex {
                pattern: pattern.to_owned(),
                source: Box::new(source),
            })
        };
        self.replacement = replacement.into();
        self.literals =
            literals.into_iter().map(Into::into).filter(|literal| !literal.is_empty()).collect();
        self.regexes = regexes
            .into_iter()
            .map(|pattern| compile(pattern.as_ref()))
            .collect::<Result<_, _>>()?;
        Ok(self)
    }

    fn with_mode(mode: Mode) -> Self {
        Self {
            mode,
            replacement: DEFAULT_REPLACEMENT.to_owned(),
            literals: Vec::new(),
            regexes: Vec::new(),
        }
    }

    /// What replaces a secret.
    pub fn replacement(&self) -> &str {
        &self.replacement
    }

    /// The text without its secrets; borrowed when there are none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let redactions = self.redactions(text);
        if redactions.is_empty() { text.into() } else { edits::apply(text, &redactions).into() }
    }

    /// The byte ranges of `text` that [`Policy::redact`] replaces, in order and without overlap.
    pub fn redact_spans(&self, text: &str) -> Vec<Range<usize>> {
        self.redactions(text).into_iter().map(|redaction| redaction.range).collect()
    }

    /// Every replacement that [`Policy::redact`] makes, in order and without overlap.
    pub fn redactions(&self, text: &str) -> Vec<Redaction> {
        match self.mode {
            Mode::Ptywright => self.in_sequence(text),
            Mode::Strict => self.all_at_once(text),
        }
    }

    fn in_sequence(&self, text: &str) -> Vec<Redaction> {
        // All rules or none: a replacement may itself complete what a later rule looks for.
        let possible = !rules::PTYWRIGHT.candidates(text).is_empty();
        let literal = self.literals.iter().any(|literal| text.contains(literal.as_str()));
        if !possible && !literal && self.regexes.is_empty() {
            return Vec::new();
        }
        let mut draft = Draft::new(text);
        if possible {
            for regex in rules::PTYWRIGHT.regexes() {
                let found = rules::masked_by(regex, draft.text());
                draft.replace(self.replacing(found));
            }
        }
        for literal in &self.literals {
            let found = occurrences(literal, draft.text());
            draft.replace(self.replacing(found));
        }
        for regex in &self.regexes {
            let found = self.expanding(regex, draft.text());
            draft.replace(found);
        }
        draft.redactions()
    }

    fn all_at_once(&self, text: &str) -> Vec<Redaction> {
        let mut found = Vec::new();
        for regex in rules::STRICT.selected(rules::STRICT.candidates(text)) {
            found.extend(rules::masked_by(regex, text));
        }
        for literal in &self.literals {
            found.extend(occurrences(literal, text));
        }
        found.retain(|range| !self.is_redacted_already(text, range));
        let mut redactions = self.replacing(found);
        for regex in &self.regexes {
            redactions.extend(self.expanding(regex, text));
        }
        edits::union(redactions)
    }

    /// Whether a find is but the beginning of the replacement that stands there already.
    fn is_redacted_already(&self, text: &str, range: &Range<usize>) -> bool {
        self.replacement.starts_with(&text[range.clone()])
            && text[range.start..].starts_with(&self.replacement)
    }

    fn replacing(&self, ranges: Vec<Range<usize>>) -> Vec<Redaction> {
        let replacement = |range| Redaction { range, text: self.replacement.clone() };
        ranges.into_iter().map(replacement).collect()
    }

    fn expanding(&self, regex: &Regex, text: &str) -> Vec<Redaction> {
        let expand = |captures: regex::Captures<'_>| {
            let mut expanded = String::new();
            captures.expand(&self.replacement, &mut expanded);
            let range = captures.get(0)?.range();
            Some(Redaction { range, text: expanded })
        };
        regex.captures_iter(text).filter_map(expand).collect()
    }
}

fn occurrences(literal: &str, text: &str) -> Vec<Range<usize>> {
    text.match_indices(literal).map(|(start, found)| start..start + found.len()).collect()
}

#[cfg(test)]
mod tests;
