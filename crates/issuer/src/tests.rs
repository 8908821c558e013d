//! The issuer itself: what it refuses, and that nothing is given twice.

use serde_json::json;

use super::*;

fn post(issuer: &Issuer, path: &str, body: &str) -> Page {
    use std::io::{Read as _, Write as _};
    let address = issuer.url().strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let kind = if body.starts_with('{') {
        "application/json"
    } else {
        "application/x-www-form-urlencoded"
    };
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let text = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    Page { status, location: None, text }
}

#[test]
fn a_code_becomes_tokens_once_and_only_with_its_verifier() {
    let issuer = Issuer::start();
    // The pair of RFC 7636.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let redirect = "http%3A%2F%2F127.0.0.1%3A1%2Fcb";
    let authorize = |state: &str| {
        fetch(&format!(
            "{}/authorize?client_id={CLIENT}&response_type=code&redirect_uri={redirect}&state={state}\
             &code_challenge={challenge}&code_challenge_method=S256",
            issuer.url()
        ))
    };
    assert_eq!(authorize("").status, 400);
    let code = || {
        let sent = authorize("s").location.unwrap();
        let url = url::Url::parse(&sent).unwrap();
        url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    };
    let redeem = |code: &str, verifier: &str| {
        let body = format!(
            "grant_type=authorization_code&client_id={CLIENT}&code={code}&redirect_uri={redirect}\
             &code_verifier={verifier}"
        );
        post(&issuer, "/token", &body).status
    };
    let good = code();
    assert_eq!((redeem(&good, verifier), redeem(&good, verifier)), (200, 400));
    assert_eq!(redeem(&code(), "another"), 400);
    assert!(issuer.secrets().iter().any(|secret| secret.starts_with("access-")));
}

#[test]
fn a_device_that_asks_too_soon_is_slowed_down_and_a_script_comes_first() {
    let issuer = Issuer::start();
    issuer.script("/device", Reply::Json(503, json!({})));
    let ask = format!("client_id={CLIENT}");
    assert_eq!(post(&issuer, "/device", &ask).status, 503);
    let given: Value = serde_json::from_str(&post(&issuer, "/device", &ask).text).unwrap();
    let body = format!(
        "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id={CLIENT}&device_code={}",
        given["device_code"].as_str().unwrap()
    );
    assert!(post(&issuer, "/token", &body).text.contains("authorization_pending"));
    assert!(post(&issuer, "/token", &body).text.contains("slow_down"));
    assert_eq!(issuer.asked("/token").len(), 2);
}
