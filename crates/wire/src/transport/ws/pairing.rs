//! What is printed so that a client can find a listener and enter it: addresses in the order of
//! their use, the link that carries the token, and that link as a picture of characters.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use qrcode::{Color, EcLevel, QrCode};
use serde::Serialize;

use super::{SUBPROTOCOL, Token};

/// Empty modules around the code, as its standard asks for.
const QUIET_ZONE: usize = 4;

/// The addresses of this machine's interfaces.
///
/// # Errors
/// If the system does not tell.
pub fn interfaces() -> io::Result<Vec<IpAddr>> {
    Ok(if_addrs::get_if_addrs()?.into_iter().map(|interface| interface.ip()).collect())
}

/// The addresses to connect to, best first.
///
/// A listener on one address has that one. One on all addresses has those of `interfaces`:
/// Tailscale's, private ones, IPv6 unique-local ones, loopback, and then those that the whole world may
/// reach, so that it is seen that it does.
#[must_use]
pub fn urls(bound: SocketAddr, interfaces: &[IpAddr]) -> Vec<String> {
    let url = |address: IpAddr| format!("ws://{}", SocketAddr::new(address, bound.port()));
    if !bound.ip().is_unspecified() {
        return vec![url(bound.ip())];
    }
    let reachable = interfaces.iter().filter(|address| bound.is_ipv6() || address.is_ipv4());
    let ranked: BTreeSet<_> =
        reachable.filter_map(|address| Some((rank(*address)?, url(*address)))).collect();
    let urls: Vec<_> = ranked.into_iter().map(|(_, url)| url).collect();
    if !urls.is_empty() {
        return urls;
    }
    vec![url(match bound.is_ipv4() {
        true => Ipv4Addr::LOCALHOST.into(),
        false => Ipv6Addr::LOCALHOST.into(),
    })]
}

/// The place of an address among those to connect to. IPv6 link-local ones have none: they need the
/// name of an interface, which clients do not take in a URL.
fn rank(address: IpAddr) -> Option<u8> {
    match address {
        IpAddr::V4(v4) if matches!(v4.octets(), [100, 64..=127, ..]) => Some(0),
        IpAddr::V4(v4) if v4.is_private() => Some(1),
        IpAddr::V6(v6) if v6.is_unique_local() => Some(2),
        _ if address.is_loopback() => Some(3),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => None,
        _ if address.is_unspecified() || address.is_multicast() => None,
        IpAddr::V4(v4) if v4.is_link_local() => Some(5),
        _ => Some(4),
    }
}

#[derive(Serialize)]
struct Payload<'a> {
    r#type: &'static str,
    name: &'a str,
    url: &'a str,
    headers: Headers,
    subprotocols: [String; 2],
    workspace: Option<String>,
}

#[derive(Serialize)]
struct Headers {
    #[serde(rename = "Authorization")]
    authorization: String,
}

/// What a client has to know to connect, as JSON; it has the token in it.
#[must_use]
pub fn payload(name: &str, url: &str, token: &Token, workspace: Option<&Path>) -> String {
    let token = token.expose();
    let payload = Payload {
        r#type: SUBPROTOCOL,
        name,
        url,
        headers: Headers { authorization: format!("Bearer {token}") },
        subprotocols: [SUBPROTOCOL.to_owned(), format!("bearer.{token}")],
        workspace: workspace.map(|path| path.to_string_lossy().into_owned()),
    };
    serde_json::to_string(&payload).unwrap_or_default()
}

/// The link that carries a payload.
#[must_use]
pub fn link(payload: &str) -> String {
    format!("roder://connect?payload={}", URL_SAFE_NO_PAD.encode(payload))
}

