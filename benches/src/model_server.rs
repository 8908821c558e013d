//! A model that is a local HTTP server: it speaks chat completions as a stream of events, says how many pieces it was
//! told to, and when the first byte of them went out.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// What every piece of an answer says.
pub(crate) const PIECE: &str = "word ";

/// The longest request that is read.
const MAX_BODY: u64 = 64 << 20;

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A server at work. Its threads end with the program.
pub(crate) struct ModelServer {
    /// Where it is, as `base_url` wants it.
    pub(crate) base_url: String,
    begun: Receiver<Instant>,
}

impl ModelServer {
    /// A server that answers everything in this number of pieces.
    pub(crate) fn start(pieces: usize) -> anyhow::Result<ModelServer> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port for a model")?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let (begins, begun) = mpsc::channel();
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let begins = begins.clone();
                // A connection that breaks is seen by the client of the measurement.
                thread::spawn(move || serve(&socket, pieces, &begins));
            }
        });
        Ok(ModelServer { base_url, begun })
    }

    /// When the oldest answer that was not asked for yet began.
    pub(crate) fn begun(&self, limit: Duration) -> anyhow::Result<Instant> {
        self.begun.recv_timeout(limit).context("the model was not asked")
    }

    /// Discards unsolicited answers and returns their number.
    pub(crate) fn forget(&self) -> usize {
        self.begun.try_iter().count()
    }
}

fn serve(socket: &TcpStream, pieces: usize, begins: &Sender<Instant>) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut input = BufReader::new(socket);
    while let Some(path) = read_request(&mut input)? {
        if path.ends_with("/chat/completions") {
            answer(socket, pieces, begins)?;
        } else {
            let body = r#"{"object":"list","data":[{"id":"local","object":"model"}]}"#;
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
            );
            (&*socket).write_all((head + body).as_bytes())?;
        }
    }
    Ok(())
}

/// Reads a request and gives its path; none at the end.
fn read_request(input: &mut impl io::BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0).min(MAX_BODY);
        }
    }
    io::copy(&mut input.take(length), &mut io::sink())?;
    Ok(Some(path))
}

fn answer(mut socket: &TcpStream, pieces: usize, begins: &Sender<Instant>) -> io::Result<()> {
    let piece =
        event(&format!(r#"{{"delta":{{"content":"{PIECE}"}},"finish_reason":null,"index":0}}"#));
    let end = event(r#"{"delta":{},"finish_reason":"stop","index":0}"#);
    socket.write_all(HEAD)?;
    let begun = Instant::now();
    socket.write_all(piece.as_bytes())?;
    // It is not waited for when the measurement is over.
    let _ = begins.send(begun);
    let mut rest = piece.repeat(pieces.saturating_sub(1));
    rest.push_str(&end);
    rest.push_str(&chunk("data: [DONE]\n\n"));
    rest.push_str("0\r\n\r\n");
    socket.write_all(rest.as_bytes())
}

/// One event with one choice.
fn event(choice: &str) -> String {
    let open =
        r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"local","#;
    chunk(&format!("data: {open}\"choices\":[{choice}]}}\n\n"))
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_has_as_many_pieces_as_it_should() {
        let server = ModelServer::start(3).unwrap();
        let address = server.base_url.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();
        let mut socket = TcpStream::connect(address).unwrap();
        let request = "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";
        socket.write_all(request.repeat(2).as_bytes()).unwrap();
        let mut reply = Vec::new();
        let mut buffer = [0; 4096];
        let pieces = |reply: &[u8]| String::from_utf8_lossy(reply).matches(PIECE).count();
        while !reply.ends_with(b"0\r\n\r\n") || pieces(&reply) < 6 {
            let count = socket.read(&mut buffer).unwrap();
            assert!(count > 0);
            reply.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(pieces(&reply), 6);
        assert!(server.begun(Duration::from_secs(60)).is_ok());
        assert!(server.begun(Duration::from_secs(60)).is_ok());
        assert_eq!(server.forget(), 0);
    }

    proptest! {
        #[test]
        fn any_request_can_be_read(bytes: Vec<u8>) {
            let mut input = &bytes[..];
            while let Ok(Some(_)) = read_request(&mut input) {}
        }
    }
}
