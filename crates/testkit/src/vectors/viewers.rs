//! Viewers that look on while a vector is run, and do nothing but paint.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::task::JoinHandle;

use crate::memory::MemoryDaemon;

/// What each of them says of itself: a TUI with room of its own, a phone that follows, and one that
/// only looks, at the inbox.
fn kinds() -> [Value; 3] {
    let size = json!({"cols": 100, "rows": 30});
    [
        json!({"versions": [1], "face": "tui", "name": "one", "size": size}),
        json!({"versions": [1], "face": "web", "name": "two", "size": size, "fit": "follow", "single": true}),
        json!({"versions": [1], "face": "other", "name": "three", "size": size, "rights": "look",
            "place": {"page": "inbox"}}),
    ]
}

/// Three viewers without the keyboard. Dropping them closes their connections.
pub(super) struct Viewers(Vec<JoinHandle<()>>);

impl Viewers {
    /// Lets them in, one after another.
    pub(super) async fn open(daemon: &MemoryDaemon) -> Viewers {
        let mut tasks = Vec::new();
        for open in kinds() {
            let mut viewer = Viewer::over(daemon.connect("rookery"));
            viewer.call("rookery/view/open", &open).await;
            let focus = json!({"n": 1, "has": false, "visible": true});
            viewer.tell("rookery/view/focus", &focus).await;
            tasks.push(tokio::spawn(async move { while viewer.take_one().await.is_some() {} }));
        }
        Viewers(tasks)
    }

    /// Whether all of them were looked after to the end.
    pub(super) fn are_open(&self) -> bool {
        self.0.iter().all(|task| !task.is_finished())
    }
}

impl Drop for Viewers {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

struct Viewer {
    reader: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
}

impl Viewer {
    fn over(stream: DuplexStream) -> Viewer {
        let (reader, writer) = tokio::io::split(stream);
        Viewer { reader: BufReader::new(reader), writer }
    }

    async fn send(&mut self, message: &Value) {
        // A daemon that a vector stopped is gone for its viewers as well.
        let _ = self.writer.write_all(format!("{message}\n").as_bytes()).await;
    }

    async fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    async fn call(&mut self, method: &str, params: &Value) {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send(&call).await;
        loop {
            let message = self.take_one().await.expect("the connection is open");
            if message["id"] == 1 {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return;
            }
        }
    }

    /// The next message; a frame is painted at once.
    async fn take_one(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line).await {
            Ok(length) if length > 0 => {}
            _ => return None,
        }
        let message: Value = serde_json::from_str(&line).expect("frames are JSON");
        if message["method"] == "rookery/view/frame" {
            let ack = json!({"n": message["params"]["n"]});
            self.tell("rookery/view/ack", &ack).await;
        }
        Some(message)
    }
}
