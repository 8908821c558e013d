//! Logins that go well, that a person refuses, and that end before they are done.

use rookery_issuer::{Reply, fetch};
use serde_json::json;

use super::*;

fn error(code: &str) -> Reply {
    Reply::Json(400, json!({ "error": code }))
}

#[tokio::test]
async fn a_code_is_entered_on_another_device() {
    let (place, clock) = Place::quick();
    {
        // Shorter than a login may take at all, so that it is what counts.
        let mut state = place.issuer.state();
        (state.interval, state.code_life) = (json!(0), 600);
    }
    for code in ["authorization_pending", "slow_down", "authorization_pending", "slow_down"] {
        place.issuer.script("/token", error(code));
    }
    let login = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    let pending = login.pending().clone();
    assert_eq!(pending.flow, crate::Flow::Device);
    assert_eq!(pending.page, format!("{}/activate", place.issuer.url()));
    let code = pending.code.unwrap();
    assert_eq!(pending.complete_page, Some(format!("{}?user_code={code}", pending.page)));
    assert_eq!(pending.expires_at, crate::files::time(clock.now() + 600_000));
    place.issuer.enter(&code, true);
    let signed_in = login.finish().await.unwrap();
    assert_eq!(signed_in, SignedIn { is_signed_in: true, owner: Some("acct-1".into()) });
    assert_eq!(clock.waits(), [5, 5, 10, 10, 15]);
    let file = place.file("codex.json").unwrap();
    assert_eq!((&file["type"], &file["account_id"]), (&json!("oauth"), &json!("acct-1")));
    assert_eq!(file["expires"], clock.now() + 3_600_000);
    assert!(place.issuer.opens(file["access"].as_str().unwrap()));
    assert_eq!((mode(&place.dir()), mode(&place.dir().join("codex.json"))), (0o700, 0o600));
    let asked = &place.issuer.asked("/device")[0];
    assert_eq!(asked.field("scope").as_deref(), Some("openid profile email offline_access"));
    assert_eq!(place.accounts.status(CODEX).await.unwrap(), signed_in);
    // Another process finds it.
    let other = super::accounts(place.home.path(), place.issuer.url(), clock);
    assert_eq!(other.last_seen(CODEX), signed_in);
}

#[tokio::test]
async fn the_variant_is_used_where_no_device_endpoint_is_named() {
    for has_document in [true, false] {
        let (place, _) = Place::quick();
        {
            let mut state = place.issuer.state();
            (state.has_document, state.has_device_grant) = (has_document, false);
        }
        let login = place.accounts.begin(GROK, LoginRequest::default()).await.unwrap();
        let pending = login.pending().clone();
        assert_eq!(pending.page, format!("{}/codex/device", place.issuer.url()));
        let issuer = place.issuer.clone();
        // Asked for once in vain, then it is entered.
        place.issuer.script("/deviceauth/token", Reply::Text(403, String::new()));
        place.issuer.script("/deviceauth/token", Reply::Text(404, String::new()));
        issuer.enter(pending.code.as_deref().unwrap(), true);
        let signed_in = login.finish().await.unwrap();
        assert_eq!(signed_in.owner.as_deref(), Some("person@example.com"));
        assert_eq!(place.issuer.asked("/deviceauth/token").len(), 3);
        let file = place.file("supergrok.json").unwrap();
        assert_eq!(file["email"], "person@example.com");
        assert!(file.get("account_id").is_none());
        assert!(!place.dir().join("supergrok.json.bak").exists());
    }
}

#[tokio::test]
async fn a_browser_comes_back_with_a_code() {
    let place = Place::real();
    let login = place.accounts.begin(CODEX, browser()).await.unwrap();
    let page = login.pending().page.clone();
    let finished = tokio::spawn(login.finish());
    let visits = on_thread(move || {
        let back = fetch(&page).location.unwrap();
        let home = back.split("/auth/callback").next().unwrap();
        let stranger = |target: &str| fetch(&format!("{home}{target}"));
        assert_eq!(stranger("/favicon.ico").status, 404);
        let forged = stranger("/auth/callback?code=forged&state=guessed");
        assert_eq!(forged.status, 400);
        assert!(forged.text.contains("the state does not match"), "{}", forged.text);
        assert_eq!(stranger("/auth/callback?error=access_denied&state=guessed").status, 400);
        fetch(&back)
    })
    .await;
    assert_eq!(visits.status, 200);
    assert!(visits.text.contains("You are signed in"), "{}", visits.text);
    let signed_in = finished.await.unwrap().unwrap();
    assert_eq!(signed_in.owner.as_deref(), Some("acct-1"));
    let forms = place.issuer.asked("/token");
    assert_eq!(forms.len(), 1, "a forged code is not sent on");
    assert!(forms[0].field("redirect_uri").unwrap().ends_with("/auth/callback"));
}

#[tokio::test]
async fn a_code_that_is_brought_twice_is_used_once() {
    let place = Place::real();
    place.issuer.hold("/token");
    let login = place.accounts.begin(GROK, browser()).await.unwrap();
    let page = login.pending().page.clone();
    let finished = tokio::spawn(login.finish());
    let back = on_thread(move || fetch(&page).location.unwrap()).await;
    let (first, issuer) = (back.clone(), place.issuer.clone());
    let first = tokio::task::spawn_blocking(move || fetch(&first));
    let second = on_thread(move || {
        while issuer.asked("/token").is_empty() {
            std::thread::yield_now();
        }
        fetch(&back)
    })
    .await;
    assert_eq!(second.status, 400);
    assert!(second.text.contains("used already"), "{}", second.text);
    place.issuer.release();
    assert_eq!(first.await.unwrap().status, 200);
    assert!(finished.await.unwrap().unwrap().is_signed_in);
    assert_eq!(place.issuer.asked("/token").len(), 1);
}

