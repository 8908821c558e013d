//! The built-in rules as data, compiled once, with one scan that says which of them can match.

use aho_corasick::AhoCorasick;
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
}

/// Letters that `(?i)` takes for `s` and `k` beyond ASCII: long s and the kelvin sign.
const FOLDED: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// The rules of the ptywright dialect (its version 0.3.0), in order of application.
pub static PTYWRIGHT_RULES: [Rule; 3] = [
    Rule {
        name: "bearer",
        pattern: r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})",
        triggers: &["bearer"],
    },
    Rule { name: "sk-", pattern: r"\bsk-[A-Za-z0-9_-]{16,}\b", triggers: &["sk-"] },
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
    },
];

/// Words that end the name of a secret, for the rules about names with a prefix or quoted values.
macro_rules! secret_name {
    () => {
        concat!(
            r"(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|secret[_-]?key|password|passwd",
            r"|passphrase|credentials?|authorization)"
        )
    };
}

const NAME_TRIGGERS: &[&str] = &[
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "access-key",
    "accesskey",
    "private_key",
    "private-key",
    "privatekey",
    "token",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "authorization",
    FOLDED[0],
    FOLDED[1],
];

/// Shapes of common secrets that the ptywright rules leave readable.
pub static TOKEN_SHAPES: [Rule; 15] = [
    Rule {
        name: "aws access key",
        pattern: r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        triggers: &["AKIA", "ASIA"],
    },
    Rule {
        name: "github token",
        pattern: r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        triggers: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    },
    Rule {
        name: "slack token",
        pattern: r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        triggers: &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
    },
    Rule {
        name: "json web token",
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        triggers: &["eyJ"],
    },
    Rule { name: "google api key", pattern: r"\bAIza[0-9A-Za-z_-]{35}", triggers: &["AIza"] },
    Rule {
        // Without an end marker (cut off by the edge of the screen) as much as looks like base64.
        name: "private key block",
        pattern: concat!(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
            r"(?:((?s:.+?))-----END [A-Z0-9 ]*PRIVATE KEY|([A-Za-z0-9+/=\s]+))"
        ),
        triggers: &["PRIVATE KEY"],
    },
    Rule {
        name: "end of a private key block",
        pattern: r"(?m)^((?:[A-Za-z0-9+/=]{4,}\s+)+)-----END [A-Z0-9 ]*PRIVATE KEY",
        triggers: &["PRIVATE KEY"],
    },
    Rule {
        name: "password in a url",
        pattern: r#"://[^\s/?#:@"'<>]*:([^\s/?#"'<>]+)@"#,
        triggers: &["://"],
    },
    Rule {
        name: "authorization header",
        pattern: concat!(
            r#"(?i)\bauthorization\b["']?\s*[:=]\s*["']?[A-Za-z][A-Za-z0-9_-]*[ \t]+"#,
            r#"([^\s,'"\]}]+)"#
        ),
        triggers: &["authorization"],
    },
    Rule {
        name: "json member",
        pattern: concat!(
            r#"(?i)"[a-z0-9_-]*"#,
            secret_name!(),
            r#""\s*:\s*"((?:[^"\\\r\n]|\\.)+)"#
        ),
        triggers: NAME_TRIGGERS,
    },
    Rule {
        name: "json member inside a string",
        pattern: concat!(r#"(?i)\\"[a-z0-9_-]*"#, secret_name!(), r#"\\"\s*:\s*\\"([^"\\\r\n]+)"#),
        triggers: NAME_TRIGGERS,
    },
    Rule {
        name: "member in single quotes",
        pattern: concat!(r"(?i)'[a-z0-9_-]*", secret_name!(), r"'\s*:\s*'((?:[^'\\\r\n]|\\.)+)"),
        triggers: NAME_TRIGGERS,
    },
    Rule {
        name: "quoted assignment",
        pattern: concat!(
            r"(?i)",
            secret_name!(),
            r#"\s*[:=]\s*(?:"((?:[^"\\\r\n]|\\.)+)|'((?:[^'\\\r\n]|\\.)+))"#
        ),
        triggers: NAME_TRIGGERS,
    },
    Rule {
        name: "environment variable",
        pattern: concat!(r"(?i)\b[a-z0-9_-]*", secret_name!(), r#"=([^\s,'"\]};&]+)"#),
        triggers: NAME_TRIGGERS,
    },
    Rule {
        // Not `PWD` itself, which is the working directory.
        name: "password variable",
        pattern: r#"(?i)\b[a-z0-9_]*_(?:pwd|pass)=["']?([^\s,'"\]};&]+)"#,
        triggers: &["_pwd", "_pass", FOLDED[0]],
    },
];

/// A set of rules ready to run.
pub(super) struct Compiled {
    regexes: Vec<Regex>,
    triggers: AhoCorasick,
    /// For each trigger the rules it can start, as bits.
    started: Vec<u32>,
}

/// Which rules of a set can match a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidates(u32);

impl Candidates {
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

pub(super) static PTYWRIGHT: LazyLock<Compiled> =
    LazyLock::new(|| Compiled::new(PTYWRIGHT_RULES.iter()));
pub(super) static STRICT: LazyLock<Compiled> =
    LazyLock::new(|| Compiled::new(PTYWRIGHT_RULES.iter().chain(&TOKEN_SHAPES)));

impl Compiled {
    fn new(rules: impl Iterator<Item = &'static Rule>) -> Self {
        let mut regexes = Vec::new();
        let mut words: Vec<&str> = Vec::new();
        let mut started: Vec<u32> = Vec::new();
        for (index, rule) in rules.enumerate() {
            regexes.push(Regex::new(rule.pattern).expect("built-in rules are valid"));
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
        let triggers = AhoCorasick::builder().ascii_case_insensitive(true).build(&words);
        Self { regexes, triggers: triggers.expect("a few dozen short words"), started }
    }

    pub(super) fn candidates(&self, text: &str) -> Candidates {
        let all = (1 << self.regexes.len()) - 1;
        let mut bits = 0;
        for hit in self.triggers.find_overlapping_iter(text) {
            bits |= self.started[hit.pattern().as_usize()];
            if bits == all {
                break;
            }
        }
        Candidates(bits)
    }

    /// The regexes of all rules, in order.
    pub(super) fn regexes(&self) -> impl Iterator<Item = &Regex> {
        self.regexes.iter()
    }

    /// The regexes of the candidates, in order.
    pub(super) fn selected(&self, candidates: Candidates) -> impl Iterator<Item = &Regex> {
        let chosen = move |(index, _): &(usize, &Regex)| candidates.0 & (1 << index) != 0;
        self.regexes.iter().enumerate().filter(chosen).map(|(_, regex)| regex)
    }
}

/// The parts of `text` that a built-in rule masks.
pub(super) fn masked_by(regex: &Regex, text: &str) -> Vec<Range<usize>> {
    regex
        .captures_iter(text)
        .filter_map(|captures| {
            let group = captures.iter().skip(1).flatten().next();
            group.or_else(|| captures.get(0)).map(|found| found.range())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_sets_compile_and_fit_the_bit_set() {
        assert_eq!(PTYWRIGHT.regexes.len(), PTYWRIGHT_RULES.len());
        assert_eq!(STRICT.regexes.len(), PTYWRIGHT_RULES.len() + TOKEN_SHAPES.len());
        assert!(STRICT.regexes.len() < 32);
    }

    #[test]
    fn case_folding_beyond_ascii_does_not_escape_the_triggers() {
        for text in ["\u{17f}ecret=abc", "to\u{212a}en=abc", "pa\u{17f}\u{17f}word: x"] {
            let candidates = PTYWRIGHT.candidates(text);
            let masked: Vec<_> =
                PTYWRIGHT.selected(candidates).flat_map(|regex| masked_by(regex, text)).collect();
            assert_eq!(masked.len(), 1, "{text}");
        }
    }
}
