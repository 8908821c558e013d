//! A small agent that speaks the protocol by hand: the first word of a prompt says what it does.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// What the agent knows.
struct Agent {
    lines: Receiver<Value>,
    can_load: bool,
    session: String,
    model: String,
    prompts: u32,
    asked: u32,
}

/// The program.
pub(crate) fn main() -> ExitCode {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                return;
            }
        }
    });
    let can_load = std::env::var_os("CAN_LOAD").is_some();
    let mut agent = Agent {
        lines,
        can_load,
        session: String::new(),
        model: "small".into(),
        prompts: 0,
        asked: 0,
    };
    if std::env::var_os("REFUSE").is_some() {
        eprintln!("no node here");
        return ExitCode::from(3);
    }
    while let Ok(message) = agent.lines.recv() {
        agent.handle(&message);
    }
    ExitCode::SUCCESS
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").unwrap();
    out.flush().unwrap();
}

impl Agent {
    fn handle(&mut self, message: &Value) {
        let answer = match message["method"].as_str() {
            Some("initialize") => {
                assert_eq!(message["params"]["clientCapabilities"]["terminal"], json!(false));
                json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": self.can_load } })
            }
            Some("session/new") => {
                self.session = format!("session-{}", std::process::id());
                if std::env::var_os("WANT_LOGIN").is_some() {
                    let error = json!({ "code": -32000, "message": "Authentication required" });
                    return send(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
                }
                json!({ "sessionId": self.session, "configOptions": self.config() })
            }
            Some("session/load") => {
                self.session = message["params"]["sessionId"].as_str().unwrap().to_owned();
                self.say("what was said long ago");
                Value::Null
            }
            Some("session/set_config_option") => {
                assert_eq!(message["params"]["configId"], "which");
                self.model = message["params"]["value"].as_str().unwrap().to_owned();
                json!({ "configOptions": self.config() })
            }
            Some("session/prompt") => return self.prompt(message),
            _ => return,
        };
        send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
    }

    fn config(&self) -> Value {
        json!([{ "id": "which", "name": "Model", "category": "model", "type": "select",
            "currentValue": self.model, "options": [
                { "value": "small", "name": "Small" }, { "value": "large", "name": "Large" }] }])
    }

    fn prompt(&mut self, message: &Value) {
        self.prompts += 1;
        let blocks = message["params"]["prompt"].as_array().unwrap();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let last = texts.last().copied().unwrap_or_default();
        let (word, rest) = last.split_once(' ').unwrap_or((last, ""));
        let mut stop = "end_turn";
        match word {
            "echo" => rest.split_inclusive(' ').for_each(|piece| self.say(piece)),
            "who" => {
                let id = std::process::id();
                self.say(&format!("{id} {} {} {}", self.session, self.prompts, texts.len()));
            }
            "model" => self.say(&self.model),
            "key" => self.say(&std::env::var("SMALL_KEY").unwrap_or_else(|_| "none".into())),
            "heard" => self.say(texts[0]),
            "think" => self.update(json!({ "sessionUpdate": "agent_thought_chunk",
                "content": { "type": "text", "text": "hm" } })),
            "garbage" => {
                println!("npm warn deprecated");
                println!("{{\"not\": whole");
                self.update(json!({ "sessionUpdate": "of_tomorrow" }));
                self.say("clean");
            }
            "flood" => (0..2000).for_each(|count| self.say(&format!("{count} "))),
            "tool" => self.tool(rest),
            "stop" => {
                stop = ["max_tokens", "refusal", "max_turn_requests", "cancelled"]
                    [rest.parse::<usize>().unwrap()]
            }
            "error" => {
                let error = json!({ "code": -32603, "message": "out of credits" });
                return send(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
            }
            "crash" => {
                self.say("about to");
                eprintln!("the engine\u{1b}[0m fell out, key {}", std::env::var("KEY").unwrap());
                std::process::exit(7);
            }
            "wait" => {
                self.say(&format!("{}", std::process::id()));
                while self.lines.recv().unwrap()["method"] != "session/cancel" {}
                stop = "cancelled";
            }
            "hang" => {
                self.say(&format!("{} {}", std::process::id(), child()));
                loop {
                    std::thread::park();
                }
            }
            _ => self.say("what?"),
        }
        send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "stopReason": stop } }));
    }

    /// Asks before it runs a tool, and tells what became of it.
    fn tool(&mut self, command: &str) {
        self.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "call", "title": "Run",
            "kind": "execute", "status": "pending", "rawInput": { "command": command } }));
        self.asked += 1;
        send(&json!({ "jsonrpc": "2.0", "id": format!("ask-{}", self.asked),
            "method": "session/request_permission", "params": { "sessionId": self.session,
            "toolCall": { "toolCallId": "call" }, "options": [
                { "optionId": "for-ever", "name": "Always", "kind": "allow_always" },
                { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
                { "optionId": "no", "name": "No", "kind": "reject_once" },
            ] } }));
        let answer = loop {
            let message = self.lines.recv().unwrap();
            if message["result"]["outcome"].is_object() {
                break message["result"]["outcome"].clone();
            }
        };
        let chosen = answer["optionId"].as_str().unwrap_or("none");
        let status = if chosen == "yes" { "completed" } else { "failed" };
        self.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "call",
            "status": status, "content": [{ "type": "content",
            "content": { "type": "text", "text": format!("chose {chosen}") } }] }));
        self.say("after");
    }

    fn say(&self, text: &str) {
        self.update(json!({ "sessionUpdate": "agent_message_chunk",
            "content": { "type": "text", "text": text } }));
    }

    fn update(&self, update: Value) {
        let params = json!({ "sessionId": self.session, "update": update });
        send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }
}

/// Starts something that runs on, in a session of its own so that no group reaches it.
#[expect(clippy::disallowed_methods, reason = "a child that must not be left behind")]
fn child() -> u32 {
    let mut command = std::process::Command::new("setsid");
    command.args(["sleep", "1000"]).stdout(std::process::Stdio::null()).spawn().unwrap().id()
}
