//! Values that are secrets because of the name before them: members of JSON and YAML, variables,
//! settings and options, each within one line. Also what is no secret in spite of its name.

use super::rules::Rule;

/// Names of secrets, or what such names end with.
macro_rules! secret_name {
    () => {
        concat!(
            r"(?:api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|signing[_-]?key",
            r"|encryption[_-]?key|master[_-]?key|secret[_-]?key(?:[_-]base)?|token|secret|password",
            r"|passwd|passphrase|credentials?)"
        )
    };
}
/// The same and two short ones that are words of their own without something in front.
macro_rules! long_name {
    () => {
        concat!("(?:", $crate::redact::names::secret_name!(), "|[_-]pass|[_-]pwd)")
    };
}

pub(super) use {long_name, secret_name};

/// A list of what one of is in every name, and of more.
macro_rules! name_triggers {
    ($($more:literal),*) => {
        &[
            "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "account_key",
            "account-key", "accountkey", "private_key", "private-key", "privatekey", "signing_key",
            "signing-key", "signingkey", "encryption_key", "encryption-key", "encryptionkey",
            "master_key", "master-key", "masterkey", "token", "secret", "passw", "passphrase",
            "credential", $($more),*
        ]
    };
}

const NAME_TRIGGERS: &[&str] = name_triggers!();
const LONG_TRIGGERS: &[&str] = name_triggers!("_pass", "-pass", "_pwd", "-pwd");
pub(super) const SHORT_TRIGGERS: &[&str] = name_triggers!("authorization");

/// Values of at least seven characters behind a name.
///
/// Seven, because the ptywright dialect promises to leave `AWS_SECRET=foo` and
/// `API_KEY = "quoted"` as they are.
pub static NAMED_VALUES: [Rule; 8] = [
    Rule {
        // JSON, also inside of a string; settings and code with quotes of either kind. The closing
        // quote may be beyond the edge of the screen.
        name: "quoted value",
        pattern: concat!(
            r"(?i-u:",
            long_name!(),
            r#")(?:\\?["'])?\]?[ \t]*(?::|=>|=)[ \t]*(?:"#,
            r#"\\"((?:[^"\\\r\n]){7,})|"((?:[^"\\\r\n]|\\.){7,})|'((?:[^'\\\r\n]|\\.){7,})"#,
            r"|`([^`\r\n]{7,}))"
        ),
        triggers: LONG_TRIGGERS,
        exempt: is_harmless_text,
    },
    Rule {
        // A shell takes everything up to the next blank.
        name: "environment variable",
        pattern: concat!(
            r"(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY|MASTER_?KEY",
            r"|SECRET_?KEY(?:_BASE)?|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?",
            r#"|_PASS|_PWD)=([^\s'"]{7,})"#
        ),
        triggers: LONG_TRIGGERS,
        exempt: is_reference_or_path,
    },
    Rule {
        name: "parameter",
        pattern: concat!(r"(?i-u:", long_name!(), r#")=([^\s,'"\]};&]{7,})"#),
        triggers: LONG_TRIGGERS,
        exempt: is_harmless,
    },
    Rule {
        name: "yaml member",
        pattern: concat!(
            r"(?i-u:",
            long_name!(),
            r#")["']?[ \t]*:[ \t]*([^\s,'"\]};&=>:({\[|][^\s,'"\]};&]{6,})"#
        ),
        triggers: LONG_TRIGGERS,
        exempt: is_harmless,
    },
    Rule {
        // With blanks around the sign it may as well be a program.
        name: "setting",
        pattern: concat!(
            r"(?i-u:",
            long_name!(),
            r#")[ \t]*=[ \t]+([^\s,'"\]};&=>({\[][^\s,'"\]};&]{6,})"#
        ),
        triggers: LONG_TRIGGERS,
        exempt: is_program_like,
    },
    Rule {
        name: "option",
        pattern: concat!(
            r"(?:^|[\s'])--?(?i-u:[a-z0-9-]{0,40}",
            secret_name!(),
            r#")[ \t](?:"([^"\r\n]{7,})|'([^'\r\n]{7,})|([^\s,'"\]};&=<>\[({|-][^\s'"]{6,}))"#
        ),
        triggers: NAME_TRIGGERS,
        exempt: is_prose,
    },
    Rule {
        name: "xml element",
        pattern: concat!(r"(?i-u:", long_name!(), r")>([^<>\s]{7,})</"),
        triggers: LONG_TRIGGERS,
        exempt: is_harmless_text,
    },
    Rule {
        name: "registry login",
        pattern: r#"(?:"auth"[ \t]*:[ \t]*"|(?-u:\b)_auth[ \t]*=[ \t]*"?)([0-9A-Za-z+/=_-]{8,})"#,
        triggers: &["\"auth\"", "_auth"],
        exempt: is_harmless_text,
    },
];

/// Words that stand where a secret would, to say that there is none or what it must be.
const PLAIN_WORDS: &[&str] = &[
    "boolean",
    "disabled",
    "enabled",
    "expired",
    "include",
    "integer",
    "invalid",
    "missing",
    "nullable",
    "optional",
    "redacted",
    "refused",
    "rejected",
    "required",
    "same-origin",
    "undefined",
    "unknown",
    "unlimited",
    "accepted",
    "omitted",
    "revoked",
    "changed",
    "updated",
    "deleted",
    "rotated",
    "created",
    "verified",
    "function",
    "interface",
    "not-set",
    "not_set",
];

/// Whether a value only points to where the secret is, or marks its place: `$NAME`, `${NAME}`,
/// `$(command)`, `%NAME%`, `{{ name }}`, `<name>`, `****`, a mask of ours.
pub(super) fn is_reference(value: &str) -> bool {
    if value.starts_with("$(") || value.starts_with("${") || value.starts_with("{{") {
        return true;
    }
    if value.contains(char::is_whitespace) {
        return false;
    }
    let value = value.trim_end_matches([';', ')', ',']);
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    let is_filler = value.bytes().all(|b| matches!(b, b'*' | b'.' | b'x' | b'X' | b'-' | b'_'))
        || value.chars().all(|c| matches!(c, '•' | '●' | '…'));
    is_filler
        || value.strip_prefix('$').is_some_and(is_name)
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(is_name)
        || (value.starts_with('<') && value.ends_with('>'))
        || value.starts_with("[REDACTED")
}

/// Whether it is a user and a group, as `docker run -u` takes them: words without digits, or numbers.
pub(super) fn is_group(value: &str) -> bool {
    is_reference(value)
        || value.bytes().all(|b| b.is_ascii_digit())
        || value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_')
}

fn is_reference_or_path(value: &str) -> bool {
    is_reference(value) || is_path(value)
}

/// Values in quotes. What has blanks is judged by its beginning alone: the rest may not have arrived
/// yet.
fn is_harmless_text(value: &str) -> bool {
    is_reference_or_path(value) || is_plain_word(value) || is_path_of_names(value)
}

fn is_harmless(value: &str) -> bool {
    is_harmless_text(value) || is_code(value)
}

fn is_program_like(value: &str) -> bool {
    is_harmless(value) || value.bytes().all(|b| b.is_ascii_alphabetic() || b"_-.".contains(&b))
}

/// Behind an option, a word of lower-case letters is more likely to be the sentence that goes on.
fn is_prose(value: &str) -> bool {
    is_harmless(value)
        || value.bytes().all(|b| b.is_ascii_lowercase() || b".,;:)(-`".contains(&b))
        || value.split_once('=').is_some_and(|(name, _)| matches!(name, "id" | "type" | "src"))
}

fn is_plain_word(value: &str) -> bool {
    let word = value.trim_end_matches(['.', ',', ';', ')', '!', '?']);
    PLAIN_WORDS.iter().any(|plain| plain.eq_ignore_ascii_case(word))
}

/// The name of a file: it begins as one, and has no digits, which a key would have.
fn is_path(value: &str) -> bool {
    (value.starts_with('/') || value.starts_with("~/") || value.starts_with("./"))
        && value.bytes().all(|b| b.is_ascii_alphabetic() || b"/._-~".contains(&b))
}

/// `config.auth.token`: names without digits, joined by dots.
fn is_path_of_names(value: &str) -> bool {
    let value = value.trim_end_matches([';', ')', ',']);
    value.contains('.')
        && value.split('.').all(|name| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
        })
}

