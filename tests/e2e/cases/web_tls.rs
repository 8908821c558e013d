//! The page over an encrypted connection: the certificate of the settings, and what follows when it is replaced.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rookery_testkit::{Home, PATIENCE, TestDaemon, wait_until};
use serde_json::json;
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};

/// Two certificates of `localhost`, with their keys.
const FIXTURES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/wire/src/transport/http/fixtures");

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(FIXTURES).join(name)).unwrap()
}

/// A daemon whose page has the first certificate, and where its files lie.
fn daemon(more: &str) -> TestDaemon {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    fs::write(home.join("web.pem"), fixture("one.pem")).unwrap();
    fs::write(home.join("web.key"), fixture("one.key")).unwrap();
    let at = home.path().display();
    let settings =
        format!("[web]\ntls_cert = \"{at}/web.pem\"\ntls_key = \"{at}/web.key\"\n{more}");
    fs::write(dir.join("config.toml"), settings).unwrap();
    TestDaemon::start_in(home)
}

/// What a client reads that trusts this certificate alone; nothing if it does not come to speak.
fn ask(port: u16, trusted: &str, request: &str) -> Option<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&fixture(trusted)).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = StreamOwned::new(client, stream);
    stream.write_all(request.as_bytes()).ok()?;
    let mut read = Vec::new();
    let mut chunk = [0; 4096];
    // All of its head; the connection stays open for more.
    while !read.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(count) => read.extend_from_slice(&chunk[..count]),
        }
    }
    Some(String::from_utf8_lossy(&read).into_owned())
}

fn port(url: &str, scheme: &str) -> u16 {
    let rest = url.strip_prefix(&format!("{scheme}://127.0.0.1:"));
    rest.and_then(|rest| rest.strip_suffix('/')?.parse().ok()).unwrap_or_else(|| panic!("{url}"))
}

#[test]
fn the_page_is_encrypted_and_its_certificate_may_be_replaced() {
    // An address that other machines reach needs no word more.
    let daemon = daemon("");
    let web = daemon.rookery(&["web", "--listen", "0.0.0.0:0", "--json"]).json();
    let port = port(web["url"].as_str().unwrap(), "https");
    let get = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    let answered = ask(port, "one.pem", &get).unwrap();
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    assert!(
        answered.contains(&format!("connect-src 'self' wss://localhost:{port};")),
        "{answered}"
    );
    assert_eq!(ask(port, "two.pem", &get), None);

    // A device that is paired gets the cookie that browsers guard, and enters by no other.
    let made = daemon.rookery(&["web", "--pair", "--json"]).json();
    assert!(made["url"].as_str().unwrap().starts_with("https://"), "{made}");
    let body = json!({"code": made["code"], "name": "x"}).to_string();
    let head = format!("Host: localhost:{port}\r\nOrigin: https://localhost:{port}\r\n");
    let pair = format!(
        "POST /pair HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let paired = ask(port, "one.pem", &pair).unwrap();
    let (_, cookie) = paired.split_once("__Host-rookery=").unwrap_or_else(|| panic!("{paired}"));
    let credential = cookie.split_once(';').unwrap().0;
    for (cookie, status) in [("__Host-rookery", 200), ("rookery", 401)] {
        let session =
            format!("GET /session HTTP/1.1\r\n{head}Cookie: {cookie}={credential}\r\n\r\n");
        let answered = ask(port, "one.pem", &session).unwrap();
        assert!(answered.starts_with(&format!("HTTP/1.1 {status}")), "{cookie}: {answered}");
    }

    // One that is broken changes nothing; a whole one counts from then on.
    let home = daemon.home();
    fs::write(home.join("web.pem"), "no certificate").unwrap();
    wait_until("the broken one was read", PATIENCE, || {
        fs::read_to_string(daemon.log()).unwrap_or_default().contains("stays as it was")
    });
    assert!(ask(port, "one.pem", &get).is_some());
    fs::write(home.join("web.key"), fixture("two.key")).unwrap();
    fs::write(home.join("web.pem.new"), fixture("two.pem")).unwrap();
    fs::rename(home.join("web.pem.new"), home.join("web.pem")).unwrap();
    wait_until("the new one is shown", PATIENCE, || ask(port, "two.pem", &get).is_some());
    assert_eq!(ask(port, "one.pem", &get), None);
    // The same where the files stay and what is in them changes.
    fs::write(home.join("web.key"), fixture("one.key")).unwrap();
    fs::write(home.join("web.pem"), fixture("one.pem")).unwrap();
    wait_until("the first is shown again", PATIENCE, || ask(port, "one.pem", &get).is_some());
}

#[test]
fn a_certificate_needs_both_files_and_plain_text_goes_before_it() {
    let daemon = daemon("listen = \"127.0.0.1:0\"\n");
    let web = daemon.rookery(&["web", "--plain", "--json"]).json();
    port(web["url"].as_str().unwrap(), "http");
    daemon.rookery(&["web", "stop"]).success();
    fs::remove_file(daemon.home().join("web.key")).unwrap();
    let refused = daemon.rookery(&["web"]).failure(1);
    assert!(refused.contains("web.key"), "{refused}");
    fs::write(daemon.home().join("web.key"), fixture("two.key")).unwrap();
    let refused = daemon.rookery(&["web"]).failure(1);
    assert!(refused.contains("cannot be used together"), "{refused}");
}
