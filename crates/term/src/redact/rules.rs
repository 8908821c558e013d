//! What a built-in rule is, the rules of the ptywright dialect and those for short values, and one
//! scan of a text that says which rules can match and where.

use super::keys;
use super::names::{self, SHORT_TRIGGERS, secret_name};
use super::shapes::{TOKEN_SHAPES, bot_tokens};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// One built-in rule.
#[derive(Debug)]
pub struct Rule {
    /// A short name, for documents and tests.
    pub name: &'static str,
    /// The expression. The first group that takes part is masked, or the whole match if none.
    pub pattern: &'static str,
    /// One of these occurs, in any ASCII case, in every text that matches.
    pub triggers: &'static [&'static str],
    /// Whether what was found is no secret after all: a reference, a placeholder, a piece of code.
    pub exempt: fn(&str) -> bool,
}

/// Nothing is exempt.
pub(super) fn nothing(_: &str) -> bool {
    false
}

/// Letters that `(?i)` takes for `s` and `k` beyond ASCII: long s and the kelvin sign.
const FOLDED: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// The rules of the ptywright dialect (its version 0.3.0), in order of application.
pub static PTYWRIGHT_RULES: [Rule; 3] = [
    Rule {
        name: "bearer",
        pattern: r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})",
        triggers: &["bearer"],
        exempt: nothing,
    },
    Rule {
        name: "sk-",
        pattern: r"\bsk-[A-Za-z0-9_-]{16,}\b",
        triggers: &["sk-"],
        exempt: nothing,
    },
    Rule {
        name: "assignment",
        pattern: concat!(
            r"(?i)\b(?:api_key|api-key|apikey|token|secret|password|passwd|authorization)\b",
            r#"\s*[:=]\s*([^\s,'"\]}]+)"#
        ),
        triggers: &[
            "api_key",
            "api-key",
            "apikey",
            "token",
            "secret",
            "passw",
            "authorization",
            FOLDED[0],
            FOLDED[1],
        ],
        exempt: nothing,
    },
];

/// Names whose values are hidden at any length.
macro_rules! short_name {
    () => {
        concat!("(?:", secret_name!(), "|authorization)")
    };
}

/// Values of any length behind a name, for our own surfaces; the ptywright dialect promises to
/// leave short ones readable. Whitespace may include line breaks here.
pub static SHORT_VALUES: [Rule; 7] = [
    Rule {
        name: "authorization header, short",
        pattern: concat!(
            r#"(?i)\bauthorization\b["']?\s*[:=]\s*["']?[A-Za-z][A-Za-z0-9_-]*[ \t]+"#,
            r#"([^\s,'"\]}]+)"#
        ),
        triggers: &["authorization"],
        exempt: nothing,
    },
    Rule {
        name: "json member, short",
        pattern: concat!(
            r#"(?i-u:"[a-z0-9_-]*"#,
            short_name!(),
            r#"")\s*:\s*"((?:[^"\\\r\n]|\\.)+)"#
        ),
        triggers: SHORT_TRIGGERS,
        exempt: nothing,
    },
    Rule {
        name: "json member inside a string, short",
        pattern: concat!(
            r#"(?i-u:\\"[a-z0-9_-]*"#,
            short_name!(),
            r#"\\")\s*:\s*\\"([^"\\\r\n]+)"#
        ),
        triggers: SHORT_TRIGGERS,
        exempt: nothing,
    },
    Rule {
        name: "member in single quotes, short",
        pattern: concat!(r"(?i-u:'[a-z0-9_-]*", short_name!(), r"')\s*:\s*'((?:[^'\\\r\n]|\\.)+)"),
        triggers: SHORT_TRIGGERS,
        exempt: nothing,
    },
    Rule {
        name: "quoted assignment, short",
        pattern: concat!(
            r"(?i-u:",
            short_name!(),
            r#")\s*[:=]\s*(?:"((?:[^"\\\r\n]|\\.)+)|'((?:[^'\\\r\n]|\\.)+))"#
        ),
        triggers: SHORT_TRIGGERS,
        exempt: nothing,
    },
    Rule {
        name: "environment variable, short",
        pattern: concat!(r"(?i-u:", short_name!(), r#")=([^\s,'"\]};&]+)"#),
        triggers: SHORT_TRIGGERS,
        exempt: nothing,
    },
    Rule {
        // Not `PWD` itself, which is the working directory.
        name: "password variable, short",
        pattern: r#"(?i-u:_(?:pwd|pass))=["']?([^\s,'"\]};&]+)"#,
        triggers: &["_pwd", "_pass"],
        exempt: nothing,
    },
];

/// Whether a find is no secret after all.
type Exempt = fn(&str) -> bool;

/// Rules as bits, in the order of a set.
type Bits = u64;

/// The last bit stands for blocks of private keys, which are found without an expression.
const KEYS: Bits = 1 << 63;

/// A set of rules ready to run.
pub(super) struct Compiled {
    rules: Vec<(Regex, Exempt)>,
    /// Rules that must see the whole text, because what they find may go over line ends.
    whole: Bits,
    /// Rules about what stands behind a name.
    named: Bits,
    /// Rules about logins in URLs.
    urls: Bits,
    triggers: AhoCorasick,
    /// For each trigger the rules it can start.
    started: Vec<Bits>,
}

/// What one scan of a text brings to light.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Which of the rules that need the whole text can match.
    pub(super) whole: u64,
    /// What everything else found, in no particular order.
    pub(super) spans: Vec<Range<usize>>,
}

