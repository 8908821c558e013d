//! The bearer token of a remote listener: made, previewed and compared without ever being shown.

use std::{fmt, net::IpAddr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Random bytes in a generated token.
const RANDOM_BYTES: usize = 32;
/// Characters shown at each end of a preview.
const SHOWN: usize = 4;
/// How a setting names a variable of the environment.
const ENVIRONMENT: &str = "env:";
/// Characters that a token needs where only this machine can guess it.
const LEAST_LOCAL: usize = 8;
/// Characters that a token needs where others can guess it.
const LEAST: usize = 16;

/// Why a text is no token. No message has `token` before a colon: what follows that is taken for a
/// secret and left out wherever errors are shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Nothing but white space.
    #[error("auth token is empty")]
    Blank,
    /// A character that a header cannot carry.
    #[error("auth token may only have visible ASCII characters")]
    NotVisible,
    /// The variable named by the setting is missing or blank.
    #[error("environment variable {0} is not set or blank; it should contain the auth token")]
    Unset(String),
    /// Too few characters for an address that others reach.
    #[error(
        "auth token has {length} characters, and {address} needs at least {least}; use a longer one, or omit it to generate one"
    )]
    Short {
        /// How many it has.
        length: usize,
        /// How many it needs.
        least: usize,
        /// Where it would be the only guard.
        address: IpAddr,
    },
    /// The file or stream named by the setting has no token.
    #[error("there is no auth token ({0})")]
    Unread(String),
    /// The system gives no random bytes.
    #[error("cannot generate an auth token: no random bytes ({0})")]
    NoRandom(String),
}

/// A secret that opens a listener.
#[derive(Clone)]
pub struct Token {
    text: String,
    digest: [u8; 32],
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Takes a text as a token, without the white space around it.
    ///
    /// # Errors
    /// If it is blank or cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TokenError::Blank);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotVisible);
        }
        Ok(Self { text: text.to_owned(), digest: digest(text) })
    }

    /// Draws a new one: 32 random bytes in the URL-safe alphabet, without padding.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::NoRandom(error.to_string()))?;
        Self::new(&URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads a setting: the token itself, or `env:NAME` to be looked up in the environment.
    ///
    /// # Errors
    /// If the token is unusable or the variable is missing or blank.
    pub fn from_setting(
        setting: &str,
        environment: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, TokenError> {
        let Some(name) = setting.strip_prefix(ENVIRONMENT) else { return Self::new(setting) };
        let value = environment(name).unwrap_or_default();
        match Self::new(&value) {
            Err(TokenError::Blank) => Err(TokenError::Unset(name.to_owned())),
            token => token,
        }
    }

    /// Whether the token is long enough to guard a listener on this address.
    ///
    /// # Errors
    /// [`TokenError::Short`] if it is not.
    pub fn check_guards(&self, address: IpAddr) -> Result<(), TokenError> {
        let is_local = address.to_canonical().is_loopback();
        let (length, least) = (self.text.len(), if is_local { LEAST_LOCAL } else { LEAST });
        match length < least {
            true => Err(TokenError::Short { length, least, address }),
            false => Ok(()),
        }
    }

    /// Whether `presented` is this token, in a time that tells nothing about it.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.digest.ct_eq(&digest(presented)).into()
    }

    /// Enough of it to tell it from another: `abcd...wxyz`. One so short that this would show it
    /// whole is not shown at all.
    #[must_use]
    pub fn preview(&self) -> String {
        match self.text.len() {
            0..=8 => "...".to_owned(),
            len => format!("{}...{}", &self.text[..SHOWN], &self.text[len - SHOWN..]),
        }
    }

    /// The secret itself, for the pairing link.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_tokens_are_long_distinct_and_url_safe() {
        let (one, two) = (Token::generate().unwrap(), Token::generate().unwrap());
        assert_ne!(one.expose(), two.expose());
        assert_eq!(one.expose().len(), 43);
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        assert!(one.expose().bytes().all(is_safe));
        assert_eq!(URL_SAFE_NO_PAD.decode(one.expose()).unwrap().len(), RANDOM_BYTES);
    }

    #[test]
    fn only_the_same_text_matches() {
        let token = Token::new(" dev-token\n").unwrap();
        assert!(token.matches("dev-token"));
        for other in ["", "dev-toke", "dev-token ", "Dev-token", "dev-tokendev-token"] {
            assert!(!token.matches(other), "{other}");
        }
    }

    #[test]
    fn attack_short_tokens_guard_nothing() {
        let everywhere: IpAddr = "0.0.0.0".parse().unwrap();
        for (text, address, is_enough) in [
            ("dev-token", "127.0.0.1", true),
            ("dev-token", "::1", true),
            ("1234567", "127.0.0.1", false),
            ("dev-token", "0.0.0.0", false),
            ("dev-token", "::", false),
            ("dev-token", "192.168.1.2", false),
            ("0123456789abcdef", "0.0.0.0", true),
        ] {
            let guards = Token::new(text).unwrap().check_guards(address.parse().unwrap());
            assert_eq!(guards.is_ok(), is_enough, "{text} on {address}");
        }
        assert!(Token::generate().unwrap().check_guards(everywhere).is_ok());
        let error = Token::new("short").unwrap().check_guards(everywhere).unwrap_err().to_string();
        assert!(error.contains("5 characters") && error.contains("16"), "{error}");
        assert!(!error.contains("short"), "{error}");
    }

    #[test]
    fn the_preview_never_shows_the_whole() {
        assert_eq!(Token::new("abcdefghijklmnopqrstuvwxyz").unwrap().preview(), "abcd...wxyz");
        assert_eq!(Token::new("dev-token").unwrap().preview(), "dev-...oken");
        assert_eq!(Token::new("abcdwxyz").unwrap().preview(), "...");
        assert_eq!(Token::new("x").unwrap().preview(), "...");
        assert_eq!(format!("{:?}", Token::new("dev-token").unwrap()), "Token(..)");
    }

    #[test]
    fn settings_name_the_token_or_a_variable() {
        let environment = |name: &str| match name {
            "SET" => Some("from-env".to_owned()),
            "BLANK" => Some("  ".to_owned()),
            "ODD" => Some("a b".to_owned()),
            _ => None,
        };
        let read = |setting| Token::from_setting(setting, environment).map(|t| t.text);
        assert_eq!(read("plain"), Ok("plain".into()));
        assert_eq!(read("env:SET"), Ok("from-env".into()));
        assert_eq!(read("env:NONE"), Err(TokenError::Unset("NONE".into())));
        assert_eq!(read("env:BLANK"), Err(TokenError::Unset("BLANK".into())));
        assert_eq!(read("env:ODD"), Err(TokenError::NotVisible));
        assert_eq!(read(" "), Err(TokenError::Blank));
        assert_eq!(read("zwölf"), Err(TokenError::NotVisible));
    }
}
