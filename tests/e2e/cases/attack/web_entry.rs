//! The server of the page: whoever is no paired page of ours is refused, however it asks, and keeps no one else
//! out. No secret of a device lies anywhere.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;

use rookery_testkit::{Home, PATIENCE, wait_until};
use serde_json::json;

use crate::web_link::{Answer, Site, read_answer};

/// What every answer carries.
fn assert_guarded(answer: &Answer, what: &str) {
    let policy = answer.header("content-security-policy");
    let policy = policy.unwrap_or_else(|| panic!("{what}: no policy: {answer:?}"));
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types rookery",
    ] {
        assert!(policy.contains(part), "{what}: {policy}");
    }
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{what}");
    }
    assert!(answer.header("permissions-policy").is_some(), "{what}");
    assert!(answer.header("access-control-allow-origin").is_none(), "{what}");
}

#[test]
fn forty_ways_in_are_refused_and_the_next_page_enters_at_once() {
    let site = Site::start();
    let credential = site.device("full");
    let (id, secret) = credential.split_once('.').unwrap();
    let revoked = site.device("full");
    let revoked_id = revoked.split_once('.').unwrap().0;
    site.daemon.rookery(&["web", "revoke", revoked_id]).success();
    let (host, own) = (site.host(), site.origin());
    let port = site.port;
    let good = format!("rookery={credential}");
    let cookie = |value: &str| format!("rookery={value}");
    let (wrong, gone) = (cookie(&format!("{id}.{}", "A".repeat(43))), cookie(&revoked));
    let (swapped, bare, cut) =
        (cookie(&format!("{revoked_id}.{secret}")), cookie(secret), cookie(&credential[..20]));
    let bearer = format!("Bearer {credential}");
    let in_url = format!("/link?token={credential}&rookery={credential}");
    let link = |headers: &[(&str, &str)]| site.handshake(headers);
    let ask = |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
        site.request(method, path, headers, body)
    };
    let json = ("Content-Type", "application/json");
    let (cookied, from_us) = (("Cookie", good.as_str()), ("Origin", own.as_str()));
    let other = format!("http://localhost:{port}");
    let attempts: Vec<(&str, String, [u16; 2])> = vec![
        ("nothing", link(&[]), [401, 401]),
        ("an origin alone", link(&[from_us]), [401, 401]),
        ("a cookie alone", link(&[cookied]), [403, 403]),
        ("a foreign origin", link(&[cookied, ("Origin", "https://evil.example")]), [403, 403]),
        ("an origin of another name of ours", link(&[cookied, ("Origin", &other)]), [403, 403]),
        (
            "an origin with another scheme",
            link(&[cookied, ("Origin", &format!("https://{host}"))]),
            [403, 403],
        ),
        (
            "an origin without the port",
            link(&[cookied, ("Origin", "http://127.0.0.1")]),
            [403, 403],
        ),
        (
            "an origin that begins like ours",
            link(&[cookied, ("Origin", &format!("{own}.evil.example"))]),
            [403, 403],
        ),
        (
            "an origin with a user",
            link(&[cookied, ("Origin", &format!("http://{host}@evil.example"))]),
            [403, 403],
        ),
        ("the origin of a sandbox", link(&[cookied, ("Origin", "null")]), [403, 403]),
        ("an empty origin", link(&[cookied, ("Origin", "")]), [403, 403]),
        ("two origins", link(&[cookied, from_us, ("Origin", "https://evil.example")]), [403, 403]),
        ("our origin twice", link(&[cookied, from_us, from_us]), [403, 403]),
        (
            "a cross-site fetch",
            link(&[cookied, from_us, ("Sec-Fetch-Site", "cross-site")]),
            [403, 403],
        ),
        (
            "a same-site fetch",
            link(&[cookied, from_us, ("Sec-Fetch-Site", "same-site")]),
            [403, 403],
        ),
        (
            "a fetch of two kinds",
            link(&[
                cookied,
                from_us,
                ("Sec-Fetch-Site", "same-origin"),
                ("Sec-Fetch-Site", "none"),
            ]),
            [403, 403],
        ),
        (
            "a foreign host",
            link(&[("Host", "evil.example"), cookied, ("Origin", "http://evil.example")]),
            [403, 403],
        ),
        (
            "a rebound name",
            link(&[
                ("Host", &format!("evil.example:{port}")),
                cookied,
                ("Origin", &format!("http://evil.example:{port}")),
            ]),
            [403, 403],
        ),
        (
            "a host that ends like ours",
            link(&[("Host", "localhost.evil.example"), cookied, from_us]),
            [403, 403],
        ),
        (
            "a name below localhost",
            link(&[
                ("Host", &format!("app.localhost:{port}")),
                cookied,
                ("Origin", &format!("http://app.localhost:{port}")),
            ]),
            [403, 403],
        ),
        (
            "another address of loopback",
            link(&[
                ("Host", &format!("127.0.0.2:{port}")),
                cookied,
                ("Origin", &format!("http://127.0.0.2:{port}")),
            ]),
            [403, 403],
        ),
        ("another address", link(&[("Host", "192.168.1.5"), cookied, from_us]), [403, 403]),
        (
            "no host",
            link(&[cookied, from_us]).replacen(&format!("Host: {host}\r\n"), "", 1),
            [400, 400],
        ),
        ("an empty host", link(&[("Host", ""), cookied, from_us]), [400, 400]),
        (
            "two hosts",
            link(&[("Host", &host), ("Host", "evil.example"), cookied, from_us]),
            [400, 400],
        ),
        ("our host twice", link(&[("Host", &host), ("Host", &host), cookied, from_us]), [400, 400]),
        ("a host with a user", link(&[("Host", "x@127.0.0.1"), cookied, from_us]), [400, 400]),
        (
            "a target of another server",
            link(&[cookied, from_us]).replacen("GET /link", "GET http://evil.example/link", 1),
            [400, 400],
        ),
        ("a wrong secret", link(&[("Cookie", &wrong), from_us]), [401, 429]),
        ("a revoked device", link(&[("Cookie", &gone), from_us]), [401, 429]),
        ("the secret of another device", link(&[("Cookie", &swapped), from_us]), [401, 429]),
        ("a secret without its device", link(&[("Cookie", &bare), from_us]), [401, 429]),
        ("half a secret", link(&[("Cookie", &cut), from_us]), [401, 429]),
        (
            "a cookie of encrypted connections",
            link(&[("Cookie", &good.replace("rookery", "__Host-rookery")), from_us]),
            [401, 429],
        ),
        ("a bearer of a page", link(&[("Authorization", &bearer), from_us]), [401, 429]),
        (
            "a bearer of a foreign page",
            link(&[("Authorization", &bearer), ("Origin", "https://evil.example")]),
            [403, 403],
        ),
        ("a token in the address", link(&[from_us]).replacen("/link", &in_url, 1), [401, 429]),
        (
            "a session for a foreign page",
            ask("GET", "/session", &[cookied, ("Origin", "https://evil.example")], ""),
            [403, 403],
        ),
        ("a session without origin or fetch", ask("GET", "/session", &[cookied], ""), [403, 403]),
        (
            "a form of a foreign page",
            ask(
                "POST",
                "/pair",
                &[
                    ("Origin", "https://evil.example"),
                    ("Content-Type", "application/x-www-form-urlencoded"),
                ],
                "code=x&name=y",
            ),
            [403, 403],
        ),
        (
            "a form of our own",
            ask("POST", "/pair", &[from_us, ("Content-Type", "text/plain")], "{\"code\": \"x\"}"),
            [415, 415],
        ),
        (
            "a log out by a foreign page",
            ask("POST", "/logout", &[cookied, ("Origin", "https://evil.example"), json], "{}"),
            [403, 403],
        ),
        ("a log out without an origin", ask("POST", "/logout", &[cookied, json], "{}"), [403, 403]),
        (
            "a pairing by a cookie without an origin",
            ask("POST", "/pair", &[cookied, json], "{\"code\": \"x\"}"),
            [403, 403],
        ),
        ("a wrong code", ask("POST", "/pair", &[from_us, json], "{\"code\": \"x\"}"), [401, 401]),
        ("a body that is no JSON", ask("POST", "/pair", &[from_us, json], "code"), [400, 400]),
        (
            "a body that is too long",
            ask(
                "POST",
                "/pair",
                &[from_us, json],
                &format!("{{\"code\": \"{}\"}}", "x".repeat(5000)),
            ),
            [413, 413],
        ),
        (
            "a post with a cookie behind another bearer",
            ask("POST", "/logout", &[cookied, ("Authorization", "Bearer x"), json], "{}"),
            [403, 403],
        ),
        ("another method", ask("DELETE", "/session", &[cookied, from_us], ""), [405, 405]),
        ("a method to look around", ask("OPTIONS", "/link", &[cookied, from_us], ""), [405, 405]),
        ("a route that is not there", ask("GET", "/link/", &[cookied, from_us], ""), [404, 404]),
        ("a method at no route", ask("PUT", "/nowhere", &[], ""), [404, 404]),
    ];
    assert!(attempts.len() >= 40, "{}", attempts.len());
    for (what, request, wanted) in &attempts {
        let answer = site.send(request.as_bytes());
        assert!(wanted.contains(&answer.status), "{what}: {answer:?}");
        assert!(!answer.body.contains(secret), "{what}");
        assert_guarded(&answer, what);
        // The device is still there, and its page enters.
        assert_eq!(site.session(&credential).status, 200, "after {what}");
    }
    site.link(&credential).open();
}

