//! The page of a daemon, entered as a person enters it.

use std::ops::{Deref, DerefMut};

use rookery_testkit::TestDaemon;
use serde_json::{Value, json};

use crate::chromium::{Browser, Size, key};

/// A wide window.
pub(crate) const WIDE: Size = Size { width: 1280, height: 860 };

/// A daemon that serves its page, and a browser that looks at it.
pub(crate) struct Page {
    // The browser goes first: a page does not outlive its test to complain of a lost daemon.
    browser: Browser,
    pub(crate) daemon: TestDaemon,
    pub(crate) url: String,
}

impl Deref for Page {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl DerefMut for Page {
    fn deref_mut(&mut self) -> &mut Browser {
        &mut self.browser
    }
}

/// Turns the page on, and gives its address.
#[track_caller]
pub(crate) fn serve(daemon: &TestDaemon) -> String {
    let served = daemon.rookery(&["web", "--listen", "127.0.0.1:0", "--json"]).json();
    served["url"].as_str().unwrap().trim_end_matches('/').to_owned()
}

/// A link that pairs a device with these rights.
#[track_caller]
pub(crate) fn pairing(daemon: &TestDaemon, rights: &str) -> Value {
    daemon.rookery(&["web", "--pair", "--rights", rights, "--json"]).json()
}

/// Pairs another browser with a daemon under this name, and waits until its page is open.
#[track_caller]
pub(crate) fn enter(browser: &Browser, daemon: &TestDaemon, rights: &str, name: &str) {
    let link = pairing(daemon, rights);
    browser.go(link["url"].as_str().unwrap());
    browser.until_shown("#pair-name");
    browser.js("document.getElementById('pair-name').value = arguments[0]", &[json!(name)]);
    browser.click("#pair-go");
    browser.until_shown("html[data-state='open']");
}

impl Page {
    /// A paired page of a new daemon.
    #[track_caller]
    pub(crate) fn open() -> Page {
        Page::open_with(TestDaemon::start(), "full", WIDE)
    }

    /// A paired page with these rights.
    #[track_caller]
    pub(crate) fn open_with(daemon: TestDaemon, rights: &str, size: Size) -> Page {
        Page::open_in(daemon, rights, Browser::start(size))
    }

    /// The same in this browser.
    #[track_caller]
    pub(crate) fn open_in(daemon: TestDaemon, rights: &str, browser: Browser) -> Page {
        let url = serve(&daemon);
        let page = Page { browser, daemon, url };
        page.pair(rights);
        page
    }

    /// Pairs this browser and waits until the page is open.
    #[track_caller]
    pub(crate) fn pair(&self, rights: &str) {
        let link = pairing(&self.daemon, rights);
        self.go(link["url"].as_str().unwrap());
        self.until_shown("#pair-name");
        self.js("document.getElementById('pair-name').value = ''", &[]);
        self.click("#pair-name");
        self.type_keys("Ada's laptop");
        self.click("#pair-go");
        self.until_open();
    }

    /// Waits until the viewer is open and its first picture was painted.
    #[track_caller]
    pub(crate) fn until_open(&self) {
        self.until_state("open");
        self.until(
            "a frame is painted",
            "return Number(document.documentElement.dataset.frame ?? 0)",
            &[],
        );
    }

    #[track_caller]
    pub(crate) fn until_state(&self, state: &str) {
        let script = "return document.documentElement.dataset.state === arguments[0]";
        self.until(&format!("the page is {state}"), script, &[json!(state)]);
    }

    /// Waits until the page shows this place.
    #[track_caller]
    pub(crate) fn until_page(&self, word: &str) {
        let script = "return document.getElementById('page').dataset.page === arguments[0]";
        self.until(&format!("the page is at {word}"), script, &[json!(word)]);
    }

    /// A shell that says `ready$ ` and nothing else, in the workspace, with the keyboard.
    #[track_caller]
    pub(crate) fn shell(&self) -> u64 {
        let shell = ["sh", "-c", "PS1='ready$ ' exec sh -i"];
        self.program(&shell, "ready$")
    }

    /// A program in a new terminal that is shown, once it has printed this.
    #[track_caller]
    pub(crate) fn program(&self, argv: &[&str], printed: &str) -> u64 {
        let client = self.daemon.client();
        let terminal = client.open(json!({"argv": argv}));
        client.call("rookery/terminals/activate", json!({"terminal": terminal}));
        self.until_terminal(terminal);
        self.until_row(terminal, printed);
        terminal
    }

    /// Waits until a terminal has the keyboard, going to it by its tab where it is not shown.
    #[track_caller]
    pub(crate) fn until_terminal(&self, terminal: u64) {
        let tab = format!("#tabs [data-tab='{terminal}']");
        self.until_shown(&tab);
        self.click(&tab);
        self.until(
            "the terminal has the keyboard",
            "const p = document.querySelector(`.pane[data-terminal='${arguments[0]}']`);
             return !!p && p.hasAttribute('data-focused') && document.activeElement?.id === 'keys'",
            &[json!(terminal)],
        );
    }

    /// Rows of a terminal that are drawn, without blanks at their ends.
    #[track_caller]
    pub(crate) fn rows(&self, terminal: u64) -> Vec<String> {
        let script = "return [...document.querySelectorAll(`.pane[data-terminal='${arguments[0]}'] .row`)].map(r => r.textContent.trimEnd())";
        let rows = self.js(script, &[json!(terminal)]);
        rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a row of a terminal has this text in it.
    #[track_caller]
    pub(crate) fn until_row(&self, terminal: u64, text: &str) {
        let script = "return [...document.querySelectorAll(`.pane[data-terminal='${arguments[0]}'] .row`)].some(r => r.textContent.includes(arguments[1]))";
        self.until(&format!("a row says {text:?}"), script, &[json!(terminal), json!(text)]);
    }

    /// Types a line and Enter.
    #[track_caller]
    pub(crate) fn type_line(&self, line: &str) {
        self.type_keys(&format!("{line}{}", key::ENTER));
    }

    /// Waits until the kernel has taken everything that was typed, and the page has painted since.
    #[track_caller]
    pub(crate) fn until_taken(&self) {
        let script = "const m = window.rookery.mirror(); return m.input > 0 && m.waiting === 0 && document.documentElement.dataset.input === String(m.input)";
        self.until("what was typed was taken", script, &[]);
    }

    /// What the page's mirror holds.
    #[track_caller]
    pub(crate) fn mirror(&self) -> Value {
        self.js("return window.rookery.mirror()", &[])
    }

    /// An agent asks to write a file; gives where it would lie.
    #[track_caller]
    pub(crate) fn ask_to_write(&self, name: &str) -> std::path::PathBuf {
        let dir = self.daemon.home().join("work");
        std::fs::create_dir_all(&dir).unwrap();
        let client = self.daemon.client();
        let params = json!({"cwd": dir, "provider": "mock", "model": "mock"});
        let thread = client.call("rookery/threads/start", params)["id"].clone();
        let step = json!([{"tool": "write_file", "args": {"path": name, "content": "x\n"}}, {"text": "done"}]);
        let text = format!("MOCK_SCRIPT:{step}");
        client.call("rookery/turns/start", json!({"thread": thread, "text": text}));
        dir.join(name)
    }

    /// Waits until a pane has the keyboard, as after an action that moves it.
    #[track_caller]
    pub(crate) fn until_focused(&self, terminal: u64) {
        let script = "return document.querySelector('.pane[data-focused]')?.dataset.terminal === arguments[0]";
        self.until("the pane has the keyboard", script, &[json!(terminal.to_string())]);
    }
}
