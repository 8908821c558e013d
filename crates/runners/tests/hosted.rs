//! `hosted-http` against a local server that speaks its contract byte by byte.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_runners::{Command, ExitCause, Opening, RunnerError, Session, find};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

const TOKEN: &str = "hunter2";

/// What the server was asked for, and what it does.
#[derive(Default)]
struct Server {
    asked: Mutex<Vec<(String, String, Vec<u8>)>>,
    /// Answers to the commands: status and body. None never answers.
    command: Mutex<Option<(u16, String)>>,
    /// The same of artifacts.
    artifact: Mutex<Option<(u16, String)>>,
    arrived: Notify,
}

impl Server {
    async fn start() -> (Arc<Self>, String) {
        let server = Arc::new(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().serve(stream));
            }
        });
        (server, address)
    }

    /// One connection, request by request.
    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        let mut read = Vec::new();
        loop {
            let end = loop {
                if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                    break at + 4;
                }
                let mut more = [0; 4096];
                match stream.read(&mut more).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => read.extend_from_slice(&more[..count]),
                }
            };
            let head = String::from_utf8(read[..end].to_vec()).unwrap();
            let header = |name: &str| {
                let line = head.lines().find(|line| line.to_lowercase().starts_with(name))?;
                Some(line.split_once(": ")?.1.to_owned())
            };
            let length: usize = header("content-length:").map_or(0, |it| it.parse().unwrap());
            while read.len() < end + length {
                let mut more = [0; 4096];
                let count = stream.read(&mut more).await.unwrap();
                read.extend_from_slice(&more[..count]);
            }
            let body = read[end..end + length].to_vec();
            read.drain(..end + length);
            let mut words = head.split(' ');
            let (method, path) =
                (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
            let authorized =
                header("authorization:").as_deref() == Some(&format!("Bearer {TOKEN}"));
            self.asked.lock().push((method.clone(), path.clone(), body));
            self.arrived.notify_one();
            let answer = match authorized {
                true => self.answer(&method, &path),
                false => Some((401, "hunter2 is not the token".to_owned())),
            };
            // A command that never ends.
            let Some((status, body)) = answer else {
                std::future::pending::<()>().await;
                return;
            };
            let reply =
                format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            if stream.write_all(reply.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, method: &str, path: &str) -> Option<(u16, String)> {
        let good = |body: Value| Some((200, body.to_string()));
        match (method, path) {
            ("POST", "/sessions") => good(json!({"session_id": "s 1", "root": "/box", "extra": 1})),
            ("GET", "/sessions/s%201") => good(json!({"session_id": "s 1", "root": "/box"})),
            ("DELETE", "/sessions/s%201") => good(json!({})),
            ("POST", "/sessions/s%201/commands") => self.command.lock().clone(),
            ("DELETE", path) if path.starts_with("/sessions/s%201/commands/") => {
                good(json!({"cancelled": true}))
            }
            ("GET", "/sessions/s%201/files?path=%2Fbox%2Fa%20b") => Some((200, "bytes".into())),
            ("PUT", "/sessions/s%201/files?path=%2Fbox%2Fc") => Some((204, String::new())),
            ("POST", "/sessions/s%201/ports") => {
                good(json!({"port": 80, "url": "https://p.example"}))
            }
            ("POST", "/sessions/s%201/snapshots") => {
                good(json!({"snapshot": {"snapshot_id": "n1", "metadata": {"size": 3}}}))
            }
            ("POST", "/sessions/s%201/artifacts") => self.artifact.lock().clone(),
            _ => Some((404, "{}".into())),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().iter().map(|(method, path, _)| format!("{method} {path}")).collect()
    }
}

fn opening(base_url: &str, token: &str) -> Opening {
    let config = json!({"baseUrl": base_url, "token": token});
    Opening::new("box", config, "/".into(), "/nowhere".into())
}

async fn session() -> (Arc<Server>, Arc<dyn Session>) {
    let (server, address) = Server::start().await;
    let session = find("hosted-http").unwrap().open(opening(&address, TOKEN)).await.unwrap();
    (server, session)
}

#[tokio::test]
async fn the_whole_contract_is_spoken() {
    let (server, session) = session().await;
    assert_eq!(session.info().root.to_str(), Some("/box"));
    assert!(!session.info().metadata.to_string().contains(TOKEN));
    let first: Value = serde_json::from_slice(&server.asked.lock()[0].2).unwrap();
    assert_eq!(first["destination_id"], "box");
    assert!(!first.to_string().contains(TOKEN), "{first}");
    *server.command.lock() = Some((
        200,
        json!({"command_id": "c", "exit_code": 2, "stdout": "out", "stderr": "err"}).to_string(),
    ));
    let mut command = Command::new(["make", "all"]);
    command.cwd = Some("sub".into());
    command.env = vec![("A".into(), "b".into())];
    let end = session.exec(command).await.unwrap();
    assert_eq!((end.how, end.exit_code), (ExitCause::Exited, Some(2)));
    assert_eq!((end.stdout, end.stderr), (b"out".to_vec(), b"err".to_vec()));
    let sent: Value = serde_json::from_slice(&server.asked.lock()[1].2).unwrap();
    assert_eq!((&sent["program"], &sent["args"]), (&json!("make"), &json!(["all"])));
    assert_eq!((&sent["cwd"], &sent["env"]), (&json!("/box/sub"), &json!([["A", "b"]])));
    assert_eq!(session.read_file("a b", 10).await.unwrap(), b"bytes");
    assert!(matches!(session.read_file("none", 10).await, Err(RunnerError::NotFound(_))));
    assert!(matches!(session.read_file("../x", 10).await, Err(RunnerError::Outside(_))));
    session.write_file("c", b"new".to_vec()).await.unwrap();
    assert_eq!(server.asked.lock().last().unwrap().2, b"new");
    let port = session.expose(80, Some("web")).await.unwrap();
    assert_eq!(port.url.as_deref(), Some("https://p.example"));
    assert_eq!(session.ports().await.unwrap(), [port]);
    let taken = session.snapshot(None).await.unwrap().unwrap();
    assert_eq!((taken.id.as_str(), &taken.metadata), ("n1", &json!({"size": 3})));
    session.close(false).await.unwrap();
    assert_eq!(server.asked().last().unwrap(), "DELETE /sessions/s%201");
}

#[tokio::test]
async fn a_slow_command_is_cancelled_over_there() {
    let (server, session) = session().await;
    let mut command = Command::new(["sleep"]);
    command.timeout = Some(Duration::from_millis(50));
    assert_eq!(session.exec(command).await.unwrap().how, ExitCause::TimedOut);
    assert!(server.asked().last().unwrap().starts_with("DELETE /sessions/s%201/commands/"));
    let command = Command::new(["sleep"]);
    let cancel = command.cancel.clone();
    let cancelling = async {
        while !server.asked().last().unwrap().starts_with("POST /sessions/s%201/commands") {
            server.arrived.notified().await;
        }
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(session.exec(command), cancelling);
    assert_eq!(end.unwrap().how, ExitCause::Cancelled);
    assert!(server.asked().last().unwrap().starts_with("DELETE /sessions/s%201/commands/"));
}

#[tokio::test]
async fn errors_show_no_token_and_nothing_that_the_server_says() {
    let (server, address) = Server::start().await;
    let provider = find("hosted-http").unwrap();
    let error = provider.open(opening(&address, "wrong")).await.err().unwrap().to_string();
    assert!(error.contains("token was refused"), "{error}");
    assert!(!error.contains("hunter2") && !error.contains("wrong"), "{error}");
    let session = provider.open(opening(&address, TOKEN)).await.unwrap();
    for (status, body, why) in [
        (500, "hunter2 leaked".to_owned(), "500"),
        (200, "no json".to_owned(), "not what was expected"),
        (302, String::new(), "302"),
    ] {
        *server.command.lock() = Some((status, body));
        let error = session.exec(Command::new(["x"])).await.unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
    }
    let nowhere = provider.open(opening("http://127.0.0.1:1", TOKEN)).await.err().unwrap();
    assert!(!nowhere.to_string().contains(TOKEN));
}

#[tokio::test]
async fn a_session_is_found_again_and_a_token_comes_from_the_environment() {
    let (server, address) = Server::start().await;
    let provider = find("hosted-http").unwrap();
    let config = json!({"base_url": address, "token_env": "BOX_TOKEN"});
    let mut opening = Opening::new("box", config, "/".into(), "/nowhere".into());
    let error = provider.open(opening.clone()).await.err().unwrap().to_string();
    assert!(error.contains("BOX_TOKEN is not set"), "{error}");
    opening.env = vec![("BOX_TOKEN".into(), TOKEN.into())];
    opening.found = Some(json!({"remote_session": "s 1"}));
    provider.open(opening).await.unwrap();
    assert_eq!(server.asked(), ["GET /sessions/s%201"]);
}

#[tokio::test]
async fn artifacts_are_kept_by_the_server() {
    let (server, session) = session().await;
    let target = std::path::Path::new("/nowhere");
    let answer = json!({"path": "/box/out", "artifact_id": "a1", "url": "https://a.example/1", "metadata": {"n": 1}});
    *server.artifact.lock() = Some((200, answer.to_string()));
    let made = session.export("out", true, target).await.unwrap();
    assert_eq!((made.path.as_str(), made.id.as_str()), ("/box/out", "a1"));
    assert_eq!(made.url.as_deref(), Some("https://a.example/1"));
    assert_eq!(made.metadata, json!({"n": 1}));
    let sent: Value = serde_json::from_slice(&server.asked.lock().last().unwrap().2).unwrap();
    assert_eq!(sent, json!({"path": "/box/out", "recursive": true}));
    for (status, body, why) in [
        (404, "{}".to_owned(), "no such file: out"),
        (200, "{}".to_owned(), "not what was expected"),
        (200, json!({"artifact_id": "x".repeat(5000)}).to_string(), "not what was expected"),
        (500, "hunter2".to_owned(), "500"),
    ] {
        *server.artifact.lock() = Some((status, body));
        let error = session.export("out", false, target).await.unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains(TOKEN), "{error}");
    }
    let asked = server.asked().len();
    assert!(matches!(session.export("../x", true, target).await, Err(RunnerError::Outside(_))));
    assert_eq!(server.asked().len(), asked, "the server was not asked");
}
