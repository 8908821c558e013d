//! What an issuer gives: tokens, or an error with a name; and what a token says of its owner.
//!
//! A token's signature is not looked at, so nothing is decided by what it says: its owner is only shown.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use crate::account::Identity;
use crate::quote;
use crate::secret::Secret;

/// The longest token that is taken: it has to fit into a header.
pub const LONGEST_TOKEN: usize = 16 << 10;

/// The longest name of an owner that is kept.
const LONGEST_OWNER: usize = 256;

/// How long a token is good if the issuer does not say.
const USUAL_LIFE: u64 = 3600;

/// The longest life that is believed.
const LONGEST_LIFE: u64 = 366 * 24 * 3600;

/// The claim that holds an object with the account's id.
const ACCOUNT_CLAIM: &str = "https://api.openai.com/auth";

/// Tokens as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What opens the provider.
    pub access: Secret,
    /// What gets the next one; none keeps the one that there is.
    pub refresh: Option<Secret>,
    /// Who the owner is.
    pub id_token: Option<Secret>,
    /// For how many seconds the first is good.
    pub lifetime: u64,
}

/// An error as issuers name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name, as `access_denied`.
    pub code: String,
    /// What the issuer says about it, as it may be shown.
    pub description: Option<String>,
}

impl Refusal {
    /// Both in words.
    pub(crate) fn words(&self) -> String {
        match &self.description {
            Some(description) => format!("{}, {description}", self.code),
            None => self.code.clone(),
        }
    }
}

/// A text of a document that is as good as none if it is empty or of another type.
fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A number of seconds, which some issuers write as a text.
pub(crate) fn seconds(value: &Value, name: &str) -> Option<u64> {
    let value = value.get(name)?;
    let float = || value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64);
    value.as_u64().or_else(float).or_else(|| value.as_str()?.trim().parse().ok())
}

/// Reads tokens.
///
/// # Errors
/// In words that show none of them.
pub fn read(body: &[u8]) -> Result<Grant, String> {
    let value: Value = serde_json::from_slice(body).map_err(|_| "its answer is not JSON")?;
    if !value.is_object() {
        return Err("its answer is not an object".to_owned());
    }
    if text(&value, "token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err("its answer has tokens of another type than bearer".to_owned());
    }
    let token = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) if is_token(text) => Ok(Some(Secret::new(text))),
        Some(_) => Err(format!("its answer has an {name} that cannot be used")),
    };
    let access = token("access_token")?.ok_or("its answer has no access_token")?;
    let lifetime = seconds(&value, "expires_in").unwrap_or(USUAL_LIFE).min(LONGEST_LIFE);
    Ok(Grant { access, refresh: token("refresh_token")?, id_token: token("id_token")?, lifetime })
}

