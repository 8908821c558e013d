//! Redaction of a text that arrives and leaves in pieces: what to hold back because it may be the
//! beginning of a secret, and how to show a piece whose secrets began before it.

use super::names::{long_name, secret_name};
use super::{Policy, escapes, keys};
use escapes::Plain;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The most that is held back.
pub const HOLD_BYTES: usize = 4096;

/// How much of what was sent is enough to judge what follows, unless a secret is still going on.
pub const CONTEXT_BYTES: usize = 8192;

/// The most that is remembered of a secret that does not end.
const LONGEST_CONTEXT: usize = 64 * 1024;

/// How often the place to stop is moved back before as much as possible is held.
const MOST_STEPS: usize = 64;

/// Values with blanks that are not long enough yet to be distinguished from harmless ones.
static OPEN_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i-u:",
        long_name!(),
        r#")(?:\\?["'])?\]?[ \t]*(?::|=>|=)[ \t]*(?:\\"|["'`])"#,
        r"([^\r\n]{0,13})\z",
        r"|--?(?i-u:[a-z0-9-]{0,40}",
        secret_name!(),
        r#")[ \t]["']([^\r\n]{0,6})\z"#,
        r#"|(?i-u:cookie["']?[ \t]*:[ \t]*["']?[a-z0-9!#$%&*.^_|~+-]{1,128})=([^\r\n]{0,6})\z"#
    );
    Regex::new(pattern).expect("a fixed expression is valid")
});

impl Policy {
    /// A piece of a stream without its secrets, given the raw text right before it.
    ///
    /// A secret that began in the context is hidden in the piece as well. The replacement stands in
    /// its place at the start of the piece, unless its part in the context was hidden already: then
    /// the replacement has been shown, and nothing stands there.
    pub fn redact_piece<'p>(&self, context: &str, piece: &'p str) -> Cow<'p, str> {
        if context.is_empty() {
            return self.redact(piece);
        }
        let cut = context.len();
        let text = [context, piece].concat();
        let mut shown = String::new();
        let mut copied = cut;
        for find in self.finds(&text) {
            // An insertion at the cut belongs to the piece before.
            if find.range.end <= cut {
                continue;
            }
            let from = find.range.start.max(cut);
            shown.push_str(&text[copied..from]);
            if find.range.start >= cut || !self.is_begun(context, find.range.start) {
                shown.push_str(&find.text);
            }
            shown.push_str(&self.kept_sequences(&text, &find.range, from));
            copied = find.range.end;
        }
        if copied == cut && shown.is_empty() {
            return piece.into();
        }
        shown.push_str(&text[copied..]);
        shown.into()
    }

    /// Whether the secret that begins here was hidden when nothing was known of what follows.
    fn is_begun(&self, context: &str, start: usize) -> bool {
        let finds = self.finds(context);
        finds
            .last()
            .is_some_and(|last| last.range.start == start || last.range.end == context.len())
    }

    /// How much of `text`, from its start, can be shown now. The rest may be the beginning of a
    /// secret and is better held back until more has arrived, or until nothing does for a while:
    /// an unfinished word, a value in quotes that is too short yet, an open block of a private key,
    /// the beginning of a literal, an unfinished escape sequence. With extra expressions it is the
    /// whole unfinished line. Never more than [`HOLD_BYTES`].
    ///
    /// `text` begins with the context of what is to be shown, if there is any.
    pub fn safe_len(&self, text: &str) -> usize {
        let floor = text.floor_char_boundary(text.len().saturating_sub(HOLD_BYTES));
        let window = text.floor_char_boundary(text.len().saturating_sub(2 * HOLD_BYTES));
        let recent = &text[window..];
        let safe = if escapes::has_any(recent) {
            let plain = Plain::new(recent, false);
            let safe = self.safe_plain_len(&plain.text);
            let raw =
                if safe == plain.text.len() { recent.len() } else { plain.start_in_raw(safe) };
            plain.unfinished.map_or(raw, |start| raw.min(start))
        } else {
            self.safe_plain_len(recent)
        };
        (window + safe).max(floor)
    }

    /// What is shown must be safe by itself: what is held back does not help to judge it.
    fn safe_plain_len(&self, text: &str) -> usize {
        let mut safe = text.len();
        for _ in 0..MOST_STEPS {
            let next = self.safe_step(&text[..safe]);
            if next == safe {
                return safe;
            }
            safe = next;
        }
        0
    }

    fn safe_step(&self, text: &str) -> usize {
        let line = text.rfind('\n').map_or(0, |end| end + 1);
        let is_space = |(_, c): &(usize, char)| c.is_whitespace();
        let word = text.char_indices().rev().find(is_space).map_or(0, |(at, c)| at + c.len_utf8());
        let mut safe = if self.regexes.is_empty() { word } else { word.min(line) };
        if let Some(captures) = OPEN_VALUE.captures(&text[line..]) {
            let value = captures.iter().skip(1).flatten().next();
            safe = safe.min(line + value.map_or(0, |value| value.start()));
        }
        if let Some(key) = keys::open_from(text) {
            safe = safe.min(key);
        }
        let begun = self.literals.iter().filter_map(|literal| begun_at(literal, text));
        begun.fold(safe, usize::min)
    }

    /// From where on a text that was shown must be remembered as the context of what follows.
    pub fn context_start(&self, sent: &str) -> usize {
        let far = sent.len().saturating_sub(CONTEXT_BYTES);
        if far == 0 {
            return 0;
        }
        let bound = sent.len().saturating_sub(LONGEST_CONTEXT);
        let is_open = |end: usize| end >= sent.trim_end().len();
        // With some room for the name before a value.
        let start = match self.finds(sent).last() {
            Some(last) if is_open(last.range.end) => {
                far.min(last.range.start.saturating_sub(256)).max(bound)
            }
            _ => far,
        };
        let start = sent.floor_char_boundary(start);
        // Better at the start of a line than in the middle of something.
        let near = &sent.as_bytes()[start..(start + CONTEXT_BYTES / 4).min(sent.len())];
        match memchr::memchr(b'\n', near) {
            Some(end) if start == sent.floor_char_boundary(far) => start + end + 1,
            _ => start,
        }
    }
}

