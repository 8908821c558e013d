//! Framings: row by row, however the bytes are split.

use bytes::BytesMut;
use proptest::prelude::*;

use super::*;

type Items = Vec<Result<Vec<u8>, FrameError>>;

/// Feeds `pieces` one by one and collects every frame and error up to and including end of file.
fn run(mut framing: impl Framing, pieces: &[&[u8]], buffer_limit: usize) -> Items {
    let mut buf = BytesMut::new();
    let mut items = Items::new();
    for piece in pieces {
        buf.extend_from_slice(piece);
        drain(&mut items, || framing.decode(&mut buf));
        assert!(buf.len() <= buffer_limit, "{} bytes kept", buf.len());
    }
    drain(&mut items, || framing.decode_eof(&mut buf));
    assert!(buf.is_empty());
    items
}

fn drain(items: &mut Items, mut next: impl FnMut() -> Result<Option<Frame>, FrameError>) {
    loop {
        match next() {
            Ok(Some(frame)) => items.push(Ok(frame.to_vec())),
            Ok(None) => return,
            Err(error) => {
                let fatal = error.is_fatal();
                items.push(Err(error));
                if fatal {
                    return;
                }
            }
        }
    }
}

fn ok(body: &str) -> Result<Vec<u8>, FrameError> {
    Ok(body.as_bytes().to_vec())
}

fn ndjson(input: &str) -> Items {
    run(Ndjson::with_limit(10), &[input.as_bytes()], 10)
}

fn lsp(input: &str) -> Items {
    run(Lsp::with_limit(100), &[input.as_bytes()], 8 * 1024 + 100)
}

#[test]
fn ndjson_lines() {
    assert_eq!(ndjson("{}\n[]\r\n\n \t\r\n7"), [ok("{}"), ok("[]"), ok("7")]);
    assert_eq!(ndjson(""), []);
    assert_eq!(ndjson("  "), []);
    assert_eq!(ndjson("x\r"), [ok("x")]);
}

#[test]
fn ndjson_resynchronizes_after_an_overlong_line() {
    let too_long = Err(FrameError::TooLong { limit: 10 });
    assert_eq!(ndjson("0123456789\n1"), [ok("0123456789"), ok("1")]);
    assert_eq!(ndjson("0123456789a\n1"), [too_long.clone(), ok("1")]);
    assert_eq!(ndjson("0123456789a"), std::slice::from_ref(&too_long));
    let pieces: Vec<&[u8]> = vec![b"0123456789abc", b"defghijklmnop", b"qrst\n{}", b"\n"];
    assert_eq!(run(Ndjson::with_limit(10), &pieces, 10), [too_long, ok("{}")]);
}

fn strict_ndjson(limit: usize) -> Ndjson {
    Ndjson::with_limit(limit).strict()
}

#[test]
fn strict_ndjson_takes_blank_lines_and_drops_the_unfinished_one() {
    let lines = |input: &str| run(strict_ndjson(10), &[input.as_bytes()], 10);
    assert_eq!(lines("{}\n\n[]\r\n \r\n7"), [ok("{}"), ok(""), ok("[]"), ok(" ")]);
    assert_eq!(lines("x\r"), []);
    assert_eq!(lines("0123456789\n"), [ok("0123456789")]);
    let too_long = Err(FrameError::TooLong { limit: 10 });
    assert_eq!(lines("0123456789a"), std::slice::from_ref(&too_long));
    assert_eq!(lines("0123456789a\n\n"), [too_long, ok("")]);
}

#[test]
fn strict_ndjson_sees_an_overlong_line_before_it_ends() {
    let mut framing = strict_ndjson(10);
    let mut buf = BytesMut::from("0123456789".as_bytes());
    assert_eq!(framing.decode(&mut buf), Ok(None));
    buf.extend_from_slice(b"a");
    assert_eq!(framing.decode(&mut buf), Err(FrameError::TooLong { limit: 10 }));
    assert!(buf.is_empty());
}

#[test]
fn ndjson_never_emits_a_newline_inside_a_frame() {
    let mut out = b"kept\n".to_vec();
    Ndjson::default().encode(b"{\n\"a\":\n1}", &mut out);
    assert_eq!(out, b"kept\n{ \"a\": 1}\n");
}