/// Whether a text can be sent as a token.
pub(crate) fn is_token(text: &str) -> bool {
    (1..=LONGEST_TOKEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Reads an error; none if it is none that has a name. `sent` are secrets that it may repeat.
pub fn refusal(body: &[u8], sent: &[&str]) -> Option<Refusal> {
    #[derive(Deserialize)]
    struct ErrorBody {
        error: Value,
        #[serde(default)]
        error_description: Option<Value>,
    }
    let told: ErrorBody = serde_json::from_slice(body).ok()?;
    // Some wrap the name into an object.
    let code = match &told.error {
        Value::String(code) => code.clone(),
        nested => text(nested, "code").or_else(|| text(nested, "type"))?.to_owned(),
    };
    let own = told.error_description.as_ref().and_then(Value::as_str).map(str::to_owned);
    let description = own.or_else(|| text(&told.error, "message").map(str::to_owned));
    Some(Refusal {
        code: quote::words(&code, sent),
        description: description.map(|words| quote::words(&words, sent)),
    })
}

/// Who the owner of tokens is, as far as they say: by the first of them that does.
pub fn owner(identity: Identity, tokens: &[Option<&Secret>]) -> Option<String> {
    tokens.iter().flatten().find_map(|token| {
        let claims = claims(token.expose())?;
        let found = match identity {
            Identity::Email => text(&claims, "email"),
            Identity::AccountId => claims
                .get(ACCOUNT_CLAIM)
                .and_then(|nested| text(nested, "chatgpt_account_id"))
                .or_else(|| text(&claims, "account_id"))
                .or_else(|| text(&claims, "sub")),
        };
        found.filter(|owner| is_presentable(owner)).map(str::to_owned)
    })
}

fn is_presentable(owner: &str) -> bool {
    owner.len() <= LONGEST_OWNER && !owner.chars().any(char::is_control)
}

/// What a token claims; none if it is no JSON Web Token.
fn claims(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (_head, body) = (parts.next()?, parts.next()?);
    // A signature, or an encrypted token with five parts, whose claims cannot be read.
    parts.next()?;
    if parts.next().is_some() {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(body.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&bytes).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn token(claims: &Value) -> Secret {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        Secret::new(format!("{}.{}.sig", part(&json!({"alg": "none"})), part(claims)))
    }

    #[test]
    fn tokens_are_read_with_their_life() {
        let body = br#"{"access_token":"a","refresh_token":"r","id_token":"i","token_type":"Bearer","expires_in":60}"#;
        let grant = read(body).unwrap();
        assert_eq!((grant.access.expose(), grant.lifetime), ("a", 60));
        let lived = |text: &str| {
            let body = format!(r#"{{"access_token":"a","expires_in":{text}}}"#);
            read(body.as_bytes()).unwrap().lifetime
        };
        assert_eq!(
            [lived("\"90\""), lived("60.9"), lived("null"), lived("-1")],
            [90, 60, 3600, 3600]
        );
        assert_eq!(lived("99999999999999"), LONGEST_LIFE);
        assert_eq!(read(br#"{"access_token":"a","refresh_token":""}"#).unwrap().refresh, None);
    }

    #[test]
    fn what_is_no_token_is_refused_without_being_shown() {
        let long = format!(r#"{{"access_token":"{}"}}"#, "a".repeat(LONGEST_TOKEN + 1));
        for body in [
            "",
            "[]",
            "null",
            r#"{"access_token":7}"#,
            r#"{"access_token":"with secret-blank"}"#,
            r#"{"access_token":"secret-line\nX: y"}"#,
            r#"{"refresh_token":"secret-r"}"#,
            r#"{"access_token":"secret-a","token_type":"mac"}"#,
            &long,
        ] {
            let error = read(body.as_bytes()).unwrap_err();
            assert!(!error.contains("secret-"), "{error}");
        }
    }

    #[test]
    fn errors_have_names() {
        let read = |body: &str| refusal(body.as_bytes(), &["secret"]);
        let plain = read(r#"{"error":"access_denied","error_description":"no secret"}"#).unwrap();
        assert_eq!(plain.words(), "access_denied, no ***");
        let nested = read(r#"{"error":{"code":"expired_token","message":"late"}}"#).unwrap();
        assert_eq!(nested.words(), "expired_token, late");
        assert_eq!(read(r#"{"error":{}}"#), None);
        assert_eq!(read("gone"), None);
    }

    #[test]
    fn an_owner_is_named_by_the_first_claim_that_there_is() {
        let id = |claims: Value| owner(Identity::AccountId, &[Some(&token(&claims))]);
        let all =
            json!({ACCOUNT_CLAIM: {"chatgpt_account_id": "acc"}, "account_id": "b", "sub": "c"});
        assert_eq!(id(all).as_deref(), Some("acc"));
        assert_eq!(id(json!({ACCOUNT_CLAIM: 7, "account_id": "b"})).as_deref(), Some("b"));
        assert_eq!(id(json!({"account_id": "", "sub": "c"})).as_deref(), Some("c"));
        assert_eq!(id(json!({"sub": "a\u{1b}[2J"})), None);
        assert_eq!(id(json!({"sub": "x".repeat(LONGEST_OWNER + 1)})), None);
        let email = token(&json!({"email": "a@b.example", "sub": "c"}));
        let none = token(&json!({"sub": "c"}));
        let found = owner(Identity::Email, &[None, Some(&none), Some(&email)]);
        assert_eq!(found.as_deref(), Some("a@b.example"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&body);
            let _ = refusal(&body, &["x"]);
            let text = String::from_utf8_lossy(&body).into_owned();
            let _ = owner(Identity::AccountId, &[Some(&Secret::new(text))]);
        }
    }
}
