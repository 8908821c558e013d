//! `@xterm/xterm`: a page with one terminal, and a server that echoes what it sends, floods it, or fills its history.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tungstenite::{Message, WebSocket};

use super::Size;
use crate::child::{GREETING, echoed};
use crate::process;
use crate::streams::{MARKER, Stream};

const PACKAGE: &str = "@xterm/xterm";
/// The release that was looked at; others may work as well.
const VERSION: &str = "6.0.0";
/// How long installing it may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);
/// The page around it.
const PAGE: &str = include_str!("xterm_js.html");
/// Bytes of one message of a flood, and how many the page may have that it has not read.
const PIECE: usize = 64 << 10;
const AHEAD: usize = 8;

/// The folder that it is installed in, and its version; or why there is none.
pub(crate) fn find(may_install: bool) -> Result<(PathBuf, String), String> {
    let dir = process::peers_dir().join("xterm-js");
    if let Some(version) = version(&dir) {
        return Ok((dir, version));
    }
    if process::find("npm").is_none() {
        return Err(format!("{PACKAGE}: npm is not there"));
    }
    if !may_install {
        return Err(format!("{PACKAGE} is not there (--install gets it)"));
    }
    install(&dir).map_err(|error| format!("{PACKAGE}: {error:#}"))?;
    let version =
        version(&dir).ok_or_else(|| format!("{PACKAGE} was installed but is not found"))?;
    Ok((dir, version))
}

fn install(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    std::fs::write(dir.join("package.json"), "{\"private\": true}\n")?;
    let mut npm = process::program("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.arg(format!("{PACKAGE}@{VERSION}")).current_dir(dir);
    process::output_within(&mut npm, INSTALL_LIMIT).map(drop)
}

fn package(dir: &Path) -> PathBuf {
    dir.join("node_modules").join(PACKAGE)
}

fn version(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(package(dir).join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(format!("xterm.js {}", package["version"].as_str()?))
}

/// A server of the page and of what is behind it. Its threads end with the program.
pub(crate) struct XtermJs {
    files: u16,
    socket: u16,
}

impl XtermJs {
    /// Starts one that listens to this machine alone.
    pub(crate) fn start(dir: &Path) -> anyhow::Result<XtermJs> {
        let (files, socket) =
            (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
        let ports =
            XtermJs { files: files.local_addr()?.port(), socket: socket.local_addr()?.port() };
        let package = package(dir);
        thread::spawn(move || {
            for client in files.incoming().map_while(Result::ok) {
                let package = package.clone();
                // A browser that turns away is seen by the measurement.
                thread::spawn(move || send_file(client, &package));
            }
        });
        thread::spawn(move || {
            for client in socket.incoming().map_while(Result::ok) {
                thread::spawn(move || answer(client));
            }
        });
        Ok(ports)
    }

    /// Where the page with a terminal of this size is.
    pub(crate) fn url(&self, (rows, cols): Size) -> String {
        format!("http://127.0.0.1:{}/?rows={rows}&cols={cols}&socket={}", self.files, self.socket)
    }
}

/// Answers the only request of a connection.
fn send_file(client: TcpStream, package: &Path) -> anyhow::Result<()> {
    let mut head = BufReader::new(&client);
    let mut line = String::new();
    head.read_line(&mut line)?;
    let path = line.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
    while !line.trim().is_empty() {
        line.clear();
        head.read_line(&mut line)?;
    }
    let (kind, body) = match path.as_str() {
        "/" => ("text/html; charset=utf-8", PAGE.as_bytes().to_vec()),
        "/xterm.js" => ("text/javascript", std::fs::read(package.join("lib/xterm.js"))?),
        "/xterm.css" => ("text/css", std::fs::read(package.join("css/xterm.css"))?),
        _ => ("text/plain", Vec::new()),
    };
    // Files are kept by the browser as those of ours are; the page itself is asked for anew.
    let keep = if path == "/" { "no-cache" } else { "max-age=31536000, immutable" };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\ncache-control: {keep}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    (&client).write_all(&[head.as_bytes(), &body].concat())?;
    Ok(())
}

/// Is the program behind a terminal.
fn answer(client: TcpStream) -> anyhow::Result<()> {
    client.set_nodelay(true)?;
    let mut socket = tungstenite::accept(client)?;
    say(&mut socket, GREETING.as_bytes())?;
    loop {
        let message = socket.read()?;
        let Message::Text(text) = message else { continue };
        match text.as_str().split_once(' ') {
            Some(("flood", bytes)) => flood(&mut socket, bytes.parse()?)?,
            Some(("lines", count)) => {
                let lines: Vec<String> =
                    (1..=count.parse::<usize>()?).map(|number| format!("{number}\r\n")).collect();
                say(&mut socket, lines.concat().as_bytes())?;
                say(&mut socket, GREETING.as_bytes())?;
            }
            _ => {
                for byte in text.bytes() {
                    say(&mut socket, &echoed(byte))?;
                }
            }
        }
    }
}

fn say(socket: &mut WebSocket<TcpStream>, bytes: &[u8]) -> anyhow::Result<()> {
    socket.send(Message::binary(bytes.to_vec())).context("the page is gone")
}

/// Sends lines as fast as the page reads them, and the marker.
fn flood(socket: &mut WebSocket<TcpStream>, bytes: usize) -> anyhow::Result<()> {
    let block = Stream::Ascii.block().replace('\n', "\r\n");
    let (mut sent, mut unread) = (0, 0);
    for piece in block.as_bytes().chunks(PIECE).cycle() {
        if sent >= bytes {
            break;
        }
        // Every message is answered once the terminal has it.
        while unread >= AHEAD {
            if socket.read()?.is_binary() {
                unread -= 1;
            }
        }
        say(socket, piece)?;
        (sent, unread) = (sent + piece.len(), unread + 1);
    }
    say(socket, format!("\x1b[0m\r\n{MARKER}").as_bytes())
}
