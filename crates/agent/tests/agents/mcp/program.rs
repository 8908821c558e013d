//! The small server as a program on its pipes.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::answers::{Answer, Server};

/// The program.
pub(crate) fn main() -> ExitCode {
    if let Some(mark) = std::env::var_os("SLOW") {
        // The first of its kind says nothing, the next one does.
        if std::fs::File::create_new(mark).is_ok() {
            loop {
                std::thread::park();
            }
        }
    }
    if std::env::var_os("REFUSE").is_some() {
        eprintln!("no such library, key {}", std::env::var("KEY").unwrap());
        return ExitCode::from(3);
    }
    println!("welcome to the small server");
    let mut server = Server::default();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["params"]["name"] == "crash" {
            eprintln!("the engine fell out");
            return ExitCode::from(5);
        }
        let id = &message["id"];
        match server.answer(&message) {
            Answer::Result(result) => send(json!({ "id": id, "result": result })),
            Answer::Error(words) => {
                send(json!({ "id": id, "error": { "code": -32000, "message": words } }));
            }
            Answer::Changed(result) => {
                send(json!({ "method": "notifications/tools/list_changed" }));
                send(json!({ "id": id, "result": result }));
            }
            Answer::None => {}
        }
    }
    ExitCode::SUCCESS
}

fn send(mut message: Value) {
    message["jsonrpc"] = json!("2.0");
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").unwrap();
    out.flush().unwrap();
}