/// Where a literal begins that the end of the text cuts off.
fn begun_at(literal: &str, text: &str) -> Option<usize> {
    let mut ends = literal.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
    let longest = ends.rfind(|len| text.ends_with(&literal[..*len]))?;
    Some(text.len() - longest)
}

/// A stream under redaction: takes what arrives, gives what can be shown.
#[derive(Debug)]
pub struct StreamRedactor<P> {
    policy: P,
    /// What was shown, as far as it matters, and what is held back.
    raw: String,
    sent: usize,
}

impl<P: AsRef<Policy>> StreamRedactor<P> {
    /// The start of a stream.
    pub fn new(policy: P) -> Self {
        Self { policy, raw: String::new(), sent: 0 }
    }

    /// Adds what arrived; gives what can be shown now.
    pub fn push(&mut self, text: &str) -> String {
        self.raw.push_str(text);
        let safe = self.policy.as_ref().safe_len(&self.raw);
        self.show_until(safe.max(self.sent))
    }

    /// Gives what was held back, because nothing more comes or it has waited long enough.
    pub fn flush(&mut self) -> String {
        self.show_until(self.raw.len())
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.raw.len() - self.sent
    }

    fn show_until(&mut self, end: usize) -> String {
        let policy = self.policy.as_ref();
        let piece = &self.raw[self.sent..end];
        if piece.is_empty() {
            return String::new();
        }
        let shown = policy.redact_piece(&self.raw[..self.sent], piece).into_owned();
        self.sent = end;
        // Not for every piece.
        if self.sent > 2 * CONTEXT_BYTES {
            let start = policy.context_start(&self.raw[..self.sent]);
            self.raw.drain(..start);
            self.sent -= start;
        }
        shown
    }
}

/// So that a stream may own its policy, share it or borrow it.
impl AsRef<Policy> for Policy {
    fn as_ref(&self) -> &Policy {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::DEFAULT_REPLACEMENT;
    use proptest::prelude::*;
    use std::ops::Range;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\
                       BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n";

    #[test]
    fn a_secret_that_began_before_is_hidden_once() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(policy.redact_piece("token=", "abc x"), "[REDACTED] x");
        assert_eq!(policy.redact_piece("token=ab", "c x"), " x");
        assert_eq!(policy.redact_piece("sk-abcdefgh", "ijklmnopq x"), "[REDACTED] x");
        assert_eq!(policy.redact_piece("sk-abcdefghijklmnop", "q x"), " x");
        assert_eq!(policy.redact_piece("token=a ", "plain"), "plain");
        assert_eq!(policy.redact_piece("a", "b token=c"), "b token=[REDACTED]");
        assert_eq!(policy.redact_piece("", "token=c"), "token=[REDACTED]");
    }

    #[test]
    fn sequences_behind_the_cut_stay() {
        let policy = Policy::ptywright_compatible();
        let shown = policy.redact_piece("token=a\x1b[3", "1mb\x1b[0mc\x1b[m x");
        assert_eq!(shown, "1m\x1b[0m\x1b[m x");
    }