#[test]
fn every_answer_carries_the_rules_of_the_page() {
    let site = Site::start();
    for (method, path, status) in [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("GET", "/session", 401),
        ("GET", "/link", 401),
        ("GET", "/nowhere", 404),
        ("POST", "/", 405),
        ("GET", "/pair", 405),
    ] {
        assert_whole(&site, &site.request(method, path, &[], ""), status);
    }
    let credential = site.device("look");
    let build = site.session(&credential).json()["build"].as_str().unwrap().to_owned();
    let file = format!("/a/{build}/icons/192.png");
    for path in ["/manifest.webmanifest", "/sw.js", &format!("/a/{build}/app.js"), &file] {
        assert_whole(&site, &site.request("GET", path, &[], ""), 200);
    }
    let (cookie, origin) = (format!("rookery={credential}"), site.origin());
    assert_whole(&site, &site.handshake(&[("Cookie", &cookie), ("Origin", &origin)]), 101);
    let foreign = site.ask("GET", "/", &[("Host", "evil.example")]);
    let policy = foreign.header("content-security-policy").unwrap();
    assert!(policy.contains("connect-src 'self';"), "{policy}");
    assert_guarded(&foreign, "a foreign host");
}

/// The head of the answer to a request has this status and everything that an answer to a page has.
#[track_caller]
fn assert_whole(site: &Site, request: &str, status: u16) {
    let mut stream = site.connect();
    stream.write_all(request.as_bytes()).unwrap();
    // Of a body that a HEAD does not get nothing may be waited for.
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    assert!(first.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {first}");
    let fields = lines.take_while(|line| !line.is_empty()).map(|line| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    });
    let answer = Answer { status, headers: fields.collect(), body: String::new() };
    assert_guarded(&answer, request);
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("connect-src 'self' ws://{};", site.host())), "{policy}");
}

