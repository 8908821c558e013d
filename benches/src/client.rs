//! A blocking JSON-RPC client on a Unix socket or on pipes, one JSON document per line: what a script in any language
//! would use.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::gate::{WORK_LIMIT, await_readable};

/// Bytes that are asked for at once.
const READ_BYTES: usize = 64 << 10;

/// Where the head of a reply ends, in which its id and its kind are.
const HEAD_BYTES: usize = 64;

/// What the name of a notification follows.
const METHOD: &[u8] = b"\"method\":\"";

/// A connection.
pub(crate) struct Client {
    output: BufReader<Output>,
    input: File,
    line: Vec<u8>,
    next_id: u64,
}

/// Whether a message is a notification of this name. Only its head is looked at.
pub(crate) fn is_notification(message: &[u8], method: &str) -> bool {
    let head = &message[..message.len().min(HEAD_BYTES)];
    let start = head.windows(METHOD.len()).position(|window| window == METHOD);
    let name = start.map(|start| &message[start + METHOD.len()..]);
    name.and_then(|name| name.strip_prefix(method.as_bytes()))
        .is_some_and(|rest| rest.first() == Some(&b'"'))
}

/// Where replies come from.
enum Output {
    /// It has a limit of its own.
    Socket(UnixStream),
    /// With how long it may be silent.
    Pipe(File, Duration),
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Output::Socket(socket) => socket.read(buffer),
            Output::Pipe(pipe, limit) => {
                await_readable(&*pipe, *limit).map_err(io::Error::other)?;
                pipe.read(buffer)
            }
        }
    }
}

impl Client {
    pub(crate) fn connect(path: &Path) -> anyhow::Result<Client> {
        let stream = UnixStream::connect(path)
            .with_context(|| format!("cannot connect to {}", path.display()))?;
        stream.set_read_timeout(Some(WORK_LIMIT))?;
        let input = File::from(OwnedFd::from(stream.try_clone()?));
        Ok(Client::new(Output::Socket(stream), input))
    }

    /// Starts a server and talks to it over its standard input and output.
    pub(crate) fn of_server(command: &mut Command) -> anyhow::Result<(Child, Client)> {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let input = OwnedFd::from(server.stdin.take().context("no input")?);
        let output = OwnedFd::from(server.stdout.take().context("no output")?);
        Ok((server, Client::on_pipes(input, output)))
    }

    fn on_pipes(input: OwnedFd, output: OwnedFd) -> Client {
        Client::new(Output::Pipe(output.into(), WORK_LIMIT), input.into())
    }

    /// Gives up when nothing comes for this long.
    pub(crate) fn limit(&mut self, limit: Duration) -> anyhow::Result<()> {
        match self.output.get_mut() {
            Output::Socket(socket) => socket.set_read_timeout(Some(limit))?,
            Output::Pipe(_, current) => *current = limit,
        }
        Ok(())
    }

    fn new(output: Output, input: File) -> Client {
        let output = BufReader::with_capacity(READ_BYTES, output);
        Client { output, input, line: Vec::new(), next_id: 1 }
    }

    /// A request as it is sent, with an id of its own.
    pub(crate) fn encode(&mut self, method: &str, params: &Value) -> Vec<u8> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut bytes = request.to_string().into_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.input.write_all(request).context("cannot send")
    }

    /// Sends a request and does not wait for the reply.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> anyhow::Result<()> {
        let request = self.encode(method, params);
        self.send_bytes(&request)
    }

    /// The next message as it comes, of whatever kind.
    pub(crate) fn receive_line(&mut self) -> anyhow::Result<&[u8]> {
        self.line.clear();
        let count = self.output.read_until(b'\n', &mut self.line).context("no reply")?;
        if count == 0 {
            bail!("the server closed the connection");
        }
        Ok(&self.line)
    }

    /// The message that came last.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// The result in the next reply.
    pub(crate) fn receive(&mut self) -> anyhow::Result<Value> {
        loop {
            let mut message: Value =
                serde_json::from_slice(self.receive_line()?).context("a reply is not JSON")?;
            if let Some(error) = message.get("error") {
                bail!("refused: {error}");
            }
            if message.get("id").is_some() {
                return Ok(message["result"].take());
            }
        }
    }

    /// Sends a request and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.send(method, params)?;
        self.receive().with_context(|| method.to_owned())
    }

    /// Sends an encoded request and waits for its reply, which is not decoded. The way to measure a round trip.
    pub(crate) fn round_trip(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.send_bytes(request)?;
        self.receive_result()
    }

    /// The next notification of this name. Others and replies are passed by; an error is one.
    pub(crate) fn receive_notification(&mut self, method: &str) -> anyhow::Result<&[u8]> {
        while !is_notification(self.receive_line()?, method) {
            let head = &self.line[..self.line.len().min(HEAD_BYTES)];
            if head.windows(8).any(|window| window == b"\"error\":") {
                bail!("refused: {}", String::from_utf8_lossy(&self.line).trim());
            }
        }
        Ok(&self.line)
    }

    /// Sends an encoded request and waits for its reply, past notifications. Nothing is decoded.
    pub(crate) fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.send_bytes(request)?;
        loop {
            let head = &self.receive_line()?;
            let head = &head[..head.len().min(HEAD_BYTES)];
            if !head.windows(METHOD.len()).any(|window| window == METHOD) {
                break;
            }
        }
        check_result(&self.line)
    }

    /// The next reply, which is not decoded: its end is found, and that it is a result.
    pub(crate) fn receive_result(&mut self) -> anyhow::Result<&[u8]> {
        check_result(self.receive_line()?)
    }
}

