//! The observed table of the ptywright dialect row by row, the token shapes, and the agreement of
//! text and spans.

use super::*;
use proptest::prelude::*;

const NONE: [&str; 0] = [];

fn check(policy: &Policy, table: &[(&str, &str)]) {
    for (input, output) in table {
        assert_eq!(policy.redact(input), *output, "{input}");
    }
}

fn unchanged(policy: &Policy, inputs: &[&str]) {
    for input in inputs {
        assert!(matches!(policy.redact(input), Cow::Borrowed(same) if same == *input), "{input}");
    }
}

#[test]
fn ptywright_observed_table() {
    let policy = Policy::ptywright_compatible();
    check(
        &policy,
        &[
            ("api-key: abc", "api-key: [REDACTED]"),
            ("token=abc,def", "token=[REDACTED],def"),
            ("Authorization: Bearer abcdefghijkl", "Authorization: [REDACTED] [REDACTED]"),
            ("authorization=Basic Zm9v", "authorization=[REDACTED] Zm9v"),
            ("aws-secret=foo", "aws-secret=[REDACTED]"),
        ],
    );
    unchanged(
        &policy,
        &[
            "my_token=abc",
            "client_secret=abc",
            "AWS_SECRET=foo",
            "xtoken=abc",
            "API_KEY = \"quoted\"",
            "{\"password\":\"p\"}",
            "token:'q'",
            "sk-abcdefghijklmno",
            "bearer short",
            "AKIA...",
            "ghp_...",
            "pass=foo",
            "pwd=foo",
        ],
    );
}

#[test]
fn ptywright_rules() {
    check(
        &Policy::ptywright_compatible(),
        &[
            ("bEaReR\t abc._~+/=-x", "bEaReR\t [REDACTED]"),
            ("xbearer abcdefghijkl", "xbearer abcdefghijkl"),
            ("x sk-abcdefghijklmnop y", "x [REDACTED] y"),
            ("sk-abcdefghijklmnop--", "[REDACTED]--"),
            ("SK-abcdefghijklmnop", "SK-abcdefghijklmnop"),
            ("xsk-abcdefghijklmnop", "xsk-abcdefghijklmnop"),
            ("PASSWORD :\n  hunter2 ok", "PASSWORD :\n  [REDACTED] ok"),
            ("passwd=a]b}c", "passwd=[REDACTED]]b}c"),
            (
                "apikey=1 api_key:2 secret = 3",
                "apikey=[REDACTED] api_key:[REDACTED] secret = [REDACTED]",
            ),
            // Rules run over each other's results: the third takes `[REDACTED` for a value.
            ("token=sk-abcdefghijklmnop", "token=[REDACTED]"),
        ],
    );
}

#[test]
fn customized_ptywright() {
    let policy = |replacement: &str, literals: &[&str], regexes: &[&str]| {
        Policy::ptywright_compatible()
            .customize(replacement, literals.iter().copied(), regexes)
            .unwrap()
    };
    check(&policy("***", &[], &[]), &[("token=abc", "token=***")]);
    check(&policy("$0", &[], &[]), &[("token=abc", "token=$0")]);
    check(&policy("", &["", "foo"], &[]), &[("a foo b token=c", "a  b token=")]);
    check(&policy("<$1>", &["lit"], &["a(.)c"]), &[("lit abc", "<$1> <b>")]);
    check(&policy("X", &["aX", "XX"], &[]), &[("aaX", "aX"), ("aXX", "X")]);
    check(&policy("-", &[], &["x*"]), &[("axb", "-a-b-")]);
}

#[test]
fn invalid_regex_is_named() {
    let error = Policy::new("x", NONE, ["ok", "("]).unwrap_err();
    assert_eq!(error.to_string(), "invalid redaction regex `(`");
}

#[test]
fn debug_does_not_show_literals() {
    let policy = Policy::new("x", ["hunter2"], NONE).unwrap();
    assert!(!format!("{policy:?}").contains("hunter2"));
}

