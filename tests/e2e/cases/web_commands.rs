//! `rookery web` and its commands as scripts see them: what they print, and what they refuse.

use std::fs;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;

use rookery_testkit::{Home, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use serde_json::{Value, json};

use crate::web_link::{Site, turn_on};

/// The members of an object, in the order of their names.
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

#[test]
fn every_command_has_its_shape() {
    let site = Site::start();
    let origin = site.origin();
    let web = site.daemon.rookery(&["web", "--json"]).json();
    assert_eq!(web, json!({"url": format!("{origin}/"), "origins": [origin], "devices": 0}));

    let made = site.pairing(&["--rights", "look", "--name", "den"]);
    assert_eq!(members(&made), ["code", "expiresAt", "rights", "short", "url"]);
    let left = made["expiresAt"].as_i64().unwrap() - now();
    assert!((500_000..=600_000).contains(&left), "{left} ms, of ten minutes");
    let short = made["short"].as_str().unwrap();
    assert!(short.len() == 9 && short.as_bytes()[4] == b'-', "{short}");
    assert!(short.chars().all(|sign| sign == '-' || sign.is_ascii_alphanumeric()), "{short}");

    let answer = site.post("/pair", &[], &json!({"code": made["code"], "name": ""}));
    let credential = answer.credential();
    let id = credential.split_once('.').unwrap().0;
    let mut link = site.link(&credential);
    link.open();
    let list = || site.daemon.rookery(&["web", "devices", "--json"]).json();
    wait_until("it is connected", PATIENCE, || list()["devices"][0]["connected"] == true);
    let listed = list();
    assert_eq!(members(&listed), ["devices"]);
    let device = &listed["devices"][0];
    assert_eq!(members(device), ["connected", "createdAt", "id", "name", "rights", "seenAt"]);
    assert_eq!(
        (&device["id"], &device["name"], &device["rights"]),
        (&json!(id), &json!("den"), &json!("look"))
    );
    for moment in ["createdAt", "seenAt"] {
        let ago = now() - device[moment].as_i64().unwrap();
        assert!((0..600_000).contains(&ago), "{moment} was {ago} ms ago");
    }

    let named = site.daemon.rookery(&["web", "rename", id, "attic", "--json"]).json();
    assert_eq!(named["name"], "attic");
    assert_eq!(members(&named), members(device));
    let status = site.daemon.rookery(&["status", "--json"]).json();
    let web = json!({"url": format!("{origin}/"), "origins": [origin], "devices": 1});
    assert_eq!(status["web"], web);
    let viewer = &status["viewers"][0];
    assert_eq!((&viewer["face"], &viewer["rights"]), (&json!("web"), &json!("look")));
    assert_eq!(
        members(viewer),
        ["face", "isDesk", "name", "page", "rights", "size", "viewer"],
        "{viewer}"
    );
    assert_eq!(viewer["size"], json!({"cols": 80, "rows": 24}));

    let revoked = site.daemon.rookery(&["web", "revoke", id, "--json"]).json();
    assert_eq!(revoked, json!({"revoked": 1}));
    let stopped = || site.daemon.rookery(&["web", "stop", "--json"]).json();
    assert_eq!(stopped(), json!({"stopped": true}));
    assert_eq!(stopped(), json!({"stopped": false}));
    assert_eq!(site.daemon.rookery(&["status", "--json"]).json().get("web"), None);
}

#[test]
fn a_person_reads_the_link_the_code_and_the_way_in() {
    let site = Site::start();
    let said = site.daemon.rookery(&["web", "--pair", "--no-qr"]).success();
    let link = said.lines().find_map(|line| line.strip_prefix("link  ")).unwrap();
    assert!(link.starts_with(&format!("{}/#pair=", site.origin())), "{said}");
    assert!(said.lines().any(|line| line.starts_with("code  ") && line.len() == 15), "{said}");
    let refused = site.daemon.rookery(&["web", "--rights", "look"]).failure(2);
    assert!(refused.contains("--pair"), "{refused}");
    let refused = site.daemon.rookery(&["web", "rename", "none", "x"]).failure(1);
    assert!(refused.contains("no device has the id"), "{refused}");
}

#[test]
fn a_terminal_shows_the_code_as_a_picture_and_says_how_others_get_in() {
    let site = Site::start();
    let show = |args: &[&str]| {
        let all = [&["web", "--pair"], args].concat();
        let mut pty = TestPty::spawn(site.daemon.home(), rookery_binary(), &all, (70, 120));
        pty.wait_text("see docs/remote.md for certificates");
        assert!(pty.wait_ended().success());
        pty.text()
    };
    let shown = show(&[]);
    let is_picture = |line: &&str| line.contains('█') || line.contains('▀') || line.contains('▄');
    assert!(shown.lines().filter(is_picture).count() > 10, "{shown}");
    let port = site.port;
    for part in [
        format!("link  {}/#pair=", site.origin()),
        "code  ".to_owned(),
        "either pairs one device, within 10 minutes".to_owned(),
        "only this machine reaches that link".to_owned(),
        format!("tailscale serve --bg {port}"),
        "origins = [\"https://NAME.TAILNET.ts.net\"]".to_owned(),
        format!("ssh -L {port}:127.0.0.1:{port} HOST"),
        format!("http://localhost:{port}"),
    ] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }
    let plain = show(&["--no-qr"]);
    assert_eq!(plain.lines().filter(is_picture).count(), 0, "{plain}");
}

