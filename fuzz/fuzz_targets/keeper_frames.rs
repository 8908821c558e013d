//! The keeper's frames: whatever a peer sends, cut anywhere, gives the same frames, and every message
//! that can be read is written and read again as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_keeper::protocol::{Frame, FrameError, FrameReader, Reply, Request};

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = rookery_fuzz::cut(input);
    let frames = read([whole]);
    assert_eq!(frames, read(pieces));
    for frame in frames.0 {
        assert_eq!(
            read([frame.encode().expect("a frame that was read").as_slice()]).0,
            std::slice::from_ref(&frame)
        );
        check_request(&frame);
        check_reply(&frame);
    }
});

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Frame>, Option<FrameError>) {
    let mut reader = FrameReader::new();
    let mut frames = Vec::new();
    for piece in pieces {
        reader.push(piece);
        loop {
            match reader.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}

fn check_request(frame: &Frame) {
    let Ok(request) = Request::decode(frame) else { return };
    let bytes = request.encode(frame.tag, usize::from(frame.fds)).expect("a request that was read");
    let again = read([bytes.as_slice()]).0.pop().expect("one whole frame");
    assert_eq!(Request::decode(&again).expect("our own request"), request);
}

fn check_reply(frame: &Frame) {
    let Ok(reply) = Reply::decode(frame) else { return };
    let bytes = reply.encode(frame.tag, usize::from(frame.fds)).expect("a reply that was read");
    let again = read([bytes.as_slice()]).0.pop().expect("one whole frame");
    assert_eq!(Reply::decode(&again).expect("our own reply"), reply);
}
