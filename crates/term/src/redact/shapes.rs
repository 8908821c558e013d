//! Shapes of secrets that tell themselves apart from other text: known prefixes, tokens of three
//! parts, URLs and headers. Each is found within one line.

use super::names;
use super::rules::{Rule, nothing};
use std::ops::Range;

/// Shapes of common secrets, beyond what the ptywright dialect asks for.
pub static TOKEN_SHAPES: [Rule; 22] = [
    Rule {
        name: "aws access key id",
        pattern: r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
        triggers: &["AKIA", "ASIA"],
        exempt: nothing,
    },
    Rule {
        name: "github token",
        pattern: r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        triggers: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        exempt: nothing,
    },
    Rule {
        name: "gitlab token",
        pattern: r"(?-u:\b)gl(?:pat|dt|rt|cbt|ptt|ft|imt|soat|agent|oas)-[A-Za-z0-9_-]{20,}",
        triggers: &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glsoat-",
            "glagent-", "gloas-",
        ],
        exempt: nothing,
    },
    Rule {
        name: "slack token",
        pattern: r"(?-u:\b)(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
        triggers: &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        exempt: nothing,
    },
    Rule {
        name: "web hook",
        pattern: concat!(
            r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{16,})",
            r"|discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{16,}))"
        ),
        triggers: &["hooks.slack.com", "/api/webhooks/"],
        exempt: nothing,
    },
    Rule {
        name: "json web token",
        pattern: concat!(
            r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,}",
            r"(?:\.[A-Za-z0-9_-]*)*"
        ),
        triggers: &["eyJ"],
        exempt: nothing,
    },
    Rule {
        name: "google key",
        pattern: concat!(
            r"(?-u:\b)(?:AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{20,}",
            r"|ya29\.[0-9A-Za-z_-]{20,})"
        ),
        triggers: &["AIza", "GOCSPX-", "ya29."],
        exempt: nothing,
    },
    Rule {
        name: "stripe key",
        pattern: concat!(
            r"(?-u:\b)(?:(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}",
            r"|whsec_[0-9A-Za-z+/=]{24,})"
        ),
        triggers: &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        exempt: nothing,
    },
    Rule {
        name: "package registry token",
        pattern: concat!(
            r"(?-u:\b)(?:npm_[0-9A-Za-z]{36}|pypi-[0-9A-Za-z_-]{50,}|rubygems_[0-9a-f]{40,}",
            r"|dckr_(?:pat|oat)_[0-9A-Za-z_-]{20,})"
        ),
        triggers: &["npm_", "pypi-", "rubygems_", "dckr_pat_", "dckr_oat_"],
        exempt: nothing,
    },
    Rule {
        name: "cloud token",
        pattern: concat!(
            r"(?-u:\b)(?:do[opr]_v1_[0-9a-f]{64}|LTAI[0-9A-Za-z]{12,28}(?-u:\b)",
            r"|HRKU-[0-9A-Za-z_-]{30,}|hv[sbr]\.[0-9A-Za-z_-]{24,}|dapi[0-9a-f]{32}",
            r"|shp(?:at|ss|ca|pa)_[0-9A-Za-z]{24,}|sbp_[0-9a-f]{40}|ATATT3[0-9A-Za-z_=-]{40,}",
            r"|gls[ac]_[0-9A-Za-z_=]{24,}|NRAK-[0-9A-Z]{27}|sntrys_[0-9A-Za-z_=+/]{40,}",
            r"|lin_api_[0-9A-Za-z]{32,}|ntn_[0-9A-Za-z]{40,}|figd_[0-9A-Za-z_-]{32,})"
        ),
        triggers: &[
            "doo_v1_", "dop_v1_", "dor_v1_", "LTAI", "HRKU-", "hvs.", "hvb.", "hvr.", "dapi",
            "shpat_", "shpss_", "shpca_", "shppa_", "sbp_", "ATATT3", "glsa_", "glsc_", "NRAK-",
            "sntrys_", "lin_api_", "ntn_", "figd_",
        ],
        exempt: nothing,
    },
    Rule {
        // Several in a row are separated by commas; the word in front of them stays.
        name: "fly token",
        pattern: r"(?-u:\b)(?:fm[12][ar]?_[0-9A-Za-z+/=_-]{24,}|fo1_[0-9A-Za-z_-]{24,})",
        triggers: &["fm1_", "fm2_", "fm1a_", "fm1r_", "fm2a_", "fm2r_", "fo1_"],
        exempt: nothing,
    },
    Rule {
        name: "tailscale key",
        pattern: r"(?-u:\b)tskey-(?:[a-z]{2,16}-)?[0-9A-Za-z]{6,40}-[0-9A-Za-z]{16,}",
        triggers: &["tskey-"],
        exempt: nothing,
    },
    Rule {
        name: "model provider token",
        pattern: concat!(
            r"(?-u:\b)(?:hf_[0-9A-Za-z]{30,}|xai-[0-9A-Za-z]{40,}|gsk_[0-9A-Za-z]{40,}",
            r"|pplx-[0-9A-Za-z]{40,}|r8_[0-9A-Za-z]{36,})"
        ),
        triggers: &["hf_", "xai-", "gsk_", "pplx-", "r8_"],
        exempt: nothing,
    },
    Rule {
        name: "mail and telephone service token",
        pattern: concat!(
            r"(?-u:\b)(?:SG\.[0-9A-Za-z_-]{16,64}\.[0-9A-Za-z_-]{16,}",
            r"|SK[0-9a-f]{32}(?-u:\b)|key-[0-9a-f]{32}(?-u:\b))"
        ),
        // The middle one begins with two letters and a hexadecimal digit.
        triggers: &[
            "SG.", "key-", "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9",
            "SKa", "SKb", "SKc", "SKd", "SKe", "SKf",
        ],
        exempt: nothing,
    },
    Rule {
        name: "telegram bot token",
        pattern: r"(?-u:\b)(?:bot)?([0-9]{8,10}:AA[0-9A-Za-z_-]{33})",
        triggers: &[":AA"],
        exempt: nothing,
    },
    Rule {
        name: "age key",
        pattern: r"AGE-SECRET-KEY-1[0-9A-Z]{40,}",
        triggers: &["AGE-SECRET-KEY-1"],
        exempt: nothing,
    },
    Rule {
        // The user name and the host stay. Bounds, so that an end need not be looked for far away.
        name: "password in a url",
        pattern: r#"://[^\s/?#:@"'<>]{0,128}:([^\s/?#"'<>]{1,256})@"#,
        triggers: &["://"],
        exempt: names::is_reference,
    },
    Rule {
        name: "signature in a url",
        pattern: r"(?i-u:[?&;](?:sig|x-amz-signature|x-goog-signature)=)([0-9A-Za-z%+/=_-]{20,})",
        triggers: &["sig=", "signature="],
        exempt: nothing,
    },
    Rule {
        name: "authorization header",
        pattern: concat!(
            r#"(?i-u:(?-u:\b)authorization\b["']?[ \t]*[:=][ \t]*["']?[a-z][a-z0-9_-]*[ \t]+)"#,
            r#"([^\s,'"\]}]{7,})"#
        ),
        triggers: &["authorization"],
        exempt: names::is_reference,
    },
    Rule {
        name: "cookie header",
        pattern: concat!(
            r#"(?:^|[\s"'{(>])(?i-u:cookie["']?[ \t]*:[ \t]*["']?[a-z0-9!#$%&*.^_|~+-]{1,128})="#,
            r#"([^\s"';][^\r\n"']{6,})"#
        ),
        triggers: &["cookie:", "cookie\"", "cookie'", "cookie :"],
        exempt: nothing,
    },
    Rule {
        // The value alone; what follows says where and how long it is valid.
        name: "set-cookie header",
        pattern: concat!(
            r#"(?i-u:\bset-cookie["']?[ \t]*:[ \t]*["']?[a-z0-9!#$%&*.^_|~+-]{1,128})="#,
            r#"([^\s"';]{7,})"#
        ),
        triggers: &["set-cookie"],
        exempt: nothing,
    },
    Rule {
        name: "user and password of a command",
        pattern: concat!(
            r#"(?:^|[\s"'])(?:-u|--user|--proxy-user|--userpwd)(?:[ \t]+|=)["']?[^\s:"'/$]{1,128}:"#,
            r#"([^\s"']{7,})"#
        ),
        triggers: &["-u ", "-u\t", "-u=", "--user", "--proxy-user"],
        exempt: names::is_group,
    },
];

/// Tokens of Discord bots: three parts without any fixed text, the second of six characters.
pub(super) fn bot_tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    const FIRST: std::ops::RangeInclusive<usize> = 23..=28;
    const SECOND: usize = 6;
    const THIRD: std::ops::RangeInclusive<usize> = 27..=38;
    let bytes = text.as_bytes();
    let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    memchr::memchr_iter(b'.', bytes).filter_map(move |dot| {
        let next = dot + 1 + SECOND;
        // Rare enough to look at nothing else for all other dots.
        if bytes.get(next) != Some(&b'.') || !bytes[dot + 1..next].iter().all(|b| is_part(&b)) {
            return None;
        }
        let before = bytes[..dot].iter().rev().take(FIRST.end() + 1).take_while(is_part).count();
        let after = bytes[next + 1..].iter().take(THIRD.end() + 1).take_while(is_part).count();
        let start = dot - before;
        let is_number = bytes.get(start).is_some_and(|b| (b'M'..=b'O').contains(b));
        (is_number && FIRST.contains(&before) && THIRD.contains(&after))
            .then(|| start..next + 1 + after)
    })
}
