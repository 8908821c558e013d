//! As much of WebSocket as a test needs of the client's side, so that it sees what is really sent.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use rookery_testkit::{Home, PATIENCE};

use crate::roder_link::{Peer, Sink, parse, roder};

/// The token of all servers here.
pub(crate) const TOKEN: &str = "token-of-the-tests-4711";

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A server that listens on the network.
pub(crate) struct Remote {
    server: Child,
    pub(crate) port: u16,
    /// What it said on stderr before it listened.
    pub(crate) said: Vec<String>,
}

impl Remote {
    /// Starts one with these arguments besides the usual ones, and waits until it listens.
    #[track_caller]
    pub(crate) fn start(home: &Home, args: &[&str]) -> Remote {
        let mut command = roder(home, &["app-server", "--remote", "--listen", "ws://127.0.0.1:0"]);
        command.args(["--auth-token", "env:TEST_TOKEN", "--print-qr=false"]).args(args);
        command.env("TEST_TOKEN", TOKEN).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut stderr = BufReader::new(server.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        for line in stderr.by_ref().map_while(Result::ok) {
            said.push(line);
            if said.last().is_some_and(|line| line.starts_with("connect: ")) {
                break;
            }
        }
        // The rest is not read, which must not stop the server.
        thread::spawn(move || stderr.for_each(drop));
        let address = said.iter().find_map(|line| line.trim().strip_prefix("ws://127.0.0.1:"));
        let port = address.unwrap_or_else(|| panic!("no address in {said:?}")).parse().unwrap();
        Remote { server, port, said }
    }

    /// Asks for a page or an upgrade, and gives what came of it.
    #[track_caller]
    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = || {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).unwrap().parse().unwrap();
        let fields = std::iter::from_fn(|| Some(line()).filter(|line| !line.is_empty()));
        let headers = fields.filter_map(|field| {
            let (name, value) = field.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        });
        Answer { status, headers: headers.collect(), reader, stream }
    }

    /// Asks for an upgrade with these headers besides the usual ones.
    #[track_caller]
    pub(crate) fn upgrade(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut all = vec![
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        all.extend(headers);
        self.get(path, &all)
    }

    /// A client that has the token.
    #[track_caller]
    pub(crate) fn peer(&self) -> Peer {
        let answer = self.upgrade("/", &[("Authorization", &format!("Bearer {TOKEN}"))]);
        assert_eq!(answer.status, 101);
        answer.peer()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What came of a request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Answer {
    /// A header of the answer, whose name is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(header, _)| header == name);
        let value = named.next().map(|(_, value)| value.as_str());
        assert!(named.next().is_none(), "{name} came twice");
        value
    }

    /// The body of a page.
    pub(crate) fn body(mut self) -> String {
        let length = self.header("content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// Sends a binary message and gives the code that the connection is closed with.
    pub(crate) fn close_code_for_binary(mut self) -> u16 {
        send_frame(&mut self.stream, BINARY, b"{}").unwrap();
        loop {
            let (opcode, payload) = read_frame(&mut self.reader).unwrap();
            if opcode == CLOSE {
                return u16::from_be_bytes([payload[0], payload[1]]);
            }
        }
    }

    /// Speaks and listens from now on.
    fn peer(self) -> Peer {
        let Answer { mut reader, stream, .. } = self;
        stream.set_read_timeout(None).unwrap();
        let stream = Arc::new(Mutex::new(stream));
        let (sender, messages) = mpsc::channel();
        let answering = Arc::clone(&stream);
        thread::spawn(move || {
            while let Ok((opcode, payload)) = read_frame(&mut reader) {
                let is_heard = match opcode {
                    TEXT => sender.send(parse(&payload)).is_ok(),
                    PING => send_frame(&mut answering.lock().unwrap(), PONG, &payload).is_ok(),
                    _ => opcode == PONG,
                };
                if !is_heard {
                    return;
                }
            }
        });
        Peer::over(Frames(stream), messages)
    }
}

/// One message per frame.
struct Frames(Arc<Mutex<TcpStream>>);

impl Sink for Frames {
    fn send(&mut self, message: &str) -> io::Result<()> {
        send_frame(&mut self.0.lock().unwrap(), TEXT, message.as_bytes())
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        let stream = self.0.lock().unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Frames of clients are masked; the mask does not matter here.
pub(crate) fn send_frame(stream: &mut TcpStream, opcode: u8, payload: &[u8]) -> io::Result<()> {
    const MASK: [u8; 4] = [0x5a, 0x13, 0xc7, 0x88];
    let mut frame = vec![0x80 | opcode];
    match payload.len() {
        length @ ..126 => frame.push(0x80 | length as u8),
        length @ 126..0x1_0000 => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    stream.write_all(&frame)
}

/// The next frame of the server, which is whole and without a mask.
pub(crate) fn read_frame(reader: &mut BufReader<TcpStream>) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    reader.read_exact(&mut head)?;
    assert_eq!(head[0] & 0x70, 0, "no extension was negotiated");
    assert_eq!(head[0] & 0x80, 0x80, "a message is one frame");
    assert_eq!(head[1] & 0x80, 0, "a server masks nothing");
    let length = match head[1] {
        126 => {
            let mut length = [0; 2];
            reader.read_exact(&mut length)?;
            u64::from(u16::from_be_bytes(length))
        }
        127 => {
            let mut length = [0; 8];
            reader.read_exact(&mut length)?;
            u64::from_be_bytes(length)
        }
        short => u64::from(short),
    };
    let mut payload = vec![0; length as usize];
    reader.read_exact(&mut payload)?;
    Ok((head[0] & 0x0f, payload))
}
