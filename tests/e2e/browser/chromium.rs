//! A browser without a screen and what is done in it, one step after the other.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rookery_testkit::{PATIENCE, eventually};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Keys as WebDriver spells them.
pub(crate) mod key {
    pub(crate) const BACKSPACE: char = '\u{e003}';
    pub(crate) const TAB: char = '\u{e004}';
    pub(crate) const ENTER: char = '\u{e007}';
    pub(crate) const SHIFT: char = '\u{e008}';
    pub(crate) const CTRL: char = '\u{e009}';
    pub(crate) const ALT: char = '\u{e00a}';
    pub(crate) const ESCAPE: char = '\u{e00c}';
    pub(crate) const PAGE_UP: char = '\u{e00e}';
    pub(crate) const LEFT: char = '\u{e012}';
    pub(crate) const UP: char = '\u{e013}';
    pub(crate) const RIGHT: char = '\u{e014}';
    pub(crate) const DOWN: char = '\u{e015}';
}

/// What the browser says by itself when a daemon is away or a device is not known, which the page cannot help: each
/// by all of its parts. Nothing else that it asks for may fail.
const EXPECTED: &[&[&str]] = &[
    &["WebSocket connection to 'ws", "/link' failed"],
    &["/session - Failed to load resource"],
    &["/link - Failed to load resource"],
    // A page that begins while no daemon is there, or no network.
    &["/ - Failed to load resource: net::ERR_"],
    &["/sw.js - Failed to load resource: net::ERR_"],
    &["/manifest.webmanifest - Failed to load resource: net::ERR_"],
    &["An unknown error occurred when fetching the script"],
    // Over plain HTTP of another machine.
    &["Cross-Origin-Opener-Policy header has been ignored"],
    // A browser of another version or system may not know what the header turns off.
    &["Permissions-Policy header: Unrecognized feature"],
    &["Permissions-Policy header: Origin trial controlled feature not enabled"],
];
/// A breach of the page's own policy is never expected, wherever it says that it was.
const BREACH: &str = "Content Security Policy";

/// How a browser begins.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Chromium with chromedriver, both ended with it.
pub(crate) struct Browser {
    runtime: Runtime,
    client: Option<Client>,
    driver: Child,
    /// Parts of errors that the test is about.
    expected: Vec<&'static str>,
    _profile: TempDir,
}

impl Browser {
    /// A browser with a new profile.
    #[track_caller]
    pub(crate) fn start(size: Size) -> Browser {
        Browser::start_with(size, &[])
    }

