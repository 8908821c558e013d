//! A browser as far as tests of the server need one: requests byte by byte, pairing, and the link.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use rookery_testkit::{Home, PATIENCE, TestDaemon};
use serde_json::{Value, json};

use crate::roder_ws::{read_frame, send_frame};

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A daemon that serves the page.
pub(crate) struct Site<D = TestDaemon> {
    pub(crate) daemon: D,
    pub(crate) port: u16,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// A header of the answer, whose name is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(header, _)| header == name);
        let value = named.next().map(|(_, value)| value.as_str());
        assert!(named.next().is_none(), "{name} came twice");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The credential of the cookie that it sets.
    #[track_caller]
    pub(crate) fn credential(&self) -> String {
        let cookie = self.header("set-cookie").unwrap();
        let value = cookie.strip_prefix("rookery=").unwrap();
        value.split_once(';').unwrap().0.to_owned()
    }
}

impl Site {
    pub(crate) fn start() -> Site {
        Site::start_in(Home::new())
    }

    pub(crate) fn start_in(home: Home) -> Site {
        let daemon = TestDaemon::start_in(home);
        let port = turn_on(&daemon);
        Site { daemon, port }
    }

    /// Opens a pairing.
    #[track_caller]
    pub(crate) fn pairing(&self, args: &[&str]) -> Value {
        let mut all = vec!["web", "--pair", "--json"];
        all.extend(args);
        self.daemon.rookery(&all).json()
    }

    /// A paired device: its credential.
    #[track_caller]
    pub(crate) fn device(&self, rights: &str) -> String {
        self.redeem(&self.pairing(&["--rights", rights])["code"], rights)
    }
}

impl<D> Site<D> {
    /// The credential that a device of this name gets for a code.
    #[track_caller]
    pub(crate) fn redeem(&self, code: &Value, name: &str) -> String {
        let answer = self.post("/pair", &[], &json!({"code": code, "name": name}));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.credential()
    }

    /// The address as a browser has it.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.host())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Sends these bytes on a connection of their own and reads one answer.
    #[track_caller]
    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        read_answer(&mut BufReader::new(stream)).expect("an answer")
    }

    /// A request with our own host.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(self.request(method, path, headers, "").as_bytes())
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> String {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.host()));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        format!("{request}\r\n{body}")
    }

    /// What a page of ours posts.
    #[track_caller]
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let origin = self.origin();
        let mut all = vec![
            ("Origin", origin.as_str()),
            ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/json"),
        ];
        all.extend(headers);
        self.send(self.request("POST", path, &all, &body.to_string()).as_bytes())
    }

    /// What a page of ours is answered when it asks who it is.
    #[track_caller]
    pub(crate) fn session(&self, credential: &str) -> Answer {
        let cookie = format!("rookery={credential}");
        let headers = [("Cookie", cookie.as_str()), ("Sec-Fetch-Site", "same-origin")];
        self.ask("GET", "/session", &headers)
    }

    /// The request of a page of ours for the link.
    pub(crate) fn handshake(&self, headers: &[(&str, &str)]) -> String {
        let mut all = vec![
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("Sec-WebSocket-Protocol", "rookery.link.v1"),
        ];
        all.extend(headers);
        self.request("GET", "/link", &all, "")
    }

    /// The link of a device.
    #[track_caller]
    pub(crate) fn link(&self, credential: &str) -> Link {
        let (cookie, origin) = (format!("rookery={credential}"), self.origin());
        let request = self.handshake(&[("Cookie", &cookie), ("Origin", &origin)]);
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let answer = read_answer(&mut reader).unwrap();
        assert_eq!(answer.status, 101, "{answer:?}");
        assert_eq!(answer.header("sec-websocket-protocol"), Some("rookery.link.v1"));
        Link { stream, reader, last: 0, frames: Vec::new(), paints: true }
    }
}

/// Turns the page on at a free port.
#[track_caller]
pub(crate) fn turn_on(daemon: &TestDaemon) -> u16 {
    port_of(&daemon.rookery(&["web", "--listen", "127.0.0.1:0", "--json"]).json())
}

/// The port of the page that was turned on.
#[track_caller]
pub(crate) fn port_of(web: &Value) -> u16 {
    let url = web["url"].as_str().unwrap();
    let port = url.strip_prefix("http://127.0.0.1:").unwrap().strip_suffix('/').unwrap();
    port.parse().unwrap()
}

/// One answer; none at the end of the connection.
pub(crate) fn read_answer(reader: &mut BufReader<TcpStream>) -> Option<Answer> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        Some(line.trim_end().to_owned())
    };
    let status = line()?.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        let field = line()?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Answer { status, headers, body: String::from_utf8(body).ok()? })
}

/// The link of a page.
pub(crate) struct Link {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    last: u64,
    pub(crate) frames: Vec<Value>,
    /// Whether frames are acknowledged.
    pub(crate) paints: bool,
}

impl Link {
    fn post(&mut self, message: &Value) {
        send_frame(&mut self.stream, TEXT, message.to_string().as_bytes()).unwrap();
    }

    /// The next message, or the code that the connection is closed with.
    fn next(&mut self) -> Result<Value, u16> {
        loop {
            let (opcode, payload) = read_frame(&mut self.reader).map_err(|_| 1006_u16)?;
            match opcode {
                CLOSE => return Err(u16::from_be_bytes([payload[0], payload[1]])),
                PING => send_frame(&mut self.stream, PONG, &payload).unwrap(),
                _ => return Ok(serde_json::from_slice(&payload).unwrap()),
            }
        }
    }

    fn take(&mut self, message: &Value) {
        if message["method"] == "rookery/view/frame" {
            let n = message["params"]["n"].clone();
            let ack = json!({"jsonrpc": "2.0", "method": "rookery/view/ack", "params": {"n": n}});
            if self.paints {
                // The other side may have said its last word.
                let _ = send_frame(&mut self.stream, TEXT, ack.to_string().as_bytes());
            }
            self.frames.push(message["params"].clone());
        }
    }

    /// The whole answer to a request.
    #[track_caller]
    pub(crate) fn try_call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next().unwrap_or_else(|code| panic!("{method}: closed with {code}"));
            if message["id"] == id {
                return message;
            }
            self.take(&message);
        }
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.try_call(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The code that a request is refused with.
    #[track_caller]
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.try_call(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {answer}"))
    }

    /// Sends what has no answer.
    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.post(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Opens a viewer.
    #[track_caller]
    pub(crate) fn open(&mut self) -> Value {
        let size = json!({"cols": 80, "rows": 24});
        let params = json!({"versions": [1], "face": "web", "name": "page", "size": size});
        self.call("rookery/view/open", params)
    }

    /// Reads up to the end: what the last frame said of it, and the code that it is closed with.
    pub(crate) fn ended(mut self) -> (Option<Value>, u16) {
        let code = self.read_to_end();
        (self.frames.last().and_then(|frame| frame.get("bye")).cloned(), code)
    }

    /// Reads up to the end, and gives the code that it is closed with.
    pub(crate) fn read_to_end(&mut self) -> u16 {
        loop {
            match self.next() {
                Ok(message) => self.take(&message),
                Err(code) => return code,
            }
        }
    }
}
