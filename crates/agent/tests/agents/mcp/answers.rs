//! What a small server of ours answers, whichever way it is asked.

use serde_json::{Value, json};

/// What a request is answered with; none for one that is not answered.
pub(crate) enum Answer {
    Result(Value),
    Error(&'static str),
    /// A result, after it was told that the tools changed.
    Changed(Value),
    /// Nothing at all.
    None,
}

/// What a server keeps.
#[derive(Default)]
pub(crate) struct Server {
    has_grown: bool,
}

impl Server {
    /// Answers a request; what only a program can do, it does itself.
    pub(crate) fn answer(&mut self, message: &Value) -> Answer {
        match message["method"].as_str() {
            Some("initialize") => Answer::Result(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "small", "version": "1" },
            })),
            Some("ping") => Answer::Result(json!({})),
            Some("tools/list") => Answer::Result(self.tools(&message["params"]["cursor"])),
            Some("tools/call") => self.call(&message["params"]),
            Some(_) if message.get("id").is_some() => Answer::Error("unknown method"),
            _ => Answer::None,
        }
    }

    /// Two pages.
    fn tools(&self, cursor: &Value) -> Value {
        let tool = |name: &str| {
            json!({ "name": name, "description": format!("does {name}"),
            "inputSchema": { "type": "object" } })
        };
        if cursor.is_null() {
            let mut echo = tool("echo");
            echo["annotations"] = json!({ "readOnlyHint": true });
            let names =
                ["fail", "refuse", "image", "details", "big", "crash", "hang", "who", "grow"];
            let tools: Vec<Value> = std::iter::once(echo).chain(names.map(tool)).collect();
            return json!({ "tools": tools, "nextCursor": "2" });
        }
        let mut tools = vec![tool("last one")];
        tools.extend(self.has_grown.then(|| tool("grown")));
        json!({ "tools": tools })
    }

    fn call(&mut self, params: &Value) -> Answer {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        match params["name"].as_str().unwrap() {
            "echo" => Answer::Result(text(&params["arguments"].to_string())),
            "fail" => {
                let mut told = text("it did not work");
                told["isError"] = json!(true);
                Answer::Result(told)
            }
            "refuse" => Answer::Error("not today"),
            "image" => Answer::Result(json!({ "content": [
                { "type": "image", "data": "QUJD", "mimeType": "image/png" }] })),
            "details" => Answer::Result(json!({ "content": [], "structuredContent": { "n": 1 } })),
            "big" => Answer::Result(text(&"x".repeat(2 << 20))),
            "who" => Answer::Result(text(&std::process::id().to_string())),
            "hang" => Answer::None,
            "grow" => {
                self.has_grown = true;
                Answer::Changed(text("grown"))
            }
            "last one" => Answer::Result(text("last")),
            _ => Answer::Error("unknown tool"),
        }
    }
}
