//! Accounts in the real daemon: signed in to by its clients, used by its providers, kept in files of their own and
//! nowhere else, whatever happens to the daemon meanwhile.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rookery_issuer::{CLIENT, Issuer, Person, Reply, fetch};
use rookery_testkit::{Caller, Home, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until};
use serde_json::{Value, json};

use crate::model_server::ModelServer;
use crate::roder_link::Peer;

/// A home whose accounts have this issuer; everything is logged.
pub(crate) fn home_with(issuer: &Issuer, more: &str) -> Home {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let account =
        format!("issuer = \"{}\"\nclient_id = \"{CLIENT}\"\ncallback_port = 0\n", issuer.url());
    let config = format!(
        "{more}\n[auth.codex]\n{account}[auth.supergrok]\n{account}[daemon]\nlog = \"trace\"\n"
    );
    fs::write(dir.join("config.toml"), config).unwrap();
    home
}

fn auth_dir(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join("data/rookery/auth")
}

/// Every file below a directory that has a text in it, links left out.
pub(crate) fn files_with(dir: &Path, text: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_with(&entry.path(), text));
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Checks that nothing that an issuer gave lies anywhere but in the token files.
#[track_caller]
fn assert_kept_apart(daemon: &TestDaemon, issuer: &Issuer) {
    for secret in issuer.secrets() {
        for path in files_with(daemon.home().path(), &secret) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_token_file = path.parent() == Some(&auth_dir(daemon))
                && ["codex.json", "codex.json.bak", "supergrok.json"].contains(&name);
            assert!(is_token_file, "{} has {secret}", path.display());
        }
    }
}

#[track_caller]
fn assert_nothing_left(daemon: &TestDaemon, issuer: &Issuer) {
    for secret in issuer.secrets() {
        assert_eq!(files_with(daemon.home().path(), &secret), Vec::<PathBuf>::new(), "{secret}");
    }
    assert!(!auth_dir(daemon).join("codex.json").exists());
}

/// Begins a login, and gives what the client is shown.
#[track_caller]
fn pending(client: &Caller) -> Value {
    let (name, params) = client.notification(PATIENCE).expect("a notification");
    assert_eq!(name, "auth/loginPending");
    params
}

fn signed_in(daemon: &TestDaemon) -> bool {
    daemon.client().call("auth/codex/status", json!({}))["signed_in"] == true
}

#[test]
fn a_client_signs_in_and_no_other_hears_of_it() {
    let issuer = Issuer::start();
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let mut other = Peer::to(&daemon);
    let mut peer = Peer::to(&daemon);
    let id = peer.post("auth/codex/login", json!({}));
    let shown = peer.wait_told("auth/loginPending");
    assert!(shown["expiresAt"].as_str().unwrap().ends_with('Z'), "{shown}");
    // A login that waits does not hold its connection up.
    assert_eq!(peer.call("auth/codex/status", json!({}))["signed_in"], false);
    issuer.enter(shown["userCode"].as_str().unwrap(), true);
    let reply = peer.reply(id);
    assert_eq!(reply["result"]["account_id"], "acct-1");
    let told = peer.heard();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].0.as_str(), &told[0].1["ok"]), ("auth/loginCompleted", &json!(true)));
    assert_eq!(told[0].1["flowId"], shown["flowId"]);
    assert_eq!(other.heard(), []);
    let dir = auth_dir(&daemon);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!((mode(&dir), mode(&dir.join("codex.json"))), (0o700, 0o600));
    assert_kept_apart(&daemon, &issuer);
    for secret in issuer.secrets() {
        assert!(
            !format!("{shown} {reply} {told:?}").contains(&secret) || secret.len() < 10,
            "{secret}"
        );
    }
    peer.call("auth/codex/logout", json!({}));
    assert_nothing_left(&daemon, &issuer);
}