/// The text as a QR code, two modules per character; `None` if it is too long for one.
///
/// Light modules are drawn and dark ones are left out, which is right on a dark terminal; readers
/// take the inverse as well.
#[must_use]
pub fn qr(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let size = code.width();
    let side = size + 2 * QUIET_ZONE;
    let is_light = |x: usize, y: usize| {
        let inside = |at: usize| at.checked_sub(QUIET_ZONE).filter(|at| *at < size);
        match (inside(x), inside(y)) {
            (Some(x), Some(y)) => code[(x, y)] == Color::Light,
            _ => true,
        }
    };
    let mut picture = String::new();
    for y in (0..side).step_by(2) {
        for x in 0..side {
            picture.push(match (is_light(x, y), y + 1 < side && is_light(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        picture.push('\n');
    }
    Some(picture)
}

/// What is printed when a listener is up. Beside the link, which has to carry it, the token is
/// only previewed.
#[must_use]
pub fn startup_text(urls: &[String], token: &Token, link: &str, qr: Option<&str>) -> String {
    let mut text = String::from("Remote app-server listening\n\n");
    if let Some(qr) = qr {
        text.push_str(qr.trim_end_matches('\n'));
        text.push('\n');
    }
    text.push_str("urls:\n");
    for url in urls {
        let _ = writeln!(text, "  {url}");
    }
    let _ = writeln!(text, "token: {}\nconnect: {link}", token.preview());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::new("abcdefghijklmnopqrstuvwxyz").unwrap()
    }

    fn urls_of(bound: &str, interfaces: &[&str]) -> Vec<String> {
        let interfaces: Vec<IpAddr> = interfaces.iter().map(|ip| ip.parse().unwrap()).collect();
        urls(bound.parse().unwrap(), &interfaces)
    }

    #[test]
    fn one_address_is_the_only_one() {
        assert_eq!(urls_of("127.0.0.1:9786", &["10.0.0.1"]), ["ws://127.0.0.1:9786"]);
        assert_eq!(urls_of("[::1]:5", &[]), ["ws://[::1]:5"]);
        assert_eq!(urls_of("8.8.8.8:5", &[]), ["ws://8.8.8.8:5"]);
    }

    #[test]
    fn all_addresses_are_ranked_then_sorted_and_told_once() {
        let interfaces = [
            "127.0.0.1",
            "192.168.1.20",
            "10.0.0.9",
            "8.8.8.8",
            "169.254.0.1",
            "100.64.3.2",
            "100.127.0.1",
            "100.128.0.1",
            "172.16.0.1",
            "fd7a::1",
            "fe80::1",
            "::1",
            "10.0.0.9",
        ];
        let want_v4 = [
            "ws://100.127.0.1:41233",
            "ws://100.64.3.2:41233",
            "ws://10.0.0.9:41233",
            "ws://172.16.0.1:41233",
            "ws://192.168.1.20:41233",
        ];
        let v4 = urls_of("0.0.0.0:41233", &interfaces);
        assert_eq!(v4[..5], want_v4);
        let exposed = ["ws://100.128.0.1:41233", "ws://8.8.8.8:41233", "ws://169.254.0.1:41233"];
        assert_eq!(v4[5], "ws://127.0.0.1:41233");
        assert_eq!(v4[6..], exposed);
        let all = urls_of("[::]:41233", &interfaces);
        assert_eq!(all[..5], want_v4);
        assert_eq!(all[5..8], ["ws://[fd7a::1]:41233", "ws://127.0.0.1:41233", "ws://[::1]:41233"]);
        assert_eq!(all[8..], exposed);
    }

    #[test]
    fn without_interfaces_there_is_loopback() {
        assert_eq!(urls_of("0.0.0.0:1", &["fe80::1"]), ["ws://127.0.0.1:1"]);
        assert_eq!(urls_of("[::]:1", &[]), ["ws://[::1]:1"]);
        assert!(interfaces().unwrap().iter().any(IpAddr::is_loopback));
    }

    #[test]
    fn the_payload_has_its_members_in_order() {
        let text = payload("Rookery", "ws://10.0.0.9:1", &token(), Some(Path::new("/w")));
        let want = concat!(
            r#"{"type":"roder.remote.v1","name":"Rookery","url":"ws://10.0.0.9:1","#,
            r#""headers":{"Authorization":"Bearer abcdefghijklmnopqrstuvwxyz"},"#,
            r#""subprotocols":["roder.remote.v1","bearer.abcdefghijklmnopqrstuvwxyz"],"#,
            r#""workspace":"/w"}"#
        );
        assert_eq!(text, want);
        assert!(payload("a", "b", &token(), None).ends_with(r#""workspace":null}"#));
        let encoded = link(&text).strip_prefix("roder://connect?payload=").unwrap().to_owned();
        assert_eq!(URL_SAFE_NO_PAD.decode(encoded).unwrap(), want.as_bytes());
    }

    #[test]
    fn the_block_is_as_launchers_parse_it() {
        let urls = ["ws://100.64.3.2:41233".to_owned(), "ws://127.0.0.1:41233".to_owned()];
        let plain = startup_text(&urls, &token(), "roder://connect?payload=x", None);
        let want = "Remote app-server listening\n\nurls:\n  ws://100.64.3.2:41233\n  \
                    ws://127.0.0.1:41233\ntoken: abcd...wxyz\nconnect: roder://connect?payload=x\n";
        assert_eq!(plain, want);
        let with_qr = startup_text(&urls, &token(), "roder://connect?payload=x", Some("█▀\n▄ \n"));
        assert_eq!(with_qr, want.replace("\n\nurls", "\n\n█▀\n▄ \nurls"));
    }

    #[test]
    fn the_picture_shows_every_module_within_a_quiet_zone() {
        let text = link(&payload("Rookery", "ws://10.0.0.9:41233", &token(), None));
        let code = QrCode::with_error_correction_level(&text, EcLevel::L).unwrap();
        let picture = qr(&text).unwrap();
        let lines: Vec<Vec<char>> = picture.lines().map(|line| line.chars().collect()).collect();
        let side = code.width() + 2 * QUIET_ZONE;
        assert_eq!(lines.len(), side.div_ceil(2));
        for y in 0..side {
            assert_eq!(lines[y / 2].len(), side);
            for x in 0..side {
                let lit = match lines[y / 2][x] {
                    '█' => true,
                    '▀' => y % 2 == 0,
                    '▄' => y % 2 == 1,
                    _ => false,
                };
                let quiet = |at: usize| at < QUIET_ZONE || at >= side - QUIET_ZONE;
                let want =
                    quiet(x) || quiet(y) || code[(x - QUIET_ZONE, y - QUIET_ZONE)] == Color::Light;
                assert_eq!(lit, want, "{x},{y}");
            }
        }
        assert_eq!(qr(&"x".repeat(5000)), None);
    }
}
