//! Frames from bytes that come in any pieces.

use proptest::prelude::*;

use super::{Frame, Parser, TooLong};

fn whole(bytes: &[u8]) -> Vec<Frame> {
    let mut parser = Parser::new();
    let mut frames = Vec::new();
    parser.push(bytes, &mut frames).unwrap();
    frames
}

fn data(bytes: &[u8]) -> Vec<String> {
    whole(bytes).into_iter().map(|frame| frame.data).collect()
}

#[test]
fn frames_end_at_an_empty_line_of_any_kind() {
    assert_eq!(data(b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n"), ["a", "b", "c"]);
}

#[test]
fn lines_of_data_are_joined() {
    assert_eq!(data(b"data: a\ndata:b\ndata:  c\ndata\n\n"), ["a\nb\n c\n"]);
}

#[test]
fn comments_and_unknown_fields_say_nothing() {
    assert_eq!(data(b": hello\n\n:\nretry: 5\ndata: a\n: in between\nnonsense\n\n"), ["a"]);
}

#[test]
fn event_and_id_are_kept_for_their_frame_only() {
    let frames = whole(b"event: x\nid: 7\ndata: a\n\nevent: y\n\ndata: b\n\n");
    let first = Frame { event: Some("x".into()), id: Some("7".into()), data: "a".into() };
    let second = Frame { data: "b".into(), ..Frame::default() };
    assert_eq!(frames, [first, second]);
}

#[test]
fn a_byte_order_mark_is_taken_once() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n".as_bytes()), ["a"]);
}

#[test]
fn bytes_that_are_not_text_become_replacement_characters() {
    assert_eq!(data(b"data: a\xffb\n\n"), ["a\u{fffd}b"]);
}

#[test]
fn the_end_gives_what_was_left() {
    let mut parser = Parser::new();
    let mut frames = Vec::new();
    parser.push(b"data: a\n\ndata: [DONE]", &mut frames).unwrap();
    assert_eq!(frames.len(), 1);
    assert_eq!(parser.finish().map(|frame| frame.data), Some("[DONE]".into()));
    assert_eq!(parser.finish(), None);
}

#[test]
fn a_frame_has_a_limit() {
    let mut parser = Parser::with_limit(32);
    let mut frames = Vec::new();
    parser.push(b"data: 0123456789\n\n", &mut frames).unwrap();
    parser.push(b"data: 0123456789\n\n", &mut frames).unwrap();
    assert_eq!(frames.len(), 2);
    parser.push(b"data: 0123456789\n", &mut frames).unwrap();
    parser.push(b"data: 0123456789\n", &mut frames).unwrap();
    assert_eq!(parser.push(b"data: 0123456789\n", &mut frames), Err(TooLong));
    assert_eq!(Parser::with_limit(8).push(b"no end in sight", &mut frames), Err(TooLong));
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"event: e".to_vec()),
        Just(b"id:1".to_vec()),
        Just(b":".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just("\u{feff}".as_bytes().to_vec()),
        "\\PC{0,6}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn run(limit: usize, pieces: &[&[u8]]) -> (Vec<Frame>, Option<Frame>, bool) {
    let mut parser = Parser::with_limit(limit);
    let mut frames = Vec::new();
    for piece in pieces {
        if parser.push(piece, &mut frames).is_err() {
            return (frames, None, true);
        }
    }
    (frames, parser.finish(), false)
}

proptest! {
    #[test]
    fn any_split_equals_the_whole(bytes in stream(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(run(64, &pieces), run(64, &[&bytes]));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(run(1 << 20, &single), run(1 << 20, &[&bytes]));
    }

    #[test]
    fn what_is_written_is_read(texts in proptest::collection::vec("[^\r\n]{0,20}(\n[^\r\n]{0,20}){0,2}", 0..8)) {
        let wire: String = texts
            .iter()
            .map(|text| text.split('\n').map(|line| format!("data: {line}\n")).collect::<String>() + "\n")
            .collect();
        prop_assert_eq!(data(wire.as_bytes()), texts);
    }
}
