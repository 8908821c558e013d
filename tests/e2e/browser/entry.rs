//! Who enters: pages of other origins in the browser of a paired device, names that were turned against us,
//! encrypted connections, and what the browser keeps.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use rookery_testkit::{Home, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::chromium::Browser;
use crate::page::{Page, WIDE, pairing, serve};

/// Serves a page of another origin; returns its port.
fn serve_foreign() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer_foreign(stream));
        }
    });
    port
}

fn answer_foreign(mut stream: TcpStream) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    // Up to the end of the head.
    let _ = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).count();
    let page = "<!doctype html><title>foreign</title><body></body>";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{page}", page.len());
}

/// What a page of another origin tries with the one at `base`; all that comes of each.
const ATTEMPTS: &str = "const [base, build, code, done] = arguments;
    const told = {};
    const note = async (what, run) => { try { told[what] = String(await run()) } catch (error) { told[what] = `refused: ${error.name}` } };
    const read = async (path, options) => { const r = await fetch(base + path, options); return `${r.type} ${r.status} ${await r.text()}` };
    const loaded = (name, attributes) => new Promise((resolve, reject) => {
        const element = document.createElement(name);
        element.onload = () => resolve('loaded'); element.onerror = () => reject(new Error());
        Object.assign(element, attributes); document.body.append(element) });
    const body = JSON.stringify({code, name: 'evil'});
    const kind = {'content-type': 'application/json'};
    (async () => {
        await note('session', () => read('/session', {credentials: 'include'}));
        await note('session, unread', () => read('/session', {credentials: 'include', mode: 'no-cors'}));
        await note('page', () => read('/', {credentials: 'include', mode: 'no-cors'}));
        await note('module as text', () => read(`/a/${build}/link.js`, {mode: 'cors'}));
        await note('pairing', () => read('/pair', {method: 'POST', headers: kind, body, credentials: 'include'}));
        await note('pairing as text', () => read('/pair', {method: 'POST', body, mode: 'no-cors', credentials: 'include'}));
        await note('log out', () => read('/logout', {method: 'POST', headers: kind, body: '{}', credentials: 'include'}));
        await note('log out as text', () => read('/logout', {method: 'POST', body: '{}', mode: 'no-cors', credentials: 'include'}));
        await note('socket', () => new Promise((resolve, reject) => {
            const socket = new WebSocket(base.replace('http', 'ws') + '/link', 'rookery.link.v1');
            socket.onopen = () => resolve('open'); socket.onerror = () => reject(new Error()) }));
        await note('socket with the code', () => new Promise((resolve, reject) => {
            const socket = new WebSocket(`${base.replace('http', 'ws')}/link?token=${code}`, ['rookery.link.v1', `bearer.${code}`]);
            socket.onopen = () => resolve('open'); socket.onerror = () => reject(new Error()) }));
        await note('script', () => loaded('script', {src: `${base}/a/${build}/link.js`}));
        await note('module', () => import(`${base}/a/${build}/link.js`));
        await note('style', () => loaded('link', {rel: 'stylesheet', href: `${base}/a/${build}/style.css`}));
        await note('picture', () => loaded('img', {src: `${base}/a/${build}/icons/192.png`}));
        await note('worker', () => new Worker(`${base}/sw.js`));
        await note('worker of the service', () => navigator.serviceWorker.register(`${base}/sw.js`));
        navigator.sendBeacon(`${base}/logout`, '{}');
        // A form in a frame, and the page itself in one: both load something, which is nothing of ours.
        const form = document.createElement('form');
        Object.assign(form, {method: 'POST', action: `${base}/logout`, enctype: 'text/plain', target: 'aside'});
        const aside = document.createElement('iframe'); aside.name = 'aside';
        const ended = new Promise(resolve => aside.onload = resolve);
        document.body.append(aside, form);
        form.submit(); await ended;
        const frame = document.createElement('iframe');
        const shown = new Promise(resolve => frame.onload = resolve);
        frame.src = `${base}/`; document.body.append(frame); await shown;
        done(told);
    })()";

fn viewers(page: &Page) -> usize {
    let status = page.daemon.rookery(&["status", "--json"]).json();
    status["viewers"].as_array().map_or(0, Vec::len)
}

fn devices(page: &Page) -> Value {
    page.daemon.rookery(&["web", "devices", "--json"]).json()["devices"].clone()
}

#[test]
fn a_page_of_another_origin_gets_nothing_and_does_nothing() {
    let names = "--host-resolver-rules=MAP evil.test 127.0.0.1";
    let browser = Browser::start_with(WIDE, &[names]);
    let mut page = Page::open_in(TestDaemon::start(), "full", browser);
    // What it tries is told on its own console.
    page.expect_errors("");
    let build = page.js("return window.rookery.version.build", &[]);
    let made = pairing(&page.daemon, "full");
    let port = serve_foreign();
    for host in ["127.0.0.1", "localhost", "evil.test"] {
        page.go(&format!("http://{host}:{port}/"));
        page.until("it is there", "return document.title === 'foreign'", &[]);
        wait_until("our page is gone", PATIENCE, || viewers(&page) == 0);
        let told = page.js_later(ATTEMPTS, &[json!(page.url), build.clone(), made["code"].clone()]);
        let told = told.as_object().unwrap();
        assert!(told.len() >= 16, "{told:?}");
        for (what, came) in told {
            // A request whose answer may not be looked at says nothing.
            let is_nothing = came.as_str().is_some_and(|came| came.starts_with("refused"));
            assert!(is_nothing, "{host}: {what}: {came}");
        }
        assert_eq!(viewers(&page), 0, "{host}: a frame of the page is no viewer");
    }
    // The same daemon under a name that is not ours.
    let rebound = page.url.replace("127.0.0.1", "evil.test");
    page.go(&rebound);
    let seen = page.js("return document.body.textContent", &[]);
    assert_eq!(seen, "unknown host\n");
    let script = "const done = arguments[0]; Promise.all(['/session', '/', '/healthz'].map(path => fetch(path).then(r => r.status))).then(done)";
    assert_eq!(page.js_later(script, &[]), json!([403, 403, 403]));
    // Our device is still paired, and the code was not used.
    page.go(&page.url);
    page.until_open();
    assert_eq!(devices(&page).as_array().unwrap().len(), 1);
    page.go(made["url"].as_str().unwrap());
    page.until_shown("#pair-name");
    page.click("#pair-go");
    page.until_open();
    assert_eq!(devices(&page).as_array().unwrap().len(), 2);
}

