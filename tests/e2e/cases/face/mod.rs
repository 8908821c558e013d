//! The face in a terminal, driven as a person drives it: every key of its table, its pages, programs in
//! it, other terminals around it, what is hostile, and the daemon's death in every state.

mod clipboard;
mod crash;
mod ends;
pub(crate) mod hostile;
mod keys;
mod pages;
mod programs;
mod select;
mod settings;
mod shapes;
mod table;
mod thread;
mod walk;
mod watch;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rookery_testkit::{Caller, Outer, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

pub(crate) const PREFIX: &[u8] = b"\x1c";

/// The face of a daemon in a terminal.
pub(crate) struct Face {
    pub(crate) pty: TestPty,
}

impl Face {
    pub(crate) fn open(daemon: &TestDaemon) -> Face {
        Face::open_in(daemon, &[], &Outer::default())
    }

    pub(crate) fn open_in(daemon: &TestDaemon, args: &[&str], outer: &Outer<'_>) -> Face {
        let args: Vec<&str> = ["tui"].iter().chain(args).copied().collect();
        let env: Vec<(&str, &str)> =
            [("LANG", "C.UTF-8")].iter().chain(outer.env).copied().collect();
        let outer = Outer { env: &env, ..*outer };
        let face = Face { pty: TestPty::spawn_in(daemon.home(), rookery_binary(), &args, &outer) };
        if outer.size.0 > 6 && outer.size.1 > 24 {
            face.wait("keys");
        }
        face
    }

    #[track_caller]
    pub(crate) fn wait(&self, text: &str) {
        self.pty.wait_text(text);
    }

    #[track_caller]
    pub(crate) fn wait_gone(&self, text: &str) {
        let what = format!("{text:?} is gone");
        wait_until(&what, PATIENCE, || !self.pty.text().contains(text));
    }

    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        self.pty.send(bytes.as_ref());
    }

    /// The prefix, and then a key.
    #[track_caller]
    pub(crate) fn prefix(&self, key: impl AsRef<[u8]>) {
        self.send(PREFIX);
        self.wait("q leave");
        self.send(key);
    }

    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.prefix("q");
        assert!(self.pty.wait_ended().success());
    }

    /// Presses a key that moves something, once for each change that it makes, until it is there.
    #[track_caller]
    pub(crate) fn step_until(&self, key: impl AsRef<[u8]>, is_there: impl Fn() -> bool) {
        for _ in 0..300 {
            // Taken first: what comes between this and the look at it counts as a change.
            let before = self.pty.text();
            if is_there() {
                return;
            }
            self.send(key.as_ref());
            self.until("the key changes nothing", || self.pty.text() != before);
        }
        panic!("never there:\n{}", self.pty.text());
    }

    /// Presses a key that decides until something happened, each time after the answer to the one before
    /// was seen.
    #[track_caller]
    pub(crate) fn decide_until(&self, key: impl AsRef<[u8]>, done: impl Fn() -> bool) {
        let is_early = || self.pty.text().contains("read it first");
        for _ in 0..100 {
            if done() {
                return;
            }
            self.send(key.as_ref());
            wait_until("the key is answered", PATIENCE, || is_early() || done());
            if !done() {
                // It does nothing but take the message away.
                self.send("z");
                wait_until("the message is gone", PATIENCE, || !is_early());
            }
        }
        panic!("the key is never taken:\n{}", self.pty.text());
    }

    /// Presses a key until something happened: within the guard a card takes none.
    #[track_caller]
    pub(crate) fn press_until(&self, key: impl AsRef<[u8]>, done: impl Fn() -> bool) {
        self.until("the key is never taken", || {
            if !done() {
                self.send(key.as_ref());
            }
            done()
        });
    }

    /// Waits for something; what the face shows instead is said where it does not come.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, mut is_there: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_there() {
            assert!(Instant::now() < end, "{what}:\n{}", self.pty.text());
            std::thread::park_timeout(Duration::from_millis(4));
        }
    }
}

/// All terminals, in the order of the workspace.
pub(crate) fn terminals(client: &Caller) -> Vec<u64> {
    client.terminals().iter().filter_map(|terminal| terminal["id"].as_u64()).collect()
}

/// The active terminal.
pub(crate) fn active(client: &Caller) -> Option<u64> {
    client.call("rookery/terminals/list", json!({}))["active"].as_u64()
}

pub(crate) fn size(client: &Caller, id: u64) -> (u64, u64) {
    let size = &client.terminal(id)["size"];
    (size["cols"].as_u64().unwrap(), size["rows"].as_u64().unwrap())
}

/// The pages that viewers are at.
pub(crate) fn pages(client: &Caller) -> Vec<Value> {
    let status = client.status();
    let viewers = status["viewers"].as_array().cloned().unwrap_or_default();
    viewers.iter().map(|viewer| viewer["page"].clone()).collect()
}

#[track_caller]
pub(crate) fn wait_page(client: &Caller, page: &str) {
    wait_until(&format!("the page is {page}"), PATIENCE, || pages(client) == [json!(page)]);
}

/// A peer of Roder with a thread, and a directory that its tools may write into.
pub(crate) fn agent(daemon: &TestDaemon, name: &str) -> (Peer, String, PathBuf) {
    let dir = daemon.home().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let mut roder = Peer::to(daemon);
    let thread = roder.thread(&dir);
    (roder, thread, dir)
}

/// A turn that writes a file, which is asked for, and then says that it is done.
pub(crate) fn write_steps(path: &str, content: &str) -> String {
    let args = json!({ "path": path, "content": content });
    script(&json!([{ "tool": "write_file", "args": args }, { "text": "all done" }]))
}
