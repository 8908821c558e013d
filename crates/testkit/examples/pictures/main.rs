//! Pictures of the face in a terminal, and a cast of it, for README and docs: a real daemon, real
//! keys, and what a real terminal shows of it. `cargo xtask pictures` builds and runs this.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for people who build this")]

mod svg;

use std::fs;
use std::path::PathBuf;

use rookery_testkit::{
    Caller, Home, Outer, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until,
};
use serde_json::{Value, json};

/// Rows and columns of the pictures.
const SIZE: (u16, u16) = (26, 104);

fn main() {
    let out = std::env::args().nth(1).map_or_else(|| PathBuf::from("docs/images"), PathBuf::from);
    fs::create_dir_all(&out).unwrap();
    let daemon = TestDaemon::start_in(prepared());
    let client = daemon.client();
    let work = world(&daemon, &client);
    let outer = Outer {
        size: SIZE,
        env: &[("LANG", "C.UTF-8"), ("COLORTERM", "truecolor")],
        keeps_bytes: true,
        ..Outer::default()
    };
    let pty = TestPty::spawn_in(daemon.home(), rookery_binary(), &["tui"], &outer);
    let mut stage = Stage { pty, out, cast: Vec::new(), taken: 0, clock: 0.5 };
    stage.wait("keys");
    workspace(&mut stage, &client, &work);
    inbox(&mut stage, &client, &work);
    thread(&mut stage);
    stage.after_prefix("?");
    stage.wait("typing filters");
    stage.picture("tui-help.svg", "Help: every action with its keys, filtered while one types");
    stage.escape("typing filters");
    stage.after_prefix("q");
    stage.finish();
}

/// A home whose settings make the pictures alike on every machine.
fn prepared() -> Home {
    let home = Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.conf"), "theme = one-dark\nanswer-guard-ms = 0\n").unwrap();
    home
}

/// What is shown: projects, an agent's screen, a thread that asks.
struct World {
    agent: u64,
    thread: String,
}

const TESTS: &str = "printf '\\033]2;cargo test\\007\\033[2m$\\033[m cargo test\\nrunning 214 tests\\n'; \
    for t in expired issued renewed revoked; do printf 'test auth::%s ... \\033[32mok\\033[m\\n' $t; done; \
    printf 'test auth::reused ... \\033[31mFAILED\\033[m\\n\\nfailures:\\n    auth::reused\\n\\n\\033[2m$\\033[m '; exec cat";

const AGENT: &str = "printf '\\033]2;fix-auth\\007\\033[1m* Update(src/auth.rs)\\033[m\\n  41 \\033[31m- let t = clock();\\033[m\\n\
      41 \\033[32m+ let t = now();\\033[m\\n\\nDo you want to make this edit?\\n\\033[36m> 1. Yes\\033[m\\n  2. No\\n'; exec cat";

fn world(daemon: &TestDaemon, client: &Caller) -> World {
    let work = daemon.home().join("api");
    fs::create_dir_all(work.join("src")).unwrap();
    let before =
        "fn expired(t: Instant) -> bool {\n    let t = clock();\n    t.elapsed() > LIMIT\n}\n";
    fs::write(work.join("src/auth.rs"), before).unwrap();
    let project = |name: &str| {
        let params = json!({ "name": name, "root": work });
        client.call("rookery/projects/create", params)["id"].clone()
    };
    let (api, web) = (project("api"), project("web"));
    let open = |project: &Value, script: &str| {
        client.open(json!({ "argv": ["/bin/sh", "-c", script], "project": project, "cwd": work }))
    };
    let tests = open(&api, TESTS);
    let agent = open(&api, AGENT);
    let docs = open(&api, "printf '\\033]2;docs\\007'; exec cat");
    let upgrade = open(&web, "printf '\\033]2;upgrade\\007'; exec cat");
    for (id, state) in [(agent, "needs_input"), (docs, "running"), (upgrade, "running")] {
        let id = id.to_string();
        daemon.rookery(&["roostctl", "tab", "set-state", "--tab", &id, "--state", state]).success();
    }
    client.wait_text(agent, "2. No");
    client.call("rookery/terminals/activate", json!({ "terminal": tests }));
    let started = client
        .call("rookery/threads/start", json!({ "cwd": work, "provider": "mock", "model": "mock" }));
    let thread = started["thread"]["id"].as_str().or(started["id"].as_str()).unwrap().to_owned();
    World { agent, thread }
}

