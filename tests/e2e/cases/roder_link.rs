//! A client of the Roder dialect, as tests use it: by the daemon's socket, by the stdio of a server or
//! through its WebSocket. Replies are matched by their id, and all that is told in between is kept.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rookery_testkit::{Home, PATIENCE, TestDaemon, rookery_binary};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// What a client was told: the name of a notification and its params.
pub(crate) type Told = (String, Value);

/// Where messages go.
pub(crate) trait Sink: Send {
    /// Sends one message.
    fn send(&mut self, message: &str) -> io::Result<()>;
}

/// One message per line.
struct Lines<W>(W);

impl<W: Write + Send> Sink for Lines<W> {
    fn send(&mut self, message: &str) -> io::Result<()> {
        self.0.write_all(format!("{message}\n").as_bytes())?;
        self.0.flush()
    }
}

/// A socket that is closed with its client, even while another thread reads from it.
struct Socket(UnixStream);

impl Sink for Socket {
    fn send(&mut self, message: &str) -> io::Result<()> {
        self.0.write_all(format!("{message}\n").as_bytes())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

/// The tool under its own name, with these arguments.
pub(crate) fn roder(home: &Home, args: &[&str]) -> Command {
    let link = home.join("roder");
    if !link.exists() {
        // Another thread of the test may be as fast.
        let _ = symlink(rookery_binary(), &link);
    }
    let mut command = home.command(link);
    command.current_dir(home.path()).args(args);
    command
}

/// Where the daemon of this home listens.
pub(crate) fn socket(home: &Home) -> PathBuf {
    home.join("run/roder/roder.sock")
}

/// A client.
pub(crate) struct Peer {
    sink: Box<dyn Sink>,
    messages: Receiver<Value>,
    /// What came and was not asked for yet.
    told: VecDeque<Told>,
    replies: HashMap<u64, Value>,
    last_id: u64,
    /// The server that is ours alone.
    server: Option<Child>,
}

impl Peer {
    /// A client whose messages are read by another thread.
    pub(crate) fn over(sink: impl Sink + 'static, messages: Receiver<Value>) -> Peer {
        let sink = Box::new(sink);
        let (told, replies) = (VecDeque::new(), HashMap::new());
        Peer { sink, messages, told, replies, last_id: 0, server: None }
    }

    /// By the daemon's own socket.
    #[track_caller]
    pub(crate) fn to(daemon: &TestDaemon) -> Peer {
        let stream = UnixStream::connect(socket(daemon.home())).unwrap();
        let messages = read_lines(stream.try_clone().unwrap());
        let mut peer = Peer::over(Socket(stream), messages);
        peer.call("initialize", json!({}));
        // From here on it is told of everything.
        peer.call("session/get", json!({}));
        peer
    }

    /// By stdin and stdout of a server.
    #[track_caller]
    pub(crate) fn stdio(home: &Home, args: &[&str]) -> Peer {
        let mut command = roder(home, &["app-server"]);
        command.args(args);
        Peer::of(command)
    }

    /// By stdin and stdout of the server that a command starts.
    #[track_caller]
    pub(crate) fn of(mut command: Command) -> Peer {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let messages = read_lines(server.stdout.take().unwrap());
        let mut peer = Peer::over(Lines(server.stdin.take().unwrap()), messages);
        peer.server = Some(server);
        peer
    }

    /// The next message, if one comes in time and the connection is there.
    fn message(&mut self, until: Instant) -> Option<Value> {
        match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => panic!("silence for {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Puts a message where it belongs.
    fn keep(&mut self, mut message: Value) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        match message.get("id").map(Value::as_u64) {
            Some(id) => {
                let id = id.unwrap_or_else(|| panic!("a reply without a request: {message}"));
                assert!(self.replies.insert(id, message).is_none(), "two replies to {id}");
            }
            None => {
                let name = message["method"].as_str().unwrap().to_owned();
                self.told.push_back((name, message["params"].take()));
            }
        }
    }

    /// Sends a request and returns its id, whether a server is there or not.
    pub(crate) fn post(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        let _ = self.sink.send(&request.to_string());
        self.last_id
    }

    /// Sends a request that was written by hand, under an id of ours, and gives the whole reply.
    #[track_caller]
    pub(crate) fn ask_literally(&mut self, request: &Value) -> Value {
        self.last_id += 1;
        let mut request = request.clone();
        request["id"] = json!(self.last_id);
        self.sink.send(&request.to_string()).unwrap();
        self.reply(self.last_id)
    }

    /// The reply with this id; nothing if the connection ended before.
    #[track_caller]
    pub(crate) fn try_reply(&mut self, id: u64) -> Option<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(reply) = self.replies.remove(&id) {
                return Some(reply);
            }
            let message = self.message(until)?;
            self.keep(message);
        }
    }

    /// The reply with this id.
    #[track_caller]
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        self.try_reply(id).expect("the connection is open")
    }

    /// Whether the reply is there already.
    pub(crate) fn is_answered(&mut self, id: u64) -> bool {
        while let Ok(message) = self.messages.try_recv() {
            self.keep(message);
        }
        self.replies.contains_key(&id)
    }