/// The cookie that the browser keeps for the page.
fn cookie(page: &Page) -> Value {
    let kept = page.cdp("Network.getCookies", json!({"urls": [page.url]}));
    let [cookie] = &kept["cookies"].as_array().unwrap()[..] else { panic!("one cookie: {kept}") };
    cookie.clone()
}

#[test]
fn the_browser_keeps_a_cookie_that_no_script_reads_and_nothing_of_the_code() {
    let page = Page::open();
    let kept = cookie(&page);
    assert_eq!(
        (&kept["name"], &kept["httpOnly"], &kept["sameSite"], &kept["secure"]),
        (&json!("rookery"), &json!(true), &json!("Strict"), &json!(false))
    );
    // The browser's own note of what was typed stays until the page is left; the code in it was used.
    let history = page.cdp("Page.getNavigationHistory", json!({}));
    let entries = history["entries"].as_array().unwrap();
    let shows = |entry: &Value| format!("{} {}", entry["url"], entry["title"]);
    assert!(!entries.iter().any(|entry| shows(entry).contains("pair=")), "{history}");
    let secret = kept["value"].as_str().unwrap().split_once('.').unwrap().1;
    let script = "const told = []; for (const store of [localStorage, sessionStorage]) for (let at = 0; at < store.length; at += 1) told.push(store.key(at), store.getItem(store.key(at)));
        return told.join('\\n') + document.documentElement.outerHTML + location.href";
    let held = page.js(script, &[]);
    let held = held.as_str().unwrap();
    assert!(!held.contains(secret) && !held.contains("#pair="), "{held}");
}

#[test]
fn a_page_over_plain_http_of_another_machine_is_paired_once_and_enters_again() {
    let daemon = TestDaemon::start();
    let url = serve(&daemon);
    let (_, port) = url.rsplit_once(':').unwrap();
    let dir = daemon.home().join("config/rookery");
    std::fs::create_dir_all(&dir).unwrap();
    let settings = format!("[web]\norigins = [\"http://plain.test:{port}\"]\n");
    std::fs::write(dir.join("config.toml"), settings).unwrap();
    daemon.rookery(&["web"]).success();
    let link = pairing(&daemon, "full");
    let link = link["url"].as_str().unwrap();
    assert!(link.starts_with(&format!("http://plain.test:{port}/")), "{link}");
    let browser = Browser::start_with(WIDE, &["--host-resolver-rules=MAP plain.test 127.0.0.1"]);
    browser.go(link);
    browser.until_shown("#pair-name");
    assert_eq!(browser.js("return isSecureContext", &[]), false);
    browser.click("#pair-go");
    browser.until_shown("html[data-state='open']");
    browser.reload();
    browser.until_shown("html[data-state='open']");
    daemon.rookery(&["web", "revoke", "all"]).success();
    browser.until_shown("#denied");
    browser.reload();
    browser.until_shown("#pair-code");
}

/// What the header leaves to the page.
const LEFT: &[&str] = &["clipboard-read", "clipboard-write"];

#[test]
fn the_page_may_use_nothing_of_the_browser_but_the_clipboard() {
    let page = Page::open();
    let allowed = page.js("return document.featurePolicy.allowedFeatures()", &[]);
    let allowed = allowed.as_array().unwrap().iter().filter_map(Value::as_str);
    // What a browser tells a server that asks for it is no power of a page, and ours asks for nothing.
    let is_more = |name: &&str| !LEFT.contains(name) && !name.starts_with("ch-");
    let more: Vec<_> = allowed.filter(is_more).collect();
    assert!(more.is_empty(), "{more:?}");
}

#[test]
fn an_encrypted_page_works_and_its_cookie_is_guarded() {
    let home = Home::new();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/wire/src/transport/http/fixtures");
    let dir = home.join("config/rookery");
    std::fs::create_dir_all(&dir).unwrap();
    let at = fixtures.display();
    let settings = format!("[web]\ntls_cert = \"{at}/one.pem\"\ntls_key = \"{at}/one.key\"\n");
    std::fs::write(dir.join("config.toml"), settings).unwrap();
    let browser = Browser::start_with(WIDE, &["--ignore-certificate-errors"]);
    let page = Page::open_in(TestDaemon::start_in(home), "full", browser);
    assert!(page.url.starts_with("https://127.0.0.1:"), "{}", page.url);
    let kept = cookie(&page);
    assert_eq!(
        (&kept["name"], &kept["httpOnly"], &kept["sameSite"], &kept["secure"]),
        (&json!("__Host-rookery"), &json!(true), &json!("Strict"), &json!(true))
    );
    let shell = page.shell();
    page.type_line("echo enc''rypted");
    page.until_row(shell, "encrypted");
    page.until_taken();
    page.reload();
    page.until_open();
    page.until_row(shell, "encrypted");
}