#[test]
fn files_are_private_whatever_the_umask() {
    let issuer = Issuer::start();
    issuer.state().person = Person::Allows;
    let home = home_with(&issuer, "");
    let mut command = home.command("/bin/sh");
    let script = format!("umask 000; exec {} daemon", rookery_binary().display());
    command.args(["-c", &script]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut daemon = command.spawn().unwrap();
    let socket = home.join("run/rookery/rookery.sock");
    let client = eventually("the daemon listens", PATIENCE, || Caller::connect(&socket).ok());
    for _ in 0..2 {
        client.call("auth/codex/login", json!({}));
    }
    client.call("auth/supergrok/login", json!({}));
    let dir = home.join("data/rookery/auth");
    let names = ["codex.json", "codex.json.bak", "codex.audit.jsonl", "supergrok.json"];
    for name in names {
        assert_eq!(fs::metadata(dir.join(name)).unwrap().mode() & 0o7777, 0o600, "{name}");
    }
    assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o7777, 0o700);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[test]
fn kill_9_during_a_login_leaves_nothing_and_after_it_everything() {
    let issuer = Issuer::start();
    let mut daemon = TestDaemon::start_in(home_with(&issuer, ""));
    // While a person is waited for.
    let client = daemon.client();
    let login = client.begin("auth/codex/login", json!({}));
    let code = pending(&client)["userCode"].as_str().unwrap().to_owned();
    daemon.kill9();
    assert!(login.end().is_err());
    issuer.enter(&code, true);
    daemon.restart();
    assert!(!signed_in(&daemon));
    assert_nothing_left(&daemon, &issuer);
    // While the code becomes tokens.
    issuer.hold("/token");
    let client = daemon.client();
    let login = client.begin("auth/codex/login", json!({ "flow": "browser" }));
    let page = pending(&client)["authorizeUrl"].as_str().unwrap().to_owned();
    let back = fetch(&page).location.unwrap();
    let visit = std::thread::spawn(move || std::panic::catch_unwind(|| fetch(&back)));
    wait_until("the code is brought to the issuer", PATIENCE, || {
        !issuer.asked("/token").is_empty()
    });
    daemon.kill9();
    assert!(login.end().is_err());
    issuer.release();
    let _ = visit.join();
    daemon.restart();
    assert!(!signed_in(&daemon));
    assert_nothing_left(&daemon, &issuer);
    // What was answered is kept.
    issuer.state().person = Person::Allows;
    let reply = daemon.client().call("auth/codex/login", json!({}));
    assert_eq!(reply["signedIn"], true);
    daemon.kill9();
    daemon.restart();
    assert_eq!(daemon.client().call("auth/codex/status", json!({})), reply);
    assert_kept_apart(&daemon, &issuer);
}

#[test]
fn a_half_written_file_of_a_killed_daemon_is_swept() {
    let issuer = Issuer::start();
    issuer.state().person = Person::Allows;
    let mut daemon = TestDaemon::start_in(home_with(&issuer, ""));
    daemon.client().call("auth/codex/login", json!({}));
    daemon.kill9();
    let left = auth_dir(&daemon).join(".codex.json.4711");
    fs::copy(auth_dir(&daemon).join("codex.json"), &left).unwrap();
    daemon.restart();
    assert!(!left.exists());
    assert!(signed_in(&daemon));
}

#[test]
fn a_client_that_goes_away_ends_its_login() {
    let issuer = Issuer::start();
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    let mut peer = Peer::to(&daemon);
    peer.post("auth/codex/login", json!({ "flow": "browser" }));
    let shown = peer.wait_told("auth/loginPending");
    let back = fetch(shown["authorizeUrl"].as_str().unwrap()).location.unwrap();
    let address = back.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    assert!(std::net::TcpStream::connect(&address).is_ok());
    drop(peer);
    wait_until("the port for the browser is closed", PATIENCE, || {
        std::net::TcpStream::connect(&address).is_err()
    });
    assert_nothing_left(&daemon, &issuer);
}

#[test]
fn the_login_of_a_server_on_stdio_is_shown_before_its_reply() {
    let issuer = Issuer::start();
    issuer.state().person = Person::Allows;
    let daemon = TestDaemon::start_in(home_with(&issuer, ""));
    for args in [&[][..], &["--standalone"]] {
        let mut peer = Peer::stdio(daemon.home(), args);
        peer.call("initialize", json!({}));
        let id = peer.post("auth/supergrok/login", json!({ "flow": "device" }));
        let told = peer.until(|name, _| name == "auth/loginCompleted");
        assert_eq!(told[0].0, "auth/loginPending", "{told:?}");
        assert_eq!(peer.reply(id)["result"]["accountId"], "person@example.com");
    }
}

#[test]
fn a_provider_is_sent_the_token_which_is_renewed_and_shown_nowhere() {
    let issuer = Issuer::start();
    {
        let mut state = issuer.state();
        // Renewed before every call.
        (state.person, state.token_life) = (Person::Allows, 60);
    }
    let server = ModelServer::start(Vec::new());
    let provider = format!(
        "provider = \"house\"\nmodel = \"house-model\"\n[providers.house]\nbase_url = \"{}\"\n\
         auth = \"codex\"\nmodels = [\"house-model\"]\n",
        server.url
    );
    let daemon = TestDaemon::start_in(home_with(&issuer, &provider));
    let mut peer = Peer::to(&daemon);
    let house = |peer: &mut Peer| {
        let list = peer.call("providers/list", json!({}));
        let all = list["providers"].as_array().unwrap().clone();
        all.into_iter().find(|provider| provider["id"] == "house").unwrap()
    };
    let before = house(&mut peer);
    assert_eq!((&before["auth_type"], &before["authenticated"]), (&json!("o_auth"), &json!(false)));
    let started = peer.call("thread/start", json!({ "cwd": daemon.home().path() }));
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    assert_eq!(started["thread"]["modelProvider"], "house", "{started}");
    peer.turn(&thread, "hello?");
    let failed = peer.wait_told("turn/completed");
    assert!(failed["turn"]["error"].to_string().contains("rookery login codex"), "{failed}");
    assert!(server.asked().is_empty());
    peer.call("auth/codex/login", json!({}));
    peer.wait_told("providers/changed");
    assert_eq!(house(&mut peer)["authenticated"], true);
    for _ in 0..2 {
        peer.turn(&thread, "hello?");
        let ended = peer.wait_told("turn/completed");
        assert_eq!(ended["turn"]["status"], "completed", "{ended}");
    }
    let sent: Vec<String> = server.asked().iter().map(|asked| bearer(&asked.head)).collect();
    assert_eq!(sent.len(), 2);
    assert!(sent[0] != sent[1] && sent.iter().all(|token| issuer.opens(token)), "{sent:?}");
    assert_kept_apart(&daemon, &issuer);
    let read = peer.call("thread/read", json!({ "threadId": thread, "includeTurns": true }));
    assert!(!sent.iter().any(|token| read.to_string().contains(token.as_str())));
    // A token that was taken back is replaced, and then the issuer refuses.
    issuer.script("/token", Reply::Json(400, json!({ "error": "invalid_grant" })));
    peer.call("auth/codex/logout", json!({}));
    assert_eq!(house(&mut peer)["authenticated"], false);
}

fn bearer(head: &str) -> String {
    let line = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("authorization").then_some(value)
    });
    line.unwrap_or_default().trim().strip_prefix("Bearer ").unwrap_or_default().to_owned()
}