fn workspace(stage: &mut Stage, client: &Caller, world: &World) {
    stage.wait("auth::reused");
    stage.keys("\r", 0.5);
    let params = json!({ "terminal": world.agent, "index": 1 });
    client.call("rookery/terminals/move", params);
    stage.after_prefix("v");
    stage.wait("+1");
    // The shell of the split makes room for the agent.
    stage.keys("printf '\\033c'; cat ../api/src/auth.rs\r", 1.0);
    stage.wait("elapsed");
    stage.picture(
        "tui-workspace.svg",
        "The face in a terminal: projects with their agents at the left, tabs above, two panes, and a status line",
    );
    stage.keys("\x1c", 1.2);
    stage.wait("q leave");
    stage.picture("tui-keys.svg", "After the prefix: a bar that names what each key does");
    stage.keys("z", 1.0);
    stage.after_prefix("z");
}

fn inbox(stage: &mut Stage, client: &Caller, world: &World) {
    let content =
        "fn expired(t: Instant) -> bool {\n    let t = now();\n    t.elapsed() > LIMIT\n}\n";
    let steps = json!([
        { "text": "The clock is read twice. I'll read it once and pass it on." },
        { "tool": "write_file", "args": { "path": "src/auth.rs", "content": content } },
        { "tool": "shell", "args": { "command": "grep -n now src/auth.rs" } },
        { "text": "Done: `expired` reads the clock once.\n\n- `src/auth.rs` changed\n- the tests pass again" },
    ]);
    let text = format!("MOCK_SCRIPT:{steps}");
    client.call(
        "rookery/turns/start",
        json!({ "thread": world.thread, "text": text, "prompt": text }),
    );
    stage.wait("wait:");
    stage.keys("\x1b\x0f", 1.0);
    stage.wait("let t = now()");
    stage.picture(
        "tui-inbox.svg",
        "The inbox: a request at the left, and exactly what would be done at the right",
    );
    stage.keys("a", 1.5);
    stage.wait("Inbox  ");
    stage.keys("q", 1.0);
}

fn thread(stage: &mut Stage) {
    stage.after_prefix("T");
    stage.wait("Threads");
    stage.keys("\r", 1.0);
    stage.wait("reads the clock once");
    stage.keys("and add a test for it", 1.0);
    stage
        .picture("tui-thread.svg", "A thread: what was said and done, and a message being written");
    stage.keys("\x15", 0.3);
    stage.escape("enter send");
}

/// The face on a stage: keys go in, pictures and the cast come out.
struct Stage {
    pty: TestPty,
    out: PathBuf,
    cast: Vec<(f64, String)>,
    taken: usize,
    clock: f64,
}

impl Stage {
    fn wait(&mut self, text: &str) {
        self.pty.wait_text(text);
        self.take();
    }

    /// What was written since becomes part of the cast, at a pace that can be followed.
    fn take(&mut self) {
        let written = self.pty.written();
        let text = String::from_utf8_lossy(&written[self.taken..]).into_owned();
        self.taken = written.len();
        if !text.is_empty() {
            self.cast.push((self.clock, text));
            self.clock += 0.05;
        }
    }

    fn keys(&mut self, keys: &str, pause: f64) {
        self.pty.send(keys.as_bytes());
        self.take();
        self.clock += pause;
    }

    /// Escape, until what it leaves is gone: a key right behind it would be one with Alt.
    fn escape(&mut self, left: &str) {
        self.keys("\x1b", 0.8);
        wait_until("it is left", PATIENCE, || !self.pty.text().contains(left));
    }

    fn after_prefix(&mut self, key: &str) {
        self.keys("\x1c", 0.3);
        self.wait("q leave");
        self.keys(key, 0.7);
    }

    fn picture(&mut self, name: &str, label: &str) {
        self.take();
        let path = self.out.join(name);
        fs::write(&path, svg::draw(&self.pty.snapshot(), label)).unwrap();
        println!("{}", path.display());
        self.clock += 1.0;
    }

    fn finish(mut self) {
        assert!(self.pty.wait_ended().success());
        self.take();
        let path = self.out.join("tui.cast");
        fs::write(&path, cast(&self.cast)).unwrap();
        println!("{}", path.display());
    }
}

/// An asciicast of version 2.
fn cast(chunks: &[(f64, String)]) -> String {
    let head = json!({
        "version": 2, "width": SIZE.1, "height": SIZE.0, "title": "rookery tui",
        "env": { "TERM": "xterm-256color" },
    });
    let mut out = format!("{head}\n");
    for (at, text) in chunks {
        out.push_str(&format!("{}\n", json!([at, "o", text])));
    }
    out
}
