//! Tokens that are used, renewed and refused.

use rookery_issuer::Reply;
use serde_json::json;

use super::*;

async fn signed_in() -> (Place, Arc<QuickClock>) {
    let (place, clock) = Place::quick();
    place.sign_in(CODEX).await;
    (place, clock)
}

fn renewals(place: &Place) -> usize {
    let asked = place.issuer.asked("/token");
    asked.iter().filter(|form| form.field("grant_type").as_deref() == Some("refresh_token")).count()
}

#[tokio::test]
async fn a_token_is_renewed_with_less_than_three_minutes_left() {
    let (place, clock) = signed_in().await;
    let first = place.accounts.access(CODEX).await.unwrap();
    clock.pass(3600 - 181);
    assert_eq!(place.accounts.access(CODEX).await.unwrap(), first);
    clock.pass(1);
    let second = place.accounts.access(CODEX).await.unwrap();
    assert_ne!(second, first);
    assert_eq!(renewals(&place), 1);
    let file = place.file("codex.json").unwrap();
    assert_eq!((&file["access"], &file["account_id"]), (&json!(second.expose()), &json!("acct-1")));
    assert_eq!(place.file("codex.json.bak").unwrap()["access"], first.expose());
    assert_eq!(mode(&place.dir().join("codex.json.bak")), 0o600);
}

#[tokio::test]
async fn the_refresh_token_is_kept_if_no_other_comes() {
    let (place, clock) = signed_in().await;
    place.issuer.state().rotates = false;
    let before = place.file("codex.json").unwrap();
    for _ in 0..2 {
        clock.pass(3600);
        place.accounts.access(CODEX).await.unwrap();
        assert_eq!(place.file("codex.json").unwrap()["refresh"], before["refresh"]);
    }
    place.issuer.state().rotates = true;
    clock.pass(3600);
    place.accounts.access(CODEX).await.unwrap();
    assert_ne!(place.file("codex.json").unwrap()["refresh"], before["refresh"]);
}

#[tokio::test]
async fn all_who_need_a_token_wait_for_the_same_renewal() {
    let (place, clock) = signed_in().await;
    clock.pass(3600);
    place.issuer.hold("/token");
    let asks = (0..20).map(|_| {
        let accounts = place.accounts.clone();
        tokio::spawn(async move { accounts.access(CODEX).await })
    });
    let mut asks: Vec<_> = asks.collect();
    let issuer = place.issuer.clone();
    on_thread(move || {
        while issuer.asked("/token").len() < 2 {
            std::thread::yield_now();
        }
    })
    .await;
    // One that goes away does not end it for the others.
    asks.remove(0).abort();
    place.issuer.release();
    let mut tokens = Vec::new();
    for ask in asks {
        tokens.push(ask.await.unwrap().unwrap());
    }
    assert!(tokens.windows(2).all(|two| two[0] == two[1]));
    assert_eq!(renewals(&place), 1);
}

#[tokio::test]
async fn a_renewal_goes_on_without_whoever_needed_it() {
    let (place, clock) = signed_in().await;
    clock.pass(3600);
    place.issuer.hold("/token");
    let accounts = place.accounts.clone();
    let ask = tokio::spawn(async move { accounts.access(CODEX).await });
    let issuer = place.issuer.clone();
    on_thread(move || while issuer.asked("/token").len() < 2 {}).await;
    ask.abort();
    assert!(ask.await.unwrap_err().is_cancelled());
    place.issuer.release();
    let token = place.accounts.access(CODEX).await.unwrap();
    assert!(place.issuer.opens(token.expose()));
    assert_eq!(renewals(&place), 1, "the refresh token that came was not lost");
}

#[tokio::test]
async fn what_is_left_of_a_token_will_do_while_the_issuer_is_away() {
    let (place, clock) = signed_in().await;
    let first = place.accounts.access(CODEX).await.unwrap();
    clock.pass(3600 - 60);
    place.issuer.script("/token", Reply::Json(503, json!({"error": "server_error"})));
    assert_eq!(place.accounts.access(CODEX).await.unwrap(), first);
    clock.pass(60);
    place.issuer.script("/token", Reply::Hangup);
    let error = place.accounts.access(CODEX).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert!(place.accounts.status(CODEX).await.unwrap().is_signed_in);
    assert!(place.accounts.access(CODEX).await.is_ok());
}

#[tokio::test]
async fn an_account_whose_refresh_token_is_refused_has_to_be_signed_in_again() {
    let (place, clock) = signed_in().await;
    clock.pass(3600);
    place.issuer.script("/token", Reply::Json(400, json!({"error": "invalid_grant"})));
    let error = place.accounts.access(CODEX).await.unwrap_err();
    let want =
        "not signed in to codex: it cannot be renewed (invalid_grant); run `rookery login codex`";
    assert_eq!(error.to_string(), want);
    let record = fs::read_to_string(place.dir().join("codex.audit.jsonl")).unwrap();
    let last: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["action"], &last["reason"]),
        (&json!("refresh_failed"), &json!("invalid_grant"))
    );
}

#[tokio::test]
async fn a_token_that_a_provider_refuses_is_renewed_once_for_all() {
    let (place, _) = signed_in().await;
    let first = place.accounts.access(CODEX).await.unwrap();
    let second = place.accounts.renew(CODEX, &first).await.unwrap();
    assert_ne!(second, first);
    assert_eq!(place.accounts.renew(CODEX, &first).await.unwrap(), second);
    assert_eq!(renewals(&place), 1);
}

#[tokio::test]
async fn a_sign_out_during_a_renewal_leaves_nothing() {
    let (place, clock) = signed_in().await;
    clock.pass(3600);
    place.issuer.hold("/token");
    let accounts = place.accounts.clone();
    let ask = tokio::spawn(async move { accounts.access(CODEX).await });
    let issuer = place.issuer.clone();
    on_thread(move || while issuer.asked("/token").len() < 2 {}).await;
    place.accounts.logout(CODEX).await.unwrap();
    place.issuer.release();
    assert_eq!(ask.await.unwrap(), Err(Error::Cancelled));
    assert!(!place.has_kept_anything());
    assert!(place.accounts.secrets().is_empty());
}

#[tokio::test]
async fn a_token_that_another_process_renewed_is_taken() {
    let (place, clock) = signed_in().await;
    let other = super::accounts(place.home.path(), place.issuer.url(), clock.clone());
    clock.pass(3600);
    let renewed = other.access(CODEX).await.unwrap();
    assert_eq!(place.accounts.access(CODEX).await.unwrap(), renewed);
    assert_eq!(renewals(&place), 1);
}

#[tokio::test]
async fn without_a_refresh_token_a_token_is_used_to_its_end() {
    let (place, clock) = Place::quick();
    place
        .issuer
        .script("/token", Reply::Json(200, json!({"access_token": "only", "expires_in": 100})));
    let login = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    login.finish().await.unwrap();
    assert_eq!(place.accounts.access(CODEX).await.unwrap().expose(), "only");
    clock.pass(100);
    let error = place.accounts.access(CODEX).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not signed in to codex: the token has expired; run `rookery login codex`"
    );
    assert!(!place.accounts.status(CODEX).await.unwrap().is_signed_in);
}

#[tokio::test]
async fn every_token_that_is_known_can_be_masked() {
    let (place, _) = signed_in().await;
    let file = place.file("codex.json").unwrap();
    let secrets = place.accounts.secrets();
    for name in ["access", "refresh", "id_token"] {
        assert!(secrets.iter().any(|secret| file[name] == **secret), "{name}");
    }
}
