//! A connection of the Roost dialect, as tests use it: replies are matched by their id, and events
//! that come in between are kept.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_testkit::{Home, Lines, PATIENCE, eventually, wait_until};
use serde_json::{Value, json};

/// Where a daemon in this home listens.
pub(crate) fn socket(home: &Home) -> PathBuf {
    home.join("run/roost/roost.sock")
}

/// Bytes as the wire has them.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes from the wire.
pub(crate) fn decoded(text: &Value) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap()).unwrap()
}

/// One connection.
pub(crate) struct Link {
    lines: Lines,
    last_id: u64,
    /// Events that came and were not asked for yet.
    events: Vec<Value>,
    /// Replies that overtook the one that was waited for.
    replies: Vec<Value>,
}

impl Link {
    /// Connects to the daemon of this home, which is there.
    #[track_caller]
    pub(crate) fn to(home: &Home) -> Link {
        Link::connect(&socket(home)).unwrap()
    }

    /// Connects as soon as a server listens.
    #[track_caller]
    pub(crate) fn soon(socket: &Path) -> Link {
        eventually("a server listens", PATIENCE, || Link::connect(socket).ok())
    }

    fn connect(socket: &Path) -> io::Result<Link> {
        let lines = Lines::connect(socket)?;
        Ok(Link { lines, last_id: 0, events: Vec::new(), replies: Vec::new() })
    }

    /// Closes the direction to the server.
    pub(crate) fn stop_talking(&self) {
        self.lines.stop_talking();
    }

    /// The next line; nothing once the peer is gone.
    #[track_caller]
    pub(crate) fn line(&mut self) -> Option<Value> {
        self.lines.next_json()
    }

    /// Sends a request and returns its id; nothing if the peer is gone.
    pub(crate) fn try_post(&mut self, op: &str, params: Value) -> Option<String> {
        self.last_id += 1;
        let id = self.last_id.to_string();
        let request = json!({ "id": id, "op": op, "params": params });
        self.lines.send_json(&request).ok()?;
        Some(id)
    }

    /// Sends a request and returns its id.
    #[track_caller]
    pub(crate) fn post(&mut self, op: &str, params: Value) -> String {
        self.try_post(op, params).expect("the connection is open")
    }

    /// The reply with this id; nothing if the peer went away before.
    #[track_caller]
    pub(crate) fn try_reply(&mut self, id: &str) -> Option<Value> {
        if let Some(at) = self.replies.iter().position(|reply| reply["id"] == id) {
            return Some(self.replies.remove(at));
        }
        loop {
            let line = self.line()?;
            if line.get("event").is_some() {
                self.events.push(line);
            } else if line["id"] == id {
                return Some(line);
            } else {
                self.replies.push(line);
            }
        }
    }

    /// The reply with this id.
    #[track_caller]
    pub(crate) fn reply(&mut self, id: &str) -> Value {
        self.try_reply(id).expect("the connection is open")
    }

    /// Asks and waits for the reply.
    #[track_caller]
    pub(crate) fn ask(&mut self, op: &str, params: Value) -> Value {
        let id = self.post(op, params);
        self.reply(&id)
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub(crate) fn call(&mut self, op: &str, params: Value) -> Value {
        let reply = self.ask(op, params);
        assert_eq!(reply["ok"], true, "{op}: {reply}");
        reply["result"].clone()
    }

    /// The code of a request that is refused.
    #[track_caller]
    pub(crate) fn refused(&mut self, op: &str, params: Value) -> String {
        let reply = self.ask(op, params);
        assert_eq!(reply["ok"], false, "{op}: {reply}");
        reply["error"]["code"].as_str().unwrap().to_owned()
    }

    /// Everything that was told so far, up to what happened before this call.
    #[track_caller]
    pub(crate) fn events(&mut self) -> Vec<Value> {
        self.call("identify", json!({}));
        std::mem::take(&mut self.events)
    }

    /// Opens a tab and returns its id.
    #[track_caller]
    pub(crate) fn open(&mut self, params: Value) -> String {
        let opened = self.call("tab.open", params);
        opened["tab"]["id"].as_str().unwrap().to_owned()
    }

    /// Opens a tab that runs a script.
    #[track_caller]
    pub(crate) fn open_sh(&mut self, script: &str) -> String {
        self.open(json!({ "argv": ["/bin/sh", "-c", script] }))
    }

    /// Creates a project and returns its id.
    #[track_caller]
    pub(crate) fn project(&mut self, name: &str, cwd: &Path) -> String {
        let created = self.call("project.create", json!({ "name": name, "cwd": cwd }));
        created["project"]["id"].as_str().unwrap().to_owned()
    }

    /// Types into a tab.
    #[track_caller]
    pub(crate) fn write(&mut self, tab: &str, bytes: &[u8]) {
        self.call("tab.write", json!({ "tab_id": tab, "data": encoded(bytes) }));
    }

    /// What a tab shows.
    #[track_caller]
    pub(crate) fn rows(&mut self, tab: &str) -> Vec<String> {
        let dump = self.call("tab.dump", json!({ "tab_id": tab }));
        let rows = dump["rows_text"].as_array().unwrap();
        rows.iter().map(|row| row.as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a tab shows a row that begins with this text, and returns it.
    #[track_caller]
    pub(crate) fn wait_row(&mut self, tab: &str, start: &str) -> String {
        eventually(&format!("tab {tab} shows {start:?}"), PATIENCE, || {
            self.rows(tab).into_iter().find(|row| row.starts_with(start))
        })
    }

    /// All projects with their tabs.
    #[track_caller]
    pub(crate) fn list(&mut self) -> Value {
        self.call("tab.list", json!({}))
    }

    /// A tab of the list, if it is there.
    #[track_caller]
    pub(crate) fn tab(&mut self, id: &str) -> Option<Value> {
        let list = self.list();
        let projects = list["projects"].as_array().unwrap();
        let mut tabs = projects.iter().flat_map(|project| project["tabs"].as_array().unwrap());
        tabs.find(|tab| tab["id"] == id).cloned()
    }

    /// Waits until a key of a tab has this value.
    #[track_caller]
    pub(crate) fn wait_tab(&mut self, id: &str, key: &str, wanted: &Value) {
        wait_until(&format!("{key} of tab {id} is {wanted}"), PATIENCE, || {
            self.tab(id).is_some_and(|tab| tab[key] == *wanted)
        });
    }

    /// The selected project and tab.
    #[track_caller]
    pub(crate) fn selected(&mut self) -> (Value, Value) {
        let who = self.call("identify", json!({}));
        (who["active_project_id"].clone(), who["active_tab_id"].clone())
    }
}
