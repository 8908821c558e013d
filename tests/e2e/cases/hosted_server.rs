//! A runner server for tests: it speaks the REST contract of hosted runners, and really runs commands, in a
//! directory of its own.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// The server. It ends with the test.
#[derive(Clone)]
pub(crate) struct HostedServer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// First lines of requests.
    asked: Vec<String>,
    running: HashMap<String, u32>,
    /// Whether it answers nothing any more.
    is_gone: bool,
}

impl HostedServer {
    /// A server whose commands run in a directory.
    pub(crate) fn start(root: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = HostedServer { url, state: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (serving, root) = (serving.clone(), root.clone());
                thread::spawn(move || serving.serve(&stream, &root));
            }
        });
        server
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often something was asked for.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.state().asked.iter().filter(|line| line.starts_with(what)).count()
    }

    /// From now on no request is answered, and those that wait are cut off.
    pub(crate) fn vanish(&self) {
        let mut state = self.state();
        state.is_gone = true;
        state.running.values().for_each(|pid| end(*pid));
    }

    fn serve(&self, stream: &TcpStream, root: &PathBuf) {
        let Some((line, body)) = read(stream) else { return };
        let is_gone = {
            let mut state = self.state();
            state.asked.push(line.clone());
            state.is_gone
        };
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap().to_owned());
        let answer = match (method, path.as_str()) {
            _ if is_gone => return,
            ("POST", "/sessions") => json!({ "session_id": "s1", "root": root }),
            ("GET", "/sessions/s1") => json!({ "session_id": "s1", "root": root }),
            ("POST", "/sessions/s1/commands") => self.run(&serde_json::from_slice(&body).unwrap()),
            ("DELETE", path) => {
                let id = path.rsplit('/').next().unwrap();
                let running = self.state().running.get(id).copied();
                running.into_iter().for_each(end);
                json!({ "cancelled": running.is_some() })
            }
            _ => json!({}),
        };
        if self.state().is_gone {
            return;
        }
        let body = answer.to_string();
        let _ = write!(
            &*stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        );
    }

    #[expect(clippy::disallowed_methods, reason = "a runner starts programs")]
    fn run(&self, asked: &Value) -> Value {
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let id = asked["command_id"].as_str().unwrap().to_owned();
        let mut command = Command::new(asked["program"].as_str().unwrap());
        command.args(texts(&asked["args"])).current_dir(asked["cwd"].as_str().unwrap());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for pair in asked["env"].as_array().unwrap() {
            let pair = texts(pair);
            command.env(&pair[0], &pair[1]);
        }
        let child = {
            // It is known before it can be seen to run.
            let mut state = self.state();
            let child = command.process_group(0).spawn().unwrap();
            state.running.insert(id.clone(), child.id());
            child
        };
        let end = child.wait_with_output().unwrap();
        self.state().running.remove(&id);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = end.status.code().or(end.status.signal().map(|signal| -signal));
        json!({ "command_id": id, "exit_code": code, "stdout": text(&end.stdout),
                "stderr": text(&end.stderr) })
    }
}

fn end(group: u32) {
    if let Some(pid) = Pid::from_raw(group.cast_signed()) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// The first line of a request, and its body.
fn read(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    (!first.is_empty()).then(|| (first.trim().to_owned(), body))
}