pub(super) static PTYWRIGHT: LazyLock<Compiled> =
    LazyLock::new(|| Compiled::new(&[&PTYWRIGHT_RULES], &[&TOKEN_SHAPES, &names::NAMED_VALUES]));
pub(super) static STRICT: LazyLock<Compiled> = LazyLock::new(|| {
    Compiled::new(&[&PTYWRIGHT_RULES, &SHORT_VALUES], &[&TOKEN_SHAPES, &names::NAMED_VALUES])
});

impl Compiled {
    fn new(whole: &[&'static [Rule]], by_line: &[&'static [Rule]]) -> Self {
        let mut rules = Vec::new();
        let mut words: Vec<&str> = Vec::new();
        let mut started: Vec<Bits> = Vec::new();
        for trigger in keys::TRIGGERS {
            words.push(trigger);
            started.push(KEYS);
        }
        let (mut named, mut urls) = (0, 0);
        let whole_count: usize = whole.iter().map(|rules| rules.len()).sum();
        for (index, rule) in whole.iter().chain(by_line).copied().flatten().enumerate() {
            let regex = Regex::new(rule.pattern).expect("built-in rules are valid");
            rules.push((regex, rule.exempt));
            named |= Bits::from(rule.triggers.contains(&"token")) << index;
            urls |= Bits::from(rule.triggers.contains(&"://")) << index;
            for trigger in rule.triggers {
                let bit = 1 << index;
                match words.iter().position(|word| word == trigger) {
                    Some(known) => started[known] |= bit,
                    None => {
                        words.push(trigger);
                        started.push(bit);
                    }
                }
            }
        }
        // The one that is fastest on text without any trigger, for some hundred kilobytes.
        let triggers = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .expect("some dozen short words");
        Self { rules, whole: (1 << whole_count) - 1, named, urls, triggers, started }
    }

    /// Goes through the text once, and with rules only through lines that have a trigger of theirs.
    pub(super) fn scan(&self, text: &str) -> Scan {
        let mut scan = Scan::default();
        let mut line = 0..0;
        let mut pending: Bits = 0;
        let mut seen: Bits = 0;
        for hit in self.triggers.find_overlapping_iter(text) {
            let mut bits = self.started[hit.pattern().as_usize()];
            if bits & self.named != 0 && !has_value(text, hit.start()..hit.end()) {
                bits &= !self.named;
            }
            if bits & self.urls != 0 && !has_login(&text.as_bytes()[hit.end()..]) {
                bits &= !self.urls;
            }
            seen |= bits;
            let bits = bits & !self.whole & !KEYS;
            if bits == 0 {
                continue;
            }
            // Triggers have no line ends, and hits come in the order of their ends.
            if hit.start() >= line.end {
                self.run(pending, text, &line, &mut scan.spans);
                line = line_around(text, hit.start());
                pending = 0;
            }
            pending |= bits;
        }
        self.run(pending, text, &line, &mut scan.spans);
        if seen & KEYS != 0 {
            scan.spans.extend(keys::blocks(text));
        }
        scan.spans.extend(bot_tokens(text));
        scan.whole = seen & self.whole;
        scan
    }

    /// Whether nothing in the text can start a rule.
    pub(super) fn is_clean(&self, text: &str) -> bool {
        !self.triggers.is_match(text) && bot_tokens(text).next().is_none()
    }

    fn run(&self, bits: Bits, text: &str, line: &Range<usize>, spans: &mut Vec<Range<usize>>) {
        let mut rest = bits;
        while rest != 0 {
            let (regex, exempt) = &self.rules[rest.trailing_zeros() as usize];
            rest &= rest - 1;
            let found = masked_by(regex, *exempt, &text[line.clone()]);
            spans.extend(found.map(|span| span.start + line.start..span.end + line.start));
        }
    }

    /// What a rule that needs the whole text masks, by its place in the set.
    pub(super) fn masked(&self, index: usize, text: &str) -> Vec<Range<usize>> {
        let (regex, exempt) = &self.rules[index];
        masked_by(regex, *exempt, text).collect()
    }