#[test]
fn the_browser_of_this_machine_is_opened_with_a_link_that_pairs() {
    let home = Home::new();
    let bin = home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let opener = bin.join("xdg-open");
    let opened = home.join("opened");
    fs::write(
        &opener,
        format!("#!/bin/sh\nprintf '%s' \"$1\" > {0}.new && mv {0}.new {0}\n", opened.display()),
    )
    .unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let site = Site::start_in(home);
    let origin = site.origin();
    // The code is the browser's; what is printed is where the page is.
    let web = site.daemon.rookery(&["web", "--open", "--rights", "decide", "--json"]).json();
    assert_eq!(web, json!({"url": format!("{origin}/"), "origins": [origin], "devices": 0}));
    let url = || {
        wait_until("the browser is opened", PATIENCE, || opened.exists());
        let url = fs::read_to_string(&opened).unwrap();
        fs::remove_file(&opened).unwrap();
        url
    };
    let link = url();
    let code = link.strip_prefix(&format!("{origin}/#pair=")).unwrap();
    let answer = site.post("/pair", &[], &json!({"code": code, "name": "here"}));
    assert_eq!((answer.status, &answer.json()["rights"]), (200, &json!("decide")));
    let shown = site.daemon.rookery(&["web", "--open"]).success();
    assert_eq!(shown, format!("web  {origin}/\n"));
    url();
    // Where none can be opened, the link is what a person needs.
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o644)).unwrap();
    let complaint = site.daemon.rookery(&["web", "--open"]).failure(1);
    assert!(complaint.contains(&format!("open {origin}/#pair=")), "{complaint}");
}

/// An address of this machine that other machines reach, if it has one. Nothing is sent.
fn outer_address() -> Option<std::net::IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[test]
fn what_is_served_on_loopback_is_reached_at_no_other_address() {
    let daemon = TestDaemon::start();
    let port = turn_on(&daemon);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    if let Some(outer) = outer_address() {
        assert!(TcpStream::connect((outer, port)).is_err(), "{outer}:{port} answers");
    }
    for bad in ["nowhere", "127.0.0.1", "localhost:80", "127.0.0.1:99999"] {
        daemon.rookery(&["web", "--listen", bad]).failure(2);
    }
}

#[test]
fn settings_say_where_it_listens_and_what_it_is_called() {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let settings = "[web]\nenabled = true\nlisten = \"127.0.0.1:0\"\norigins = [\"https://box.tail.ts.net\"]\ndefault_rights = \"decide\"\n";
    fs::write(dir.join("config.toml"), settings).unwrap();
    let daemon = TestDaemon::start_in(home);
    // It is on without being turned on, and says the best way in first.
    let web = daemon.rookery(&["web", "--json"]).json();
    assert_eq!(web["origins"][0], "https://box.tail.ts.net");
    let port: u16 = web["url"]
        .as_str()
        .and_then(|url| url.strip_prefix("http://127.0.0.1:")?.strip_suffix('/')?.parse().ok())
        .unwrap();
    let site = Site { daemon, port };
    let made = site.pairing(&[]);
    assert_eq!(made["rights"], "decide");
    let link = made["url"].as_str().unwrap();
    assert!(link.starts_with("https://box.tail.ts.net/#pair="), "{link}");
    // A page that came through the proxy is let in by its name, and gets a cookie that only https carries.
    let name = ("Host", "box.tail.ts.net");
    let origin = ("Origin", "https://box.tail.ts.net");
    let body = json!({"code": made["code"], "name": "phone"}).to_string();
    let kind = ("Content-Type", "application/json");
    let request = site.request("POST", "/pair", &[name, origin, kind], &body);
    let answer = site.send(request.as_bytes());
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-rookery=") && cookie.ends_with("; Secure"), "{cookie}");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("connect-src 'self' wss://box.tail.ts.net;"), "{policy}");
    let other = site.request("GET", "/", &[("Host", "box.tail.ts.net:8080")], "");
    assert_eq!(site.send(other.as_bytes()).status, 403);
}
