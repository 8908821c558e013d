//! Providers that are sent the token of a signed-in account: fresh, renewed, refused, and never shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rookery_agent::provider::Auth;
use rookery_agent::providers::{Kind, Registry, RegistryOptions, Settings};
use rookery_host::http::Client;
use rookery_issuer::{CLIENT, Issuer, Reply as IssuerReply};
use rookery_signin::{Account, Accounts, Config, LoginRequest, Options, SystemClock};
use serde_json::json;

use crate::fixtures::CHAT;
use crate::server::{Reply, Server, serve};
use crate::{drain, quick, request, told};

struct Signed {
    home: tempfile::TempDir,
    issuer: Issuer,
    accounts: Accounts,
}

impl Signed {
    /// Signed in with a token that has this number of seconds left.
    async fn with_life(seconds: u64) -> Signed {
        let private = fs::Permissions::from_mode(0o700);
        let home = tempfile::Builder::new().permissions(private).tempdir().unwrap();
        let issuer = Issuer::start();
        issuer.state().token_life = seconds;
        let config = Config {
            issuer: Some(issuer.url().to_owned()),
            client_id: Some(CLIENT.to_owned()),
            ..Config::default()
        };
        let accounts = Accounts::new(Options {
            dir: Some(home.path().join("auth")),
            configs: [(Account::Codex, config)].into(),
            client: Client::new(),
            clock: Arc::new(SystemClock),
        });
        let login = accounts.begin(Account::Codex, LoginRequest::default()).await.unwrap();
        issuer.enter(login.pending().code.as_deref().unwrap(), true);
        login.finish().await.unwrap();
        issuer.state().token_life = 3600;
        Signed { home, issuer, accounts }
    }

    fn registry(&self, base_url: Option<String>) -> Registry {
        let settings = Settings {
            id: "mine".into(),
            kind: Some(Kind::OpenaiChat),
            base_url,
            account: Some(Account::Codex),
            models: vec!["m".into()],
            ..Settings::default()
        };
        let options = RegistryOptions {
            client: Client::new(),
            // A key that is around is not what the account is known by.
            environment: Arc::new(|name| (name == "MINE_API_KEY").then(|| "sk-other".to_owned())),
            retry: quick(2),
            cache_file: None,
            accounts: self.accounts.clone(),
        };
        Registry::new(vec![settings], &options)
    }

    fn access(&self) -> String {
        let text = fs::read_to_string(self.home.path().join("auth/codex.json")).unwrap();
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file["access"].as_str().unwrap().to_owned()
    }
}

fn good() -> Reply {
    Reply::stream([CHAT.stream.as_bytes()])
}

fn at(server: &Server) -> Option<String> {
    Some(format!("http://{}/v1", server.address))
}

/// The tokens that a server was sent.
fn bearers(server: &Server) -> Vec<String> {
    let seen = server.seen.lock();
    let bearer = |head: &String| {
        let line = head.lines().find(|line| line.starts_with("authorization: "))?;
        line.strip_prefix("authorization: bearer ").map(str::to_owned)
    };
    seen.iter().map(|(head, _)| bearer(head).unwrap_or_default()).collect()
}

#[tokio::test]
async fn a_token_is_sent_in_place_of_a_key_and_never_shown() {
    let signed = Signed::with_life(3600).await;
    let server =
        serve(vec![good(), Reply::status(500, "", &format!("no {}", signed.access()))]).await;
    let registry = signed.registry(at(&server));
    let info = registry.info("mine").unwrap();
    assert_eq!((info.auth, info.is_authenticated), (Auth::OAuth(Account::Codex), true));
    let events = drain(registry.get("mine").unwrap().call(request())).await;
    assert!(told(&events).last().is_some_and(|last| last.starts_with("done ")), "{events:?}");
    assert_eq!(bearers(&server), [signed.access().to_lowercase()]);
    let failed = told(&drain(registry.get("mine").unwrap().call(request())).await).join("\n");
    assert!(failed.contains("error 500: no ***"), "{failed}");
    assert!(registry.has_key(&format!("x {} y", signed.access())));
    for secret in signed.issuer.secrets().iter().filter(|secret| secret.starts_with("access")) {
        assert!(!failed.contains(secret.as_str()));
    }
}