#[test]
fn strict_keeps_the_ptywright_results() {
    check(
        &Policy::strict(),
        &[
            ("api-key: abc", "api-key: [REDACTED]"),
            ("token=abc,def", "token=[REDACTED],def"),
            ("Authorization: Bearer abcdefghijkl", "Authorization: [REDACTED] [REDACTED]"),
            ("aws-secret=foo", "aws-secret=[REDACTED]"),
            ("token=sk-abcdefghijklmnop", "token=[REDACTED]"),
            ("password:\nhunter2", "password:\n[REDACTED]"),
        ],
    );
}

#[test]
fn strict_token_shapes() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";
    let google = format!("AIza{}", "x".repeat(35));
    check(
        &Policy::strict(),
        &[
            ("id AKIAABCDEFGHIJKLMNOP.", "id [REDACTED]."),
            ("ghp_abcdefghijklmnopqrstuvwxyz0123456789 x", "[REDACTED] x"),
            ("gho_abcdefghijklmnopqrstuvwxyz0123456789", "[REDACTED]"),
            ("github_pat_11ABCDEFG0abcdefghij_xyz", "[REDACTED]"),
            ("xoxb-1234567890-abcdef", "[REDACTED]"),
            (jwt, "[REDACTED]"),
            (&google, "[REDACTED]"),
            ("git clone https://me:pa@ss@host/x", "git clone https://me:[REDACTED]@host/x"),
            ("redis://:pw@host", "redis://:[REDACTED]@host"),
            ("{\"password\":\"p\"}", "{\"password\":\"[REDACTED]\"}"),
            (
                "{\"db_password\" : \"a\\\"b c\", \"x\":1}",
                "{\"db_password\" : \"[REDACTED]\", \"x\":1}",
            ),
            (r#""{\"api_key\":\"k\"}""#, r#""{\"api_key\":\"[REDACTED]\"}""#),
            ("{'client_secret': 'a b'}", "{'client_secret': '[REDACTED]'}"),
            ("API_KEY = \"quoted\"", "API_KEY = \"[REDACTED]\""),
            ("token:'q r'", "token:'[REDACTED]'"),
            ("export FOO_TOKEN=abc", "export FOO_TOKEN=[REDACTED]"),
            ("AWS_SECRET_ACCESS_KEY=foo", "AWS_SECRET_ACCESS_KEY=[REDACTED]"),
            ("my_token=abc&x=1", "my_token=[REDACTED]&x=1"),
            ("MYSQL_PWD=x", "MYSQL_PWD=[REDACTED]"),
            ("Authorization: Basic Zm9v", "Authorization: [REDACTED] [REDACTED]"),
            ("\"Authorization\": \"Basic Zm9v\"", "\"Authorization\": \"[REDACTED]\""),
        ],
    );
}

#[test]
fn strict_does_not_redact_its_own_replacement() {
    unchanged(
        &Policy::strict(),
        &[
            "token=[REDACTED],def",
            "Authorization: [REDACTED] [REDACTED]",
            "https://me:[REDACTED]@host/x",
            "{\"password\":\"[REDACTED]\"}",
            "API_KEY = \"[REDACTED]\"",
            "export FOO_TOKEN=[REDACTED]",
            "-----BEGIN PRIVATE KEY-----[REDACTED]-----END PRIVATE KEY-----",
        ],
    );
    let star = Policy::new("*", NONE, NONE).unwrap();
    check(&star, &[("token=*abc", "token=*"), ("token=*", "token=*")]);
}

#[test]
fn strict_leaves_ordinary_text() {
    unchanged(
        &Policy::strict(),
        &[
            "PWD=/home/me OLDPWD=/tmp",
            "used 1200 tokens (max_tokens: 4096)",
            "see https://example.com/a:b@c and http://localhost:8080/x",
            "eyJust a word",
            "-----BEGIN PUBLIC KEY-----",
            "the secretary passed the test_pass",
            "",
        ],
    );
}