#[test]
fn smuggled_heads_are_no_second_request() {
    let site = Site::start();
    let credential = site.device("full");
    let host = site.host();
    let inner = format!(
        "POST /logout HTTP/1.1\r\nHost: {host}\r\nCookie: rookery={credential}\r\nOrigin: {}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}",
        site.origin()
    );
    let chunk = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let post = "POST /pair HTTP/1.1\r\nContent-Type: application/json\r\n";
    for (what, outer) in [
        (
            "both lengths",
            format!(
                "{post}Host: {host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"
            ),
        ),
        (
            "both lengths, the encoding first",
            format!(
                "{post}Host: {host}\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{chunk}"
            ),
        ),
        (
            "an encoding alone",
            format!("{post}Host: {host}\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"),
        ),
        (
            "the same length twice",
            format!(
                "{post}Host: {host}\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{{}}{inner}"
            ),
        ),
        (
            "two lengths in one",
            format!("{post}Host: {host}\r\nContent-Length: 2, 2\r\n\r\n{{}}{inner}"),
        ),
        (
            "a length with a sign",
            format!("{post}Host: {host}\r\nContent-Length: +2\r\n\r\n{{}}{inner}"),
        ),
        (
            "two hosts",
            format!("GET /session HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n{inner}"),
        ),
        (
            "a line that ends early",
            format!("GET /session HTTP/1.1\r\nHost: {host}\r\nX: y\nZ: z\r\n\r\n{inner}"),
        ),
        ("lines without returns", format!("GET /session HTTP/1.1\nHost: {host}\n\n{inner}")),
        (
            "a return within a value",
            format!("GET /session HTTP/1.1\r\nHost: {host}\r\nX: y\rZ: z\r\n\r\n{inner}"),
        ),
        (
            "an empty line first",
            format!("\r\nGET /session HTTP/1.1\r\nHost: {host}\r\n\r\n{inner}"),
        ),
        (
            "the address of a proxy",
            format!("GET http://{host}/session HTTP/1.1\r\nHost: {host}\r\n\r\n{inner}"),
        ),
        (
            "two lengths",
            format!(
                "{post}Host: {host}\r\nContent-Length: 0\r\nContent-Length: {}\r\n\r\n{inner}",
                inner.len()
            ),
        ),
        ("a length of words", format!("{post}Host: {host}\r\nContent-Length: 0x0\r\n\r\n{inner}")),
        (
            "an odd encoding",
            format!("{post}Host: {host}\r\nTransfer-Encoding: xchunked\r\n\r\n{inner}"),
        ),
        (
            "a body of a GET",
            format!(
                "GET /session HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{inner}",
                inner.len()
            ),
        ),
        (
            "a folded header",
            format!("GET /session HTTP/1.1\r\nHost: {host}\r\nX: y\r\n z\r\n\r\n{inner}"),
        ),
        (
            "a space before the colon",
            format!("GET /session HTTP/1.1\r\nHost : {host}\r\n\r\n{inner}"),
        ),
        ("another version", format!("GET /session HTTP/1.0\r\nHost: {host}\r\n\r\n{inner}")),
        ("no version", format!("GET /session\r\nHost: {host}\r\n\r\n{inner}")),
        (
            "a byte of its own",
            format!("GET /session HTTP/1.1\r\nHost: {host}\r\nX: \0\r\n\r\n{inner}"),
        ),
    ] {
        let mut stream = site.connect();
        stream.write_all(outer.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let first = read_answer(&mut reader);
        let first = first.unwrap_or_else(|| panic!("{what}: no answer"));
        assert_eq!((first.status, first.header("connection")), (400, Some("close")), "{what}");
        assert_guarded(&first, what);
        assert!(read_answer(&mut reader).is_none(), "{what}: there was a second answer");
        assert_eq!(site.session(&credential).status, 200, "after {what}");
    }
}

#[test]
fn slow_and_silent_heads_keep_no_page_out() {
    let site = Site::start();
    let credential = site.device("full");
    let mut slow = Vec::new();
    for _ in 0..400 {
        let mut stream = site.connect();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
        slow.push(stream);
    }
    site.link(&credential).open();
    assert_eq!(site.session(&credential).status, 200);
    // All of them are given up, also those that had a place.
    for mut stream in slow {
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        assert!(ended.is_err() || rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{rest:?}");
    }
}

#[test]
fn ten_thousand_sockets_keep_no_page_out_and_leave_nothing_behind() {
    let site = Site::start();
    let credential = site.device("full");
    let address = ("127.0.0.1", site.port).to_socket_addrs().unwrap().next().unwrap();
    let open = |pid| fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let before = open(site.daemon.pid());
    let mut held = std::collections::VecDeque::new();
    for number in 0..10_000 {
        let Ok(mut stream) = TcpStream::connect_timeout(&address, PATIENCE) else { continue };
        if number % 3 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
        }
        held.push_back(stream);
        // What one process may have open at a time.
        if held.len() > 500 {
            held.pop_front();
        }
        if number % 1000 == 999 {
            assert_eq!(site.session(&credential).status, 200, "after {number}");
        }
    }
    assert!(open(site.daemon.pid()) < before + 300, "{} open files", open(site.daemon.pid()));
    site.link(&credential).open();
    drop(held);
    wait_until("the sockets are gone", PATIENCE, || open(site.daemon.pid()) < before + 10);
}

/// Every file below a directory that has this text in it.
fn files_with(dir: &Path, text: &str, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files_with(&path, text, found);
        } else if kind.is_file()
            && let Ok(bytes) = fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path);
        }
    }
}