#[tokio::test]
async fn a_token_with_little_life_left_is_renewed_before_it_is_sent() {
    let signed = Signed::with_life(60).await;
    let before = signed.access();
    let server = serve(vec![good()]).await;
    let registry = signed.registry(at(&server));
    for _ in 0..2 {
        drain(registry.get("mine").unwrap().call(request())).await;
    }
    let now = signed.access();
    assert_ne!(now, before);
    assert_eq!(bearers(&server), [now.to_lowercase(), now.to_lowercase()]);
}

#[tokio::test]
async fn a_token_that_the_provider_refuses_is_renewed_once() {
    let signed = Signed::with_life(3600).await;
    let before = signed.access();
    let server = serve(vec![Reply::status(401, "", "revoked"), good()]).await;
    let registry = signed.registry(at(&server));
    let events = drain(registry.get("mine").unwrap().call(request())).await;
    assert!(told(&events).last().is_some_and(|last| last.starts_with("done ")), "{events:?}");
    assert_eq!(bearers(&server), [before.to_lowercase(), signed.access().to_lowercase()]);
    let server = serve(vec![Reply::status(401, "", "revoked")]).await;
    let registry = signed.registry(at(&server));
    let events = drain(registry.get("mine").unwrap().call(request())).await;
    assert_eq!(told(&events), ["failed Auth: mine error 401: revoked"]);
    assert_eq!(server.seen.lock().len(), 2, "once more, and not for ever");
}

#[tokio::test]
async fn who_is_not_signed_in_is_told_what_to_do_and_nothing_is_sent() {
    let signed = Signed::with_life(3600).await;
    let server = serve(vec![good()]).await;
    let registry = signed.registry(at(&server));
    signed.accounts.logout(Account::Codex).await.unwrap();
    assert!(!registry.info("mine").unwrap().is_authenticated);
    let events = drain(registry.get("mine").unwrap().call(request())).await;
    let want =
        "failed Auth: mine: not signed in to codex: there is no token; run `rookery login codex`";
    assert_eq!(told(&events), [want]);
    assert!(server.seen.lock().is_empty());
}

#[tokio::test]
async fn an_issuer_that_is_away_is_asked_again() {
    let signed = Signed::with_life(1).await;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let until = now() + 1000;
    while now() < until {
        tokio::task::yield_now().await;
    }
    signed.issuer.script("/token", IssuerReply::Json(503, json!({"error": "busy"})));
    let server = serve(vec![good()]).await;
    let events = drain(signed.registry(at(&server)).get("mine").unwrap().call(request())).await;
    let told = told(&events);
    assert!(
        told[0].starts_with("retry 2: mine: the issuer of codex cannot be reached"),
        "{told:?}"
    );
    assert!(told.last().is_some_and(|last| last.starts_with("done ")), "{told:?}");
}

#[tokio::test]
async fn a_token_is_not_sent_in_the_clear_to_another_machine_nor_to_a_server_that_was_not_named() {
    let signed = Signed::with_life(3600).await;
    for base_url in [Some("http://models.example.com/v1".to_owned()), None] {
        let events = drain(signed.registry(base_url).get("mine").unwrap().call(request())).await;
        let want = "failed Auth: mine gets no token: its base_url must be set, and use https";
        assert_eq!(told(&events), [want]);
    }
}

#[tokio::test]
async fn a_lent_key_comes_first() {
    let signed = Signed::with_life(3600).await;
    let server = serve(vec![good()]).await;
    let registry = signed.registry(at(&server));
    let loan = registry.lend("mine", None, "sk-lent").unwrap();
    let asked = rookery_agent::provider::ModelRequest { keys: vec![loan], ..request() };
    drain(registry.get("mine").unwrap().call(asked)).await;
    assert_eq!(bearers(&server), ["sk-lent"]);
}