#[test]
fn strict_private_keys() {
    let policy = Policy::strict();
    check(
        &policy,
        &[
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb",
                "a\n-----BEGIN RSA PRIVATE KEY-----\n[REDACTED]\n-----END RSA PRIVATE KEY-----\nb",
            ),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEA",
                "-----BEGIN OPENSSH PRIVATE KEY-----\n[REDACTED]",
            ),
            (
                "ZXktdjEAAAA=\nMIIEabcd\n-----END PRIVATE KEY-----",
                "[REDACTED]\n-----END PRIVATE KEY-----",
            ),
        ],
    );
}

#[test]
fn strict_hides_the_whole_of_overlapping_finds() {
    let policy = Policy::new("#", ["hunter2,abc"], ["z+"]).unwrap();
    check(
        &policy,
        &[
            ("password=hunter2,abc", "password=#"),
            ("token=zzz x zz", "token=# x #"),
            ("token=abczzdef", "token=#"),
        ],
    );
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let replacement =
        proptest::sample::select(vec!["[REDACTED]", "*", "", "$0", "<$1>", "token=abc", "é"]);
    let literals = proptest::collection::vec(
        proptest::sample::select(vec!["abc", "token", "[RED", "é", "", "]"]),
        0..3,
    );
    let regexes = proptest::collection::vec(
        proptest::sample::select(vec!["a(.)c", "x*", r"\w+=", "D.?", "(?m)^.", r"\bé\b"]),
        0..3,
    );
    (any::<bool>(), replacement, literals, regexes).prop_map(
        |(strict, replacement, literals, regexes)| {
            let base = if strict { Policy::strict() } else { Policy::ptywright_compatible() };
            base.customize(replacement, literals, regexes).unwrap()
        },
    )
}

pub(super) fn secretive_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => proptest::sample::select(vec![
            "token", "=", ":", " ", "\n", "bearer ", "sk-", "abcdefghijklmnop", "abc", ",", "é", "\"",
            "Authorization: Bearer ", "password", "[REDACTED]", "AKIAABCDEFGHIJKLMNOP", "://", "@", "日",
            "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "FOO_TOKEN", "]",
            "\u{17f}ecret", "\u{212a}",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,4}",
    ];
    proptest::collection::vec(part, 0..16).prop_map(|parts| parts.concat())
}

/// The sequence of rules as plain replacements, without any mapping or shortcut.
fn naive_sequence(policy: &Policy, text: &str) -> String {
    let mut text = text.to_owned();
    for rule in &PTYWRIGHT_RULES {
        let regex = Regex::new(rule.pattern).unwrap();
        text = regex
            .replace_all(&text, |captures: &regex::Captures<'_>| match captures.get(1) {
                // What stands for a secret is not hidden once more.
                Some(value) if value.as_str() == "[REDACTED" => captures[0].to_owned(),
                Some(value) => {
                    let whole = captures.get(0).unwrap();
                    whole.as_str()[..value.start() - whole.start()].to_owned() + &policy.replacement
                }
                None => policy.replacement.clone(),
            })
            .into_owned();
    }
    for literal in &policy.literals {
        text = text.replace(literal, &policy.replacement);
    }
    for regex in &policy.regexes {
        text = regex.replace_all(&text, policy.replacement.as_str()).into_owned();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn text_and_spans_agree(policy in any_policy(), text in secretive_text()) {
        let redactions = policy.redactions(&text);
        let mut by_hand = text.clone();
        for redaction in redactions.iter().rev() {
            by_hand.replace_range(redaction.range.clone(), &redaction.text);
        }
        prop_assert_eq!(policy.redact(&text), by_hand);
        let spans = policy.redact_spans(&text);
        prop_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let is_by_the_book = rules::PTYWRIGHT.scan(&text).spans.is_empty();
        if policy.mode == Mode::Ptywright && is_by_the_book {
            prop_assert_eq!(policy.redact(&text), naive_sequence(&policy, &text));
        }
    }
}
