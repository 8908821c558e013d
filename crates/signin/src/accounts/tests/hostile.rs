//! Issuers that lie, that send too much or too little, and that try to be paid with someone else's secrets: a
//! clear error, nothing stored, and no secret sent elsewhere.

use rookery_issuer::Reply;
use serde_json::json;

use super::*;

async fn begin(place: &Place) -> Result<Login, Error> {
    place.accounts.begin(CODEX, LoginRequest::default()).await
}

async fn refused(place: &Place) -> String {
    let outcome = match begin(place).await {
        Ok(login) => login.finish().await.err(),
        Err(error) => Some(error),
    };
    let error = outcome.expect("a hostile issuer is not trusted").to_string();
    assert!(!place.has_kept_anything(), "{error}");
    let given = place.issuer.secrets();
    assert!(!given.iter().any(|secret| error.contains(secret.as_str())), "{error}");
    error
}

#[tokio::test]
async fn a_document_that_was_tampered_with_is_refused() {
    let elsewhere = Issuer::start();
    let other_host = elsewhere.url().replace("127.0.0.1", "localhost");
    for (name, value, why) in [
        ("issuer", elsewhere.url().to_owned(), "its discovery document is another issuer's"),
        (
            "token_endpoint",
            format!("{other_host}/token"),
            "its token_endpoint is on another host than the issuer",
        ),
        (
            "token_endpoint",
            "http://auth.example.com/token".into(),
            "its token_endpoint must use https, except on this machine",
        ),
        (
            "device_authorization_endpoint",
            format!("{other_host}/device"),
            "its device_authorization_endpoint is on another host than the issuer",
        ),
        (
            "authorization_endpoint",
            "https://evil.example/authorize".into(),
            "its authorization_endpoint is on another host than the issuer",
        ),
    ] {
        let (place, _) = Place::quick();
        place.issuer.state().document = json!({ name: value });
        assert_eq!(refused(&place).await, format!("the issuer of codex cannot be used: {why}"));
    }
    assert!(elsewhere.asked("").is_empty(), "no request went to another host");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Issuer::start();
    for path in ["openid-configuration", "/device", "/token"] {
        let (place, _) = Place::quick();
        place.issuer.script(path, Reply::Redirect(format!("{}/token", elsewhere.url())));
        let error = refused(&place).await;
        assert!(error.contains("it redirects (302), which is not followed"), "{path}: {error}");
    }
    assert!(elsewhere.asked("").is_empty());
}

#[tokio::test]
async fn too_much_is_not_read_and_nonsense_is_named() {
    for path in ["openid-configuration", "/device", "/token"] {
        let (place, _) = Place::quick();
        place.issuer.script(path, Reply::Huge(64 << 20));
        let error = refused(&place).await;
        assert!(error.contains("its answer is longer than 262144 bytes"), "{path}: {error}");
        place.issuer.script(path, Reply::Text(200, "<html>".into()));
        let error = refused(&place).await;
        assert!(
            error.contains("cannot be read at line 1") || error.contains("is not JSON"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up() {
    let (place, _) = Place::quick();
    place.issuer.script("openid-configuration", Reply::Drip);
    let limit = Some(Duration::from_secs(1));
    let login = place.accounts.begin(CODEX, LoginRequest { flow: None, limit }).await;
    let error = login.err().unwrap();
    assert_eq!(error.to_string(), "the sign-in was not finished within 1 seconds");
}

#[tokio::test]
async fn an_issuer_that_is_away_is_named() {
    let (place, clock) = Place::quick();
    for path in ["openid-configuration", "/device"] {
        place.issuer.script(path, Reply::Text(503, "maintenance".into()));
        let error = refused(&place).await;
        assert!(
            error.starts_with("the issuer of codex cannot be reached: it answered 503"),
            "{error}"
        );
    }
    place.issuer.script("openid-configuration", Reply::Hangup);
    assert!(refused(&place).await.starts_with("the issuer of codex cannot be reached: "));
    // While a code waits to be entered, an issuer may be away for a moment, but not for ever.
    for _ in 0..4 {
        place.issuer.script("/token", Reply::Hangup);
    }
    assert!(refused(&place).await.starts_with("the issuer of codex cannot be reached: "));
    let away = accounts(place.home.path(), "http://127.0.0.1:1", clock);
    let error = away.begin(CODEX, LoginRequest::default()).await.err().unwrap();
    assert!(error.to_string().contains("cannot connect"), "{error}");
}

#[tokio::test]
async fn what_an_issuer_repeats_is_not_shown() {
    let (place, _) = Place::quick();
    place.issuer.script(
        "/token",
        Reply::Json(400, json!({"access_token": "leak-1", "detail": {"refresh": "leak-2"}})),
    );
    let error = refused(&place).await;
    assert!(!error.contains("leak-"), "{error}");
    place.issuer.script("/token", Reply::Text(200, r#"{"access_token": "leak-3 \n"}"#.into()));
    let error = refused(&place).await;
    assert!(!error.contains("leak-"), "{error}");
    assert!(error.contains("access_token that cannot be used"), "{error}");
}

#[tokio::test]
async fn a_page_that_no_person_should_open_is_refused() {
    for page in ["javascript:alert(1)", "http://pages.example/activate", "file:///etc/passwd"] {
        let (place, _) = Place::quick();
        let body = json!({"device_code": "d", "user_code": "AB", "verification_uri": page});
        place.issuer.script("/device", Reply::Json(200, body));
        assert!(refused(&place).await.contains("its verification_uri "), "{page}");
    }
}

#[tokio::test]
async fn claims_that_are_not_fit_to_be_shown_are_left_out() {
    let (place, _) = Place::quick();
    place.issuer.state().claims = json!({"sub": "a\u{1b}[31m", "exp": 1, "account_id": 7});
    assert_eq!(place.sign_in(CODEX).await, SignedIn { is_signed_in: true, owner: None });
}