#[test]
fn no_secret_of_a_device_lies_anywhere() {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    // What is logged at all is logged.
    fs::write(dir.join("config.toml"), "[daemon]\nlog = \"debug\"\n").unwrap();
    let site = Site::start_in(home);
    let made = site.pairing(&[]);
    let (code, short) = (made["code"].as_str().unwrap(), made["short"].as_str().unwrap());
    let answer = site.post("/pair", &[], &json!({"code": code, "name": "browser"}));
    let credential = answer.credential();
    let secret = credential.split_once('.').unwrap().1;
    site.link(&credential).open();
    assert_eq!(site.session(&format!("{credential}x")).status, 401);
    site.ask("GET", &format!("/link?{secret}"), &[]);
    site.ask("GET", &format!("/{secret}"), &[]);
    site.ask("GET", &format!("/a/{secret}/{code}"), &[]);
    let typed = site.pairing(&[])["short"].as_str().unwrap().to_owned();
    // Kept, and so on disk.
    site.daemon.rookery(&["web", "devices"]).success();
    let mut words = vec![secret.to_owned(), code.to_owned(), short.to_owned(), typed];
    words.push(short.replace('-', ""));
    for word in &words {
        let mut found = Vec::new();
        files_with(site.daemon.home().path(), word, &mut found);
        assert!(found.is_empty(), "{word} is in {found:?}");
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let shown = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let shown = String::from_utf8_lossy(&shown).into_owned();
            assert!(!shown.contains(word.as_str()), "{shown}");
        }
    }
}
