//! The server of the page: turned on and off, pairing, what devices may do, and how they are cut off.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use rookery_testkit::{Home, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::web_link::{Site, turn_on};

/// What a call is refused with that needs more rights.
const DENIED: i64 = -32012;

fn devices(site: &Site) -> Vec<Value> {
    let listed = site.daemon.rookery(&["web", "devices", "--json"]).json();
    listed["devices"].as_array().unwrap().clone()
}

#[test]
fn the_page_is_off_until_it_is_turned_on_and_stays_on_over_restarts() {
    let mut daemon = TestDaemon::start();
    let record = daemon.home().join("run/rookery/web.json");
    assert!(!record.exists());
    assert_eq!(daemon.client().status().get("web"), None);
    let port = turn_on(&daemon);
    let said = daemon.rookery(&["web"]).success();
    assert_eq!(said, format!("web  http://127.0.0.1:{port}/\n"));
    let mode = fs::metadata(&record).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let noted: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    assert_eq!(noted, json!({"url": format!("http://127.0.0.1:{port}/"), "pid": daemon.pid()}));
    let status = daemon.client().status();
    let origin = format!("http://127.0.0.1:{port}");
    let web = json!({"url": format!("{origin}/"), "origins": [origin], "devices": 0});
    assert_eq!(status["web"], web);
    // At the same place, so that pages find it again.
    daemon.kill9();
    daemon.restart();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    daemon.rookery(&["web", "stop"]).success();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(!record.exists());
    daemon.kill9();
    daemon.restart();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn only_loopback_is_served_in_plain_text_unless_said() {
    let daemon = TestDaemon::start();
    let refused = daemon.rookery(&["web", "--listen", "0.0.0.0:0"]).failure(1);
    assert!(refused.contains("tls_cert") && refused.contains("--plain"), "{refused}");
    let web = daemon.rookery(&["web", "--listen", "0.0.0.0:0", "--plain", "--json"]).json();
    assert!(web["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{web}");
}

#[test]
fn a_port_that_is_taken_is_an_error_that_names_who_has_it() {
    let daemon = TestDaemon::start();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = daemon.rookery(&["web", "--listen", &address]).failure(1);
    assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
}

#[test]
fn a_link_pairs_once_and_the_device_has_its_rights() {
    let site = Site::start();
    let made = site.pairing(&["--rights", "decide", "--name", "phone"]);
    let (url, code) = (made["url"].as_str().unwrap(), made["code"].as_str().unwrap());
    assert_eq!(url, format!("{}/#pair={code}", site.origin()));
    assert_eq!((made["rights"].as_str(), code.len()), (Some("decide"), 43));
    let answer = site.post("/pair", &[], &json!({"code": code, "name": ""}));
    assert_eq!(answer.status, 200);
    assert_eq!(
        (&answer.json()["name"], &answer.json()["rights"]),
        (&json!("phone"), &json!("decide"))
    );
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=15552000"), "{cookie}");
    assert_eq!(site.post("/pair", &[], &json!({"code": code, "name": "x"})).status, 401);
    let session = site.session(&answer.credential());
    assert_eq!(session.status, 200);
    assert_eq!(session.json()["rights"], "decide");
    let [device] = &devices(&site)[..] else { panic!("one device") };
    assert_eq!((&device["name"], &device["connected"]), (&json!("phone"), &json!(false)));
    let id = device["id"].as_str().unwrap();
    site.daemon.rookery(&["web", "rename", id, "Ada's phone"]).success();
    assert_eq!(devices(&site)[0]["name"], "Ada's phone");
    // A program shows the same without an origin.
    let bearer = format!("Bearer {}", answer.credential());
    assert_eq!(site.ask("GET", "/session", &[("Authorization", &bearer)]).status, 200);
}

#[test]
fn a_code_is_typed_in_any_spelling_and_five_wrong_ones_void_all() {
    let site = Site::start();
    let made = site.pairing(&[]);
    let typed = made["short"].as_str().unwrap().to_lowercase().replace('-', " ");
    assert_eq!(site.post("/pair", &[], &json!({"code": typed, "name": "typed"})).status, 200);
    let made = site.pairing(&[]);
    let (short, long) = (made["short"].clone(), made["code"].clone());
    for _ in 0..5 {
        assert_eq!(site.post("/pair", &[], &json!({"code": "AAAA-AAAA"})).status, 401);
    }
    assert_eq!(site.post("/pair", &[], &json!({"code": short})).status, 401);
    assert_eq!(site.post("/pair", &[], &json!({"code": long})).status, 401);
}

#[test]
fn a_page_sees_and_does_what_its_device_may() {
    let site = Site::start();
    let terminal = site.daemon.client().open_sh("echo READY; cat");
    site.daemon.client().wait_text(terminal, "READY");
    let mut full = site.link(&site.device("full"));
    let opened = full.open();
    assert_eq!(opened["rights"], "full");
    full.call("rookery/view/go", json!({"page": "workspace", "terminal": terminal}));
    full.call("rookery/terminals/list", json!({}));
    // The daemon itself is for those at its machine, and other dialects are not spoken here.
    for method in
        ["rookery/web/pair", "rookery/web/stop", "rookery/web/devices", "rookery/shutdown"]
    {
        assert_eq!(full.refused(method, json!({})), DENIED, "{method}");
    }
    assert_eq!(full.refused("session.list", json!({})), -32601);
    assert_eq!(full.refused("thread/start", json!({})), -32601);
    let mut look = site.link(&site.device("look"));
    assert_eq!(look.open()["rights"], "look");
    for method in [
        "rookery/view/key",
        "rookery/view/thread/new",
        "rookery/requests/answer",
        "rookery/terminals/open",
    ] {
        assert_eq!(look.refused(method, json!({})), DENIED, "{method}");
    }
    let mut decide = site.link(&site.device("decide"));
    assert_eq!(decide.open()["rights"], "decide");
    assert_eq!(decide.refused("rookery/view/key", json!({})), DENIED);
    let answered = decide.refused("rookery/requests/answer", json!({}));
    assert_ne!(answered, DENIED);
    let viewers = site.daemon.client().status()["viewers"].clone();
    assert_eq!(viewers.as_array().unwrap().len(), 3);
}

#[test]
fn a_notification_beyond_the_rights_of_a_device_ends_its_link() {
    let site = Site::start();
    let terminal = site.daemon.client().open_sh("stty -echo; echo READY; cat");
    site.daemon.client().wait_text(terminal, "READY");
    for rights in ["look", "decide"] {
        let credential = site.device(rights);
        let mut link = site.link(&credential);
        link.open();
        // What it may, it may without being asked as well.
        link.tell("rookery/view/focus", json!({"n": 1, "has": true}));
        link.call("rookery/status", json!({}));
        link.tell("rookery/view/text", json!({"n": 2, "t": terminal, "text": "typed"}));
        assert_eq!(link.ended(), (None, 4403), "{rights}");
        // It is still a device.
        site.link(&credential).open();
    }
    let mut full = site.link(&site.device("full"));
    full.open();
    full.tell("rookery/view/text", json!({"n": 1, "t": terminal, "text": "typed\r"}));
    full.tell("rookery/no/such", json!({}));
    full.call("rookery/status", json!({}));
    site.daemon.client().wait_text(terminal, "typed");
    assert_eq!(site.daemon.client().screen(terminal).matches("typed").count(), 1);
}

#[test]
fn a_revoked_device_is_cut_off_and_told_so() {
    let site = Site::start();
    let (lost, kept) = (site.device("full"), site.device("full"));
    let (mut one, mut other) = (site.link(&lost), site.link(&kept));
    one.open();
    // A page that has not opened a viewer yet is cut off as well.
    let silent = site.link(&lost);
    other.open();
    let id = lost.split_once('.').unwrap().0;
    wait_until("the device is connected", PATIENCE, || {
        devices(&site).iter().any(|device| device["id"] == id && device["connected"] == true)
    });
    site.daemon.rookery(&["web", "revoke", id]).success();
    assert_eq!(one.ended(), (Some(json!("revoked")), 4401));
    assert_eq!(silent.ended().1, 4401);
    other.call("rookery/status", json!({}));
    let answer = site.session(&lost);
    assert_eq!(answer.status, 401);
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"), "{answer:?}");
    // Nor is a cookie forgotten that another daemon of this machine may have given.
    let answer = site.session("0123456789.secret");
    assert_eq!((answer.status, answer.header("set-cookie")), (401, None));
    site.daemon.rookery(&["web", "revoke", "all"]).success();
    assert_eq!(other.ended(), (Some(json!("revoked")), 4401));
    let missing = site.daemon.rookery(&["web", "revoke", id]).failure(1);
    assert!(missing.contains("no device has the id"), "{missing}");
}

#[test]
fn the_ninth_connection_of_a_device_takes_the_place_of_its_oldest() {
    let site = Site::start();
    let credential = site.device("full");
    let mut links: Vec<_> = (0..8).map(|_| site.link(&credential)).collect();
    links.iter_mut().for_each(|link| drop(link.open()));
    let mut ninth = site.link(&credential);
    ninth.open();
    assert_eq!(links.remove(0).ended(), (Some(json!("replaced")), 4409));
    links[0].call("rookery/status", json!({}));
}

#[test]
fn a_stop_is_told_to_pages_and_devices_stay_paired() {
    let mut site = Site::start();
    let credential = site.device("full");
    let mut link = site.link(&credential);
    link.open();
    site.daemon.rookery(&["web", "stop"]).success();
    assert_eq!(link.ended(), (Some(json!("stopping")), 1001));
    site.port = turn_on(&site.daemon);
    let mut link = site.link(&credential);
    link.open();
    site.daemon.rookery(&["down"]).success();
    assert_eq!(link.ended(), (Some(json!("stopping")), 1001));
    site.daemon.wait_ended();
    site.daemon.restart();
    assert_eq!(site.session(&credential).status, 200);
}

#[test]
fn a_restart_is_told_to_pages_as_one() {
    let site = Site::start();
    let credential = site.device("full");
    let mut link = site.link(&credential);
    link.open();
    // A page that has not opened a viewer yet hears of it as well.
    let silent = site.link(&credential);
    site.daemon.rookery(&["restart"]).success();
    assert_eq!(link.ended(), (Some(json!("restarting")), 1012));
    assert_eq!(silent.ended().1, 1012);
    site.link(&credential).open();
    // The new one is no child of the test.
    site.daemon.rookery(&["down", "--all"]).success();
}

#[test]
fn what_a_page_prefers_is_kept_for_its_device() {
    let site = Site::start();
    let (one, other) = (site.device("full"), site.device("full"));
    let mut link = site.link(&one);
    link.open();
    link.call("rookery/view/prefs", json!({"set": {"side": 30}}));
    let mut again = site.link(&one);
    again.open();
    let kept = again.call("rookery/view/prefs", json!({"get": true}));
    assert_eq!(kept["prefs"]["side"], 30);
    let mut another = site.link(&other);
    another.open();
    let kept = another.call("rookery/view/prefs", json!({"get": true}));
    assert_eq!(kept["prefs"], json!({}));
}

#[test]
fn a_server_of_our_own_is_not_in_the_way_and_what_is_said_takes_effect() {
    let site = Site::start();
    let credential = site.device("full");
    let (here, everywhere) = (site.host(), format!("0.0.0.0:{}", site.port));
    let turn = |args: &[&str]| site.daemon.rookery(&[&["web", "--json"], args].concat()).json();
    let mut link = site.link(&credential);
    link.open();
    turn(&["--listen", &everywhere, "--plain"]);
    assert_eq!(link.ended(), (Some(json!("restarting")), 1012));
    // What is not said stays as it is.
    let mut link = site.link(&credential);
    link.open();
    turn(&[]);
    turn(&["--plain"]);
    link.call("rookery/status", json!({}));
    // Without the word it is said no more.
    let refused = site.daemon.rookery(&["web", "--listen", &everywhere]).failure(1);
    assert!(refused.contains("--plain"), "{refused}");
    link.call("rookery/status", json!({}));
    let web = turn(&["--listen", &here]);
    assert_eq!(web["origins"], json!([site.origin()]));
    assert_eq!(link.ended(), (Some(json!("restarting")), 1012));
    site.link(&credential).open();
}

#[test]
fn a_page_that_should_be_on_and_is_not_is_reported_and_comes_back_where_it_was() {
    let mut site = Site::start();
    let credential = site.device("full");
    let record = site.daemon.home().join("run/rookery/web.json");
    site.daemon.kill9();
    assert!(record.exists(), "it was not asked to end");
    let taken = TcpListener::bind(("127.0.0.1", site.port)).unwrap();
    site.daemon.restart();
    assert!(!record.exists());
    let status = site.daemon.client().status();
    assert_eq!(status.get("web"), None);
    let problem = status["webProblem"].as_str().unwrap();
    assert!(problem.contains("is taken by") && problem.contains(&site.host()), "{problem}");
    assert!(site.daemon.rookery(&["status"]).success().contains(problem));
    // Without another word it is meant to be where pages look for it.
    let refused = site.daemon.rookery(&["web"]).failure(1);
    assert!(refused.contains(&site.host()), "{refused}");
    drop(taken);
    site.daemon.rookery(&["web"]).success();
    site.link(&credential).open();
    assert_eq!(site.daemon.client().status().get("webProblem"), None);
}

#[test]
fn settings_take_effect_when_it_is_turned_on_again() {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let enabled = "[web]\nenabled = true\nlisten = \"127.0.0.1:0\"\n";
    fs::write(dir.join("config.toml"), enabled).unwrap();
    let mut daemon = TestDaemon::start_in(home);
    let web = daemon.rookery(&["web", "--json"]).json();
    let origins = format!("{enabled}origins = [\"https://box.tail.ts.net\"]\n");
    fs::write(dir.join("config.toml"), origins).unwrap();
    let made = daemon.rookery(&["web", "--pair", "--json"]).json();
    let link = made["url"].as_str().unwrap();
    assert!(link.starts_with("https://box.tail.ts.net/#pair="), "{link}");
    // Settings that cannot be read change nothing.
    fs::write(dir.join("config.toml"), "[web\n").unwrap();
    let refused = daemon.rookery(&["web"]).failure(1);
    assert!(refused.contains("config.toml") && refused.contains("line 1"), "{refused}");
    assert_ne!(daemon.client().status().get("web"), None);
    // It was asked for, and so stays on when the settings no longer say so.
    fs::write(dir.join("config.toml"), "[web]\nlisten = \"127.0.0.1:0\"\n").unwrap();
    daemon.kill9();
    daemon.restart();
    let after = daemon.rookery(&["status", "--json"]).json()["web"].clone();
    assert!(after["url"].is_string() && web["url"].is_string(), "{after}");
}

#[test]
fn a_device_forgets_itself() {
    let site = Site::start();
    let credential = site.device("full");
    let cookie = format!("rookery={credential}");
    let answer = site.post("/logout", &[("Cookie", &cookie)], &json!({}));
    assert_eq!(answer.status, 200);
    assert!(answer.header("set-cookie").unwrap().starts_with("rookery=;"), "{answer:?}");
    assert!(devices(&site).is_empty());
    assert_eq!(site.session(&credential).status, 401);
}

#[test]
fn the_files_of_the_page_never_change_at_their_address() {
    let site = Site::start();
    let credential = site.device("full");
    let build = site.session(&credential).json()["build"].as_str().unwrap().to_owned();
    let page = site.ask("GET", "/", &[]);
    assert_eq!((page.status, page.header("cache-control")), (200, Some("no-cache")));
    assert!(page.body.contains(&format!("/a/{build}/")), "{}", page.body);
    assert!(!page.body.contains("__BUILD__"));
    let script = site.ask("GET", &format!("/a/{build}/link.js"), &[]);
    assert_eq!(script.status, 200);
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(script.header("cache-control"), Some("public, max-age=31536000, immutable"));
    for path in [
        "/a/0/link.js".to_owned(),
        format!("/a/{build}/"),
        format!("/a/{build}/../link.js"),
        format!("/a/{build}/none.js"),
    ] {
        assert_eq!(site.ask("GET", &path, &[]).status, 404, "{path}");
    }
}