#[tokio::test]
async fn a_code_that_was_used_elsewhere_is_refused_and_nothing_is_kept() {
    let place = Place::real();
    let login = place.accounts.begin(CODEX, browser()).await.unwrap();
    let page = login.pending().page.clone();
    let finished = tokio::spawn(login.finish());
    place.issuer.script("/token", error("invalid_grant"));
    let shown = on_thread(move || fetch(&fetch(&page).location.unwrap())).await;
    assert_eq!(shown.status, 502);
    let error = finished.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the issuer of codex refused the sign-in (invalid_grant)");
    assert!(!place.has_kept_anything());
}

#[tokio::test]
async fn a_person_may_refuse_in_both_flows() {
    let (place, _) = Place::quick();
    let login = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    place.issuer.enter(login.pending().code.as_deref().unwrap(), false);
    assert_eq!(login.finish().await, Err(Error::Denied));
    let login = place.accounts.begin(CODEX, browser()).await.unwrap();
    let page = login.pending().page.clone();
    let finished = tokio::spawn(login.finish());
    on_thread(move || {
        let back = fetch(&page).location.unwrap();
        let code = back.split("code=").nth(1).unwrap().split('&').next().unwrap();
        fetch(&back.replace(&format!("code={code}"), "error=access_denied"))
    })
    .await;
    assert_eq!(finished.await.unwrap(), Err(Error::Denied));
    assert!(!place.has_kept_anything());
}

#[tokio::test]
async fn a_code_expires_when_the_issuer_says_so_or_its_time_is_over() {
    let (place, clock) = Place::quick();
    place.issuer.script("/token", error("expired_token"));
    let login = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    assert_eq!(login.finish().await, Err(Error::Expired));
    place.issuer.state().code_life = 12;
    place.issuer.state().interval = json!(0);
    let login = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    let before = clock.waits().len();
    assert_eq!(login.finish().await, Err(Error::Expired));
    assert_eq!(clock.waits()[before..], [5, 5]);
    assert!(!place.has_kept_anything());
}

#[tokio::test]
async fn a_login_that_takes_too_long_ends_and_says_what_it_rejected() {
    let place = Place::real();
    let limit = Some(Duration::from_secs(1));
    let request = LoginRequest { limit, ..browser() };
    let login = place.accounts.begin(CODEX, request).await.unwrap();
    let page = login.pending().page.clone();
    let finished = tokio::spawn(login.finish());
    on_thread(move || {
        let back = fetch(&page).location.unwrap();
        assert_eq!(fetch(&back.replace("state=", "state=x")).status, 400);
    })
    .await;
    let error = finished.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the sign-in was not finished within 1 seconds; 1 answers were rejected because they were not of this sign-in"
    );
}

#[tokio::test]
async fn a_second_login_takes_the_place_of_the_first() {
    let place = Place::real();
    let first = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    let code = first.pending().code.clone().unwrap();
    let first = tokio::spawn(first.finish());
    let second = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    assert_eq!(first.await.unwrap(), Err(Error::Superseded));
    place.issuer.enter(&code, true);
    let other = place.accounts.begin(GROK, LoginRequest::default()).await.unwrap();
    place.issuer.enter(second.pending().code.as_deref().unwrap(), true);
    assert!(second.finish().await.unwrap().is_signed_in, "another account is another matter");
    drop(other);
}

#[tokio::test]
async fn a_sign_out_and_a_caller_that_goes_away_end_a_login() {
    let place = Place::real();
    let login = place.accounts.begin(CODEX, LoginRequest::default()).await.unwrap();
    place.issuer.enter(login.pending().code.as_deref().unwrap(), true);
    let finished = tokio::spawn(login.finish());
    assert_eq!(place.accounts.logout(CODEX).await, Ok(SignedIn::default()));
    assert_eq!(finished.await.unwrap(), Err(Error::Cancelled));
    let login = place.accounts.begin(CODEX, browser()).await.unwrap();
    let page = login.pending().page.clone();
    drop(login);
    let back = on_thread(move || fetch(&page).location.unwrap()).await;
    let address = back.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    while tokio::net::TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!place.has_kept_anything());
    assert!(place.accounts.slot(CODEX).state.lock().login.is_none());
}

#[tokio::test]
async fn a_sign_out_forgets_everything_and_can_be_repeated() {
    let (place, _) = Place::quick();
    place.sign_in(CODEX).await;
    place.sign_in(CODEX).await;
    place.sign_in(GROK).await;
    for _ in 0..2 {
        assert_eq!(place.accounts.logout(CODEX).await, Ok(SignedIn::default()));
        assert_eq!(place.accounts.status(CODEX).await, Ok(SignedIn::default()));
    }
    assert!(place.file("codex.json").is_none() && place.file("codex.json.bak").is_none());
    assert!(place.accounts.status(GROK).await.unwrap().is_signed_in);
    let record = fs::read_to_string(place.dir().join("codex.audit.jsonl")).unwrap();
    let actions: Vec<Value> = record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["action"].take())
        .collect();
    assert_eq!(actions, ["login", "login", "logout", "logout"]);
    assert!(!place.issuer.secrets().iter().any(|secret| record.contains(secret.as_str())));
}