#[test]
fn the_environment_names_another_issuer() {
    let (configured, named) = (Issuer::start(), Issuer::start());
    named.state().person = Person::Allows;
    let home = home_with(&configured, "");
    let mut command = home.command(rookery_binary());
    command.arg("daemon").env("RODER_AUTH_CODEX_ISSUER", named.url());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = command.spawn().unwrap();
    let socket = home.join("run/rookery/rookery.sock");
    let client = eventually("the daemon listens", PATIENCE, || Caller::connect(&socket).ok());
    client.call("auth/codex/login", json!({}));
    assert!(configured.asked("").is_empty());
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[test]
fn where_nothing_is_kept_nothing_is_touched() {
    let issuer = Issuer::start();
    let home = home_with(&issuer, "");
    let config = home.join("config/rookery/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("[auth]\npersist = false\n{text}")).unwrap();
    let dir = home.join("data/rookery/auth");
    fs::create_dir_all(&dir).unwrap();
    for path in [home.join("data"), home.join("data/rookery"), dir.clone()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let kept = r#"{"type":"oauth","refresh":"r","access":"a","expires":1,"account_id":"me"}"#;
    fs::write(dir.join("codex.json"), kept).unwrap();
    let daemon = TestDaemon::start_in(home);
    let client = daemon.client();
    for method in ["auth/codex/login", "auth/codex/logout"] {
        let refused = client.refused(method, json!({}));
        assert_eq!(refused.code, -32000);
        assert!(refused.message.contains("auth persistence is disabled"), "{}", refused.message);
    }
    assert_eq!(client.call("auth/codex/status", json!({}))["signed_in"], false);
    assert_eq!(fs::read_to_string(dir.join("codex.json")).unwrap(), kept);
    assert!(issuer.asked("").is_empty());
}

#[test]
fn the_token_file_of_another_product_is_not_read() {
    let issuer = Issuer::start();
    let home = home_with(&issuer, "");
    let foreign = r#"{"tokens":{"access_token":"foreign","refresh_token":"foreign"}}"#;
    for dir in [".codex", ".roder/auth", ".grok"] {
        fs::create_dir_all(home.join(dir)).unwrap();
        for name in ["auth.json", "codex.json"] {
            fs::write(home.join(dir).join(name), foreign).unwrap();
        }
    }
    let daemon = TestDaemon::start_in(home);
    assert!(!signed_in(&daemon));
}

#[test]
fn a_damaged_token_file_stops_nothing() {
    let issuer = Issuer::start();
    issuer.state().person = Person::Allows;
    let mut daemon = TestDaemon::start_in(home_with(&issuer, ""));
    daemon.client().call("auth/supergrok/login", json!({}));
    let file = auth_dir(&daemon).join("supergrok.json");
    daemon.kill9();
    fs::write(&file, "{\"access\": \"torn").unwrap();
    daemon.restart();
    assert_eq!(daemon.client().call("auth/supergrok/status", json!({}))["signed_in"], false);
    let names = fs::read_dir(auth_dir(&daemon)).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("supergrok.json.corrupt-")), "{names:?}");
    daemon.client().call("auth/supergrok/logout", json!({}));
    assert!(
        !fs::read_dir(auth_dir(&daemon))
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_str().unwrap().contains(".corrupt-") })
    );
}
