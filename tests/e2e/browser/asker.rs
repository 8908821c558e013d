//! Agents that ask: threads of the mock provider, which do what a script says.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually, wait_until};
use serde_json::{Value, json};

use crate::page::{Page, WIDE};

/// Longer than the guard of a card.
const PAST_GUARD: u64 = 450;

/// A daemon with these lines in `config.conf`.
pub(crate) fn daemon_with(lines: &str) -> TestDaemon {
    let home = Home::new();
    let folder = home.join("config/roost");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.conf"), lines).unwrap();
    TestDaemon::start_in(home)
}

/// The prompt that makes the mock do these steps.
pub(crate) fn script(title: &str, steps: &Value) -> String {
    format!("{title}\nMOCK_SCRIPT:{steps}")
}

/// Has a daemon stand still. Each of its threads does so in its own time.
#[expect(clippy::disallowed_methods, reason = "a signal to a daemon of the test")]
pub(crate) fn stand_still(daemon: &TestDaemon) {
    let pid = daemon.pid().to_string();
    let signaled = std::process::Command::new("kill").args(["-STOP", &pid]).status();
    assert!(signaled.unwrap().success());
    let stands = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("stat")).is_ok_and(|stat| stat.contains(") T "))
    };
    wait_until("the daemon stands still", PATIENCE, || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        tasks.map_while(Result::ok).all(stands)
    });
}

impl Page {
    /// A page of a daemon with these lines in `config.conf`.
    #[track_caller]
    pub(crate) fn open_configured(lines: &str) -> Page {
        Page::open_with(daemon_with(lines), "full", WIDE)
    }

    /// A project in a directory of its own.
    #[track_caller]
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        let root = self.daemon.home().join(name);
        std::fs::create_dir_all(&root).unwrap();
        let params = json!({"name": name, "root": root});
        self.daemon.client().call("rookery/projects/create", params);
        root
    }

    /// Begins a thread with this prompt; gives its id.
    #[track_caller]
    pub(crate) fn prompt(&self, root: &Path, text: &str) -> String {
        let client = self.daemon.client();
        let started = client.call("thread/start", json!({"modelProvider": "mock", "cwd": root}));
        let thread = started["thread"]["id"].as_str().unwrap().to_owned();
        client.call("turn/start", json!({"threadId": thread, "prompt": text}));
        thread
    }

    /// Begins a thread that does these steps.
    #[track_caller]
    pub(crate) fn begin(&self, root: &Path, title: &str, steps: &Value) -> String {
        self.prompt(root, &script(title, steps))
    }

    /// A thread that wants to run a command; waits until it asks.
    #[track_caller]
    pub(crate) fn ask(&self, root: &Path, title: &str, command: &str) -> String {
        let steps =
            json!([{"tool": "shell", "args": {"command": command}}, {"text": "It is done."}]);
        let thread = self.begin(root, title, &steps);
        self.until_waits(&thread);
        thread
    }

    /// Requests of a thread that wait.
    #[track_caller]
    pub(crate) fn waiting(&self, thread: &str) -> Vec<Value> {
        let client = self.daemon.client();
        let found = client.call("rookery/requests/list", json!({"thread": thread}));
        found["requests"].as_array().unwrap().clone()
    }

    /// Waits until a thread asks; gives the id of its request.
    #[track_caller]
    pub(crate) fn until_waits(&self, thread: &str) -> String {
        let request = eventually("the thread asks", PATIENCE, || self.waiting(thread).pop());
        request["id"].as_str().unwrap().to_owned()
    }

    /// Waits until nothing of a thread waits any more.
    #[track_caller]
    pub(crate) fn until_settled(&self, thread: &str) {
        wait_until("the request is settled", PATIENCE, || self.waiting(thread).is_empty());
    }

    /// Waits until a file is there.
    #[track_caller]
    pub(crate) fn until_file(&self, path: &Path) {
        wait_until("the file is there", PATIENCE, || path.exists());
    }

    /// Goes to the inbox and waits until it lists this number of items that wait for an answer.
    #[track_caller]
    pub(crate) fn open_inbox(&self, requests: usize) {
        self.click("#inbox-button");
        self.until_shown("[data-for='inbox'] #inbox");
        self.until_rows(requests);
    }

    /// Waits until the inbox lists this number of requests.
    #[track_caller]
    pub(crate) fn until_rows(&self, requests: usize) {
        let script =
            "return document.querySelectorAll('#inbox [data-request]').length === arguments[0]";
        self.until(&format!("{requests} requests are listed"), script, &[json!(requests)]);
    }

    /// Selects the row of a request and waits for its card.
    #[track_caller]
    pub(crate) fn open_card(&self, request: &str) {
        self.click(&format!("#inbox [data-request='{request}'] .row-main"));
        self.until_shown("#card");
    }

    /// Waits until what is shown now has been there for longer than the guard.
    #[track_caller]
    pub(crate) fn pass_guard(&self) {
        // It begins once what was drawn is on the screen.
        self.settle();
        self.js("window.guardSince = performance.now()", &[]);
        let script = "return performance.now() > window.guardSince + arguments[0]";
        self.until("the guard is over", script, &[json!(PAST_GUARD)]);
    }

    /// Lets the page do what it has begun: two pictures are drawn.
    #[track_caller]
    pub(crate) fn settle(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))";
        self.js_later(script, &[]);
    }

    /// Waits until an element says something.
    #[track_caller]
    pub(crate) fn until_says(&self, selector: &str, text: &str) {
        let script =
            "return !!document.querySelector(arguments[0])?.textContent.includes(arguments[1])";
        let what = format!("{selector} says {text:?}");
        self.until(&what, script, &[json!(selector), json!(text)]);
    }

    /// Whether an element has the keyboard, or what is in it.
    #[track_caller]
    pub(crate) fn until_at(&self, selector: &str) {
        let script = "return document.activeElement?.closest(arguments[0]) !== null";
        self.until(&format!("{selector} has the keyboard"), script, &[json!(selector)]);
    }

    /// A moment in which something that must not happen would have happened.
    pub(crate) fn moment(&self) {
        // What was pressed was seen by the page, and whatever came of it by the daemon.
        self.settle();
        self.daemon.client().call("rookery/status", json!({}));
        self.settle();
    }

    /// The same while there is no daemon.
    pub(crate) fn moment_without_daemon(&self) {
        self.settle();
        self.settle();
    }

    /// Everything that a thread holds, as text.
    #[track_caller]
    pub(crate) fn told(&self, thread: &str) -> String {
        let params = json!({"threadId": thread, "includeTurns": true});
        self.daemon.client().call("thread/read", params).to_string()
    }
}

/// How long a test waits for what another process does.
pub(crate) const SOON: Duration = PATIENCE;
