//! Redaction: which parts of a text are secrets, and the text or cells without them.
//!
//! A [`Policy`] is a set of built-in rules plus what a caller adds. [`Policy::strict`] is for our own
//! surfaces; [`Policy::ptywright_compatible`] hides what that dialect promises, and common secrets
//! that it promises nothing about. Where redaction is applied, and where not, is decided elsewhere.

mod cells;
mod edits;
mod escapes;
mod keys;
mod names;
mod rules;
mod shapes;
mod stream;
mod words;

pub use cells::{MaskedCell, MaskedLine};
pub use edits::Redaction;
pub use names::NAMED_VALUES;
pub use rules::{PTYWRIGHT_RULES, Rule, SHORT_VALUES};
pub use shapes::TOKEN_SHAPES;
pub use stream::{CONTEXT_BYTES, HOLD_BYTES, StreamRedactor};

use edits::Draft;
use escapes::Plain;
use regex::Regex;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

/// Memory that an extra expression may take when compiled.
const MAX_REGEX_BYTES: usize = 1 << 20;

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
    /// [`PTYWRIGHT_RULES`] one after another, and whatever else is found in the original text;
    /// then literals, then expressions, each over the result of the one before.
    Ptywright,
    /// The same and [`SHORT_VALUES`], literals and expressions, all over the original text; what any
    /// of them finds is hidden, and overlapping finds are one.
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

    /// [`PTYWRIGHT_RULES`], run in sequence as that dialect's clients expect, and with them
    /// [`TOKEN_SHAPES`], [`NAMED_VALUES`] and private keys. What the dialect promises to leave alone
    /// is too short for those: `{"password":"p"}` and `AWS_SECRET=foo` stay readable.
    pub fn ptywright_compatible() -> Self {
        Self::with_mode(Mode::Ptywright)
    }

    /// [`Policy::ptywright_compatible`], made once: what is hidden where nothing else is asked for.
    pub fn usual() -> &'static Self {
        static USUAL: LazyLock<Policy> = LazyLock::new(Policy::ptywright_compatible);
        &USUAL
    }

    /// [`Policy::strict`], made once: what is hidden on our own surfaces.
    pub fn ours() -> &'static Self {
        static OURS: LazyLock<Policy> = LazyLock::new(Policy::strict);
        &OURS
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
            let built = regex::RegexBuilder::new(pattern).size_limit(MAX_REGEX_BYTES).build();
            built.map_err(|source| RedactionError::InvalidRegex {
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
    ///
    /// Secrets are found through escape sequences, which stay: they follow the replacement.
    pub fn redactions(&self, text: &str) -> Vec<Redaction> {
        let mut found = self.finds(text);
        for find in &mut found {
            let kept = self.kept_sequences(text, &find.range, find.range.start);
            find.text.push_str(&kept);
        }
        found
    }

    /// The same, without the escape sequences that stay.
    fn finds(&self, text: &str) -> Vec<Redaction> {
        if escapes::has_any(text) { self.finds_in_raw(text) } else { self.finds_in_plain(text) }
    }

    fn finds_in_plain(&self, text: &str) -> Vec<Redaction> {
        match self.mode {
            Mode::Ptywright => self.in_sequence(text),
            Mode::Strict => self.all_at_once(text),
        }
    }

    /// In text with escape sequences: without them, with line ends where the cursor moves, and in
    /// their payloads. What any of these readings hides is hidden.
    fn finds_in_raw(&self, raw: &str) -> Vec<Redaction> {
        let plain = Plain::new(raw, false);
        let mut found = Vec::new();
        let mut add = |plain: &Plain| {
            for find in self.finds_in_plain(&plain.text) {
                found.push(Redaction { range: plain.to_raw(&find.range), text: find.text });
            }
        };
        let has_extras = !self.literals.is_empty() || !self.regexes.is_empty();
        if has_extras || !self.rules().is_clean(&plain.text) {
            add(&plain);
            if plain.has_moves {
                add(&Plain::new(raw, true));
            }
        }
        for payload in &plain.payloads {
            for find in self.finds_in_plain(&raw[payload.clone()]) {
                let range = find.range.start + payload.start..find.range.end + payload.start;
                found.push(Redaction { range, text: find.text });
            }
        }
        // What a caller adds may be meant for the sequences themselves.
        for literal in self.literals.iter().filter(|literal| escapes::has_any(literal)) {
            found.extend(self.replacing(occurrences(literal, raw)));
        }
        for regex in &self.regexes {
            found.extend(self.expanding(regex, raw));
        }
        edits::union(found, &self.replacement)
    }

    /// The escape sequences inside of a find, as far as they are behind `from`.
    fn kept_sequences(&self, text: &str, range: &Range<usize>, from: usize) -> String {
        let inside = &text[range.clone()];
        let mut kept = String::new();
        if !escapes::has_any(inside) || inside.starts_with('\x1b') {
            return kept;
        }
        for token in escapes::tokens(inside) {
            let (start, end) = (token.range.start + range.start, token.range.end + range.start);
            match token.kind {
                escapes::Kind::Text => {}
                _ if end <= from => {}
                escapes::Kind::Payload(payload) if start >= from => {
                    let shown = &inside[payload.clone()];
                    kept.push_str(&inside[token.range.start..payload.start]);
                    kept.push_str(&edits::apply(shown, &self.finds_in_plain(shown)));
                    kept.push_str(&inside[payload.end..token.range.end]);
                }
                // Its beginning has been shown before; its end must follow.
                escapes::Kind::Payload(payload) => {
                    kept.push_str(&text[from.max(payload.end + range.start)..end]);
                }
                _ => kept.push_str(&text[from.max(start)..end]),
            }
        }
        kept
    }

    fn rules(&self) -> &'static rules::Compiled {
        match self.mode {
            Mode::Ptywright => &rules::PTYWRIGHT,
            Mode::Strict => &rules::STRICT,
        }
    }

    fn in_sequence(&self, text: &str) -> Vec<Redaction> {
        let mut scan = self.rules().scan(text);
        scan.spans.retain(|span| !self.is_redacted_already(text, span));
        let literal = self.literals.iter().any(|literal| text.contains(literal.as_str()));
        if scan.whole == 0 && scan.spans.is_empty() && !literal && self.regexes.is_empty() {
            return Vec::new();
        }
        let mut draft = Draft::new(text);
        // All of these or none: a replacement may itself complete what a later rule looks for.
        if scan.whole != 0 {
            for rule in 0..PTYWRIGHT_RULES.len() {
                let found = self.rules().masked(rule, draft.text());
                draft.replace(self.replacing(found));
            }
        }
        let mut found = draft.redactions();
        // What these have hidden already stays as that dialect shows it.
        let is_hidden = |span: &Range<usize>| {
            let next = found.partition_point(|find| find.range.start <= span.start);
            next.checked_sub(1).is_some_and(|find| span.end <= found[find].range.end)
        };
        scan.spans.retain(|span| !is_hidden(span));
        if !scan.spans.is_empty() {
            found.extend(self.replacing(scan.spans));
            draft = Draft::new(text);
            draft.replace(edits::union(found, &self.replacement));
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
        let scan = self.rules().scan(text);
        let mut found = scan.spans;
        for rule in self.rules().chosen(scan.whole) {
            found.extend(self.rules().masked(rule, text));
        }
        for literal in &self.literals {
            found.extend(occurrences(literal, text));
        }
        found.retain(|range| !self.is_redacted_already(text, range));
        let mut redactions = self.replacing(found);
        for regex in &self.regexes {
            redactions.extend(self.expanding(regex, text));
        }
        edits::union(redactions, &self.replacement)
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