    /// The same with these arguments besides.
    #[track_caller]
    pub(crate) fn start_with(size: Size, more: &[&str]) -> Browser {
        let profile = tempfile::Builder::new().prefix("rk-chromium").tempdir().unwrap();
        let (driver, port) = start_driver();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--window-size={},{}", size.width, size.height),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        let arguments: Vec<_> =
            arguments.into_iter().chain(more.iter().map(|one| (*one).to_owned())).collect();
        let wanted = json!({
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments},
        });
        let Value::Object(wanted) = wanted else { unreachable!() };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(wanted);
        let client = runtime.block_on(builder.connect(&format!("http://127.0.0.1:{port}")));
        let client = client.expect("chromium starts");
        Browser { runtime, client: Some(client), driver, expected: Vec::new(), _profile: profile }
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("the browser is open")
    }

    /// Errors with this in them are what the test is about.
    pub(crate) fn expect_errors(&mut self, part: &'static str) {
        self.expected.push(part);
    }

    /// Opens an address.
    #[track_caller]
    pub(crate) fn go(&self, url: &str) {
        self.runtime.block_on(self.client().goto(url)).unwrap();
    }

    /// Loads the page anew.
    #[track_caller]
    pub(crate) fn reload(&self) {
        self.runtime.block_on(self.client().refresh()).unwrap();
    }

    /// Goes back in the history.
    #[track_caller]
    pub(crate) fn back(&self) {
        self.runtime.block_on(self.client().back()).unwrap();
    }

    /// Runs a script in the page and gives what it returns.
    #[track_caller]
    pub(crate) fn js(&self, script: &str, args: &[Value]) -> Value {
        self.runtime.block_on(self.client().execute(script, args.to_vec())).unwrap()
    }

    /// Runs a script whose last argument takes the result.
    #[track_caller]
    pub(crate) fn js_later(&self, script: &str, args: &[Value]) -> Value {
        self.runtime.block_on(self.client().execute_async(script, args.to_vec())).unwrap()
    }

    /// Waits until a script gives something else than null, false, 0 or an empty text.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, script: &str, args: &[Value]) -> Value {
        eventually(what, PATIENCE, || {
            let found = self.js(script, args);
            let is_there = match &found {
                Value::Null => false,
                Value::Bool(is) => *is,
                Value::Number(number) => number.as_f64() != Some(0.0),
                Value::String(text) => !text.is_empty(),
                Value::Array(_) | Value::Object(_) => true,
            };
            is_there.then_some(found)
        })
    }

    /// Waits until an element is there and shown.
    #[track_caller]
    pub(crate) fn until_shown(&self, selector: &str) {
        let script =
            "const e = document.querySelector(arguments[0]); return !!e && e.checkVisibility()";
        self.until(&format!("{selector} is shown"), script, &[json!(selector)]);
    }

    /// Waits until no such element is shown.
    #[track_caller]
    pub(crate) fn until_hidden(&self, selector: &str) {
        let script =
            "return ![...document.querySelectorAll(arguments[0])].some(e => e.checkVisibility())";
        self.until(&format!("{selector} is hidden"), script, &[json!(selector)]);
    }

    /// The text of an element.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.textContent ?? null";
        let found = self.js(script, &[json!(selector)]);
        found.as_str().unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    /// Clicks into the middle of an element, as a person does.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.press_at(x, y);
    }

    /// The middle of an element, which must be in view.
    #[track_caller]
    pub(crate) fn middle(&self, selector: &str) -> (i64, i64) {
        let script = "const e = document.querySelector(arguments[0]); if (!e || !e.checkVisibility()) return null;
            const b = e.getBoundingClientRect(); return [Math.round(b.left + b.width / 2), Math.round(b.top + b.height / 2)]";
        let at = self.until(&format!("{selector} is there"), script, &[json!(selector)]);
        (at[0].as_i64().unwrap(), at[1].as_i64().unwrap())
    }

    fn press_at(&self, x: i64, y: i64) {
        self.mouse(&[
            move_to(x, y),
            json!({"type": "pointerDown", "button": 0}),
            json!({"type": "pointerUp", "button": 0}),
        ]);
    }

    /// Clicks at a place while Control is held.
    #[track_caller]
    pub(crate) fn ctrl_click(&self, x: i64, y: i64) {
        self.keyboard(vec![key_step("keyDown", key::CTRL)]);
        self.press_at(x, y);
        self.keyboard(vec![key_step("keyUp", key::CTRL)]);
    }

    /// What a mouse does, in WebDriver's actions.
    #[track_caller]
    pub(crate) fn mouse(&self, steps: &[Value]) {
        let pointer = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps});
        self.command("actions", json!({"actions": [pointer]}));
    }

    /// Presses the button at one place and lets it go at another.
    #[track_caller]
    pub(crate) fn drag(&self, from: (i64, i64), to: (i64, i64)) {
        let middle = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        let down = json!({"type": "pointerDown", "button": 0});
        let up = json!({"type": "pointerUp", "button": 0});
        let steps =
            [move_to(from.0, from.1), down, move_to(middle.0, middle.1), move_to(to.0, to.1), up];
        self.mouse(&steps);
    }

    /// Types letters and keys one after the other.
    #[track_caller]
    pub(crate) fn type_keys(&self, keys: &str) {
        let each =
            keys.chars().flat_map(|sign| [key_step("keyDown", sign), key_step("keyUp", sign)]);
        self.keyboard(each.collect());
    }

    /// Holds keys down in this order and lets them go in the other.
    #[track_caller]
    pub(crate) fn chord(&self, keys: &[char]) {
        let down = keys.iter().map(|sign| key_step("keyDown", *sign));
        let up = keys.iter().rev().map(|sign| key_step("keyUp", *sign));
        self.keyboard(down.chain(up).collect());
    }

    /// The prefix, and a key after it.
    #[track_caller]
    pub(crate) fn after_prefix(&self, sign: char) {
        self.chord(&[key::CTRL, '\\']);
        self.until_shown("#which");
        self.type_keys(&sign.to_string());
    }

    /// What a keyboard does, in WebDriver's actions.
    #[track_caller]
    pub(crate) fn keyboard(&self, steps: Vec<Value>) {
        let keys = json!({"type": "key", "id": "keyboard", "actions": steps});
        self.command("actions", json!({"actions": [keys]}));
    }

    /// A command of Chromium's own protocol.
    #[track_caller]
    pub(crate) fn cdp(&self, command: &str, params: Value) -> Value {
        self.command("goog/cdp/execute", json!({"cmd": command, "params": params}))
    }

    /// A picture of the page, for a person who looks for the reason of a failure.
    pub(crate) fn picture(&self) -> Vec<u8> {
        self.runtime.block_on(self.client().screenshot()).unwrap_or_default()
    }

    #[track_caller]
    fn command(&self, path: &'static str, body: Value) -> Value {
        self.runtime.block_on(self.client().issue_cmd(Raw { path, body })).unwrap()
    }

    fn is_expected(&self, text: &str) -> bool {
        let is_known = |parts: &&[&str]| parts.iter().all(|part| text.contains(part));
        self.expected.iter().any(|part| text.contains(part))
            || !text.contains(BREACH) && EXPECTED.iter().any(is_known)
    }

    /// Errors that the page reported since the last look.
    fn errors(&self) -> Vec<String> {
        let log = self.command("se/log", json!({"type": "browser"}));
        let lines = log.as_array().cloned().unwrap_or_default();
        let is_error = |line: &Value| line["level"] == "SEVERE" || line["source"] == "security";
        let texts = lines
            .iter()
            .filter(|line| is_error(line))
            .map(|line| line["message"].as_str().unwrap_or("").to_owned());
        texts.filter(|text| !self.is_expected(text)).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let path =
                std::env::temp_dir().join(format!("rookery-browser-{}.png", std::process::id()));
            let _ = std::fs::write(&path, self.picture());
            eprintln!("what the page showed last: {}", path.display());
            eprintln!("errors of the page: {:#?}", self.errors());
        }
        let errors = if std::thread::panicking() { Vec::new() } else { self.errors() };
        if let Some(client) = self.client.take() {
            let _ = self.runtime.block_on(client.close());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        assert!(errors.is_empty(), "the page reported errors: {errors:#?}");
    }
}

