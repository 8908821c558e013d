//! Viewers of a daemon in memory, whose connections are read only when a test says so.

use rookery_testkit::{MemoryDaemon, PATIENCE};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::time::timeout;

/// A connection that acknowledges every frame it reads.
pub(super) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last: u64,
    pub(super) frames: Vec<Value>,
    /// Bytes of the largest frame.
    pub(super) largest: usize,
}

impl Wire {
    pub(super) fn connect(daemon: &MemoryDaemon, endpoint: &str) -> Wire {
        let (reader, writer) = tokio::io::split(daemon.connect(endpoint));
        let lines = BufReader::new(reader).lines();
        Wire { lines, writer, last: 0, frames: Vec::new(), largest: 0 }
    }

    pub(super) async fn viewer(daemon: &MemoryDaemon, params: Value) -> Wire {
        let mut wire = Wire::connect(daemon, "rookery");
        let mut all = json!({"versions": [1], "size": {"cols": 80, "rows": 24}});
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        wire.call("rookery/view/open", all).await;
        wire
    }

    async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("a line comes in time");
        let line = line.unwrap().expect("the connection is open");
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "rookery/view/frame" {
            self.largest = self.largest.max(line.len());
            let ack = json!({"n": message["params"]["n"]});
            self.send(&json!({"jsonrpc": "2.0", "method": "rookery/view/ack", "params": ack}))
                .await;
            self.frames.push(message["params"].clone());
        }
        message
    }

    /// Asks without reading the answer.
    async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&call).await;
        id
    }

    pub(super) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        loop {
            let message = self.next().await;
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    pub(super) async fn wait_frame(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(found) = self.frames.iter().find(|frame| is_it(frame)) {
                return found.clone();
            }
            self.next().await;
        }
    }

    async fn roost(&mut self, op: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last.to_string();
        self.send(&json!({"id": id, "op": op, "params": params})).await;
        loop {
            let message = self.next().await;
            if message["id"] == id {
                assert_eq!(message["ok"], true, "{op}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// A terminal that runs this; it is the active tab.
    async fn terminal(&mut self, script: &str) -> u64 {
        let argv = json!(["sh", "-c", script]);
        let opened = self.call("rookery/terminals/open", json!({"argv": argv})).await;
        opened["id"].as_u64().unwrap()
    }
}

pub(super) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(test)
}

#[test]
fn the_window_that_is_the_desk_is_asked_to_resize() {
    let daemon = MemoryDaemon::in_test_mode();
    run(async {
        let mut other = Wire::connect(&daemon, "rookery");
        let t = other.terminal("exec cat").await;
        let mut roost = Wire::connect(&daemon, "roost");
        let pixels = |width: u32, height: u32| {
            let cell = [8.0, 16.0];
            json!({"width": width, "height": height, "cell": cell, "scale": 1.0})
        };
        let open = json!({"face": "window", "pixels": pixels(800, 600)});
        let mut window = Wire::viewer(&daemon, open).await;
        window.call("rookery/view/key", json!({"n": 1, "t": t, "k": "x"})).await;
        let size = |found: &Value| json!([found["window_width"], found["window_height"]]);
        let metrics = roost.roost("app.window_metrics", json!({})).await;
        assert_eq!(size(&metrics), json!([800.0, 600.0]));
        let large = json!({"width": 901, "height": 501});
        roost.send(&json!({"id": "77", "op": "window.resize", "params": large})).await;
        let asked = window.wait_frame(|frame| frame["resize"].is_object()).await;
        assert_eq!(asked["resize"], large);
        // What its desktop allows is what it says, and the reply comes behind that.
        window.call("rookery/view/resize", json!({"pixels": pixels(901, 501)})).await;
        let reply = roost.next().await;
        assert_eq!((&reply["id"], &reply["ok"]), (&json!("77"), &json!(true)), "{reply}");
        let metrics = roost.roost("app.window_metrics", json!({})).await;
        assert_eq!(size(&metrics), json!([901.0, 501.0]));
        // It is asked once.
        window.frames.clear();
        window.call("rookery/view/go", json!({"page": "inbox"})).await;
        window.wait_frame(|frame| frame["scene"]["page"]["page"] == "inbox").await;
        assert!(window.frames.iter().all(|frame| frame.get("resize").is_none()));
    });
}

#[test]
fn frames_go_on_after_another_stream_has_filled_the_connection() {
    let daemon = MemoryDaemon::start();
    run(async {
        let mut other = Wire::connect(&daemon, "rookery");
        let script = "i=0; while :; do i=$((i+1)); echo n$i; sleep 0.005; done";
        let t = other.terminal(script).await;
        let mut link = Wire::viewer(&daemon, json!({"wants": []})).await;
        for _ in 0..16 {
            link.call("rookery/terminals/attach", json!({"terminal": t})).await;
        }
        // Nothing is read any more, until the streams have filled all there is.
        let wait = json!({"terminal": t, "text": "n600", "timeoutMs": 60_000});
        other.call("rookery/terminals/wait", wait).await;
        let renamed = json!({"terminal": t, "title": "another name"});
        other.call("rookery/terminals/rename", renamed).await;
        let later = json!({"terminal": t, "text": "n700", "timeoutMs": 60_000});
        other.call("rookery/terminals/wait", later).await;
        let named = |frame: &Value| frame["scene"]["strip"].to_string().contains("another name");
        link.wait_frame(named).await;
        other.call("rookery/terminals/kill", json!({"terminal": t})).await;
    });
}
