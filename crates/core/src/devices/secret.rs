//! Secrets of devices and codes: drawn, shown once, and kept as digests.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rookery_model::{Error, Result};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Random bytes of a secret.
const BYTES: usize = 32;
/// How long it is when it is spelled.
const LONG: usize = (BYTES * 8).div_ceil(6);
/// What codes to be typed are made of: no two look alike.
const LETTERS: &[u8] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";
/// Letters of a code to be typed.
const SHORT: usize = 8;

/// What is kept of a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest(pub(super) [u8; 32]);

impl Digest {
    pub(super) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Whether this is the digest of a secret, in a time that tells nothing about it.
    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.ct_eq(&Self::of(secret).0).into()
    }
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::failed(format!("the system has no random bytes: {error}")))?;
    Ok(bytes)
}

/// Draws a secret.
pub(super) fn secret() -> Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(random::<BYTES>()?))
}

/// Draws an id, which is no secret.
pub(super) fn id() -> Result<String> {
    Ok(random::<5>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Draws a code to be typed, as it is shown.
pub(super) fn short() -> Result<String> {
    let mut code = String::new();
    while code.len() < SHORT {
        let drawn = random::<16>()?;
        // Of 256 values the last few would make some letters likelier than others.
        let fair = 256 / LETTERS.len() * LETTERS.len();
        let fair = drawn.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < fair);
        let letters = fair.map(|byte| char::from(LETTERS[byte % LETTERS.len()]));
        code.extend(letters.take(SHORT - code.len()));
    }
    code.insert(SHORT / 2, '-');
    Ok(code)
}

/// Whether this is spelled as a secret is: of a link, and too long to be typed or guessed.
pub(super) fn is_long(text: &str) -> bool {
    let is_spelled = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.len() == LONG && text.bytes().all(is_spelled)
}

/// Reads what may be a code that was typed, however it is spelled: its letters, if it is one.
pub(super) fn typed(text: &str) -> Option<String> {
    let letters = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
    let letters: String = letters.take(SHORT + 1).map(|c| c.to_ascii_uppercase()).collect();
    let fits = letters.len() == SHORT && letters.bytes().all(|byte| LETTERS.contains(&byte));
    fits.then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_typed_in_any_way() {
        assert_eq!(typed("xkcd-7q2m").as_deref(), Some("XKCD7Q2M"));
        assert_eq!(typed(" XKCD 7Q2M ").as_deref(), Some("XKCD7Q2M"));
        for other in ["", "XKCD7Q2", "XKCD7Q2MM", "XKCD-7Q20", "ÄKCD7Q2M", &secret().unwrap()] {
            assert_eq!(typed(other), None, "{other}");
        }
        let code = short().unwrap();
        assert_eq!(typed(&code).unwrap(), code.replace('-', ""));
    }

    #[test]
    fn secrets_are_long_and_distinct() {
        let (one, two) = (secret().unwrap(), secret().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), 43);
        assert!(is_long(&one) && !is_long(&one[1..]) && !is_long(&one.replace(&one[..1], " ")));
        assert!(Digest::of(&one).is_of(&one) && !Digest::of(&one).is_of(&two));
    }
}