    /// The places of those rules in the set that are in these bits.
    pub(super) fn chosen(&self, bits: Bits) -> impl Iterator<Item = usize> {
        (0..self.rules.len()).filter(move |index| bits & (1 << index) != 0)
    }
}

/// Whether a value may belong to the name that this trigger is part of. Most such words are just
/// words, and no rule need look at them.
fn has_value(text: &str, trigger: Range<usize>) -> bool {
    const FAR: usize = 64;
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let is_between = |b: &&u8| b.is_ascii_whitespace() || b"\"'\\]\x0b".contains(b);
    let bytes = text.as_bytes();
    let rest = &bytes[trigger.end..];
    let name = rest.iter().take(FAR).take_while(is_name).count();
    let between = rest[name..].iter().take(FAR).take_while(is_between).count();
    let has_sign = match rest.get(name + between) {
        _ if name == FAR || between == FAR => true,
        Some(b) if b.is_ascii() => matches!(b, b':' | b'=' | b'>'),
        Some(_) => text[trigger.end + name + between..].starts_with(char::is_whitespace),
        None => false,
    };
    let is_option =
        || bytes[..trigger.start].iter().rev().take(FAR).take_while(is_name).any(|b| *b == b'-');
    has_sign || !bytes[trigger.start].is_ascii() || is_option()
}

/// Whether a URL that goes on like this names a user before its host.
fn has_login(rest: &[u8]) -> bool {
    const LONGEST: usize = 2048;
    let is_end = |b: &&u8| b.is_ascii_whitespace() || b"/?#\"'<>".contains(b);
    rest.iter().take(LONGEST).take_while(|b| !is_end(b)).any(|b| *b == b'@')
}

fn line_around(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |len| at + len);
    start..end
}

/// What the assignment rule sees of the default replacement: a value ends before a bracket.
const MASK_BEFORE_BRACKET: &str = "[REDACTED";

/// The parts of `text` that a built-in rule masks.
fn masked_by(regex: &Regex, exempt: Exempt, text: &str) -> impl Iterator<Item = Range<usize>> {
    regex.captures_iter(text).filter_map(move |captures| {
        let group = captures.iter().skip(1).flatten().next();
        let found = group.or_else(|| captures.get(0))?;
        // A text may be redacted twice, by a plugin and by us; what stands for a secret is none.
        let is_mask = found.as_str() == MASK_BEFORE_BRACKET;
        (!is_mask && !exempt(found.as_str())).then(|| found.range())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::tests::secretive_text;
    use proptest::prelude::*;

    #[test]
    fn rule_sets_compile_and_fit_the_bit_set() {
        let common = PTYWRIGHT_RULES.len() + TOKEN_SHAPES.len() + names::NAMED_VALUES.len();
        assert_eq!(PTYWRIGHT.rules.len(), common);
        assert_eq!(STRICT.rules.len(), common + SHORT_VALUES.len());
        assert!(STRICT.rules.len() < 64);
    }

    #[test]
    fn case_folding_beyond_ascii_does_not_escape_the_triggers() {
        for text in ["\u{17f}ecret=abc", "to\u{212a}en=abc", "pa\u{17f}\u{17f}word: x"] {
            assert_ne!(PTYWRIGHT.scan(text).whole, 0, "{text}");
        }
    }

    #[test]
    fn triggers_are_lower_case_free_of_line_ends_and_not_too_short() {
        for rule in PTYWRIGHT_RULES.iter().chain(&TOKEN_SHAPES).chain(&names::NAMED_VALUES) {
            for trigger in rule.triggers {
                assert!(trigger.chars().count() > 2 || FOLDED.contains(trigger), "{trigger}");
                assert!(!trigger.contains('\n'), "{trigger}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn triggers_never_hide_a_match(text in secretive_text()) {
            let scan = STRICT.scan(&text);
            let mut found: Vec<_> = scan.spans;
            found.extend(STRICT.chosen(scan.whole).flat_map(|rule| STRICT.masked(rule, &text)));
            let mut all = keys::blocks(&text);
            all.extend(bot_tokens(&text));
            for (index, (regex, exempt)) in STRICT.rules.iter().enumerate() {
                if STRICT.whole & (1 << index) != 0 {
                    all.extend(masked_by(regex, *exempt, &text));
                    continue;
                }
                let mut start = 0;
                for line in text.split('\n') {
                    let here = masked_by(regex, *exempt, line);
                    all.extend(here.map(|span| span.start + start..span.end + start));
                    start += line.len() + 1;
                }
            }
            let by_place = |span: &Range<usize>| (span.start, span.end);
            found.sort_by_key(by_place);
            all.sort_by_key(by_place);
            prop_assert_eq!(found, all);
        }
    }
}