#[test]
fn lsp_frames() {
    assert_eq!(lsp("Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n7"), [ok("{}"), ok("7")]);
    assert_eq!(lsp("cONTENT-lENGTH:   2  \nContent-Type: x; y=z\n\n{}"), [ok("{}")]);
    assert_eq!(
        lsp("Content-Length: 0\r\n\r\nContent-Length: 3\r\n\r\n \r\nContent-Length: 1\n\n1"),
        [ok("1")]
    );
    assert_eq!(lsp("Content-Length: 4\r\n\r\n\"é\""), [ok("\"é\"")]);
    assert_eq!(lsp(""), []);
}

#[test]
fn lsp_fatal_errors() {
    let cases = [
        ("\r\n", "missing Content-Length header"),
        ("{\"jsonrpc\":\"2.0\"}\n\n", "missing Content-Length header"),
        ("Content-Length: x\r\n\r\n", "invalid Content-Length header"),
        ("Content-Length: -1\r\n\r\n", "invalid Content-Length header"),
        ("Content-Length:\r\n\r\n", "invalid Content-Length header"),
        ("Content-Length: 101\r\n", "Content-Length is over the limit of 100 bytes"),
        (
            "Content-Length: 99999999999999999999999999\r\n",
            "Content-Length is over the limit of 100 bytes",
        ),
        ("Content-Length: 3", "unexpected EOF in LSP headers"),
        ("Content-Length: 3\r\n", "unexpected EOF in LSP headers"),
        ("Content-Length: 3\r\n\r\n{}", "unexpected EOF in LSP body"),
    ];
    for (input, message) in cases {
        let items = lsp(input);
        assert_eq!(items.len(), 1, "{input:?}");
        assert_eq!(items[0].as_ref().unwrap_err().to_string(), message, "{input:?}");
    }
    let long = format!("X: {}\r\n\r\n", "y".repeat(9000));
    assert_eq!(lsp(&long), [Err(FrameError::HeadersTooLong { limit: 8192 })]);
}

#[test]
fn lsp_seals_in_place() {
    let mut out = b"before".to_vec();
    Lsp::default().encode(b"{\"id\":1}", &mut out);
    assert_eq!(out, b"beforeContent-Length: 8\r\n\r\n{\"id\":1}");
}

/// Cuts `bytes` at the given places (modulo its length).
fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    places.push(bytes.len());
    let mut from = 0;
    places.into_iter().map(|to| &bytes[std::mem::replace(&mut from, to)..to]).collect()
}

fn any_cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..12)
}

/// Bytes that are likely to hold line ends and headers.
fn line_soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-z{}\" ]{0,14}".prop_map(String::into_bytes),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

fn header_soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => (0_usize..12).prop_map(|n| format!("Content-Length: {n}\r\n\r\n{}", "x".repeat(n)).into_bytes()),
        1 => Just(b"X-Other: 1\r\n".to_vec()),
        1 => Just(b"content-length : 3\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn ndjson_is_the_same_for_any_split(bytes in line_soup(), cuts in any_cuts()) {
        let whole = run(Ndjson::with_limit(10), &[&bytes], 10);
        prop_assert_eq!(whole, run(Ndjson::with_limit(10), &cut(&bytes, &cuts), 10));
        let whole = run(strict_ndjson(10), &[&bytes], 10);
        prop_assert_eq!(whole, run(strict_ndjson(10), &cut(&bytes, &cuts), 10));
    }

    #[test]
    fn lsp_is_the_same_for_any_split(bytes in header_soup(), cuts in any_cuts()) {
        let limit = 8 * 1024 + 10;
        let whole = run(Lsp::with_limit(10), &[&bytes], limit);
        prop_assert_eq!(whole, run(Lsp::with_limit(10), &cut(&bytes, &cuts), limit));
    }

    #[test]
    fn arbitrary_bytes_stay_within_the_limit(bytes in prop::collection::vec(any::<u8>(), 0..4096), cuts in any_cuts()) {
        run(Ndjson::with_limit(64), &cut(&bytes, &cuts), 64);
        run(Lsp::with_limit(64), &cut(&bytes, &cuts), 8 * 1024 + 64);
    }

    #[test]
    fn what_is_encoded_is_decoded(bodies in prop::collection::vec("[a-z]{1,20}", 0..8), cuts in any_cuts()) {
        let want: Items = bodies.iter().map(|body| ok(body)).collect();
        for framing in [Box::new(Ndjson::default()) as Box<dyn Framing>, Box::new(Lsp::default())] {
            let mut out = Vec::new();
            for body in &bodies {
                framing.encode(body.as_bytes(), &mut out);
            }
            prop_assert_eq!(&run(framing, &cut(&out, &cuts), usize::MAX), &want);
        }
    }
}