    #[test]
    fn what_may_become_a_secret_is_held_back() {
        let policy = Policy::ptywright_compatible().customize("*", ["open sesame"], [""; 0]);
        let policy = policy.unwrap();
        for (text, safe) in [
            ("$ ", 2),
            ("hello wor", 6),
            ("done\n", 5),
            ("see https://me:pw", 4),
            ("password: \"a b ", 10),
            ("password: \"a b c d e f g h ", 27),
            ("Cookie: a=b; ", 8),
            ("please open ses", 7),
            ("-----BEGIN PRIVATE KEY-----\nab cd\n", 19),
            ("ok \x1b[3", 3),
            ("ok \x1b]0;my title", 3),
            ("ok \x1b[0m", 7),
            ("ok \x1b[31ms\x1b[0mk", 8),
        ] {
            assert_eq!(policy.safe_len(text), safe, "{text:?}");
        }
        assert_eq!(policy.safe_len(&"x".repeat(10_000)), 10_000 - HOLD_BYTES);
        let by_line = Policy::ptywright_compatible().customize("*", [""; 0], ["a b"]).unwrap();
        assert_eq!(by_line.safe_len("one\ntwo a "), 4);
    }

    #[test]
    fn a_key_longer_than_the_context_stays_hidden() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
        let mut stream = StreamRedactor::new(Policy::ptywright_compatible());
        let mut shown = stream.push("-----BEGIN PRIVATE KEY-----\n");
        for _ in 0..500 {
            shown += &stream.push(line);
            assert!(stream.held() <= HOLD_BYTES);
        }
        shown += &stream.push("-----END PRIVATE KEY-----\nafter\n");
        shown += &stream.flush();
        assert!(!shown.contains("MIIE"), "{shown}");
        assert!(shown.ends_with("after\n"), "{shown}");
        assert_eq!(shown.matches(DEFAULT_REPLACEMENT).count(), 1, "{shown}");
    }

    fn stream_text() -> impl Strategy<Value = String> {
        let part = proptest::sample::select(vec![
            "token",
            "=",
            ": ",
            " ",
            "\n",
            "bearer ",
            "sk-",
            "abcdefghijklmnop",
            "a b ",
            "c1",
            ",",
            "\"",
            "'",
            "Authorization: Basic ",
            "password",
            "AKIAABCDEFGHIJKLMNOP",
            "https://me:",
            "@host ",
            "Cookie: a=b; c=d1234",
            "FOO_TOKEN=",
            "é",
            "\x1b[31m",
            "\x1b[0m",
            "\x1b[2;1H",
            "\x1b]0;",
            "\x07",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "open sesame",
            KEY,
            "eyJhbGciOiJIUzI1NiJ9.",
            "--password ",
            "\\",
            "$HOME ",
            "include",
            "<",
            ">",
        ]);
        proptest::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
    }

    /// The places of a text that are shown, if it arrives cut like this.
    fn shown_places(policy: &Policy, text: &str, cuts: &[usize]) -> Vec<usize> {
        let mut shown = Vec::new();
        let mut sent = 0;
        for end in cuts.iter().copied().chain([text.len()]) {
            let is_last = end == text.len();
            let safe = if is_last { end } else { policy.safe_len(&text[..end]).max(sent) };
            let hidden = policy.redact_spans(&text[..safe]);
            let is_hidden = |at: &usize| hidden.iter().any(|span| span.contains(at));
            shown.extend((sent..safe).filter(|at| !is_hidden(at)));
            sent = safe;
        }
        shown
    }

    fn text_places(text: &str, span: &Range<usize>) -> Vec<usize> {
        let inside = escapes::tokens(&text[span.clone()]).filter(|t| t.kind == escapes::Kind::Text);
        inside.flat_map(|t| t.range).map(|at| at + span.start).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn no_cut_reveals_what_the_whole_hides(
            text in stream_text(),
            cuts in proptest::collection::vec(0.0..1.0, 1..5),
            strict: bool,
        ) {
            let policy = if strict { Policy::strict() } else { Policy::ptywright_compatible() };
            let policy = policy.customize("[REDACTED]", ["open sesame"], [""; 0]).unwrap();
            let place = |share: &f64| text.floor_char_boundary((share * text.len() as f64) as usize);
            let mut cuts: Vec<usize> = cuts.iter().map(place).collect();
            cuts.sort_unstable();
            let shown = shown_places(&policy, &text, &cuts);
            for span in policy.redact_spans(&text) {
                for at in text_places(&text, &span) {
                    prop_assert!(!shown.contains(&at), "{at} of {text:?} cut at {cuts:?}");
                }
            }
        }

        #[test]
        fn a_stream_without_secrets_comes_out_as_it_went_in(
            parts in proptest::collection::vec("[a-z ]{0,6}(\n|\x1b\\[1m)?", 0..20),
        ) {
            let mut stream = StreamRedactor::new(Policy::ptywright_compatible());
            let mut shown: String = parts.iter().map(|part| stream.push(part)).collect();
            shown += &stream.flush();
            prop_assert_eq!(shown, parts.concat());
        }
    }
}
