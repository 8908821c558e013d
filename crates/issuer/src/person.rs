//! The browser of a person: it opens an address and sees a page, or is sent on.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use url::Url;

/// What a browser gets.
#[derive(Clone, Debug)]
pub struct Page {
    pub status: u16,
    /// Where it is sent on to.
    pub location: Option<String>,
    /// What it shows.
    pub text: String,
}

/// Opens an address, and follows nothing.
///
/// # Panics
/// If there is no answer.
pub fn fetch(address: &str) -> Page {
    let url = Url::parse(address).unwrap();
    let host = (url.host_str().unwrap(), url.port_or_known_default().unwrap());
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    write!(
        stream,
        "GET {target} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n\r\n",
        host.0, host.1
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let location = answer.lines().find_map(|line| line.strip_prefix("Location: "));
    let text = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
    Page { status, location: location.map(|location| location.trim().to_owned()), text }
}