/// A message if it is a result.
fn check_result(reply: &[u8]) -> anyhow::Result<&[u8]> {
    let head = &reply[..reply.len().min(HEAD_BYTES)];
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    if !has(b"\"result\"") || !has(b"\"id\":") {
        bail!("refused: {}", String::from_utf8_lossy(&reply[..reply.len().min(1_000)]));
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Client, UnixStream) {
        let (one, other) = UnixStream::pair().unwrap();
        let input = File::from(OwnedFd::from(one.try_clone().unwrap()));
        (Client::new(Output::Socket(one), input), other)
    }

    #[test]
    fn pipes_carry_the_same_words() {
        let (from_server, to_client) = std::io::pipe().unwrap();
        let (mut from_client, to_server) = std::io::pipe().unwrap();
        let mut client = Client::on_pipes(to_server.into(), from_server.into());
        let mut server = File::from(OwnedFd::from(to_client));
        server.write_all(b"{\"id\":1,\"result\":{\"a\":2}}\n").unwrap();
        assert_eq!(client.call("m", &json!({})).unwrap(), json!({"a": 2}));
        drop((client, server));
        let mut sent = String::new();
        from_client.read_to_string(&mut sent).unwrap();
        assert!(sent.ends_with("}\n"), "{sent}");
    }

    #[test]
    fn replies_are_told_from_notifications_and_errors() {
        let (mut client, mut server) = pair();
        server.write_all(b"{\"method\":\"x\"}\n{\"id\":1,\"result\":{\"a\":2}}\n").unwrap();
        assert_eq!(client.call("m", &json!({})).unwrap(), json!({"a": 2}));
        server.write_all(b"{\"id\":2,\"error\":{\"code\":1,\"message\":\"no\"}}\n").unwrap();
        assert!(client.call("m", &json!({})).unwrap_err().root_cause().to_string().contains("no"));
        drop(server);
        assert!(client.receive_line().is_err());
    }

    #[test]
    fn notifications_are_waited_for_and_passed_by() {
        let (mut client, mut server) = pair();
        server
            .write_all(b"{\"method\":\"a/b\"}\n{\"id\":1,\"result\":{}}\n{\"method\":\"a\"}\n")
            .unwrap();
        assert!(client.receive_notification("a").unwrap().starts_with(b"{\"method\":\"a\""));
        server.write_all(b"{\"method\":\"a\"}\n{\"id\":1,\"result\":{}}\n").unwrap();
        assert!(client.ask(b"x").unwrap().starts_with(b"{\"id\":1"));
        server.write_all(b"{\"id\":2,\"error\":{}}\n").unwrap();
        assert!(client.receive_notification("a").is_err());
        client.limit(Duration::from_millis(1)).unwrap();
        assert!(client.receive_notification("a").is_err());
    }

    #[test]
    fn a_round_trip_sends_what_was_encoded_and_refuses_errors() {
        let (mut client, mut server) = pair();
        let request = client.encode("m", &json!({}));
        server.write_all(b"{\"id\":1,\"result\":{}}\n{\"id\":1,\"error\":{}}\n").unwrap();
        assert!(client.round_trip(&request).is_ok());
        assert!(client.round_trip(&request).is_err());
        let mut sent = vec![0; request.len()];
        server.read_exact(&mut sent).unwrap();
        assert_eq!(sent, request);
    }
}