fn key_step(kind: &str, sign: char) -> Value {
    json!({"type": kind, "value": sign.to_string()})
}

/// A step of the mouse to a place.
pub(crate) fn move_to(x: i64, y: i64) -> Value {
    json!({"type": "pointerMove", "duration": 0, "x": x, "y": y})
}

/// chromedriver on a port that it chose itself.
fn start_driver() -> (Child, u16) {
    // One that chose a port at the same time as another gives up and ends.
    let started = (0..5).find_map(|_| try_driver());
    started.expect("chromedriver says its port")
}

#[expect(clippy::disallowed_methods, reason = "a program of the test, not of the daemon")]
fn try_driver() -> Option<(Child, u16)> {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut driver = command.spawn().expect("chromedriver is installed (package chromium-driver)");
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let port = line
                .rsplit_once("successfully on port ")
                .and_then(|(_, port)| port.trim_end_matches('.').parse().ok());
            if let Some(port) = port {
                let _ = sender.send(port);
            }
        }
    });
    let Ok(port) = receiver.recv_timeout(PATIENCE) else {
        let _ = driver.kill();
        let _ = driver.wait();
        return None;
    };
    Some((driver, port))
}

/// A command that fantoccini has no method for.
#[derive(Debug)]
struct Raw {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Raw {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _url: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