    /// Asks, and gives the result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let asked = params.to_string();
        let id = self.post(method, params);
        let mut reply = self.reply(id);
        assert!(reply.get("error").is_none(), "{method} {asked}: {reply}");
        reply["result"].take()
    }

    /// Asks what is refused, and gives the error.
    #[track_caller]
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> Value {
        let asked = params.to_string();
        let id = self.post(method, params);
        let mut reply = self.reply(id);
        assert!(reply.get("error").is_some(), "{method} {asked}: {reply}");
        reply["error"].take()
    }

    /// The next thing it is told; nothing once the connection ended.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Option<Told> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some(told);
            }
            let message = self.message(until)?;
            self.keep(message);
        }
    }

    /// All it is told, up to and with what is meant.
    #[track_caller]
    pub(crate) fn until(&mut self, is_meant: impl Fn(&str, &Value) -> bool) -> Vec<Told> {
        let mut all = Vec::new();
        loop {
            let Some((name, params)) = self.next() else { panic!("the end after {all:?}") };
            let is_last = is_meant(&name, &params);
            all.push((name, params));
            if is_last {
                return all;
            }
        }
    }

    /// Waits for a notification of this name, and gives its params.
    #[track_caller]
    pub(crate) fn wait_told(&mut self, name: &str) -> Value {
        self.until(|told, _| told == name).pop().unwrap().1
    }

    /// All notifications that were not read yet, up to what happened before this call.
    #[track_caller]
    pub(crate) fn heard(&mut self) -> Vec<Told> {
        self.call("session/get", json!({}));
        std::mem::take(&mut self.told).into()
    }

    /// All that still comes until the connection ends.
    #[track_caller]
    pub(crate) fn rest(mut self) -> Vec<Told> {
        let mut all = Vec::new();
        while let Some(told) = self.next() {
            all.push(told);
        }
        all
    }

    /// Says no more; what is owed still comes.
    pub(crate) fn stop_talking(&mut self) {
        struct Silent;
        impl Sink for Silent {
            fn send(&mut self, _: &str) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        self.sink = Box::new(Silent);
    }

    /// Sends a signal to the server that is ours alone.
    #[track_caller]
    pub(crate) fn signal_server(&self, signal: Signal) {
        let pid = self.server.as_ref().unwrap().id();
        kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the end of the server that is ours alone, which is a success.
    #[track_caller]
    pub(crate) fn wait_server_ended(&mut self) {
        let mut server = self.server.take().unwrap();
        let ended =
            rookery_testkit::eventually("the server ends", PATIENCE, || server.try_wait().unwrap());
        assert!(ended.success(), "{ended}");
    }
}

/// What tests do most.
impl Peer {
    /// A new thread with the scripted model, and its id.
    #[track_caller]
    pub(crate) fn thread(&mut self, cwd: &Path) -> String {
        let params = json!({ "cwd": cwd, "modelProvider": "mock", "model": "mock" });
        let started = self.call("thread/start", params);
        started["thread"]["id"].as_str().unwrap().to_owned()
    }

    /// Starts a turn, and gives its id.
    #[track_caller]
    pub(crate) fn turn(&mut self, thread: &str, prompt: &str) -> String {
        let params = json!({ "threadId": thread, "prompt": prompt });
        self.call("turn/start", params)["turnId"].as_str().unwrap().to_owned()
    }

    /// All that happens until a turn is over, which comes last.
    #[track_caller]
    pub(crate) fn until_over(&mut self, turn: &str) -> Vec<Told> {
        self.until(|name, told| name == "turn/completed" && told["turn"]["id"] == turn)
    }

    /// Sets the mode of everything.
    #[track_caller]
    pub(crate) fn set_mode(&mut self, mode: &str) {
        assert_eq!(self.call("session/set_mode", json!({ "mode": mode }))["mode"], mode);
    }

    /// A thread as it is stored, with all its turns.
    #[track_caller]
    pub(crate) fn stored(&mut self, thread: &str) -> Value {
        let mut read =
            self.call("thread/read", json!({ "threadId": thread, "includeTurns": true }));
        assert_eq!(read["lifecycle"]["corruptRecordCount"], 0);
        assert!(read["thread"].is_object(), "there is no thread {thread}");
        read["thread"].take()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// A prompt that makes the model follow a script.
pub(crate) fn script(steps: &Value) -> String {
    format!("MOCK_SCRIPT:{steps}")
}

/// The turn that something is about, if it is about one.
pub(crate) fn turn_of(told: &Value) -> Option<&str> {
    told["turnId"].as_str().or_else(|| told["turn"]["id"].as_str())
}

/// Reads lines until the peer is gone; half a line at the end is none.
fn read_lines(stream: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            if !line.ends_with(b"\n") || sender.send(parse(&line)).is_err() {
                return;
            }
            line.clear();
        }
    });
    messages
}

/// A message of the server, which is one whole JSON object.
pub(crate) fn parse(message: &[u8]) -> Value {
    let parsed: serde_json::Result<Value> = serde_json::from_slice(message);
    parsed.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(message)))
}

/// How long something may take that needs no patience.
pub(crate) const SOON: Duration = Duration::from_secs(5);
