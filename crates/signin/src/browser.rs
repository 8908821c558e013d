//! The flow through a browser on this machine: where it is sent to, and what it brings back. Pure but for the
//! random bytes, which come in as arguments.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::{Url, form_urlencoded};

use crate::grant::Refusal;
use crate::quote;
use crate::secret::Secret;

/// Random bytes in a verifier and in a state.
pub const RANDOM: usize = 32;

/// The longest code that is taken.
const LONGEST_CODE: usize = 4096;

/// What only we know of a login, until it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSecrets {
    /// What proves that a code is ours.
    pub verifier: Secret,
    /// What tells our answer from others.
    pub state: Secret,
}

impl LoginSecrets {
    /// From random bytes.
    pub fn new(verifier: [u8; RANDOM], state: [u8; RANDOM]) -> Self {
        Self {
            verifier: Secret::new(URL_SAFE_NO_PAD.encode(verifier)),
            state: Secret::new(URL_SAFE_NO_PAD.encode(state)),
        }
    }

    /// What the issuer gets of the verifier beforehand: its SHA-256.
    pub fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.expose().as_bytes()))
    }
}

/// Where a browser is sent to.
pub fn authorize_url(
    endpoint: &Url,
    client_id: &str,
    scope: &str,
    redirect: &str,
    proof: &LoginSecrets,
) -> Url {
    let mut url = endpoint.clone();
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", client_id)
        .append_pair("redirect_uri", redirect)
        .append_pair("scope", scope)
        .append_pair("code_challenge", &proof.challenge())
        .append_pair("code_challenge_method", "S256")
        .append_pair("state", proof.state.expose());
    url
}

/// What a visitor of our port brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserRequest {
    /// A code of our own login.
    Code(Secret),
    /// The issuer's refusal of our own login.
    Refused(Refusal),
    /// Something that has nothing to do with it.
    Elsewhere,
    /// Something that is not of our login, or cannot be determined: it is turned away.
    Stranger(&'static str),
}

/// Tells what a request to our port is.
pub fn judge(
    method: &str,
    path: &str,
    query: &str,
    wanted: &str,
    issuer: &Url,
    proof: &LoginSecrets,
) -> BrowserRequest {
    if path != wanted {
        return BrowserRequest::Elsewhere;
    }
    if method != "GET" {
        return BrowserRequest::Stranger("only GET is answered here");
    }
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let one = |name: &str| {
        let mut found =
            pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        (found.next().filter(|text| !text.is_empty()), found.next().is_some())
    };
    let names = ["state", "code", "error", "iss"];
    if names.iter().any(|name| one(name).1) {
        return BrowserRequest::Stranger("the answer says the same thing twice");
    }
    if one("state").0 != Some(proof.state.expose()) {
        return BrowserRequest::Stranger(
            "the state does not match: this answer is not of the sign-in that waits here",
        );
    }
    let is_other = |text: &str| text.trim_end_matches('/') != issuer.as_str().trim_end_matches('/');
    if one("iss").0.is_some_and(is_other) {
        return BrowserRequest::Stranger("the answer is another issuer's");
    }
    if let Some(error) = one("error").0 {
        let sent = [proof.state.expose()];
        let description = one("error_description").0.map(|words| quote::words(words, &sent));
        return BrowserRequest::Refused(Refusal { code: quote::words(error, &sent), description });
    }
    match one("code").0 {
        Some(code) if code.len() <= LONGEST_CODE => BrowserRequest::Code(Secret::new(code)),
        _ => BrowserRequest::Stranger("the answer has no code"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proof() -> LoginSecrets {
        LoginSecrets::new([1; RANDOM], [2; RANDOM])
    }

    fn issuer() -> Url {
        Url::parse("https://auth.example.com").unwrap()
    }

    fn visit(method: &str, target: &str) -> BrowserRequest {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        judge(method, path, query, "/cb", &issuer(), &proof())
    }

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let proof = LoginSecrets { verifier, ..proof() };
        assert_eq!(proof.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn a_browser_is_sent_with_everything_but_the_verifier() {
        let endpoint = Url::parse("https://auth.example.com/authorize?tenant=1").unwrap();
        let url = authorize_url(&endpoint, "c d", "a b", "http://127.0.0.1:1/cb", &proof());
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let value = |name: &str| &pairs.iter().find(|(key, _)| key == name).unwrap().1;
        assert_eq!([value("tenant"), value("client_id"), value("scope")], ["1", "c d", "a b"]);
        assert_eq!(value("redirect_uri"), "http://127.0.0.1:1/cb");
        assert_eq!(value("code_challenge_method"), "S256");
        assert_eq!(value("state"), proof().state.expose());
        assert!(!url.as_str().contains(proof().verifier.expose()));
    }

    #[test]
    fn only_the_answer_to_our_own_question_counts() {
        let state = proof().state;
        let state = state.expose();
        let good = visit("GET", &format!("/cb?code=c%201&state={state}"));
        assert_eq!(good, BrowserRequest::Code(Secret::new("c 1")));
        let issued = format!("/cb?code=c&state={state}&iss=https%3A%2F%2Fauth.example.com%2F");
        assert!(matches!(visit("GET", &issued), BrowserRequest::Code(_)));
        assert_eq!(visit("GET", "/favicon.ico"), BrowserRequest::Elsewhere);
        assert_eq!(visit("GET", "/cb/x?code=c"), BrowserRequest::Elsewhere);
        let denied =
            visit("GET", &format!("/cb?error=access_denied&error_description=no&state={state}"));
        assert!(
            matches!(denied, BrowserRequest::Refused(refusal) if refusal.code == "access_denied")
        );
        for bad in [
            "/cb".to_owned(),
            "/cb?code=c".to_owned(),
            "/cb?code=c&state=".to_owned(),
            "/cb?code=c&state=other".to_owned(),
            "/cb?error=access_denied&state=other".to_owned(),
            format!("/cb?code=c&state={state}&state={state}"),
            format!("/cb?code=c&code=d&state={state}"),
            format!("/cb?state={state}"),
            format!("/cb?code=c&state={state}&iss=https%3A%2F%2Fevil.example"),
            format!("/cb?code={}&state={state}", "c".repeat(LONGEST_CODE + 1)),
        ] {
            assert!(matches!(visit("GET", &bad), BrowserRequest::Stranger(_)), "{bad}");
        }
        let posted = visit("POST", &format!("/cb?code=c&state={state}"));
        assert!(matches!(posted, BrowserRequest::Stranger(_)));
    }

    proptest! {
        #[test]
        fn no_query_without_the_state_is_let_in(query in ".{0,100}") {
            let visitor = judge("GET", "/cb", &query, "/cb", &issuer(), &proof());
            prop_assert!(matches!(visitor, BrowserRequest::Stranger(_)));
        }
    }
}