/// A call, a type, or a variable that itself has the name of a secret.
fn is_code(value: &str) -> bool {
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '&' | '*' | '!');
    let end = value.find(|c: char| !is_part(c)).unwrap_or(value.len());
    let (name, rest) = value.split_at(end);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '&' | '*')) {
        return false;
    }
    if rest.starts_with(['(', '<', '[']) || name.contains("::") {
        return true;
    }
    let is_word = name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'.');
    let lower = name.to_ascii_lowercase();
    is_word
        && rest.trim_start_matches([')', ';', '?', ',']).is_empty()
        && ["token", "secret", "password", "passwd", "key", "passphrase", "credentials", "pass"]
            .iter()
            .any(|end| lower.ends_with(end))
        && (name.contains('_')
            || name.contains('.')
            || name.bytes().any(|b| b.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_placeholders_are_no_secrets() {
        for value in [
            "$HOME_TOKEN",
            "${TOKEN}",
            "$(pass show x)",
            "%TOKEN%",
            "{{token}}",
            "<your-token>",
            "********",
        ] {
            assert!(is_reference(value), "{value}");
        }
        for value in ["$ecret99", "<abc", "hunter2***", "$", "a b"] {
            assert!(!is_reference(value), "{value}");
        }
    }

    #[test]
    fn code_is_told_from_values() {
        for value in
            ["next_token()", "Option<String>", "Secret::new", "clientSecret", "self.api_key,"]
        {
            assert!(is_harmless(value), "{value}");
        }
        for value in ["hunter22", "correcthorse", "a1.b2.c3", "monkey123", "/9j4AAQSk1", "mysecret"]
        {
            assert!(!is_harmless(value), "{value}");
        }
    }
}
